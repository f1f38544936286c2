//! Operations of git that a wrap named as not finished, and how a later one in the same working copy ends that.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{Stage, Terminal, text};
use crate::worktrees::{committed, git};

const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];
const NAMES: &str = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a \
    GIT_EDITOR=true";

fn follow(terminal: &Terminal<'_>, command: &str) {
    terminal.shell(&format!("{NAMES}; {command}")).done();
}

/// Two branches that changed the same line, and a wrap in the middle of what the command begins.
fn left_in_the_middle<'a>(stage: &'a Stage, begin: &str) -> Terminal<'a> {
    git(stage, stage.shop(), &["switch", "-q", "-c", "other"]);
    stage.file("shop/a.txt", "other\n");
    git(stage, stage.shop(), &["commit", "-qam", "other"]);
    git(stage, stage.shop(), &["switch", "-q", "-"]);
    stage.file("shop/a.txt", "own\n");
    git(stage, stage.shop(), &["commit", "-qam", "own"]);
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    follow(&ann, &format!("{begin}; echo both > a.txt; git add a.txt"));
    let left = ann.json(&[&WRAP[..], &["--with-changes"]].concat());
    assert!(left["changes"].get("unfinished").is_some(), "{begin}: {left:#}");
    ann
}

fn earlier(stage: &Stage) -> Value {
    stage.terminal("Max").json(&["pickup", "--dry-run"])["earlier_operations"].clone()
}

#[test]
fn an_operation_is_over_after_a_clean_wrap_in_its_working_copy_however_it_ended() {
    for (begin, end) in [
        ("git merge other", "git merge --abort"),
        ("git merge other", "rm .git/MERGE_HEAD && git commit -qm squashed"),
        ("git rebase other", "git rebase --continue && git commit -q --amend -m amended"),
        ("git rebase other", "git rebase --abort"),
        ("git cherry-pick other", "git cherry-pick --skip"),
        ("git revert --no-commit HEAD && git rev-parse HEAD > .git/REVERT_HEAD", "git revert --abort"),
    ] {
        let stage = committed();
        let ann = left_in_the_middle(&stage, begin);
        ann.json(&["pickup"]);
        follow(&ann, end);
        assert_eq!(git(&stage, stage.shop(), &["status", "--porcelain", "-uno"]), "", "{end}");
        ann.json(&WRAP);
        assert_eq!(earlier(&stage), Value::Null, "{begin}, {end}");
    }
}

#[test]
fn a_clean_wrap_in_the_middle_of_an_operation_does_not_end_it() {
    let stage = committed();
    let ann = left_in_the_middle(&stage, "git merge other");
    ann.json(&["pickup"]);
    // Resolved to what was there before, so that nothing is changed.
    follow(&ann, "git checkout -q HEAD -- a.txt && test -f .git/MERGE_HEAD");
    ann.json(&WRAP);
    let found = earlier(&stage);
    assert_eq!(found[0]["unfinished"]["operation"], json!("merge"), "{found:#}");
    let message = text(&found[0], "message");
    assert!(message.contains("only if it is not finished yet"), "{message}");
}

#[test]
fn a_file_whose_name_no_command_can_show_is_put_away_or_left_as_printed() {
    for is_secret in [false, true] {
        let stage = committed();
        let ann = stage.terminal("Ann");
        ann.json(&["start"]);
        let secret = format!("key = \"{}{}\"\n", "AKIA", "Q3EGRIFHJ7ZSKWML");
        let name = "line\nbreak \u{1b}[1m*.txt";
        let (odd, plain) = if is_secret { (secret.as_str(), "plain\n") } else { ("odd\n", secret.as_str()) };
        stage.file(&format!("shop/{name}"), odd);
        stage.file("shop/plain.txt", plain);
        for nth in 0..if is_secret { 45 } else { 1 } {
            stage.file(&format!("shop/more{nth}.txt"), "more\n");
        }
        let shown = ann.text(&[&WRAP[..], &["--with-changes"]].concat());
        let advice = shown.lines().find(|line| line.contains("stays here, too")).expect("an advice");
        let command = advice.split('`').nth(1).expect("a command");
        follow(&ann, command);
        let is_there = |file: &str| stage.shop().join(file).exists();
        assert_eq!((is_there(name), is_there("plain.txt")), (is_secret, !is_secret), "{command}");
        ann.json(&["pickup", "--apply"]);
        assert_eq!(fs::read_to_string(stage.shop().join(name)).expect("read"), odd);
        assert_eq!(fs::read_to_string(stage.shop().join("plain.txt")).expect("read"), plain);
    }
}
