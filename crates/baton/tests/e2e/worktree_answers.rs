//! What a person is asked and told about the project of a folder, and that it is so: trusted settings, questions of the doctor, undoing.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::picker::{Seat, script};
use crate::stage::{BATON, Stage, Terminal, items, text};
use crate::worktrees::{committed, git, worktree};

fn project_at(terminal: &Terminal<'_>, folder: impl AsRef<Path>) -> String {
    text(&terminal.within(folder).json(&["status"]), "project_id")
}

#[test]
fn a_trusted_setting_names_the_project_in_place_of_the_repository_and_an_untrusted_one_does_not() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    let lib = stage.repo("lib");
    ann.within(&lib).json(&["init"]);
    stage.file("shop/.baton.toml", "project = \"lib\"\n");
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "settings"]);
    let beside = worktree(&stage, "beside", "fix");
    for folder in [&stage.shop(), &beside] {
        assert_eq!(project_at(&ann, folder), "shop", "nobody trusts it");
    }
    ann.json(&["trust", "--yes"]);
    for folder in [&stage.shop(), &beside] {
        assert_eq!(project_at(&ann, folder), "lib", "it is trusted");
    }
    // What is done there is the other project's.
    let baton = ann.within(&beside).json(&["start"]);
    assert_eq!(baton["project_id"], "lib");
    ann.within(&beside).json(&["end"]);
    // The environment has the word before it. Another content has none: the one that is trusted in the main working copy decides.
    assert_eq!(project_at(&ann.with("BATON_PROJECT", "shop"), &beside), "shop");
    fs::write(beside.join(".baton.toml"), "project = \"evil\"\nidentity = \"Evil\"\n").expect("written");
    assert_eq!((project_at(&ann, &beside), project_at(&ann, stage.shop())), ("lib".into(), "lib".into()));
    ann.json(&["untrust"]);
    assert_eq!((project_at(&ann, &beside), project_at(&ann, stage.shop())), ("shop".into(), "shop".into()));
}

/// A worktree whose folder became project `stray` before Baton could know whose it is; with another folder of that one, if it is wanted.
fn stray(has_more: bool) -> (Stage, std::path::PathBuf) {
    let stage = committed();
    let beside = stage.root().join("beside");
    fs::create_dir_all(&beside).expect("a folder");
    let ann = stage.terminal("Ann");
    ann.within(&beside).json(&["init", "--id", "stray"]);
    fs::remove_dir_all(beside.join("docs")).expect("the document is removed");
    worktree(&stage, "beside", "fix");
    if has_more {
        let more = stage.repo("more");
        ann.within(&more).json(&["init", "--join", "stray"]);
    }
    (stage, beside)
}

/// Answers the question of `doctor --fix`, and gives what is printed after it.
fn answered(stage: &Stage, answer: &str) -> String {
    let mut seat = Seat::open(stage.terminal("Doctor").program("script"), &format!("{BATON} doctor --fix"));
    seat.see("[y/N]");
    seat.press(answer);
    seat.rest()
}

#[test]
fn the_doctor_asks_before_it_merges_a_worktree_that_became_a_project_and_says_how_that_is_undone() {
    if !script() {
        return;
    }
    for has_more in [false, true] {
        let (stage, beside) = stray(has_more);
        let ann = stage.terminal("Ann");
        let found = stage.terminal("Doctor").json(&["doctor"])["worktrees"].clone();
        assert_eq!((found.as_array().map(Vec::len), &found[0]["belongs_to"]), (Some(1), &json!("shop")));
        for no in ["n\n", "\n", "what?\n"] {
            answered(&stage, no);
            assert_eq!(project_at(&ann, &beside), "stray", "{no:?}");
        }
        let done = answered(&stage, "y\n");
        assert_eq!(project_at(&ann, &beside), "shop", "{done}");
        let undo = done.split("undo: baton ").nth(1).unwrap_or_else(|| panic!("an undo: {done}"));
        let undo: Vec<&str> = undo.lines().next().expect("a line").split_whitespace().collect();
        assert_eq!(undo[1], if has_more { "split" } else { "merge" }, "{done}");
        if has_more {
            assert_eq!(project_at(&ann, stage.root().join("more")), "stray", "its other folder stays");
        }
        ann.json(&undo);
        assert_eq!(project_at(&ann, &beside), "stray", "{undo:?}");
        stage.assert_sound();
    }
}

#[test]
fn what_removing_a_folder_prints_takes_it_back_with_the_baton_that_waits_there() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let ann = stage.terminal("Ann");
    ann.within(&beside).json(&["start"]);
    let baton = text(&ann.within(&beside).json(&["wrap", "--summary", "s", "--next", "n"]), "baton_id");
    let listed = |terminal: &Terminal<'_>| -> Vec<Value> {
        items(&terminal.json(&["project", "places"])).iter().map(|row| row["path"].clone()).collect()
    };
    let before = listed(&ann);
    let shop = stage.shop();
    for path in [&beside, &shop] {
        let removed = ann.json(&["--project", "shop", "project", "remove", path.to_str().expect("utf-8")]);
        let undo = text(&removed, "undo");
        let (folder, command) = undo.split_once(": ").unwrap_or_else(|| panic!("{undo}"));
        assert_eq!(folder, format!("in {}", path.display()));
        // No baton goes with a folder.
        let waiting = items(&ann.json(&["--project", "shop", "batons"]));
        assert_eq!(waiting[0]["baton_id"], json!(baton), "{waiting:#?}");
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "baton");
        ann.within(path).json(&words[1..]);
        assert_eq!(project_at(&ann, path), "shop");
    }
    let after = listed(&ann);
    assert!(after.contains(&json!(shop)), "{after:?} {before:?}");
    assert_eq!(ann.json(&["pickup"])["baton"]["delta_id"], json!(baton));
    stage.assert_sound();
}
