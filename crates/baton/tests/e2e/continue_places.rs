//! Where a session goes on in another tool: in a worktree that was moved, replaced or removed.

use std::fs;

use serde_json::json;

use crate::carry::{NORMAL, called, claude_on, real, stand_in};
use crate::stage::Stage;
use crate::worktrees::{committed, git, worktree};

/// Continues the session in Codex from the first working copy: where it is started, and what is told.
fn continued(stage: &Stage) -> (String, String) {
    let lola = stage.terminal("Lola");
    let args = ["continue", NORMAL, "--in", "codex", "--force", "--why", "the next tool"];
    let run = stand_in(stage, &lola, "codex").run(&args);
    assert_eq!(run.code, 7, "{run:#?}");
    (called(stage).folder, run.err)
}

#[test]
fn a_worktree_that_was_moved_is_entered_where_it_lies_now() {
    for is_known in [true, false] {
        let stage = committed();
        let beside = worktree(&stage, "beside", "fix");
        fs::create_dir(beside.join("src")).expect("folder");
        if is_known {
            stage.terminal("Ann").within(&beside).json(&["start"]);
        }
        claude_on(&stage, &beside.join("src"), "fix");
        git(&stage, stage.shop(), &["worktree", "move", "../beside", "../moved"]);
        let (folder, text) = continued(&stage);
        assert_eq!(folder, real(&stage.root().join("moved/src")), "{is_known} {text}");
        assert!(text.contains(&format!("{} was moved to", beside.join("src").display())), "{text}");
        // Its own tool keeps sessions by folder: it is given the document there.
        let again = stage.terminal("Lola").json(&["continue", NORMAL, "--in", "claude", "--print"]);
        assert_eq!(
            (&again["resumes"], &again["warnings"][0]["kind"]),
            (&json!(false), &json!("folder_moved"))
        );
    }
}

#[test]
fn another_repository_in_the_place_of_the_worktree_is_not_entered() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    stage.terminal("Ann").within(&beside).json(&["start"]);
    claude_on(&stage, &beside, "fix");
    // Another branch in it is the session's own affair.
    git(&stage, &beside, &["switch", "-qc", "other"]);
    assert_eq!(continued(&stage).0, real(&beside));
    git(&stage, &beside, &["switch", "-q", "fix"]);
    git(&stage, stage.shop(), &["worktree", "remove", "--force", "../beside"]);
    git(&stage, stage.root(), &["init", "-q", "beside"]);
    let (folder, text) = continued(&stage);
    assert_eq!(folder, real(&stage.shop()), "{text}");
    assert!(text.contains("holds something else by now") && text.contains("`git switch fix`"), "{text}");
    let shown = stage.terminal("Lola").json(&["continue", NORMAL, "--in", "codex", "--print"]);
    assert_eq!(shown["warnings"][0]["kind"], "folder_replaced");
    // Who names the folder is taken at his word.
    let named = beside.to_str().expect("utf-8");
    let shown = stage.terminal("Lola").json(&["continue", NORMAL, "--in", "codex", "--print", "--cd", named]);
    assert_eq!((&shown["cwd"], &shown["warnings"]), (&json!(named), &json!([])));
}

#[test]
fn of_a_worktree_that_is_gone_the_branch_is_named_that_is_left() {
    let stage = committed();
    for (place, is_known) in [("beside", true), ("shop/.claude/worktrees/x", false)] {
        let path = worktree(&stage, place, if is_known { "fix" } else { "inner" });
        if is_known {
            stage.terminal("Ann").within(&path).json(&["start"]);
        }
        let branch = if is_known { "fix" } else { "inner" };
        claude_on(&stage, &path, branch);
        git(&stage, stage.shop(), &["worktree", "remove", "--force", path.to_str().expect("utf-8")]);
        let (folder, text) = continued(&stage);
        assert_eq!(folder, real(&stage.shop()), "{text}");
        let left = format!("its branch {branch} is left here");
        assert!(text.contains(" is not here; ") && text.contains(&left), "{text}");
        assert!(text.contains(&format!("`git switch {branch}`")), "{text}");
    }
    // What nobody registered is another project's, or none: only the name is known.
    let path = worktree(&stage, "far", "alone");
    claude_on(&stage, &path, "alone");
    git(&stage, stage.shop(), &["worktree", "remove", "--force", "../far"]);
    let (_, text) = continued(&stage);
    assert!(text.contains("its branch was alone"), "{text}");
}
