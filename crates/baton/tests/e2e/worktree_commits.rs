//! Commits of a session on a branch of its own, and applied changes in a folder that is moved or gone, as the next agent is told of them.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::stage::{BATON, Stage, env, text};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 5] = ["wrap", "--summary", "s", "--next", "n"];

/// Bob begins in a worktree, and commits there on its branch.
fn committed_beside(stage: &Stage) -> PathBuf {
    let beside = worktree(stage, "beside", "fix");
    stage.terminal("Bob").within(&beside).json(&["start"]);
    fs::write(beside.join("c"), "c\n").expect("written");
    git(stage, &beside, &["add", "c"]);
    git(stage, &beside, &["commit", "-qm", "c"]);
    beside
}

fn location(stage: &Stage) -> Value {
    stage.terminal("Lola").json(&["pickup", "--dry-run"])["location"].clone()
}

#[test]
fn the_commits_of_a_session_are_found_where_it_wrapped_in_another_folder() {
    for (is_saved, is_gone) in [(true, true), (false, true), (true, false), (false, false)] {
        let what = format!("saved: {is_saved}, gone: {is_gone}");
        let stage = committed();
        let beside = committed_beside(&stage);
        let commit = git(&stage, &beside, &["rev-parse", "HEAD"]);
        if is_saved {
            stage.terminal("Bob").within(&beside).json(&["checkpoint", "--summary", "c"]);
        }
        if is_gone {
            git(&stage, stage.shop(), &["worktree", "remove", "../beside"]);
        }
        stage.terminal("Bob").json(&WRAP);
        let found = location(&stage);
        assert_eq!((&found["root"], &found["branch"]), (&json!(beside), &json!("fix")), "{what}: {found:#}");
        assert_eq!(
            (&found["commit"], &found["is_there"]),
            (&json!(commit.trim()), &json!(!is_gone)),
            "{what}: {found:#}"
        );
    }
}

#[test]
fn the_place_of_commits_that_were_merged_is_where_they_were_merged() {
    let stage = committed();
    committed_beside(&stage);
    git(&stage, stage.shop(), &["merge", "-q", "--ff-only", "fix"]);
    git(&stage, stage.shop(), &["worktree", "remove", "../beside"]);
    stage.terminal("Bob").json(&WRAP);
    let found = location(&stage);
    assert_eq!((&found["root"], &found["is_here"]), (&json!(stage.shop()), &json!(true)), "{found:#}");
}

#[test]
fn the_commits_of_another_one_who_shared_the_worktree_are_not_the_place_of_the_work() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let ann = stage.terminal("Ann").within(&beside);
    stage.terminal("Bob").within(&beside).json(&["start"]);
    ann.json(&["start"]);
    fs::write(beside.join("c"), "c\n").expect("written");
    git(&stage, &beside, &["add", "c"]);
    git(&stage, &beside, &["commit", "-qm", "of Ann"]);
    ann.json(&["checkpoint", "--summary", "c"]);
    stage.terminal("Bob").json(&WRAP);
    let found = location(&stage);
    assert_eq!(found["root"], json!(stage.shop()), "{found:#}");
}

/// Ann leaves changes of two files, and Bob applies them in a worktree.
fn applied_beside(stage: &Stage) -> PathBuf {
    let (from, beside) = (worktree(stage, "from", "one"), worktree(stage, "beside", "fix"));
    let ann = stage.terminal("Ann").within(&from);
    ann.json(&["start"]);
    fs::write(from.join("a.txt"), "changed\n").expect("written");
    fs::write(from.join("n.txt"), "new\n").expect("written");
    ann.json(&[&WRAP[..], &["--with-changes"]].concat());
    stage.terminal("Bob").within(&beside).json(&["pickup", "--apply"]);
    beside
}

fn message_of(wrapped: &Value) -> String {
    text(&wrapped["earlier_changes"][0], "message")
}

#[test]
fn a_part_of_applied_changes_that_was_taken_back_is_named() {
    let stage = committed();
    let beside = applied_beside(&stage);
    git(&stage, &beside, &["checkout", "-q", "a.txt"]);
    let message = message_of(&stage.terminal("Bob").within(&beside).json(&WRAP));
    assert!(message.contains("a part taken back there: a.txt;"), "{message}");
}

#[test]
fn applied_changes_that_a_revert_took_back_are_taken_back() {
    let stage = committed();
    let beside = applied_beside(&stage);
    for args in [&["add", "."][..], &["commit", "-qm", "all"], &["revert", "--no-edit", "HEAD"]] {
        git(&stage, &beside, args);
    }
    let message = message_of(&stage.terminal("Bob").within(&beside).json(&WRAP));
    assert!(message.contains("taken back there, since they are neither"), "{message}");
}

#[test]
fn applied_changes_are_judged_in_a_worktree_that_was_moved() {
    let stage = committed();
    applied_beside(&stage);
    git(&stage, stage.shop(), &["worktree", "move", "../beside", "../moved"]);
    let moved = stage.root().join("moved");
    git(&stage, &moved, &["checkout", "-q", "."]);
    git(&stage, &moved, &["clean", "-fdq"]);
    let message = message_of(&stage.terminal("Bob").within(&moved).json(&WRAP));
    assert!(message.contains("taken back there"), "{message}");
    let places = stage.terminal("Bob").json(&["project", "places"]);
    let paths: Vec<String> =
        places["items"].as_array().expect("rows").iter().map(|row| text(row, "path")).collect();
    assert!(paths.contains(&moved.display().to_string()), "{paths:?}");
    assert!(!paths.contains(&stage.root().join("beside").display().to_string()), "one row: {paths:?}");
}

#[test]
fn the_next_agent_hears_of_changes_that_were_applied_in_a_folder_which_is_gone() {
    for is_merged in [false, true] {
        let stage = committed();
        let beside = applied_beside(&stage);
        if is_merged {
            git(&stage, &beside, &["add", "."]);
            git(&stage, &beside, &["commit", "-qm", "all"]);
            git(&stage, stage.shop(), &["merge", "-q", "--ff-only", "fix"]);
        }
        git(&stage, stage.shop(), &["worktree", "remove", "--force", "../beside"]);
        stage.terminal("Bob").json(&WRAP);
        let picked = stage.terminal("Lola").json(&["pickup"]);
        let earlier = &picked["earlier_changes"];
        match is_merged {
            false => assert_eq!(earlier[0]["gone_folder"], json!(beside), "{picked:#}"),
            true => assert!(earlier.is_null() || earlier == &json!([]), "they are here: {earlier:#}"),
        }
    }
}

#[test]
fn a_working_copy_with_commits_of_its_own_gets_the_work_by_the_commands_as_they_stand() {
    for (what, branch) in [("its own branch", "fix"), ("another branch", "main")] {
        for is_changed in [false, true] {
            let stage = committed();
            let bare = stage.root().join("bare.git");
            git(&stage, stage.root(), &["clone", "-q", "--bare", "shop", "bare.git"]);
            git(&stage, stage.shop(), &["remote", "add", "origin", bare.to_str().expect("utf-8")]);
            let beside = worktree(&stage, "beside", "fix");
            git(&stage, &beside, &["push", "-q", "origin", "fix"]);
            let second = stage.root().join("second");
            git(&stage, stage.root(), &["clone", "-q", "-b", branch, "bare.git", "second"]);
            stage.terminal("Bob").within(&second).json(&["init", "--join", "shop"]);
            fs::write(second.join("own.txt"), "own\n").expect("written");
            git(&stage, &second, &["add", "own.txt"]);
            git(&stage, &second, &["commit", "-qm", "own"]);
            if is_changed {
                fs::write(second.join("own.txt"), "own, changed\n").expect("written");
            }
            let ann = stage.terminal("Ann").within(&beside);
            ann.json(&["start"]);
            git(&stage, &beside, &["commit", "-q", "--allow-empty", "-m", "b"]);
            git(&stage, &beside, &["push", "-q", "origin", "fix"]);
            fs::write(beside.join("a.txt"), "ann\n").expect("written");
            ann.json(&[&WRAP[..], &["--with-changes"]].concat());
            let bob = stage.bare().with("BATON_PROCESS", "b").within(&second);
            let picked = bob.text(&["pickup", "--as", "Bob", "--apply"]);
            let line = picked
                .lines()
                .find(|line| line.contains("NOT applied"))
                .unwrap_or_else(|| panic!("{picked}"));
            assert!(!line.contains("gave along"), "{what}: {line}");
            let commands = line.split('`').skip(1).step_by(2);
            let (after, commands): (Vec<&str>, Vec<&str>) =
                commands.partition(|one| one.ends_with("git stash pop"));
            let is_stash = |one: &&str| one.ends_with("git stash -u");
            assert_eq!(commands.iter().any(is_stash), is_changed, "{what}: {commands:?}");
            assert!(commands.last().is_some_and(|last| last.ends_with(" --as Bob")), "{what}: {commands:?}");
            let script = commands.join(" && ");
            bob.shell(&format!(
                "baton() {{ \"$BATON\" \"$@\"; }}; export GIT_AUTHOR_NAME=b GIT_AUTHOR_EMAIL=b@b GIT_COMMITTER_NAME=b GIT_COMMITTER_EMAIL=b@b; {script}"
            ))
            .done();
            assert_eq!(fs::read_to_string(second.join("a.txt")).expect("applied"), "ann\n", "{what}");
            assert_eq!(after.len(), usize::from(is_changed), "{what}: {line}");
            if is_changed {
                git(&stage, &second, &["commit", "-qam", "ann's"]);
                bob.shell(after[0]).done();
                let own = fs::read_to_string(second.join("own.txt")).expect("brought back");
                assert_eq!(own, "own, changed\n", "{what}");
                assert_eq!(git(&stage, &second, &["branch", "--show-current"]).trim(), branch, "{what}");
            }
        }
    }
}

#[test]
fn a_leftover_and_a_missing_commit_are_told_in_the_order_that_works() {
    let stage = committed();
    let bare = stage.root().join("bare.git");
    git(&stage, stage.root(), &["clone", "-q", "--bare", "shop", "bare.git"]);
    git(&stage, stage.shop(), &["remote", "add", "origin", bare.to_str().expect("utf-8")]);
    let beside = worktree(&stage, "beside", "fix");
    git(&stage, &beside, &["push", "-q", "origin", "fix"]);
    let second = stage.root().join("second");
    git(&stage, stage.root(), &["clone", "-q", "-b", "fix", "bare.git", "second"]);
    stage.terminal("Bob").within(&second).json(&["init", "--join", "shop"]);
    let (ann, bob) = (stage.terminal("Ann").within(&beside), stage.terminal("Bob").within(&second));
    ann.json(&["start"]);
    fs::write(beside.join("a.txt"), "ann\n").expect("written");
    ann.json(&[&WRAP[..], &["--with-changes"]].concat());
    bob.json(&["pickup", "--apply"]);
    for args in [&["commit", "-qam", "b"][..], &["push", "-q", "origin", "fix"]] {
        git(&stage, &second, args);
    }
    fs::write(second.join("a.txt"), "bob\n").expect("written");
    bob.json(&[&WRAP[..], &["--with-changes"]].concat());
    let picked = ann.text(&["pickup", "--apply"]);
    let line = picked.lines().find(|line| line.contains("NOT applied")).unwrap_or_else(|| panic!("{picked}"));
    assert!(
        line.contains("a.txt") && line.contains("does not hold commit") && line.contains("do not commit"),
        "{line}"
    );
    let commands: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
    assert!(
        commands[0].starts_with("git fetch origin fix") && commands[1].ends_with("git stash -u"),
        "{commands:?}"
    );
    let script = commands.join(" && ");
    ann.shell(&format!("baton() {{ \"$BATON\" \"$@\"; }}; {script}")).done();
    assert_eq!(fs::read_to_string(beside.join("a.txt")).expect("applied"), "bob\n");
}

#[test]
fn others_write_while_a_wrap_looks_for_applied_changes() {
    let stage = committed();
    let beside = applied_beside(&stage);
    git(&stage, &beside, &["checkout", "-q", "a.txt"]);
    stage.terminal("Ann").json(&["start"]);
    // This git has another agent write a note before it lists what was committed.
    let bin = stage.root().join("bin");
    fs::create_dir(&bin).expect("folder");
    let (path, log) = (env("PATH").expect("PATH"), stage.root().join("notes"));
    let script = format!(
        "#!/bin/sh\nPATH='{path}'\ncase \"$*\" in *--no-show-signature*)\n  cd '{}' && BATON_IDENTITY=Ann timeout 20 '{BATON}' \
         note meanwhile >/dev/null 2>&1; echo $? >> '{}' ;;\nesac\ncd \"$OLDPWD\" 2>/dev/null\nexec git \"$@\"\n",
        stage.shop().display(),
        log.display()
    );
    let program = bin.join("git");
    fs::write(&program, script).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("executable");
    let bob = stage.terminal("Bob").within(&beside).with("PATH", format!("{}:{path}", bin.display()));
    let message = message_of(&bob.json(&WRAP));
    assert!(message.contains("a part taken back there: a.txt;"), "{message}");
    let codes = fs::read_to_string(&log).expect("git was asked for what was committed");
    assert!(codes.lines().all(|code| code == "0"), "a note waited for the wrap: {codes}");
}
