//! Working copies in which something is half done: an application of changes that was killed, or an operation of git's.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::stage::{Stage, text};
use crate::worktrees::{committed, git, worktree};

const WRAP: [&str; 6] = ["wrap", "--summary", "s", "--next", "n", "--with-changes"];

/// A second working copy in which the changes of the first were applied by a process that was killed before its last file: the first is
/// written, the temporary file of the second is there, git's lock is held, the journal is valid.
fn killed_half_way(stage: &Stage) -> PathBuf {
    let (beside, _) = killed_with_baton(stage);
    beside
}

/// The same, with the baton whose changes they are.
fn killed_with_baton(stage: &Stage) -> (PathBuf, String) {
    git(stage, stage.shop(), &["add", "-A"]);
    git(stage, stage.shop(), &["commit", "-q", "--allow-empty", "-m", "two"]);
    stage.file("shop/a.txt", "later\n");
    stage.file("shop/new/b.txt", "new\n");
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    let baton = text(&ann.json(&WRAP), "baton_id");
    let beside = worktree(stage, "beside", "fix");
    let git_dir = PathBuf::from(git(stage, &beside, &["rev-parse", "--absolute-git-dir"]));
    let before = fs::read(git_dir.join("index")).expect("an index");
    stage.terminal("Lola").within(&beside).json(&["pickup", "--apply"]);
    let journal = git_dir.join("baton-apply");
    for folder in ["old", "new"] {
        fs::create_dir_all(journal.join(folder)).expect("folder");
    }
    let write = |path: &Path, bytes: &[u8]| fs::write(path, bytes).expect("written");
    fs::copy(git_dir.join("index"), journal.join("index")).expect("copied");
    fs::hard_link(journal.join("index"), git_dir.join("index.lock")).expect("linked");
    write(&journal.join("index.old"), &before);
    write(&git_dir.join("index"), &before);
    write(&journal.join("old/0"), b"a\n");
    write(&journal.join("new/0"), b"later\n");
    write(&journal.join("new/1"), b"new\n");
    let plan = json!([
        { "path": b"a.txt", "old": "File", "new": "File" },
        { "path": b"new/b.txt", "old": null, "new": "File" },
    ]);
    write(&journal.join("plan"), plan.to_string().as_bytes());
    write(&journal.join("baton"), baton.as_bytes());
    fs::rename(beside.join("new/b.txt"), beside.join("new/.baton-apply-1.tmp")).expect("moved");
    (beside, baton)
}

#[test]
fn an_interrupted_application_is_settled_whatever_the_batons_have() {
    for is_dropped_elsewhere in [false, true] {
        let stage = committed();
        let (beside, baton) = killed_with_baton(&stage);
        let lola = stage.terminal("Lola").within(&beside);
        let settled = if is_dropped_elsewhere {
            stage.terminal("Ann").json(&["changes", "drop", &baton]);
            text(&lola.json(&["changes", "apply"]), "settled")
        } else {
            lola.run(&["changes", "drop", &baton]).done().err
        };
        assert!(settled.contains(&baton) && settled.contains("is finished now"), "{settled}");
        assert_eq!(fs::read_to_string(beside.join("new/b.txt")).expect("finished"), "new\n");
        assert!(!beside.join("new/.baton-apply-1.tmp").exists());
        assert!(!git(&stage, &beside, &["status", "--porcelain"]).is_empty());
        lola.refused(3, "changes_none", &["changes", "apply"]);
    }
}

#[test]
fn a_wrap_where_an_application_was_killed_takes_all_of_it_and_no_temporary_file() {
    let stage = committed();
    let beside = killed_half_way(&stage);
    let lola = stage.terminal("Lola").within(&beside);
    let rex = stage.terminal("Rex").within(&beside);
    for command in ["status", "start"] {
        let output = rex.run(&[command]).done();
        assert!(output.err.contains("`baton changes apply` finishes it"), "{command} says so: {output:#?}");
    }
    let output = lola.run(&WRAP).done();
    assert!(output.err.contains("was interrupted") && !output.out.contains("baton-apply"), "{output:#?}");
    let shown = lola.json(&["changes", "show"]);
    assert_eq!(shown["changes"]["files"], json!(["a.txt", "new/b.txt"]), "{shown:#}");
    assert_eq!(shown["changes"].get("left_out"), None, "{shown:#}");
    assert_eq!(fs::read_to_string(beside.join("new/b.txt")).expect("finished"), "new\n");
    assert!(!beside.join("new/.baton-apply-1.tmp").exists());
    assert!(!git(&stage, &beside, &["status", "--porcelain"]).contains("baton"));
    stage.assert_sound();
}

#[test]
fn a_wrap_where_files_were_edited_after_a_kill_is_refused_and_the_session_goes_on() {
    let stage = committed();
    let beside = killed_half_way(&stage);
    fs::write(beside.join("a.txt"), "mine\n").expect("written");
    let lola = stage.terminal("Lola").within(&beside);
    let refused = lola.refused(4, "apply_interrupted", &WRAP);
    assert!(text(&refused, "hint").contains("put back what was there before"), "{refused}");
    assert_eq!(fs::read_to_string(beside.join("a.txt")).expect("read"), "mine\n");
    lola.json(&["checkpoint", "--summary", "still at work"]);
}

#[test]
fn a_file_that_is_named_like_a_temporary_one_is_left_out_and_named() {
    let stage = committed();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    stage.file("shop/sub/.baton-apply-7.tmp", "x\n");
    stage.file("shop/sub/.baton-apply-x.tmp", "x\n");
    let left = ann.json(&WRAP)["changes"].clone();
    assert_eq!(left["files"], json!(["sub/.baton-apply-x.tmp"]));
    assert_eq!(left["left_out"][0]["path"], "sub/.baton-apply-7.tmp", "{left:#}");
}

/// Two branches that changed the same line, the other one merged with its conflict resolved, not committed. Returns the other commit.
fn resolved_merge(stage: &Stage, folder: &Path) -> String {
    git(stage, folder, &["switch", "-q", "-c", "other"]);
    fs::write(folder.join("a.txt"), "other\n").expect("written");
    git(stage, folder, &["commit", "-qam", "other"]);
    let other = git(stage, folder, &["rev-parse", "HEAD"]);
    git(stage, folder, &["switch", "-q", "-"]);
    fs::write(folder.join("a.txt"), "own\n").expect("written");
    git(stage, folder, &["commit", "-qam", "own"]);
    // The conflict is what a person then resolves.
    let program = std::process::Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "merge", "-q", "other"])
        .env("HOME", stage.home())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("git runs");
    assert!(!program.status.success(), "a conflict");
    fs::write(folder.join("a.txt"), "both\n").expect("written");
    other
}

#[test]
fn a_merge_that_is_resolved_and_not_committed_travels_with_the_name_of_its_other_parent() {
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let other = resolved_merge(&stage, &beside);
    let ann = stage.terminal("Ann").within(&beside);
    ann.json(&["start"]);
    ann.refused(4, "working_copy_unmerged", &WRAP);
    git(&stage, &beside, &["add", "a.txt"]);
    let output = ann.text(&WRAP);
    assert!(output.contains("in the middle of a merge") && output.contains(&other), "{output}");
    let shown = ann.json(&["changes", "show"])["changes"].clone();
    assert_eq!(shown["unfinished"], json!([{ "operation": "merge", "commits": [other] }]), "{shown:#}");
    // The receiver hears it, and what it is told to do brings the merge back.
    let there = stage.root().join("there");
    let there_text = there.display().to_string();
    git(&stage, stage.shop(), &["worktree", "add", "-q", "--detach", &there_text, "fix"]);
    let lola = stage.terminal("Lola").within(&there);
    let picked = lola.json(&["pickup", "--apply"]);
    let first = text(&picked, "instruction");
    assert!(first.contains("in the middle of a merge") && first.contains(&other), "{first}");
    assert_eq!(picked["changes"]["unfinished"][0]["commits"], json!([other]));
    let command = first.split('`').find(|part| part.contains("MERGE_HEAD")).expect("a command").to_owned();
    lola.shell(&command).done();
    git(&stage, &there, &["commit", "-qm", "merged"]);
    let parents = git(&stage, &there, &["show", "-s", "--format=%P", "HEAD"]);
    assert!(parents.split(' ').any(|parent| parent == other), "{parents}");
    assert!(lola.text(&["changes", "show"]).contains("in the middle of a merge"));
    stage.assert_sound();
}

fn unfinished(stage: &Stage) -> Value {
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    ann.json(&WRAP)["changes"]["unfinished"].clone()
}

#[test]
fn what_git_was_in_the_middle_of_is_named_for_every_operation() {
    let stage = committed();
    let shop = stage.shop();
    let other = resolved_merge(&stage, &shop);
    git(&stage, &shop, &["reset", "-q", "--hard"]);
    assert_eq!(unfinished(&stage), Value::Null, "nothing is under way");
    git(&stage, &shop, &["cherry-pick", "--no-commit", "-X", "theirs", "other"]);
    let head =
        |name: &str, id: &str| fs::write(shop.join(".git").join(name), format!("{id}\n")).expect("written");
    head("CHERRY_PICK_HEAD", &other);
    assert_eq!(unfinished(&stage), json!([{ "operation": "cherry_pick", "commits": [other] }]));
    fs::rename(shop.join(".git/CHERRY_PICK_HEAD"), shop.join(".git/REVERT_HEAD")).expect("moved");
    assert_eq!(unfinished(&stage), json!([{ "operation": "revert", "commits": [other] }]));
    git(&stage, &shop, &["reset", "-q", "--hard"]);
    git(&stage, &shop, &["bisect", "start", "HEAD"]);
    assert_eq!(unfinished(&stage), json!([{ "operation": "bisect" }]), "also where nothing is changed");
    let picked = stage.terminal("Reader").text(&["pickup", "--dry-run"]);
    assert!(picked.contains("in the middle of a bisect") && !picked.contains("files: \n"), "{picked}");
    git(&stage, &shop, &["bisect", "reset"]);
    let onto = git(&stage, &shop, &["rev-parse", "HEAD~1"]);
    git(&stage, &shop, &["-c", "sequence.editor=sed -i s/^pick/edit/", "rebase", "-q", "-i", "HEAD~1"]);
    stage.file("shop/a.txt", "in a rebase\n");
    let found = unfinished(&stage);
    assert_eq!(found[0]["operation"], "rebase", "{found:#}");
    assert_eq!(found[0]["commits"], json!([onto]), "{found:#}");
    assert!(text(&found[0], "branch") == "main", "{found:#}");
}

/// Ann gives a resolved merge along out of the main folder, and Lola continues it in a worktree without its state. Returns the worktree
/// and the other parent.
fn continued_merge(stage: &Stage) -> (PathBuf, String) {
    let shop = stage.shop();
    let other = resolved_merge(stage, &shop);
    git(stage, &shop, &["add", "a.txt"]);
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    ann.json(&WRAP);
    let there = stage.root().join("there");
    git(stage, &shop, &["worktree", "add", "-q", "-b", "there", &there.display().to_string(), "main"]);
    let lola = stage.terminal("Lola").within(&there);
    lola.json(&["pickup", "--apply"]);
    fs::write(there.join("more.txt"), "more\n").expect("written");
    (there, other)
}

/// What a pickup says of operations that earlier sessions did not finish.
fn earlier(stage: &Stage, folder: &Path) -> Value {
    stage.terminal("Max").within(folder).json(&["pickup", "--dry-run"])["earlier_operations"].clone()
}

#[test]
fn a_merge_that_a_successor_does_not_set_again_is_named_until_it_is_finished() {
    let stage = committed();
    let (there, other) = continued_merge(&stage);
    let lola = stage.terminal("Lola").within(&there);
    let baton = text(&lola.json(&WRAP), "baton_id");
    git(&stage, stage.shop(), &["merge", "--abort"]);
    let ann = stage.terminal("Ann");
    let picked = ann.text(&["pickup", "--apply"]);
    assert!(picked.contains("in the middle of a merge") && picked.contains(&other), "{picked}");
    // A commit that is none of a merge, and a wrap without changes, end nothing either.
    git(&stage, stage.shop(), &["add", "-A"]);
    git(&stage, stage.shop(), &["commit", "-qm", "no merge"]);
    ann.json(&WRAP[..5]);
    let first = stage.terminal("Max").json(&["pickup", "--dry-run"]);
    assert!(text(&first, "instruction").contains("in the middle of a merge"), "{first:#}");
    assert_ne!(text(&first["baton"], "baton_id"), baton);
    let found = &first["earlier_operations"][0]["unfinished"];
    assert_eq!(*found, json!({ "operation": "merge", "commits": [other] }), "{first:#}");
    // What is printed ends it.
    let message = text(&first["earlier_operations"][0], "message");
    let command = message.split('`').find(|part| part.contains("MERGE_HEAD")).expect("a command").to_owned();
    ann.shell(&command).done();
    git(&stage, stage.shop(), &["commit", "-qm", "merged"]);
    assert_eq!(earlier(&stage, &stage.shop()), Value::Null);
    stage.assert_sound();
}

#[test]
fn a_merge_that_a_successor_sets_again_is_named_once() {
    let stage = committed();
    let (there, other) = continued_merge(&stage);
    let lola = stage.terminal("Lola").within(&there);
    lola.shell(&format!("git rev-parse {other} > \"$(git rev-parse --git-path MERGE_HEAD)\"")).done();
    lola.json(&WRAP);
    let picked = stage.terminal("Max").json(&["pickup", "--dry-run"]);
    assert_eq!(picked["changes"]["unfinished"][0]["commits"], json!([other]), "{picked:#}");
    assert_eq!(picked.get("earlier_operations"), None, "{picked:#}");
    assert_eq!(text(&picked, "instruction").matches("in the middle of a merge").count(), 1);
}

#[test]
fn a_file_carries_what_git_was_in_the_middle_of_along_its_way() {
    let stage = committed();
    let (there, other) = continued_merge(&stage);
    let lola = stage.terminal("Lola").within(&there);
    git(&stage, &there, &["add", "-A"]);
    git(&stage, &there, &["commit", "-qm", "no merge"]);
    lola.json(&WRAP[..5]);
    let file = stage.root().join("work.baton").display().to_string();
    lola.json(&["handoff", "export", "-o", &file]);
    let desk = Stage::new();
    git(&stage, desk.root(), &["clone", "-q", &stage.shop().display().to_string(), "copy"]);
    let zoe = desk.terminal("Zoe").within(desk.root().join("copy")).with("BATON_MACHINE", "desk");
    zoe.json(&["init", "--id", "shop"]);
    zoe.json(&["handoff", "import", &file]);
    zoe.json(&["pickup"]);
    zoe.json(&WRAP[..5]);
    let found = zoe.json(&["pickup", "--dry-run"])["earlier_operations"].clone();
    assert_eq!(found[0]["unfinished"]["commits"], json!([other]), "{found:#}");
    let mut bad: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
    bad["baton"]["unfinished"][0]["unfinished"]["commits"] = json!(["$(rm -r x)"]);
    fs::write(&file, bad.to_string()).expect("written");
    zoe.refused(1, "changes_invalid", &["handoff", "import", &file]);
}
