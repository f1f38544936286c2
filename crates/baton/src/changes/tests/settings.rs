//! A settings file that git does not track: each working copy has its own.

use std::fs;
use std::path::Path;

use crate::changes::Changes;
use crate::git::{stash_command, state, uncommitted};

use super::faults::FILES;
use super::stage::{Stage, apply, capture, git, write};

/// The file `a` and an untracked settings file, as a version captured them that had both travel. In the index is the base.
fn captured_before(source: &Path) -> Changes {
    let line = |args: &[&str]| git(source, args).trim().to_owned();
    let base = line(&["rev-parse", "HEAD"]);
    let made = |tree: &str, parent: &str| {
        line(&["-c", "user.name=x", "-c", "user.email=x@x", "commit-tree", "-m", "x", "-p", parent, tree])
    };
    let index_tree = line(&["rev-parse", "HEAD^{tree}"]);
    let index_commit = made(&index_tree, &base);
    write(source, b".baton.toml", b"project = \"theirs\"\n");
    git(source, &["add", "a", ".baton.toml"]);
    let worktree_tree = line(&["write-tree"]);
    let worktree_commit = made(&worktree_tree, &index_commit);
    let script =
        format!("printf '{worktree_commit}\\n^{base}\\n' | git pack-objects --revs --stdout --thin -q");
    let packed = std::process::Command::new("sh").args(["-c", &script]).current_dir(source).output();
    Changes {
        files: vec![".baton.toml".to_owned(), "a".to_owned()],
        pack: packed.expect("packed").stdout,
        index_tree,
        index_commit,
        worktree_tree,
        worktree_commit,
        ..capture(source).expect("captured")
    }
}

#[test]
fn settings_that_git_does_not_track_neither_travel_nor_count() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b".baton.toml", b"project = \"shop\"\n");
    write(&source, b"deep/.baton.toml", b"project = \"shop\"\n");
    assert_eq!(uncommitted(&source), Some(Vec::new()));
    assert_eq!(state(&source).expect("a working copy").dirty, Some(false));
    assert!(capture(&source).expect("captured").files.is_empty());
    write(&source, b"a", b"changed\n");
    let changes = capture(&source).expect("captured");
    assert_eq!((changes.files.as_slice(), changes.left_out.len()), (&["a".to_owned()][..], 0));
    assert_eq!(state(&source).expect("a working copy").dirty, Some(true));
    // What was added is the work's, and travels as it is; a mark alone is not.
    git(&source, &["add", "-N", ".baton.toml"]);
    assert_eq!(capture(&source).expect("captured").files, ["a"]);
    git(&source, &["add", ".baton.toml"]);
    assert_eq!(capture(&source).expect("captured").files, [".baton.toml", "a"]);
    assert_eq!(uncommitted(&source).map(|files| files.len()), Some(2));
}

#[test]
fn committed_settings_that_were_changed_travel() {
    let stage = Stage::new(&[(".baton.toml", "project = \"shop\"\n"), ("a", "a\n")], &[]);
    let source = stage.clone("source");
    write(&source, b".baton.toml", b"project = \"bank\"\n");
    let changes = capture(&source).expect("captured");
    assert_eq!(changes.files, [".baton.toml"]);
    let target = stage.clone("target");
    assert!(apply(&target, &changes).expect("applied").settings.is_empty());
    assert_eq!(fs::read_to_string(target.join(".baton.toml")).expect("read"), "project = \"bank\"\n");
    // What is taken out of the index alone stays where the changes arrive.
    git(&source, &["rm", "-q", "--cached", ".baton.toml"]);
    let second = stage.clone("second");
    apply(&second, &capture(&source).expect("captured")).expect("applied");
    assert_eq!(fs::read_to_string(second.join(".baton.toml")).expect("read"), "project = \"bank\"\n");
}

#[test]
fn settings_in_changes_that_were_captured_before_are_left_out_and_named() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b"a", b"changed\n");
    let changes = captured_before(&source);
    let [none, own, at_another] = ["none", "own", "another"].map(|name| stage.clone(name));
    write(&own, b".baton.toml", b"project = \"mine\"\n");
    git(&at_another, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x", "--allow-empty"]);
    for target in [&none, &own, &at_another] {
        let applied = apply(target, &changes).expect("applied");
        assert_eq!((applied.files.as_slice(), applied.was_there), (&["a".to_owned()][..], false));
        assert_eq!(applied.settings, [".baton.toml"]);
        assert_eq!(fs::read_to_string(target.join("a")).expect("read"), "changed\n");
        let again = apply(target, &changes).expect("there");
        assert!(again.was_there && again.settings == [".baton.toml"], "{again:?}");
    }
    assert!(!none.join(".baton.toml").exists() && !at_another.join(".baton.toml").exists());
    assert_eq!(fs::read_to_string(own.join(".baton.toml")).expect("read"), "project = \"mine\"\n");
    // Nothing else came along.
    let lone = stage.clone("lone");
    let changes = captured_before(&lone);
    let empty = stage.clone("empty");
    let applied = apply(&empty, &changes).expect("applied");
    assert!(applied.files.is_empty() && applied.settings == [".baton.toml"], "{applied:?}");
    assert_eq!(git(&empty, &["status", "--porcelain"]), "");
}

#[test]
fn the_command_that_puts_changes_away_leaves_the_settings_where_they_are() {
    let stage = Stage::new(&FILES, &[]);
    for (files, command) in [
        (&[][..], "git stash -u"),
        (&[".baton.toml"][..], "git stash push -u ':!/.baton.toml'"),
        (
            &[".baton.toml", "it's [a] *"],
            r"git stash push -u ':!/.baton.toml' ':(exclude,top,literal)it'\''s [a] */.baton.toml'",
        ),
    ] {
        let root = stage.clone(&format!("of-{}", files.len()));
        for file in files {
            let path = if file.starts_with('.') { (*file).to_owned() } else { format!("{file}/.baton.toml") };
            write(&root, path.as_bytes(), b"project = \"shop\"\n");
        }
        write(&root, b"a", b"changed\n");
        write(&root, b"deep/new", b"new\n");
        write(&root, b"staged", b"new\n");
        git(&root, &["add", "staged"]);
        assert_eq!(stash_command(&root), command);
        // Typed in a folder below, as it is printed, with each git that is installed.
        for folder in ["/usr/bin", ""] {
            let script = format!(
                "PATH={folder}:$PATH; git config user.name a; git config user.email a@b; cd deep && {command}"
            );
            let done = std::process::Command::new("sh").args(["-c", &script]).current_dir(&root).status();
            assert!(done.expect("sh runs").success(), "{command}");
            assert_eq!(uncommitted(&root), Some(Vec::new()), "{command}");
            let is_left = !git(&root, &["status", "--porcelain", "-uall"]).is_empty();
            assert_eq!(is_left, !files.is_empty(), "{command}");
            git(&root, &["stash", "pop", "-q", "--index"]);
            assert_eq!(uncommitted(&root).map(|files| files.len()), Some(3), "{command}");
        }
    }
}
