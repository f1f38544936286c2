//! Writers of the Beads file that are stopped or killed: the one holds up no command for long, and what the other left is taken for
//! nobody's change.
#![cfg(unix)]

use std::fs::File;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::beads_verbs::{bd, bd_json, made, titles};
use crate::stage::{Answer, Stage};

/// A repository with a mirrored file, and the lock of its folder, held by this process.
fn locked(stage: &Stage) -> File {
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    made(&stage.terminal("Ann"), &["first"]);
    let folder = File::open(stage.shop().join(".beads")).expect("a folder");
    folder.try_lock().expect("free");
    folder
}

/// Runs a command that has to end before this.
fn within(limit: Duration, run: impl FnOnce() -> Answer) -> Answer {
    let began = Instant::now();
    let answer = run();
    assert!(began.elapsed() < limit, "{:?}: {answer:?}", began.elapsed());
    answer
}

#[test]
fn a_held_lock_of_the_file_ends_every_wait_and_is_named_with_its_holder() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let lock = locked(&stage);
    let names_it = |answer: &Answer| {
        assert!(answer.err.contains("[beads_locked]"), "{answer:?}");
        assert!(answer.err.contains(".beads is held by"), "{answer:?}");
        #[cfg(target_os = "linux")]
        assert!(answer.err.contains(&format!("process {}", std::process::id())), "{answer:?}");
    };
    // What an agent waits for at its beginning waits least.
    let primed = within(Duration::from_secs(4), || bd(&ann, &["prime"])).done();
    assert!(primed.out.contains("bd ready"), "{primed:?}");
    names_it(&primed);
    // The ledger answers, and takes what is written; one command waits once.
    let limit = Duration::from_secs(9);
    let ready = within(limit, || bd(&ann, &["ready"])).done();
    assert!(ready.out.contains("first"), "{ready:?}");
    names_it(&ready);
    let second = within(limit, || bd(&ann, &["create", "second"])).done();
    names_it(&second);
    assert_eq!(second.err.matches("beads_locked").count(), 1, "{second:?}");
    names_it(&within(limit, || bd(&ann, &["ready", "--claim"])).done());
    // What is about the file itself cannot be done.
    let sync = within(limit, || bd(&ann, &["sync", "--json"]));
    assert_eq!((sync.code, sync.json()["code"].clone()), (1, json!("beads_locked")), "{sync:?}");
    drop(lock);
    assert_eq!(titles(&bd_json(&ann, &["list", "--sort", "id"])).len(), 2);
    let text = std::fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("a file");
    bd(&ann, &["sync"]).done();
    let synced = std::fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("a file");
    assert!(synced.contains("second"), "{text}\n{synced}");
}

#[test]
fn a_session_hook_answers_in_time_while_the_file_is_locked() {
    let stage = Stage::ready();
    let _lock = locked(&stage);
    let ann = stage.terminal("Ann");
    let output =
        within(Duration::from_secs(4), || ann.feed(b"{}", &["hook", "--agent", "claude", "session-start"]));
    assert!(output.out.contains("Open tasks: 1"), "{output:?}");
}

#[test]
fn what_a_killed_writer_had_begun_is_no_change_of_another_side() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let ann = stage.terminal("Ann");
    let id = made(&ann, &["begun"]);
    for kill in 0..40_u64 {
        let title = format!("killed {kill}");
        let mut writer = ann.command(&["bd", "update", &id, "--title", &title]).spawn().expect("started");
        // From before it writes until after it has written.
        std::thread::sleep(Duration::from_millis(10 + kill * 2));
        writer.kill().expect("killed");
        writer.wait().expect("gone");
        let next = bd(&ann, &["update", &id, "--title", &format!("next {kill}")]).done();
        assert!(!next.err.contains("both sides"), "{kill}: {next:?}");
    }
    let file = std::fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("a file");
    assert!(file.contains("next 39") && file.lines().count() == 1, "{file}");
}
