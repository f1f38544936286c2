//! A baton as a file: from one home to another, with what is not committed, through a bare remote.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::stage::{Stage, items, text};
use crate::transcript_copies::{SAID, SECRET, session_with_a_secret};
use crate::worktrees::git;

/// A repository with a bare remote, registered by Ann, and a clone that another home knows under the same name. Nothing that `baton init`
/// writes is committed.
struct TwoHomes {
    here: Stage,
    there: Stage,
    clone: PathBuf,
    file: String,
}

fn two_homes() -> TwoHomes {
    let (here, there) = (Stage::new(), Stage::new());
    let root = here.root().to_owned();
    here.file("shop/a.txt", "a\n");
    git(&here, here.shop(), &["add", "-A"]);
    git(&here, here.shop(), &["commit", "-qm", "one"]);
    let bare = root.join("bare.git").display().to_string();
    git(&here, &root, &["clone", "-q", "--bare", "shop", &bare]);
    git(&here, here.shop(), &["remote", "add", "origin", &bare]);
    git(&here, there.root(), &["clone", "-q", &bare, "copy"]);
    let here = here.registered();
    let clone = there.root().join("copy");
    there.terminal("Donna").within(&clone).json(&["init", "--id", "shop"]);
    let file = root.join("work.baton").display().to_string();
    TwoHomes { here, there, clone, file }
}

fn wrapped(of: &TwoHomes) -> Value {
    let ann = of.here.terminal("Ann");
    ann.json(&["start"]);
    of.here.file("shop/a.txt", "edited\n");
    of.here.file("shop/new/b.txt", "new\n");
    ann.json(&["wrap", "--summary", "half of the cart", "--next", "the test", "--with-changes"])
}

#[test]
fn work_goes_on_in_another_home_with_what_was_not_committed() {
    let homes = two_homes();
    let left = wrapped(&homes);
    let ann = homes.here.terminal("Ann");
    let output = ann.text(&["handoff", "export", "-o", &homes.file]);
    assert!(
        output.contains("baton handoff import") && output.contains("uncommitted files go along"),
        "{output}"
    );
    assert_eq!(ann.json(&["pickup"])["baton"], Value::Null);
    let donna = homes.there.terminal("Donna").within(&homes.clone);
    let imported = donna.json(&["handoff", "import", &homes.file]);
    assert_eq!((&imported["identity"], &imported["has_changes"]), (&json!("Ann"), &json!(true)));
    let picked = donna.json(&["pickup", "--apply"]);
    assert_eq!(picked["changes"]["outcome"]["applied"], true, "{picked:#}");
    assert_eq!(fs::read_to_string(homes.clone.join("new/b.txt")).expect("read"), "new\n");
    assert_eq!(fs::read_to_string(homes.clone.join("a.txt")).expect("read"), "edited\n");
    assert!(text(&picked["baton"], "body").contains("half of the cart"));
    assert_eq!(donna.json(&["handoff", "import", &homes.file])["imported_before"], true);
    // The way back tells the first home who picked it up.
    donna.json(&["wrap", "--summary", "the rest", "--next", "merge"]);
    let back = homes.there.root().join("back.baton").display().to_string();
    donna.json(&["handoff", "export", "-o", &back]);
    let heard = ann.json(&["handoff", "import", &back]);
    assert_eq!(
        (&heard["receipts"][0]["baton_id"], &heard["receipts"][0]["picked_up_by"]),
        (&left["baton_id"], &json!("Donna"))
    );
    assert!(text(&ann.json(&["pickup"])["baton"], "body").contains("the rest"));
    homes.here.assert_sound();
    homes.there.assert_sound();
}

#[test]
fn an_encrypted_file_opens_with_its_key_or_its_passphrase_alone() {
    let homes = two_homes();
    wrapped(&homes);
    let (ann, donna) = (homes.here.terminal("Ann"), homes.there.terminal("Donna").within(&homes.clone));
    let key = text(&donna.json(&["key", "create"]), "public_key");
    ann.json(&["handoff", "export", "-o", &homes.file, "--encrypt-to", &key]);
    let written = fs::read_to_string(&homes.file).expect("read");
    assert!(
        written.starts_with("-----BEGIN AGE ENCRYPTED FILE-----") && !written.contains("cart"),
        "{written}"
    );
    ann.refused(1, "baton_file_locked", &["handoff", "import", &homes.file]);
    let imported = donna.json(&["handoff", "import", &homes.file]);
    assert_eq!(imported["imported_before"], false);
    let (good, bad) =
        (homes.here.file("good", "correct horse\n"), homes.here.file("bad", "battery staple\n"));
    let id = text(
        &ann.json(&["status"])["reminders"].as_array().expect("reminders").last().expect("one").clone(),
        "message",
    );
    let id = id.rsplit("reclaim ").next().and_then(|rest| rest.split('`').next()).expect("an id").to_owned();
    ann.refused(4, "file_exists", &["handoff", "export", &id, "--again", "-o", &homes.file]);
    ann.json(&[
        "handoff",
        "export",
        &id,
        "--again",
        "--overwrite",
        "-o",
        &homes.file,
        "--passphrase-file",
        &good,
    ]);
    donna.refused(1, "baton_file_locked", &["handoff", "import", &homes.file]);
    let import = ["handoff", "import", &homes.file, "--passphrase-file"];
    let refused = donna.refused(1, "baton_file_locked", &[&import[..], &[&bad]].concat());
    assert!(text(&refused, "message").contains("this passphrase does not open it"), "{refused}");
    let refused = donna.refused(4, "file_exists", &[&import[..], &[&good, "--transcript", &bad]].concat());
    assert!(!text(&refused, "hint").contains("--overwrite"), "import has no such option: {refused}");
    let again = donna.json(&["handoff", "import", &homes.file, "--passphrase-file", &good]);
    assert_eq!((&again["imported_before"], &again["baton_id"]), (&json!(true), &imported["baton_id"]));
}

#[test]
fn an_import_whose_transcript_cannot_be_written_is_refused_before_it_imports() {
    let homes = two_homes();
    wrapped(&homes);
    let id = "11111111-aaaa-4000-8000-00000000abcd";
    let line = |kind: &str, content: Value| {
        json!({ "type": kind, "sessionId": id, "cwd": homes.here.shop(), "uuid": kind, "timestamp": "2026-11-30T09:00:00.000Z",
            "version": "2.1.0", "message": { "role": kind, "content": content } })
    };
    let lines =
        [line("user", json!("mend a.txt")), line("assistant", json!([{ "type": "text", "text": "done" }]))];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    homes.here.file(&format!("home/.claude/projects/-shop/{id}.jsonl"), lines);
    homes.here.terminal("Ann").json(&["handoff", "export", "-o", &homes.file, "--transcript", id]);
    let donna = homes.there.terminal("Donna").within(&homes.clone);
    let nowhere = homes.there.root().join("no/such/events").display().to_string();
    let import = ["handoff", "import", &homes.file, "--transcript"];
    let refused = donna.refused(1, "output_unwritable", &[&import[..], &[&nowhere]].concat());
    assert!(text(&refused, "hint").ends_with("nothing was imported"), "{refused}");
    assert_eq!(items(&donna.json(&["batons"])).len(), 0, "nothing waits");
    let events = homes.there.root().join("events").display().to_string();
    assert_eq!(donna.json(&[&import[..], &[&events]].concat())["imported_before"], false);
    assert!(fs::read_to_string(&events).expect("written").contains("mend a.txt"));
}

#[test]
fn a_file_that_cannot_be_written_or_read_changes_nothing() {
    let homes = two_homes();
    let left = wrapped(&homes);
    let ann = homes.here.terminal("Ann");
    let nowhere = homes.here.root().join("no/such/folder.baton").display().to_string();
    ann.refused(1, "output_unwritable", &["handoff", "export", "-o", &nowhere]);
    let preview = ann.json(&["handoff", "export", "--dry-run"]);
    assert_eq!((&preview["baton"]["baton_id"], &preview["dry_run"]), (&left["baton_id"], &json!(true)));
    ann.json(&["handoff", "export", "-o", &homes.file]);
    let whole = fs::read(&homes.file).expect("read");
    let donna = homes.there.terminal("Donna").within(&homes.clone);
    for (name, content, code) in [
        ("cut", &whole[..whole.len() / 2], "baton_file_invalid"),
        ("empty", &[][..], "baton_file_invalid"),
        ("binary", &[0xff, 0xfe, 0x00][..], "baton_file_invalid"),
        ("newer", br#"{"format":"baton","version":99}"#, "baton_file_newer"),
    ] {
        let file = homes.there.file(name, content);
        donna.refused(1, code, &["handoff", "import", &file]);
    }
    donna.refused(3, "file_unreadable", &["handoff", "import", &nowhere]);
    assert_eq!(donna.json(&["status"])["handoffs"], json!([]));
    ann.json(&["handoff", "reclaim", &text(&left, "baton_id")]);
    assert_eq!(ann.json(&["pickup"])["baton"]["delta_id"], left["baton_id"]);
}

#[test]
fn a_transcript_goes_along_where_it_is_asked_for_without_its_secrets_and_a_document_always() {
    let homes = two_homes();
    wrapped(&homes);
    session_with_a_secret(&homes.here);
    let ann = homes.here.terminal("Ann");
    let plain = homes.here.root().join("plain.baton").display().to_string();
    ann.json(&["handoff", "export", "-o", &plain]);
    let read = |file: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(file).expect("read")).expect("one JSON document")
    };
    let without = read(&plain);
    assert_eq!(without.get("transcript"), None, "only where it is asked for");
    let document = text(&without, "document");
    assert!(document.starts_with("# ") && document.contains("half of the cart"), "{document}");
    let again = ["handoff", "export", "--again", "-o", &homes.file, "--transcript", "latest"];
    let baton = text(&without["baton"], "baton_id");
    ann.json(&[&again[..], &[&baton]].concat());
    let written = fs::read_to_string(&homes.file).expect("read");
    assert!(
        written.contains(SAID) && written.contains("The key is") && !written.contains(SECRET),
        "{written}"
    );
    let donna = homes.there.terminal("Donna").within(&homes.clone);
    let events = homes.there.root().join("events.jsonl");
    let path = events.display().to_string();
    donna.json(&["handoff", "import", &homes.file, "--transcript", &path]);
    let lines = fs::read_to_string(&events).expect("written");
    let parsed: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("an event on each line")).collect();
    assert_eq!(json!(parsed), read(&homes.file)["transcript"]);
    assert!(lines.contains(SAID) && !lines.contains(SECRET), "{lines}");
    assert_eq!(fs::metadata(&events).expect("a file").permissions().mode() & 0o777, 0o600);
    // It is to be read, and no session that could go on there.
    donna.refused(3, "transcript_unknown", &["continue", "latest", "--in", "codex", "--print"]);
    let plain_import = homes.there.root().join("none.jsonl").display().to_string();
    donna.json(&["handoff", "import", &plain, "--transcript", &plain_import]);
    assert!(!PathBuf::from(plain_import).exists(), "the file had none");
}

#[test]
fn a_file_is_encrypted_to_an_identity_by_its_name() {
    let homes = two_homes();
    wrapped(&homes);
    let (ann, donna) = (homes.here.terminal("Ann"), homes.there.terminal("Donna").within(&homes.clone));
    let export = ["handoff", "export", "-o", &homes.file, "--encrypt-to"];
    let refused = ann.refused(3, "key_unknown", &[&export[..], &["Donna"]].concat());
    assert!(text(&refused, "hint").contains("baton key list"), "{refused}");
    assert!(!PathBuf::from(&homes.file).exists(), "nothing left the ledger");
    homes.here.terminal("Rex").json(&["key", "create"]);
    ann.json(&[&export[..], &["rex"]].concat());
    let written = fs::read_to_string(&homes.file).expect("read");
    assert!(written.starts_with("-----BEGIN AGE ENCRYPTED FILE-----") && !written.contains("cart"));
    donna.refused(1, "baton_file_locked", &["handoff", "import", &homes.file]);
    // Whoever has the key of that name opens it: here in its own home.
    let rex = homes.here.terminal("Rex");
    let opened = rex.run(&["handoff", "import", &homes.file, "--json"]);
    assert!(
        !opened.out.contains("baton_file_locked") && opened.out.contains("baton_exported"),
        "{opened:#?}"
    );
}

#[test]
fn what_was_given_along_is_known_as_ones_own_when_the_work_comes_back_as_a_file() {
    let homes = two_homes();
    wrapped(&homes);
    let ann = homes.here.terminal("Ann");
    ann.json(&["handoff", "export", "-o", &homes.file]);
    let donna = homes.there.terminal("Donna").within(&homes.clone);
    donna.json(&["handoff", "import", &homes.file]);
    donna.json(&["pickup", "--apply"]);
    fs::write(homes.clone.join("a.txt"), "edited further\n").expect("written");
    donna.json(&["wrap", "--summary", "more", "--next", "n", "--with-changes"]);
    let back = homes.there.root().join("back.baton").display().to_string();
    donna.json(&["handoff", "export", "-o", &back]);
    ann.json(&["handoff", "import", &back]);
    let picked = ann.text(&["pickup", "--apply"]);
    let line = picked.lines().find(|line| line.contains("NOT applied")).unwrap_or_else(|| panic!("{picked}"));
    assert!(line.contains("comes back with the work") && !line.contains("git stash pop"), "{line}");
    git(&homes.here, homes.here.shop(), &["stash", "-qu"]);
    ann.json(&["changes", "apply"]);
    assert_eq!(fs::read_to_string(homes.here.shop().join("a.txt")).expect("read"), "edited further\n");
}
