//! Changes that were applied and taken back are named until they are committed, go on with a later baton or are dropped.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::stage::{Stage, Terminal, text};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];

fn with_changes() -> Vec<&'static str> {
    [&WRAP[..], &["--with-changes"]].concat()
}

fn discard(stage: &Stage, folder: &Path) {
    git(stage, folder, &["reset", "-q", "--hard"]);
    git(stage, folder, &["clean", "-qfd"]);
}

/// Ann leaves changes of two files in a baton, and a worktree in which others go on.
fn left_by_ann(stage: &Stage) -> (PathBuf, String) {
    git(stage, stage.shop(), &["add", "-A"]);
    git(stage, stage.shop(), &["commit", "-q", "--allow-empty", "-m", "two"]);
    let beside = worktree(stage, "beside", "fix");
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/a.txt", "changed\n");
    stage.file("shop/n.txt", "new\n");
    let left = ann.json(&with_changes());
    discard(stage, &stage.shop());
    (beside, text(&left, "baton_id"))
}

/// Lola takes them over without applying them, and leaves changes of her own.
fn passed_by_lola(stage: &Stage, beside: &Path) {
    let lola = stage.terminal("Lola").within(beside);
    lola.json(&["pickup"]);
    fs::write(beside.join("own.txt"), "own\n").expect("written");
    lola.json(&with_changes());
    discard(stage, beside);
}

/// What an answer says of the changes of a baton.
fn message(answer: &Value, baton_id: &str) -> String {
    let earlier = answer["earlier_changes"].as_array().cloned().unwrap_or_default();
    let of_it = earlier.iter().find(|one| text(one, "baton_id") == baton_id);
    of_it.map(|one| text(one, "message")).unwrap_or_default()
}

/// A terminal on another machine with the same ledger, from which the folders of this one cannot be seen.
fn far(stage: &Stage) -> Terminal<'_> {
    stage.terminal("Far").with("BATON_MACHINE", "far").with("BATON_PROJECT", "shop").within(stage.root())
}

/// Checks that the next answers name the files: on another machine, in the folder, and after one more wrap.
#[track_caller]
fn check_named(stage: &Stage, folder: &Path, id: &str, files: &[&str]) {
    let is_named = |what: &str, answer: &Value| {
        let words = message(answer, id);
        assert!(
            files.iter().all(|file| words.contains(file)) && words.contains("taken back"),
            "{what}: {answer:#}"
        );
    };
    let far = far(stage);
    is_named("on another machine", &far.json(&["pickup", "--dry-run"]));
    let picked = stage.terminal("Mia").within(folder).json(&["pickup"]);
    is_named("the next pickup", &picked);
    assert!(text(&picked, "instruction").contains(id), "{picked:#}");
    is_named("the wrap after that", &stage.terminal("Mia").within(folder).json(&WRAP));
    is_named("the pickup after that", &stage.terminal("Rex").json(&["pickup", "--dry-run"]));
}

#[track_caller]
fn check_unnamed(terminal: &Terminal<'_>, id: &str) {
    let picked = terminal.json(&["pickup", "--dry-run"]);
    assert_eq!(message(&picked, id), "", "{picked:#}");
}

#[test]
fn changes_of_an_earlier_baton_that_were_taken_back_are_named_by_each_answer_after_that() {
    for (back, files) in
        [(&["checkout", "-q", "a.txt"][..], &["a.txt"][..]), (&["stash", "-qu"], &["a.txt", "n.txt"])]
    {
        let stage = committed();
        let (beside, id) = left_by_ann(&stage);
        passed_by_lola(&stage, &beside);
        let max = stage.terminal("Max").within(&beside);
        max.json(&["pickup", "--apply"]);
        git(&stage, &beside, &["add", "-A"]);
        git(&stage, &beside, &["commit", "-qm", "own"]);
        max.json(&["changes", "apply", &id]);
        git(&stage, &beside, back);
        let wrapped = max.json(&WRAP);
        let words = message(&wrapped, &id);
        assert!(files.iter().all(|file| words.contains(file)) && words.contains("taken back"), "{wrapped:#}");
        check_named(&stage, &beside, &id, files);
    }
}

#[test]
fn changes_of_the_held_baton_that_were_taken_back_are_named_until_they_are_committed() {
    let stage = committed();
    let (beside, id) = left_by_ann(&stage);
    let max = stage.terminal("Max").within(&beside);
    max.json(&["pickup", "--apply"]);
    git(&stage, &beside, &["checkout", "-q", "a.txt"]);
    assert!(message(&max.json(&WRAP), &id).contains("a.txt"));
    check_named(&stage, &beside, &id, &["a.txt"]);
    fs::write(beside.join("a.txt"), "changed\n").expect("written");
    git(&stage, &beside, &["add", "-A"]);
    git(&stage, &beside, &["commit", "-qm", "all"]);
    check_unnamed(&stage.terminal("Rex").within(&beside), &id);
    stage.terminal("Rex").within(&beside).json(&["pickup"]);
    stage.terminal("Rex").within(&beside).json(&WRAP);
    check_unnamed(&far(&stage), &id);
}

#[test]
fn what_a_later_session_takes_back_of_applied_changes_is_named() {
    let stage = committed();
    let (beside, id) = left_by_ann(&stage);
    let max = stage.terminal("Max").within(&beside);
    max.json(&["pickup", "--apply"]);
    assert!(message(&max.json(&WRAP), &id).contains("left there"));
    let lola = stage.terminal("Lola").within(&beside);
    assert_eq!(message(&lola.json(&["pickup"]), &id), "");
    discard(&stage, &beside);
    let wrapped = lola.json(&WRAP);
    assert!(message(&wrapped, &id).contains("taken back there"), "{wrapped:#}");
    check_named(&stage, &beside, &id, &["a.txt", "n.txt"]);
}

#[test]
fn what_was_taken_back_before_a_wrap_with_changes_is_named_and_what_went_along_is_not() {
    for (is_taken_back, what) in [(true, "taken back"), (false, "gone along")] {
        let stage = committed();
        let (beside, id) = left_by_ann(&stage);
        let max = stage.terminal("Max").within(&beside);
        max.json(&["pickup", "--apply"]);
        if is_taken_back {
            git(&stage, &beside, &["checkout", "-q", "a.txt"]);
        }
        fs::write(beside.join("n.txt"), "further\n").expect("written");
        let wrapped = max.json(&with_changes());
        assert_eq!(message(&wrapped, &id).contains(": a.txt;"), is_taken_back, "{what}: {wrapped:#}");
        // What goes along is put away where it was made, as the wrap says.
        discard(&stage, &beside);
        match is_taken_back {
            true => check_named(&stage, &beside, &id, &["a.txt"]),
            false => check_unnamed(&stage.terminal("Mia").within(&beside), &id),
        }
    }
}

#[test]
fn changes_whose_folder_is_gone_are_not_said_to_be_taken_back_on_another_machine() {
    let stage = committed();
    let (beside, id) = left_by_ann(&stage);
    let lola = stage.terminal("Lola").within(&beside);
    lola.json(&["pickup", "--apply"]);
    git(&stage, &beside, &["add", "-A"]);
    git(&stage, &beside, &["commit", "-qm", "the work"]);
    git(&stage, stage.shop(), &["worktree", "remove", "--force", "../beside"]);
    stage.terminal("Lola").json(&WRAP);
    let words = message(&far(&stage).json(&["pickup", "--dry-run"]), &id);
    assert!(!words.contains("taken back"), "{words}");
    let noted = json!(stage.ledger("shop")).to_string();
    assert!(!noted.contains("were taken back from the working copy"), "{noted}");
}

#[test]
fn a_removed_file_is_named_beside_one_that_was_edited_further() {
    let stage = committed();
    let (beside, id) = left_by_ann(&stage);
    let max = stage.terminal("Max").within(&beside);
    max.json(&["pickup", "--apply"]);
    fs::write(beside.join("a.txt"), "further\n").expect("written");
    fs::remove_file(beside.join("n.txt")).expect("removed");
    let wrapped = max.json(&WRAP);
    assert!(message(&wrapped, &id).contains("a part taken back there: n.txt;"), "{wrapped:#}");
}

#[test]
fn a_wrap_says_of_committed_changes_that_they_are_committed_and_does_not_contradict_itself() {
    let stage = committed();
    let (beside, id) = left_by_ann(&stage);
    let max = stage.terminal("Max").within(&beside);
    max.json(&["pickup", "--apply"]);
    git(&stage, &beside, &["add", "-A"]);
    git(&stage, &beside, &["commit", "-qm", "all"]);
    let words = message(&max.json(&with_changes()), &id);
    assert!(words.contains("and committed there") && !words.contains("left there"), "{words}");
    let stage = committed();
    let (beside, _) = left_by_ann(&stage);
    let max = stage.terminal("Max").within(&beside);
    max.json(&["pickup"]);
    let answer = max.run(&with_changes()).done();
    let words = format!("{}{}", answer.out, answer.err);
    assert!(words.contains("so they go on with this one") && !words.contains("no changes go"), "{words}");
}
