//! Sessions that only looked, and later work elsewhere, hide no earlier work: on its machine, on another one, and in a file.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::stage::{Stage, Terminal, text};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];

/// A second clone that another machine has.
fn second_clone(stage: &Stage) -> PathBuf {
    git(stage, stage.root(), &["clone", "-q", "shop", "second"]);
    let second = stage.root().join("second");
    stage.terminal("Cem").within(&second).with("BATON_MACHINE", "desk").json(&["init", "--join", "shop"]);
    second
}

fn at_desk<'a>(stage: &'a Stage, name: &'a str, second: &Path) -> Terminal<'a> {
    stage.terminal(name).within(second).with("BATON_MACHINE", "desk")
}

/// Donna commits in a worktree, or leaves a file uncommitted there, and wraps.
fn left_beside(stage: &Stage, is_committed: bool) -> PathBuf {
    let beside = worktree(stage, "beside", "fix");
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    fs::write(beside.join("two"), "2\n").expect("written");
    if is_committed {
        git(stage, &beside, &["add", "two"]);
        git(stage, &beside, &["commit", "-qm", "two"]);
    }
    donna.json(&WRAP);
    beside
}

fn look(terminal: &Terminal<'_>) {
    terminal.json(&["pickup"]);
    terminal.json(&WRAP);
}

fn location(terminal: &Terminal<'_>) -> Value {
    terminal.json(&["pickup", "--dry-run"])["location"].clone()
}

#[test]
fn who_only_looked_hides_no_work_from_another_machine() {
    for is_committed in [true, false] {
        let stage = committed();
        let second = second_clone(&stage);
        let beside = left_beside(&stage, is_committed);
        look(&stage.terminal("Lola"));
        let found = location(&at_desk(&stage, "Cem", &second));
        assert_eq!(found["root"], json!(beside), "{is_committed}: {found:#}");
        assert_eq!(found.get("was_dirty").is_some(), !is_committed, "{found:#}");
    }
}

#[test]
fn who_only_looked_on_another_machine_hides_no_work_here() {
    for is_committed in [true, false] {
        let stage = committed();
        let second = second_clone(&stage);
        let beside = left_beside(&stage, is_committed);
        look(&at_desk(&stage, "Cem", &second));
        let found = location(&stage.terminal("Ann"));
        assert_eq!(
            (&found["root"], &found["is_there"]),
            (&json!(beside), &json!(true)),
            "{is_committed}: {found:#}"
        );
        let there = stage.terminal("Ann").text(&["pickup", "--there"]);
        assert_eq!(there.trim(), beside.display().to_string());
    }
}

#[test]
fn what_was_committed_in_a_folder_of_another_machine_since_is_no_longer_missed() {
    let stage = committed();
    let second = second_clone(&stage);
    let beside = left_beside(&stage, false);
    let lola = stage.terminal("Lola").within(&beside);
    lola.json(&["pickup"]);
    git(&stage, &beside, &["add", "two"]);
    git(&stage, &beside, &["commit", "-qm", "two"]);
    lola.json(&WRAP);
    look(&stage.terminal("Max"));
    let found = location(&at_desk(&stage, "Cem", &second));
    assert_eq!((&found["root"], found.get("was_dirty")), (&json!(beside), None), "{found:#}");
}

#[test]
fn a_packet_that_does_not_say_whether_files_were_committed_hides_none_that_were_not() {
    let stage = committed();
    let second = second_clone(&stage);
    let beside = left_beside(&stage, false);
    let lola = stage.terminal("Lola").within(&beside);
    lola.json(&["pickup"]);
    let packet = json!({ "summary": "s", "next_steps": ["n"], "git": { "branch": "fix" } }).to_string();
    lola.feed(packet.as_bytes(), &["wrap", "--packet", "-", "--json"]).done();
    let found = location(&at_desk(&stage, "Cem", &second));
    assert_eq!((&found["root"], &found["was_dirty"]), (&json!(beside), &json!(true)), "{found:#}");
}

#[test]
fn a_file_names_the_commit_of_the_work_that_a_later_session_only_looked_at() {
    let stage = committed();
    let bare = stage.root().join("bare.git");
    git(&stage, stage.root(), &["init", "-q", "--bare", "bare.git"]);
    git(&stage, stage.shop(), &["remote", "add", "origin", &bare.display().to_string()]);
    git(&stage, stage.shop(), &["push", "-q", "origin", "HEAD"]);
    let beside = left_beside(&stage, true);
    let commit = git(&stage, &beside, &["rev-parse", "HEAD"]);
    look(&stage.terminal("Lola"));
    let exported = stage.terminal("Lola").run(&["handoff", "export", "-o", "work.baton"]);
    let remark = format!("commit {} is on no remote branch", &commit[..7]);
    assert!(exported.err.contains(&remark), "{exported:#?}");
    let file: Value =
        serde_json::from_slice(&fs::read(stage.shop().join("work.baton")).expect("written")).expect("JSON");
    assert_eq!(text(&file["baton"]["location"], "commit"), commit.trim(), "{file:#}");
}

#[test]
fn commits_on_another_branch_are_named_where_later_work_is_not_committed() {
    let stage = committed();
    let beside = left_beside(&stage, true);
    let other = worktree(&stage, "other", "x");
    let lola = stage.terminal("Lola").within(&other);
    lola.json(&["pickup"]);
    fs::write(other.join("u"), "u\n").expect("written");
    lola.json(&WRAP);
    let found = location(&stage.terminal("Max"));
    assert_eq!(found["root"], json!(other), "{found:#}");
    let earlier = &found["earlier"][0];
    assert_eq!(
        (&earlier["root"], &earlier["lacks_commit"]),
        (&json!(beside), &json!(true)),
        "the commit of Donna: {found:#}"
    );
}

#[test]
fn what_was_left_on_the_first_machine_is_said_after_a_checkpoint_on_another_one() {
    let stage = committed();
    let second = second_clone(&stage);
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/a.txt", "changed\n");
    ann.json(&WRAP);
    let ben = at_desk(&stage, "Ben", &second);
    ben.json(&["pickup"]);
    ben.json(&["checkpoint", "--summary", "c"]);
    ben.json(&["end"]);
    git(&stage, stage.root(), &["clone", "-q", "shop", "third"]);
    let third = stage.terminal("Cy").within(stage.root().join("third")).with("BATON_MACHINE", "third");
    third.json(&["init", "--join", "shop"]);
    let found = location(&third);
    assert_eq!((&found["root"], &found["was_dirty"]), (&json!(stage.shop()), &json!(true)), "{found:#}");
}

/// A third machine with a clone of its own.
fn third<'a>(stage: &'a Stage) -> Terminal<'a> {
    git(stage, stage.root(), &["clone", "-q", "shop", "third"]);
    let third = stage.terminal("Cy").within(stage.root().join("third")).with("BATON_MACHINE", "third");
    third.json(&["init", "--join", "shop"]);
    third
}

#[test]
fn what_lay_in_a_folder_before_a_session_that_only_looked_hides_no_work_elsewhere() {
    for (is_committed, stray) in [(true, "scratch.txt"), (false, "scratch.txt"), (false, "a.txt")] {
        let stage = committed();
        let second = second_clone(&stage);
        let beside = left_beside(&stage, is_committed);
        fs::write(second.join(stray), "mine\n").expect("written");
        let max = at_desk(&stage, "Max", &second);
        let picked = max.json(&["pickup"]);
        assert_eq!(picked["location"]["root"], json!(beside), "{picked:#}");
        max.json(&WRAP);
        let found = location(&third(&stage));
        assert_eq!(found["root"], json!(beside), "{is_committed} {stray}: {found:#}");
        assert_eq!(found.get("was_dirty").is_some(), !is_committed, "{found:#}");
        let found = location(&stage.terminal("Ann"));
        assert_eq!((&found["root"], &found["is_there"]), (&json!(beside), &json!(true)), "{found:#}");
    }
}

#[test]
fn what_a_session_edited_in_a_folder_with_files_of_before_is_its_work() {
    let stage = committed();
    let second = second_clone(&stage);
    left_beside(&stage, true);
    fs::write(second.join("scratch.txt"), "mine\n").expect("written");
    let max = at_desk(&stage, "Max", &second);
    max.json(&["pickup"]);
    fs::write(second.join("scratch.txt"), "more\n").expect("written");
    max.json(&WRAP);
    let found = location(&third(&stage));
    assert_eq!((&found["root"], &found["was_dirty"]), (&json!(second), &json!(true)), "{found:#}");
}

#[test]
fn work_that_a_successor_leaves_as_it_lay_in_the_same_folder_is_still_named_there() {
    let stage = committed();
    let second = second_clone(&stage);
    let beside = left_beside(&stage, false);
    look(&stage.terminal("Lola").within(&beside));
    let found = location(&at_desk(&stage, "Cem", &second));
    assert_eq!((&found["root"], &found["was_dirty"]), (&json!(beside), &json!(true)), "{found:#}");
    fs::write(second.join("scratch.txt"), "mine\n").expect("written");
    look(&at_desk(&stage, "Max", &second));
    let found = location(&third(&stage));
    assert_eq!((&found["root"], &found["was_dirty"]), (&json!(beside), &json!(true)), "{found:#}");
}

#[test]
fn what_the_first_session_found_uncommitted_is_its_work() {
    let stage = committed();
    let second = second_clone(&stage);
    stage.file("shop/a.txt", "found\n");
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    ann.json(&WRAP);
    let found = location(&at_desk(&stage, "Cem", &second));
    assert_eq!((&found["root"], &found["was_dirty"]), (&json!(stage.shop()), &json!(true)), "{found:#}");
}
