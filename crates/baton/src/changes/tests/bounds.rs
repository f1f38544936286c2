//! The limits of a capture at their very edge, and what a repository could have run while something is applied.

use std::fs;
use std::path::{Path, PathBuf};

use baton_model::changes::{MAX_BYTES, MAX_FILES};

use crate::changes::content::{decode, encode};
use crate::changes::{Fault, Limits};

use super::faults::{FILES, edited};
use super::stage::{Stage, apply, capture, commit, files, git, make_executable, remove, write};

/// Bytes that nothing makes smaller.
fn noise(count: u64) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[0]
    };
    (0..count).map(|_| next()).collect()
}

#[test]
fn as_many_files_as_the_limit_travel_and_one_more_is_refused_by_its_count() {
    assert_eq!(Limits::default().files, MAX_FILES, "what is captured is what a ledger takes");
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    for n in 0..MAX_FILES {
        write(&source, format!("many/{n}").as_bytes(), b"x\n");
    }
    let changes = capture(&source).expect("captured");
    assert_eq!(changes.files.len(), 2_000);
    let target = stage.clone("target");
    apply(&target, &changes).expect("applied");
    assert_eq!(files(&target), files(&source));
    // A deletion counts like every other change.
    remove(&source, b"b");
    let refused = capture(&source).expect_err("one too many");
    assert!(matches!(refused, Fault::FileLimit { count: 2_001, limit: 2_000 }), "{refused}");
}

#[test]
fn as_many_bytes_as_the_limit_travel_and_one_more_is_refused_with_the_largest_files() {
    let limit = Limits::default().bytes;
    assert_eq!(limit, 25 * 1024 * 1024);
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b"large", &noise(limit));
    let changes = capture(&source).expect("captured");
    let content = encode(&changes).expect("encoded");
    assert!(u64::try_from(content.len()).is_ok_and(|bytes| bytes <= MAX_BYTES), "{}", content.len());
    let target = stage.clone("target");
    apply(&target, &decode(&content).expect("decoded")).expect("applied");
    assert!(files(&target) == files(&source));
    write(&source, b"small", b"x");
    let refused = capture(&source).expect_err("one too many");
    assert!(
        matches!(&refused, Fault::ByteLimit { largest, limit: 26_214_400 } if largest == &["large (26214400 bytes)", "small (1 bytes)"]),
        "{refused}"
    );
}

#[test]
fn what_compresses_is_smaller_where_it_is_kept() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b"long", "the same line\n".repeat(100_000).as_bytes());
    let content = encode(&capture(&source).expect("captured")).expect("encoded");
    assert!(content.len() < 50_000, "{}", content.len());
}

/// Every hook of git, and the settings by which it starts a program of the repository's, write into this file.
fn canary(root: &Path) -> PathBuf {
    let canary = root.join(".git/canary");
    let script = format!("#!/bin/sh\necho \"$0 $*\" >> '{}'\ncat\n", canary.display());
    let hooks = "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg \
        post-commit pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update \
        reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman post-index-change";
    for hook in hooks.split_whitespace() {
        let name = format!(".git/hooks/{hook}");
        write(root, name.as_bytes(), script.as_bytes());
        make_executable(root, name.as_bytes());
    }
    let program = root.join(".git/hooks/pre-commit").display().to_string();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.askPass",
        "diff.external",
        "diff.lfs.textconv",
        "diff.lfs.command",
        "merge.lfs.driver",
        "filter.lfs.clean",
        "filter.lfs.smudge",
        "filter.lfs.process",
    ] {
        git(root, &["config", key, &program]);
    }
    git(root, &["config", "filter.lfs.required", "true"]);
    canary
}

#[test]
fn nothing_of_the_repositorys_runs_while_something_is_applied_there() {
    let stage = Stage::new(&FILES, &[]);
    let (_, changes) = edited(&stage);
    for (name, is_merge) in [("exact", false), ("merged", true)] {
        let target = stage.clone(name);
        if is_merge {
            write(&target, b"mine", b"mine\n");
            commit(&target);
        }
        let canary = canary(&target);
        let applied = apply(&target, &changes).expect("applied");
        assert_eq!(applied.is_merge, is_merge);
        assert_eq!(capture(&target).expect("captured").files, changes.files);
        assert!(!canary.exists(), "{name}: {}", fs::read_to_string(&canary).unwrap_or_default());
        assert_eq!(fs::read(target.join("a")).expect("read"), b"later\r\n");
    }
}

#[test]
fn pointers_of_lfs_and_their_content_travel_as_they_lie_on_the_disk() {
    let pointer = |id: char| {
        let id = id.to_string().repeat(64);
        format!("version https://git-lfs.github.com/spec/v1\noid sha256:{id}\nsize 300000\n")
    };
    let attributes = "*.bin filter=lfs diff=lfs merge=lfs -text\n";
    let (one, two) = (pointer('a'), pointer('b'));
    let stage = Stage::new(&[(".gitattributes", attributes), ("one.bin", &one), ("two.bin", &two)], &[]);
    let (source, target) = (stage.clone("source"), stage.clone("target"));
    let canaries = [canary(&source), canary(&target)];
    // A pointer whose object was not fetched, real content where the commit has a pointer, and a new file of each kind.
    write(&source, b"one.bin", pointer('c').as_bytes());
    write(&source, b"two.bin", &noise(300_000));
    write(&source, b"new pointer.bin", pointer('d').as_bytes());
    write(&source, b"new content.bin", &noise(1_000));
    let changes = capture(&source).expect("captured");
    assert_eq!(changes.files, ["new content.bin", "new pointer.bin", "one.bin", "two.bin"]);
    apply(&target, &changes).expect("applied");
    assert!(files(&target) == files(&source));
    assert!(canaries.iter().all(|canary| !canary.exists()));
}
