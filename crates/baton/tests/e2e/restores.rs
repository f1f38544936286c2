//! Restores with the real binary.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use baton_emulator::{Fault, Options};
use serde_json::{Value, json};

use crate::cross::{self, github, with_github};
use crate::http::{Server, request};
use crate::stage::{Answer, BATON, Stage, items, skipped, text};

/// A stage whose store, a file, holds a note, and a backup of it; then another note was made.
pub(crate) fn with_backup() -> (Stage, String) {
    let stage = Stage::in_a_file("a restore is about the file").registered();
    let lola = stage.terminal("Lola");
    lola.json(&["note", "before"]);
    let backup = stage.root().join("the backup.db").display().to_string();
    lola.json(&["backup", &backup]);
    lola.json(&["note", "after"]);
    (stage, backup)
}

pub(crate) fn notes(stage: &Stage) -> Vec<String> {
    let notes = items(&stage.terminal("Reader").json(&["log", "--kind", "note"]));
    let body = |note: &Value| match &note["body"] {
        Value::String(text) => serde_json::from_str(text).expect("JSON"),
        body => body.clone(),
    };
    notes.iter().map(|note| text(&body(note), "text")).collect()
}

pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn what_a_killed_backup_left_is_removed_by_the_next_one_to_that_place() {
    let (stage, _) = with_backup();
    let lola = stage.terminal("Lola");
    // No process has such a number.
    for name in
        ["b.db.baton-draft-4194305", "b.db.baton-draft-4194305-journal", "b.db.baton-draft-4194306-lock"]
    {
        stage.file(&format!("shop/{name}"), "");
    }
    stage.file("shop/b.db.baton-draft-1", "");
    stage.file("shop/b.db.baton-draft-of-mine", "");
    lola.json(&["backup", "b.db"]);
    let left = fs::read_dir(stage.shop()).expect("a folder").flatten();
    let mut left: Vec<String> = left.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    left.retain(|name| name.starts_with("b.db"));
    left.sort();
    assert_eq!(
        left,
        ["b.db", "b.db.baton-draft-1", "b.db.baton-draft-of-mine"],
        "what lives and what is no draft stays"
    );
}

#[test]
fn a_backup_under_a_name_that_the_store_uses_is_refused_without_its_folder_too() {
    let stage = Stage::in_a_file("a backup is about the file").registered();
    let script = r#"cd .. && "$BATON" --store own.db init --id own > own.txt && "$BATON" --store own.db backup own.db-journal"#;
    let output = stage.terminal("Lola").shell(script);
    assert!(output.err.contains("own.db-journal is a name that the store itself uses"), "{output:?}");
}

#[test]
fn a_backup_beside_the_log_of_another_store_is_refused() {
    let (stage, backup) = with_backup();
    let other = stage.file("other.db-wal", "the log of a store that is gone");
    let file = other.trim_end_matches("-wal");
    stage.terminal("Lola").refused(1, "file_exists", &["backup", file]);
    assert!(!Path::new(file).exists() && Path::new(&backup).exists());
}

#[test]
fn a_restore_gives_out_no_token_version_or_position_again() {
    let stage = Stage::in_a_file("a restore is about the file").registered();
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob"));
    let id = text(&ann.json(&["task", "create", "rounding"]), "id");
    let backup = stage.root().join("the backup.db").display().to_string();
    ann.json(&["start"]);
    ann.json(&["backup", &backup]);
    let claim = ann.json(&["task", "claim", &id]);
    let listener = stage.ledger("shop").last().expect("a delta")["seq"].as_i64().expect("a number");
    ann.json(&["restore", "--yes", &backup]);
    bob.json(&["start"]);
    let other = bob.json(&["task", "claim", &id]);
    assert!(other["token"].as_i64() > claim["token"].as_i64(), "{claim:#} {other:#}");
    bob.refused(4, "lease_lost", &["task", "close", &id, "--token", &claim["token"].to_string()]);
    let after: Vec<Value> =
        stage.ledger("shop").into_iter().filter(|delta| delta["seq"].as_i64() > Some(listener)).collect();
    assert!(after.len() >= 2, "whoever listened to {listener} hears all that came since: {after:#?}");
    stage.assert_sound();
}

#[test]
fn an_issue_that_was_made_after_the_backup_is_found_again_and_stays_open() {
    let stage = Stage::in_a_file("a restore is about the file").registered();
    let hub = github(Options::default());
    cross::beside(&stage);
    let ann = with_github(&stage.terminal("Ann"), &hub);
    // It is known that nothing was made.
    hub.script(Some(Box::new(|_| Fault::Refuse(429, Some(3_600)))));
    let words = ["handoff", "create", "--to", "lib", "--repo", "o/lib", "--subject", "s", "--json"];
    let later = ann.run(&words);
    assert_eq!((later.code, later.json()["state"].clone()), (5, json!("pending")), "{later:#?}");
    let id = text(&later.json(), "handoff_id");
    let backup = stage.root().join("the backup.db").display().to_string();
    ann.json(&["backup", &backup]);
    hub.script(None);
    ann.json(&["handoff", "retry", &id]);
    assert_eq!(hub.hub().issues("o/lib").len(), 1);
    ann.json(&["restore", "--yes", &backup]);
    let again = ann.json(&["handoff", "retry", &id]);
    assert_eq!(text(&again["task"], "id"), "gh-o/lib-1");
    let issues = hub.hub();
    let issues = issues.issues("o/lib");
    assert!(issues.len() == 1 && issues[0].open, "one issue, and it is open");
}

#[test]
fn a_restore_is_undone_by_the_command_that_it_prints() {
    let (stage, backup) = with_backup();
    let lola = stage.terminal("Lola");
    lola.refused(1, "store_exists", &["restore", &backup]);
    assert_eq!(notes(&stage), ["before", "after"]);
    let report = lola.json(&["restore", "--yes", &backup]);
    assert_eq!((report["sound"].as_bool(), report["projects"].as_i64()), (Some(true), Some(1)), "{report:#}");
    assert_eq!(notes(&stage), ["before"]);
    stage.assert_sound();
    assert_eq!(mode(Path::new(&text(&report, "kept"))), 0o600);
    // As a person has it from the screen.
    let shown = lola.text(&["restore", "--yes", &text(&report, "kept")]);
    assert_eq!(notes(&stage), ["before", "after"]);
    let undo = shown.lines().find_map(|line| line.trim().strip_prefix("undo: baton ")).expect("an undo");
    lola.shell(&format!("\"$BATON\" {undo}")).done();
    assert_eq!(notes(&stage), ["before"]);
    lola.shell(&text(&report, "undo").replacen("baton", "\"$BATON\"", 1)).done();
    assert_eq!(notes(&stage), ["before", "after"]);
    stage.assert_sound();
}

#[test]
fn a_damaged_store_comes_back_as_it_was() {
    let (stage, backup) = with_backup();
    let lola = stage.terminal("Lola");
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(beside(&stage.store(), suffix));
    }
    fs::write(stage.store(), b"dear diary".repeat(900)).expect("written");
    let report = lola.json(&["restore", "--yes", &backup]);
    assert_eq!(notes(&stage), ["before"]);
    let undo = text(&report, "undo");
    lola.shell(&undo).done();
    assert!(fs::read(stage.store()).expect("store").starts_with(b"dear diary"), "{undo}");
}

/// Such a store is opened, and what is damaged is met later.
#[test]
fn a_store_with_a_damaged_page_is_restored() {
    let (stage, backup) = with_backup();
    let lola = stage.terminal("Lola");
    for suffix in ["-wal", "-shm"] {
        let _ = fs::remove_file(beside(&stage.store(), suffix));
    }
    let mut bytes = fs::read(&backup).expect("a backup");
    let pages = bytes.chunks_mut(4_096).skip(1);
    let word = b"before";
    for page in pages.filter(|page| page.windows(word.len()).any(|part| part == word)) {
        page.fill(0xff);
    }
    fs::write(stage.store(), bytes).expect("written");
    assert_eq!(lola.run(&["doctor"]).code, 1);
    lola.json(&["restore", "--yes", &backup]);
    assert_eq!(notes(&stage), ["before"]);
    stage.assert_sound();
}

#[test]
fn a_kept_store_is_restored_with_its_log() {
    let (stage, backup) = with_backup();
    let lola = stage.terminal("Lola");
    // As an older version has kept it: two files.
    let previous = stage.store().with_file_name("baton.db.before-1");
    for suffix in ["", "-wal"] {
        fs::copy(beside(&stage.store(), suffix), beside(&previous, suffix)).expect("copied");
    }
    lola.json(&["restore", "--yes", &backup]);
    lola.json(&["restore", "--yes", previous.to_str().expect("text")]);
    assert_eq!(notes(&stage), ["before", "after"]);
    fs::remove_file(beside(&previous, "-wal")).expect("removed");
    lola.refused(1, "store_incomplete", &["restore", "--yes", previous.to_str().expect("text")]);
    lola.with("BATON_STORE", &previous).refused(1, "store_incomplete", &["doctor"]);
    assert_eq!(notes(&stage), ["before", "after"]);
    stage.assert_sound();
}

#[test]
fn a_copy_of_a_backup_lets_no_revoked_token_in_without_a_word() {
    let stage = Stage::in_a_file("backups are files");
    let lola = stage.terminal("Lola");
    for name in ["ci", "bot"] {
        lola.json(&["token", "create", "--name", name]);
    }
    let id = text(&lola.json(&["token", "list"])["items"][0], "token_id");
    let backup = stage.root().join("backup.db").display().to_string();
    lola.json(&["backup", &backup]);
    lola.json(&["token", "revoke", &id]);
    let copy = |name: &str| stage.root().join(name).display().to_string();
    // The store in use knows of the revocation.
    let copied = lola.json(&["store", "copy", &backup, &copy("known.db")]);
    assert_eq!(copied["tokens"]["revoked"][0]["token_id"], json!(id));
    assert_eq!(copied["tokens"]["valid"].as_array().map(Vec::len), Some(1));
    let listed = lola.with("BATON_STORE", copy("known.db")).json(&["token", "list"]);
    assert_eq!(listed["items"][0]["valid"], false);
    // Where nothing knows of it, the answer names who gets in and how to take that back.
    let elsewhere = lola.with("BATON_STORE", copy("none.db"));
    let output = elsewhere.text(&["store", "copy", &backup, &copy("unknown.db")]);
    assert!(output.contains("ci") && output.contains("bot") && output.contains("token revoke"), "{output}");
}

#[test]
fn a_restore_elsewhere_opens_nothing_that_was_taken_back_and_replaces_no_other_file() {
    let (stage, _) = with_backup();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["wrap", "--summary", "s", "--next", "n"]);
    let token = text(&lola.json(&["token", "create", "--name", "ci"]), "token_id");
    let baton = text(&lola.json(&["batons"])["items"][0], "baton_id");
    let share = text(&lola.json(&["share", &baton, "--for", "7d"]), "share_id");
    let path = |name: &str| stage.root().join(name).display().to_string();
    let backup = path("with-access.db");
    lola.json(&["backup", &backup]);
    lola.json(&["token", "revoke", &token]);
    lola.json(&["share", "revoke", &share]);
    let is_open = |store: &str| {
        let token = lola.json(&["--store", store, "token", "list"])["items"][0]["valid"] == true;
        let shares = lola.json(&["--store", store, "share", "list"]);
        (token, items(&shares).iter().any(|share| share["valid"] == true || share["revoked_at"].is_null()))
    };
    assert_eq!(is_open(&backup), (true, true), "the backup is from before");
    for (name, command) in [("restored.db", "restore"), ("copied.db", "copy")] {
        let target = path(name);
        match command {
            "restore" => lola.json(&["--store", &target, "restore", &backup]),
            _ => lola.json(&["store", "copy", &backup, &target]),
        };
        assert_eq!(is_open(&target), (false, false), "{name}");
    }
    let thesis = path("thesis.txt");
    fs::write(&thesis, "300 pages").expect("written");
    lola.refused(1, "store_foreign", &["--store", &thesis, "restore", "--yes", &backup]);
    assert_eq!(fs::read(&thesis).expect("there"), b"300 pages");
}

#[test]
fn a_store_is_not_restored_onto_itself() {
    let (stage, _) = with_backup();
    let lola = stage.terminal("Lola");
    let (link, hard) = (stage.root().join("link.db"), stage.root().join("hard.db"));
    symlink(stage.store(), &link).expect("linked");
    fs::hard_link(stage.store(), &hard).expect("linked");
    for same in [&stage.store(), &link, &hard] {
        lola.refused(1, "restore_same", &["restore", "--yes", same.to_str().expect("text")]);
    }
    for same in [&link, &hard] {
        let (from, to) = (stage.store().display().to_string(), same.display().to_string());
        lola.refused(1, "store_same", &["store", "copy", &from, &to]);
    }
    fs::remove_file(hard).expect("removed");
    assert_eq!(notes(&stage), ["before", "after"]);
    for (name, code) in [("-journal", "file_reserved"), ("", "file_exists")] {
        let file = beside(&stage.store(), name);
        lola.refused(1, code, &["backup", file.to_str().expect("text")]);
    }
    lola.refused(1, "file_exists", &["backup", link.to_str().expect("text")]);
    assert_eq!(notes(&stage), ["before", "after"]);
}

#[test]
fn a_restore_under_a_server_is_refused_and_says_who_is_there() {
    let (stage, backup) = with_backup();
    let lola = stage.terminal("Lola");
    let mut server = Server::start(&stage.terminal("Server"));
    let refusal = lola.refused(4, "store_in_use", &["restore", "--yes", &backup]);
    assert!(text(&refusal, "message").contains("serve --listen"), "{refusal:#}");
    assert!(refusal["processes"].as_array().is_some_and(|all| all.len() == 1), "{refusal:#}");
    server.ok("ledger_note", &json!({ "project": "shop", "identity": "Lola", "text": "served" }));
    server.signal("-TERM");
    server.ended();
    assert_eq!(notes(&stage), ["before", "after", "served"]);
    lola.json(&["restore", "--yes", &backup]);
    assert_eq!(notes(&stage), ["before"]);
}

#[test]
fn a_restore_without_room_changes_nothing() {
    let (stage, _) = with_backup();
    let disk = stage.root().join("disk");
    fs::create_dir(&disk).expect("folder");
    let script = format!(
        r#"mount -t tmpfs -o size=4m none "{disk}" 2>/dev/null || exit 77
        export BATON_STORE="{disk}/baton.db"
        # A new store, while there is less and less room: it is not there, or whole.
        for left in 0 4 8 16 32 64 128 256 512; do
            rm -f "{disk}"/baton.db* "{disk}/fill"
            cat /dev/zero > "{disk}/fill" 2>/dev/null
            truncate -s -"${{left}}k" "{disk}/fill" 2>/dev/null
            "$BATON" init >/dev/null 2>&1
            rm "{disk}/fill"
            "$BATON" init >/dev/null && "$BATON" doctor >/dev/null || exit 2
        done
        "$BATON" note here >/dev/null || exit 1
        "$BATON" backup "{disk}/b.db" >/dev/null || exit 3
        "$BATON" note there >/dev/null || exit 4
        for left in 0 4 16 64 256 512 768 1024 1536 2048 3072; do
            cat /dev/zero > "{disk}/fill" 2>/dev/null
            truncate -s -"${{left}}k" "{disk}/fill" 2>/dev/null
            "$BATON" restore --yes "{disk}/b.db" --json > "{disk}/../said"; code=$?
            rm "{disk}/fill"
            "$BATON" doctor >/dev/null || exit 5
            found=$("$BATON" log --kind note | wc -l)
            test $code = 0 -a "$found" = 1 -o $code != 0 -a "$found" = 2 || exit 6
            test $code = 0 || grep -q disk_full "{disk}/../said" || exit 7
            if [ $code = 0 ]; then restored=yes; break; fi
        done
        test "$restored" = yes || exit 8"#,
        disk = disk.display()
    );
    let mut command = stage.terminal("Lola").program("unshare");
    command.args(["-m", "sh", "-c", &script]).env("BATON", BATON).stdin(Stdio::null());
    let Ok(child) = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
        return skipped("no unshare for a small disk");
    };
    let answer = Answer::of(child, &["full disk"]);
    if answer.err.contains("unshare") || answer.code == 77 {
        return skipped("a small disk cannot be mounted here");
    }
    assert_eq!(
        answer.code,
        0,
        "{answer:#?} {}",
        fs::read_to_string(stage.root().join("said")).unwrap_or_default()
    );
}

#[test]
fn what_holds_words_of_the_ledger_is_its_owners_alone() {
    let (stage, backup) = with_backup();
    let lola = stage.terminal("Lola");
    let export = stage.file("export.jsonl", "an older one");
    lola.refused(4, "file_exists", &["log", "export", &export]);
    lola.json(&["log", "export", "--overwrite", &export]);
    let outside = stage.root().join("open");
    fs::create_dir(&outside).expect("folder");
    for file in [&export, &backup] {
        assert_eq!(mode(Path::new(file)), 0o600, "{file}");
    }
    let mut folders = vec![stage.home().join("data/baton")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("folder").flatten() {
            let rights = mode(&entry.path());
            assert_eq!(rights & 0o077, 0, "{} is {rights:o}", entry.path().display());
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    let piped = lola.shell("\"$BATON\" log export /dev/stdout").done();
    assert!(piped.out.lines().count() >= 3, "{piped:#?}");
    assert!(Command::new("test").args(["-c", "/dev/stdout"]).status().is_ok());
}

#[test]
fn a_search_that_is_too_long_is_refused_by_its_size() {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let long = "x".repeat(50_100);
    for operation in ["project_search", "task_list", "mail_search", "memory_search", "transcript_search"] {
        let mut input = json!({ "query": long });
        if ["task_list", "mail_search", "memory_search"].contains(&operation) {
            input["project"] = json!("shop");
        }
        if operation == "mail_search" {
            input["identity"] = json!("Lola");
        }
        let response = server.call(operation, &input);
        assert_eq!(response.status, 400, "{operation}: {}", response.body);
        assert_eq!(response.json()["code"], "query_too_long", "{operation}");
        // What is just not too long is looked for, however large it gets in lower case and escaped.
        for most in
            ["x".repeat(8_192), format!("x{}", "%".repeat(8_191)), "İ".repeat(4_096), "a ".repeat(4_096)]
        {
            input["query"] = json!(most);
            let response = server.call(operation, &input);
            assert_eq!(response.status, 200, "{operation}: {}", response.body);
        }
    }
    let path = format!("/api/v1/search?query={long}");
    let response = request(&server.address, "GET", &path, b"", &[]).expect("an answer");
    assert_eq!((response.status, &response.json()["code"]), (400, &json!("query_too_long")));
}
