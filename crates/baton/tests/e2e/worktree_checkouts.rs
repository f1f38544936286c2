//! What is checked out where work was left, and what is not committed on another machine.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::stage::{Stage, text};
use crate::worktrees::{committed, git, worktree};

fn commit_file(stage: &Stage, folder: &Path, name: &str) {
    fs::write(folder.join(name), "x\n").expect("written");
    git(stage, folder, &["add", name]);
    git(stage, folder, &["commit", "-qm", name]);
}

/// Donna commits on a branch of the repository, and leaves a baton.
fn left_on_a_branch(stage: &Stage) -> PathBuf {
    let shop = stage.shop().to_owned();
    git(stage, &shop, &["switch", "-q", "-c", "fix"]);
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    commit_file(stage, &shop, "one.txt");
    donna.json(&["wrap", "--summary", "half", "--next", "finish"]);
    shop
}

#[test]
fn work_on_a_branch_that_is_not_checked_out_in_its_folder_any_more_is_not_said_to_lie_there() {
    let stage = committed();
    let shop = left_on_a_branch(&stage);
    let lola = stage.terminal("Lola");
    let here = lola.text(&["pickup", "--dry-run"]);
    assert!(here.contains("the work lies here, in"), "{here}");
    git(&stage, &shop, &["switch", "-q", "main"]);
    let shown = lola.text(&["pickup", "--dry-run"]);
    assert!(shown.contains("the work was left here, in"), "{shown}");
    assert!(shown.contains("  checked out here now: branch main, without that commit\n"), "{shown}");
    let place = lola.json(&["pickup", "--dry-run"])["location"].clone();
    assert_eq!(place["advice"], "`git switch fix` brings it back here", "{place:#}");
    let there = lola.run(&["pickup", "--there"]).done();
    assert_eq!(there.out.trim(), shop.to_str().expect("utf-8"));
    assert!(
        there.err.contains("checked out there now: branch main, without that commit; `git switch fix`"),
        "{there:#?}"
    );
    // A detached head with the commit has the work.
    git(&stage, &shop, &["switch", "-q", "--detach", "fix"]);
    let detached = lola.text(&["pickup", "--dry-run"]);
    let with_work = "the work lies here, in";
    assert!(detached.contains(with_work), "{detached}");
    assert!(detached.contains("without a branch, which has that commit\n"), "{detached}");
    // The branch is gone, and its commit is left.
    git(&stage, &shop, &["switch", "-q", "main"]);
    let commit = git(&stage, &shop, &["rev-parse", "fix"]);
    git(&stage, &shop, &["branch", "-qD", "fix"]);
    let advice = text(&lola.json(&["pickup", "--dry-run"])["location"], "advice");
    assert!(advice.contains(&format!("`git switch -c fix {}`", &commit[..12])), "{advice}");
    lola.shell(advice.split('`').nth(1).expect("a command")).done();
    // Merged, it is there under another branch.
    git(&stage, &shop, &["switch", "-q", "main"]);
    git(&stage, &shop, &["merge", "-q", "--no-ff", "-m", "merged", "fix"]);
    let merged = lola.text(&["pickup", "--dry-run"]);
    assert!(merged.contains("checked out here now: branch main, which has that commit\n"), "{merged}");
    assert!(merged.contains(with_work), "{merged}");
}

#[test]
fn commits_on_a_branch_that_later_work_does_not_have_are_named() {
    let stage = committed();
    let shop = left_on_a_branch(&stage);
    git(&stage, &shop, &["switch", "-q", "main"]);
    let lola = stage.terminal("Lola");
    lola.json(&["pickup"]);
    commit_file(&stage, &shop, "two.txt");
    lola.json(&["wrap", "--summary", "second", "--next", "third"]);
    let max = stage.terminal("Max");
    let commit = git(&stage, &shop, &["rev-parse", "fix"]);
    let shown = max.text(&["pickup", "--dry-run"]);
    assert!(shown.contains("the work lies here, in") && shown.contains("branch main"), "{shown}");
    assert!(
        shown.contains(&format!(
            "branch fix at {}; what is checked out in {} does not have it: `git merge {}`",
            &commit[..7],
            shop.display(),
            &commit[..12]
        )),
        "{shown}"
    );
    git(&stage, &shop, &["merge", "-q", "--no-ff", "-m", "merged", "fix"]);
    assert!(!max.text(&["pickup", "--dry-run"]).contains("does not have"), "it is merged");
}

#[test]
fn a_session_that_only_looked_on_another_branch_does_not_hide_the_branch_of_the_work() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    commit_file(&stage, &beside, "one.txt");
    donna.json(&["wrap", "--summary", "half", "--next", "finish"]);
    git(&stage, &beside, &["switch", "-q", "-c", "other", "main"]);
    let lola = stage.terminal("Lola").within(&beside);
    lola.json(&["pickup"]);
    lola.json(&["wrap", "--summary", "looked", "--next", "finish"]);
    let shown = stage.terminal("Max").text(&["pickup", "--dry-run"]);
    assert!(shown.contains("branch fix at"), "{shown}");
    assert!(shown.contains("  checked out there now: branch other, without that commit\n"), "{shown}");
    let advice = format!("go on there: `cd {}`, then `git switch fix`", beside.display());
    assert!(shown.contains(&advice), "{shown}");
    stage.terminal("Max").shell(&format!("cd {} && git switch -q fix", beside.display())).done();
    assert!(
        stage.terminal("Max").within(&beside).text(&["pickup", "--dry-run"]).contains("the work lies here")
    );
}

#[test]
fn an_older_branch_of_the_remote_is_not_advised_for_work_that_was_not_pushed() {
    let stage = committed();
    let bare = stage.root().join("bare.git").display().to_string();
    git(&stage, stage.root(), &["clone", "-q", "--bare", "shop", &bare]);
    git(&stage, stage.shop(), &["remote", "add", "origin", &bare]);
    let beside = worktree(&stage, "beside", "fix");
    git(&stage, &beside, &["push", "-q", "origin", "fix"]);
    git(&stage, stage.shop(), &["fetch", "-q", "origin"]);
    let donna = stage.terminal("Donna").within(&beside);
    donna.json(&["start"]);
    commit_file(&stage, &beside, "one.txt");
    let commit = git(&stage, &beside, &["rev-parse", "HEAD"]);
    donna.json(&["wrap", "--summary", "half", "--next", "finish"]);
    git(&stage, stage.shop(), &["worktree", "remove", "--force", "../beside"]);
    git(&stage, stage.shop(), &["branch", "-qD", "fix"]);
    let advice = text(&stage.terminal("Lola").json(&["pickup", "--dry-run"])["location"], "advice");
    assert!(advice.contains(&format!("`git switch --detach {}`", &commit[..12])), "{advice}");
    assert!(!advice.contains("`git switch fix`"), "{advice}");
}

#[test]
fn what_is_not_committed_on_another_machine_is_told_before_the_work_goes_on() {
    let stage = committed();
    let shop = stage.shop().to_owned();
    let ann = stage.terminal("Ann");
    git(&stage, stage.root(), &["clone", "-q", "shop", "clone"]);
    let ben = stage.terminal("Ben").with("BATON_MACHINE", "benbook").within(stage.root().join("clone"));
    ben.json(&["init", "--join", "shop"]);
    let advice = || text(&ben.json(&["pickup", "--dry-run"])["location"], "advice");
    ann.json(&["start"]);
    ann.json(&["wrap", "--summary", "clean", "--next", "n"]);
    assert!(advice().ends_with("go on here"), "{}", advice());
    ann.json(&["pickup", "--force", "--why", "more"]);
    fs::write(shop.join("a.txt"), "changed\n").expect("written");
    ann.json(&["wrap", "--summary", "half", "--next", "n"]);
    let only_there =
        "; what was not committed is on that machine only: commit and push it there, then go on here";
    assert!(advice().ends_with(only_there), "{}", advice());
    assert_eq!(ben.json(&["pickup", "--dry-run"])["location"]["was_dirty"], json!(true));
    // Who looked at it and gave it back changes nothing about that.
    ben.json(&["pickup"]);
    ben.json(&["end"]);
    assert!(advice().ends_with(only_there), "{}", advice());
    // With the changes in the baton nothing is there only.
    let held = text(&ann.json(&["status"])["handoffs"][0], "baton_id");
    ann.json(&["changes", "keep", &held]);
    assert!(!advice().contains("that machine only"), "{}", advice());
}
