//! Changes are merged with another commit by whichever git is here, or refused before anything is written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::stage::{Stage, Terminal, env, text};
use crate::worktree_changes::{edited, second, status, tree, wrapped};
use crate::worktrees::git;

/// The folders of the search path, and of the system, that have a git; of links to one of them, one.
fn gits() -> Vec<PathBuf> {
    let path = format!("{}:/usr/bin", env("PATH").expect("PATH"));
    let mut seen = BTreeSet::new();
    std::env::split_paths(&path)
        .filter(|folder| folder.join("git").canonicalize().is_ok_and(|program| seen.insert(program)))
        .collect()
}

/// Another clone, at a commit of its own, in a terminal with the git of this folder.
fn at_another_commit<'a>(stage: &'a Stage, folder: &Path, file: &str) -> (Terminal<'a>, PathBuf) {
    let second = second(stage);
    fs::write(second.join(file), "of this branch\n").expect("written");
    git(stage, &second, &["add", "-A"]);
    git(stage, &second, &["commit", "-qm", "elsewhere"]);
    let path = format!("{}:{}", folder.display(), env("PATH").expect("PATH"));
    (stage.terminal("Lola").within(&second).with("PATH", path), second)
}

/// What git says of a working copy, its files and its objects.
fn state(stage: &Stage, folder: &Path) -> (String, BTreeMap<PathBuf, Vec<u8>>) {
    let git_folder = folder.join(".git");
    let mut files = tree(folder);
    files.retain(|path, _| !path.starts_with(&git_folder) || path.starts_with(git_folder.join("objects")));
    (status(stage, folder), files)
}

#[test]
fn changes_are_merged_at_another_commit_by_each_git_that_is_here() {
    let gits = gits();
    assert!(!gits.is_empty(), "no git");
    for folder in &gits {
        let stage = edited();
        wrapped(&stage, &["--with-changes"]);
        let (lola, second) = at_another_commit(&stage, folder, "other.txt");
        let applied = lola.json(&["changes", "apply"]);
        assert_eq!(applied["merged"], json!(true), "{folder:?}: {applied:#}");
        let held = |path: &str| fs::read_to_string(second.join(path)).expect("read");
        assert_eq!(
            ["a.txt", "new/b.txt", "other.txt"].map(held),
            ["later\n", "new\n", "of this branch\n"],
            "{folder:?}"
        );
        assert_eq!(git(&stage, &second, &["show", ":a.txt"]), "staged", "{folder:?}");
        // The commits of the merge are in no repository of the user's.
        let unreachable = git(&stage, &second, &["fsck", "--unreachable", "--no-progress"]);
        assert!(!unreachable.contains("commit"), "{folder:?}: {unreachable}");
    }
}

#[test]
fn a_conflict_is_named_by_its_path_by_each_git_that_is_here() {
    for folder in &gits() {
        let stage = edited();
        wrapped(&stage, &["--with-changes"]);
        let (lola, second) = at_another_commit(&stage, folder, "a.txt");
        let before = state(&stage, &second);
        let refused = lola.refused(4, "changes_conflict", &["changes", "apply"]);
        assert!(text(&refused, "message").ends_with("committed here: a.txt"), "{folder:?}: {refused:#}");
        assert!(state(&stage, &second) == before, "{folder:?}: something was written");
    }
}

#[test]
fn a_git_that_cannot_merge_trees_is_named_with_the_version_that_can_before_anything_is_written() {
    let stage = edited();
    wrapped(&stage, &["--with-changes"]);
    let real = gits().first().expect("a git").join("git");
    let old = stage.file(
        "old/git",
        format!(
            "#!/bin/sh\nfor word do case $word in\nversion) echo git version 2.37.2; exit;;\nmerge-tree) exit 129;;\nesac; done\nexec '{}' \"$@\"\n",
            real.display()
        ),
    );
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).expect("executable");
    let (lola, second) = at_another_commit(&stage, Path::new(&old).parent().expect("a folder"), "other.txt");
    let before = state(&stage, &second);
    let refused = lola.refused(1, "git_outdated", &["changes", "apply"]);
    let message = text(&refused, "message");
    assert!(message.contains("2.37.2") && message.contains("2.38"), "{refused:#}");
    assert!(state(&stage, &second) == before, "something was written");
    // Its hint leads to where no merge is needed.
    let hint = text(&refused, "hint");
    let command = hint.split('`').nth(1).expect("a command");
    lola.shell(&format!("baton() {{ \"$BATON\" \"$@\"; }}; {command}")).done();
    let folder = command.split(' ').nth(4).expect("a folder");
    assert_eq!(fs::read_to_string(Path::new(folder).join("a.txt")).expect("read"), "later\n", "{hint}");
}
