//! What the answers say of changes that cannot be applied, or lie where they were given along from, works when it is followed.

use std::fs;
use std::path::PathBuf;

use crate::stage::{Stage, text};
use crate::worktree_changes::{edited, second, wrapped};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];

/// The last command that a text names.
fn last_command(text: &str) -> String {
    let commands: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    (*commands.last().unwrap_or_else(|| panic!("no command: {text}"))).to_owned()
}

/// A worktree with a commit of its own, in which Ann has begun a session and changed the file since.
fn half_done(stage: &Stage) -> PathBuf {
    let beside = worktree(stage, "beside", "fix");
    fs::write(beside.join("t"), "t\n").expect("written");
    git(stage, &beside, &["add", "t"]);
    git(stage, &beside, &["commit", "-qm", "t"]);
    stage.terminal("Ann").within(&beside).json(&["start"]);
    fs::write(beside.join("t"), "t\nhalf\n").expect("written");
    beside
}

#[test]
fn what_helps_where_changes_cannot_be_applied_works_as_it_stands() {
    for what in ["changes of its own", "a file in the way", "another branch"] {
        let stage = committed();
        let beside = half_done(&stage);
        let ann = stage.terminal("Ann").within(&beside);
        fs::write(beside.join("u"), "u\n").expect("written");
        ann.json(&[&WRAP[..], &["--with-changes"]].concat());
        if what != "another branch" {
            git(&stage, stage.shop(), &["merge", "-q", "--ff-only", "fix"]);
        }
        match what {
            "changes of its own" => drop(stage.file("shop/a.txt", "own\n")),
            "a file in the way" => drop(stage.file("shop/u", "own\n")),
            _ => {}
        }
        let lola = stage.bare().with("BATON_PROCESS", "p");
        let picked = lola.text(&["pickup", "--as", "Lola", "--apply"]);
        assert!(picked.contains("were NOT applied"), "{what}: {picked}");
        assert!(!picked.contains("in a clean working copy"), "{what}: {picked}");
        let reason = picked.lines().find(|line| line.contains("NOT applied")).expect("a reason");
        let command = last_command(reason);
        lola.shell(&format!("baton() {{ \"$BATON\" \"$@\"; }}; {command}")).done();
        let fresh =
            stage.root().join(format!("shop-{}", git(&stage, &beside, &["rev-parse", "--short=7", "HEAD"])));
        assert_eq!(fs::read_to_string(fresh.join("t")).expect("applied"), "t\nhalf\n", "{what}");
        // The session of the one who picked up has them.
        let left = lola.within(&fresh).text(&["wrap", "--as", "Lola", "--summary", "s", "--next", "n"]);
        assert!(left.contains("applied already where the session worked"), "{what}: {left}");
    }
}

#[test]
fn where_the_commit_of_the_changes_is_checked_out_is_named() {
    let stage = committed();
    let beside = half_done(&stage);
    let ann = stage.terminal("Ann").within(&beside);
    ann.json(&[&WRAP[..], &["--with-changes"]].concat());
    let refused = stage.terminal("Lola").refused(4, "changes_conflict", &["changes", "apply"]);
    let there = format!("`cd {} && baton changes apply ", beside.display());
    assert!(text(&refused, "hint").contains(&there), "{refused:#}");
}

#[test]
fn what_went_along_is_put_away_as_the_answers_say_before_the_work_comes_back() {
    let stage = edited();
    let shown = stage.terminal("Ann").text(&[&WRAP[..], &["--with-changes"]].concat());
    assert!(shown.contains("what goes along stays here, too") && shown.contains("`git stash -u`"), "{shown}");
    let second = second(&stage);
    let lola = stage.terminal("Lola").within(&second);
    lola.json(&["pickup", "--apply"]);
    fs::write(second.join("a.txt"), "further\n").expect("written");
    lola.json(&[&WRAP[..], &["--with-changes"]].concat());
    let ann = stage.terminal("Ann");
    let picked = ann.text(&["pickup", "--apply"]);
    assert!(
        picked.contains("`git stash -u` puts them away") && picked.contains("do not commit it"),
        "{picked}"
    );
    git(&stage, stage.shop(), &["stash", "-qu"]);
    ann.json(&["changes", "apply"]);
    assert_eq!(fs::read_to_string(stage.shop().join("a.txt")).expect("read"), "further\n");
}

#[test]
fn changes_that_were_taken_back_are_not_said_to_lie_there() {
    for is_committed in [false, true] {
        let stage = edited();
        wrapped(&stage, &["--with-changes"]);
        let second = second(&stage);
        let lola = stage.terminal("Lola").within(&second);
        lola.json(&["pickup", "--apply"]);
        if is_committed {
            git(&stage, &second, &["add", "-A"]);
            git(&stage, &second, &["commit", "-qm", "done"]);
        } else {
            git(&stage, &second, &["reset", "-q", "--hard"]);
            git(&stage, &second, &["clean", "-qfd"]);
        }
        let shown = lola.text(&["wrap", "--summary", "s", "--next", "n"]);
        let (left, back) = (shown.contains("and left there"), shown.contains("and taken back there"));
        assert_eq!((left, back), (is_committed, !is_committed), "{shown}");
    }
}
