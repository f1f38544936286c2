//! Stores that cannot be used as they are: said clearly, nothing half written, nothing lost.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::http::Server;
use crate::stage::{Answer, BATON, Stage, env, skipped, text};

/// A stage whose store, a file, holds Lola's open session.
fn at_work() -> Stage {
    let stage = Stage::in_a_file("what is wrong with the file, its folder or its lock").registered();
    stage.terminal("Lola").json(&["start"]);
    stage
}

/// A copy of the store in one file, to be damaged: the binary leaves in a hurry, so its last changes are in the log.
fn copy(stage: &Stage) -> PathBuf {
    let copy = stage.root().join("copy.db");
    stage.terminal("Lola").json(&["backup", copy.to_str().expect("text")]);
    copy
}

fn beside(store: &Path, suffix: &str) -> PathBuf {
    format!("{}{suffix}", store.display()).into()
}

#[test]
fn a_store_from_a_newer_version_is_left_alone() {
    let stage = at_work();
    // SQLite keeps `user_version` big-endian in bytes 60 to 63 of the header.
    let copy = copy(&stage);
    let file = fs::File::options().write(true).open(&copy).expect("store");
    file.write_all_at(&9_999_u32.to_be_bytes(), 60).expect("patched");
    let before = fs::read(&copy).expect("store");
    let lola = stage.terminal("Lola").with("BATON_STORE", &copy);
    for call in [
        &["start"][..],
        &["status"],
        &["wrap", "--summary", "x"],
        &["pickup"],
        &["doctor"],
        &["transcripts", "list"],
    ] {
        let error = lola.refused(1, "store_newer", call);
        assert_eq!(error["found"], 9_999, "{error}");
    }
    assert!(fs::read(&copy).expect("store") == before, "nothing was touched");
}

#[test]
fn a_corrupt_store_is_left_alone() {
    let stage = at_work();
    for garbage in
        [vec![b'x'; 4096], b"SQLite format 3\0 and then nothing of the sort".to_vec(), b"{}".to_vec()]
    {
        let path = stage.file("bad/baton.db", &garbage);
        let bad = stage.terminal("Lola").with("BATON_STORE", &path);
        for call in [&["start"][..], &["status"], &["wrap", "--summary", "x"], &["doctor"]] {
            bad.refused(1, "store_corrupt", call);
        }
        assert_eq!(fs::read(&path).expect("still there"), garbage, "nothing was touched");
    }
    // A page in the middle is gone: reads may still work, but the doctor says so.
    let target = copy(&stage);
    let doctor = stage.terminal("Doctor").with("BATON_STORE", &target);
    assert_eq!(doctor.json(&["doctor"])["sound"], true);
    let size = fs::metadata(&target).expect("store").size();
    let file = fs::File::options().write(true).open(&target).expect("store");
    for page in 2..size / 4096 {
        file.write_all_at(&[0xa5; 4096], page * 4096).expect("damaged");
    }
    fs::remove_file(beside(&target, "-wal")).ok();
    let verdict = doctor.run(&["doctor", "--json"]);
    assert_eq!(verdict.code, 1, "{verdict:#?}");
    let report: serde_json::Value = serde_json::from_str(&verdict.out).expect("one JSON document");
    let code = &report["error"]["code"];
    assert!(code == "store_unsound" || code == "store_corrupt", "{report:#}");
}

#[test]
fn a_store_that_cannot_be_opened_names_its_path() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    let folder = stage.root().join("folder");
    fs::create_dir(&folder).expect("folder");
    let below_a_file = stage.file("plain", "x") + "/baton.db";
    for path in [folder.to_str().expect("text"), "/proc/baton.db", "/proc/new/baton.db", &below_a_file] {
        for call in [&["init"][..], &["start"], &["doctor"]] {
            let answer = lola.with("BATON_STORE", path).run(&[call, &["--json"]].concat());
            let error = answer.json()["error"].take();
            // What begins no store looks whether there is one.
            if call != ["init"] && error["code"] == "store_missing" {
                assert!(answer.code == 3 && text(&error, "message").contains("BATON_STORE"), "{error}");
                continue;
            }
            assert!(
                ["store_unopenable", "store_readonly"].contains(&text(&error, "code").as_str()),
                "{path}: {error}"
            );
            assert_eq!(answer.code, 1, "{path}");
            assert!(
                text(&error, "message").contains(path.split("/baton.db").next().expect("start")),
                "{error}"
            );
        }
    }
    for url in ["postgres://nobody:hunter2secret@127.0.0.1:1/none", "postgres://"] {
        let answer = lola.run(&["--store", url, "status", "--json"]);
        assert!(matches!(answer.code, 1 | 5) && !answer.out.contains("hunter2secret"), "{answer:#?}");
    }
}

/// Two stores look alike until something is missing in one of them.
#[test]
fn a_refusal_names_the_store_in_which_something_was_not_found() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    let store = text(&lola.json(&["doctor"]), "store");
    for call in [&["pickup", "--handoff", "0"][..], &["task", "show", "none"], &["wrap", "--summary", "x"]] {
        let answer = lola.run(&[call, &["--json"]].concat());
        assert_eq!(answer.json()["error"]["store"], store.as_str(), "{answer:#?}");
    }
    let output = lola.run(&["task", "show", "none"]);
    assert!(output.err.contains(&format!("\n  store: {store}\n")), "{output:#?}");
    // What is wrong with the call itself is wrong in any store.
    let output = lola.run(&["run", "--agent", "vim"]);
    assert!(!output.err.contains("store: "), "{output:#?}");
}

/// Runs a command where its user may not write: root becomes somebody else, everybody else takes the right from himself.
fn without_rights(stage: &Stage, args: &str) -> Option<Answer> {
    let call = format!("\"$BATON\" {args} --json");
    let script = format!(
        r#"data="$XDG_DATA_HOME"
        export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
        chmod -R a+rX "$data/../.." && chmod -R a-w "$data" || exit 77
        if [ "$(id -u)" = 0 ]; then
            them="setpriv --reuid=65534 --regid=65534 --clear-groups"
            $them "$BATON" --version >/dev/null 2>&1 || exit 77
            $them {call}
        else
            {call}
        fi
        code=$?
        chmod -R u+w "$data"
        exit $code"#
    );
    let answer = stage.terminal("Lola").shell(&script);
    if answer.code == 77 {
        skipped("no other user can run the binary here");
    }
    Some(answer).filter(|answer| answer.code != 77)
}

#[test]
fn a_read_only_folder_is_said_to_be_one() {
    let stage = at_work();
    let before = stage.deltas();
    for args in ["start --as Ann", "wrap --summary x", "note x", "pickup --as Ann"] {
        let Some(answer) = without_rights(&stage, args) else { return };
        answer.refused(1, "store_readonly");
    }
    let new = stage.store().with_file_name("new.db");
    let Some(answer) = without_rights(&stage, &format!("init --store {}", new.display())) else { return };
    assert_eq!(answer.code, 1, "{answer:#?}");
    let code = answer.json()["error"]["code"].take();
    assert!(code == "store_readonly" || code == "store_unopenable", "{answer:#?}");
    assert_eq!(stage.deltas(), before);
    stage.assert_sound();
}

#[test]
fn a_full_disk_loses_nothing() {
    let stage = Stage::new();
    let disk = stage.root().join("disk");
    fs::create_dir(&disk).expect("folder");
    let large = format!("{{\"summary\":\"large\",\"metadata\":{{\"fill\":\"{}\"}}}}", "x".repeat(200_000));
    let packet = stage.file("large.json", large);
    let script = format!(
        r#"mount -t tmpfs -o size=3m none "{disk}" 2>/dev/null || exit 77
        export BATON_STORE="{disk}/baton.db"
        "$BATON" init >/dev/null && "$BATON" start >/dev/null || exit 1
        cat /dev/zero > "{disk}/fill" 2>/dev/null
        "$BATON" wrap --packet "{packet}" --json; echo "exit $?"
        "$BATON" status --json >/dev/null 2>&1; test $? -le 1 || exit 2
        rm "{disk}/fill"
        "$BATON" doctor >/dev/null || exit 3
        "$BATON" log --kind wrap | grep -q . && exit 4
        "$BATON" wrap --packet "{packet}" >/dev/null || exit 5
        BATON_IDENTITY=Donna BATON_PROCESS=d "$BATON" pickup --json | grep -q '"large"' || exit 6
        "$BATON" doctor >/dev/null || exit 7"#,
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
    assert_eq!(answer.code, 0, "{answer:#?}");
    assert!(answer.out.contains("\"disk_full\"") && answer.out.contains("exit 1\n"), "{answer:#?}");
}

/// Holds the writers' lock of the store for so many seconds; `None` where there is no `flock`.
fn hold(stage: &Stage, seconds: &str) -> Option<std::process::Child> {
    let lock = beside(&stage.store(), "-lock");
    let taken = stage.root().join("taken");
    let script = format!("touch '{}'; exec sleep {seconds}", taken.display());
    let child = Command::new("flock").arg(lock).args(["-c", &script]).stdout(Stdio::null()).spawn().ok();
    if child.is_none() {
        skipped("no flock to lock the store with");
    }
    while child.is_some() && !taken.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn a_writer_waits_for_its_turn() {
    let stage = at_work();
    let Some(mut holder) = hold(&stage, "0.7") else { return };
    let begin = Instant::now();
    stage.terminal("Lola").json(&["note", "after you"]);
    assert!(begin.elapsed() > Duration::from_millis(300), "it waited");
    holder.wait().expect("ends");
}

#[test]
fn a_store_that_stays_locked_is_said_to_be_busy() {
    if env("BATON_E2E_KILLS").is_none() {
        return skipped("waiting for a lock in vain takes its time: set BATON_E2E_KILLS");
    }
    let stage = at_work();
    let before = stage.deltas();
    let Some(mut holder) = hold(&stage, "90") else { return };
    let begin = Instant::now();
    let lola = stage.terminal("Lola");
    lola.refused(4, "store_busy", &["note", "never"]);
    let waited = begin.elapsed();
    lola.json(&["status"]);
    holder.kill().expect("killed");
    holder.wait().expect("ends");
    assert!(waited < Duration::from_secs(45), "bounded: {waited:?}");
    assert_eq!(stage.deltas(), before);
}

#[test]
fn a_limit_of_the_size_of_files_is_an_error_and_no_death_by_signal() {
    let stage = Stage::in_a_file("the limit is of the store's file").registered();
    stage.terminal("Lola").json(&["start"]);
    let large = format!(r#"{{"summary": "large", "notes": "{}"}}"#, "x".repeat(200_000));
    let packet = stage.file("large.json", large);
    // In blocks of 512 bytes: less than the packet, more than the files that are written along with it.
    let script = format!(r#"ulimit -f 200; "$BATON" wrap --packet "{packet}"; echo "exit $?""#);
    let mut command = stage.terminal("Lola").program("sh");
    command.args(["-c", &script]).env("BATON", BATON).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("sh runs");
    let answer = Answer::of(child, &["file limit"]);
    assert_eq!(answer.out.lines().last(), Some("exit 1"), "{answer:#?}");
    assert!(answer.err.contains("error: "), "{answer:#?}");
    // Nothing was lost, and without the limit it goes on.
    stage.terminal("Lola").json(&["wrap", "--packet", &packet]);
    stage.assert_sound();
}

#[test]
fn a_copy_of_a_store_that_a_server_uses_says_so() {
    let stage = Stage::in_a_file("a file is copied").registered();
    let (lola, store) = (stage.terminal("Lola"), stage.store().display().to_string());
    let copy = |name: &str| stage.root().join(name).display().to_string();
    let quiet = lola.run(&["store", "copy", &store, &copy("before.db")]);
    assert!(quiet.code == 0 && !quiet.err.contains("a server runs"), "{quiet:#?}");
    let server = Server::start(&stage.terminal("Server"));
    let begin = Instant::now();
    // It takes its duties a moment after it answers.
    let warned = (0..).map(|n| lola.run(&["store", "copy", &store, &copy(&format!("during-{n}.db"))]));
    let mut warned = warned.take_while(|_| begin.elapsed() < Duration::from_secs(20));
    assert!(warned.any(|answer| answer.err.contains("a server runs on the store that was copied")));
    drop(server);
}
