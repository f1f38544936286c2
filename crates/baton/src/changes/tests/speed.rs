//! What a capture costs in a large repository. The figure of docs/benchmarks.md, on a machine that does nothing else:
//! `cargo test --release -p baton --bin baton -- --ignored --nocapture a_capture_of_100`

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::stage::{Stage, capture, commit, git, write};

const FILES: usize = 100_000;
const CHANGED: usize = 100;
const ROUNDS: usize = 7;

/// The tree of `git stash create`, had it `--include-untracked`, as the stash that was a shell script made it: the index is
/// refreshed; then a tree and a commit each of the index, of what is untracked, and of the working tree.
const STASH: &str = r#"
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    head=$(git rev-parse --verify HEAD)
    git update-index -q --refresh || true
    index=$(git commit-tree -m index -p $head $(git write-tree))
    rm -f "$1.untracked"
    untracked=$(git ls-files -o -z --exclude-standard | (
        export GIT_INDEX_FILE="$1.untracked"
        git update-index -z --add --remove --stdin
        git commit-tree -m untracked $(git write-tree)))
    cp -p "$(git rev-parse --git-path index)" "$1"
    export GIT_INDEX_FILE="$1"
    git diff-index --name-only -z HEAD -- | git update-index --ignore-skip-worktree-entries -z --add --remove --stdin
    git commit-tree -m worktree -p $head -p $index -p $untracked $(git write-tree)
"#;

/// The least that gives both trees: all files are added to a copy of the index.
const LEAST: &str = r#"
    export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
    git write-tree
    cp -p "$(git rev-parse --git-path index)" "$1"
    export GIT_INDEX_FILE="$1"
    git add -A
    git commit-tree -m x -p HEAD $(git write-tree)
"#;

/// As projects have it: some hundred folders of about a hundred files, three deep.
fn name(n: usize) -> Vec<u8> {
    format!("dir{}/sub{}/file{n}.txt", n % 31, (n / 31) % 32).into_bytes()
}

fn plumbing(script: &str, source: &Path, scratch: &Path) {
    let mut command = Command::new("sh");
    command.current_dir(source).args(["-ec", script, "sh"]).arg(scratch);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    let run = command.output().expect("sh runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
}

fn time(run: impl FnOnce()) -> Duration {
    let begin = Instant::now();
    run();
    begin.elapsed()
}

/// A clone with 50 files that are changed and 50 that are new. Housekeeping is off: it would pack and remove objects while they
/// are cloned.
fn source(stage: &Stage) -> std::path::PathBuf {
    let first = stage.dir.path().join("first");
    git(&first, &["config", "gc.auto", "0"]);
    git(&first, &["config", "maintenance.auto", "false"]);
    for n in 0..FILES {
        let path = super::stage::at(&first, &name(n));
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, format!("content of {n}\n")).expect("written");
    }
    commit(&first);
    git(&first, &["gc", "-q"]);
    let source = stage.clone("source");
    assert!(source.join(".git").is_dir(), "cloned");
    git(&source, &["config", "gc.auto", "0"]);
    for n in 0..CHANGED / 2 {
        write(&source, &name(n * 1999), b"changed\n");
        write(&source, format!("new/file{n}").as_bytes(), b"new\n");
    }
    source
}

#[test]
#[ignore = "it makes a repository of 100,000 files"]
fn a_capture_of_100_files_in_100_000_costs_at_most_twice_what_stash_does() {
    let stage = Stage::new(&[("a", "a\n")], &["gc.auto=0"]);
    let source = source(&stage);
    let scratch = stage.dir.path().join("scratch-index");
    let tracked = git(&source, &["ls-files"]).lines().count();
    assert_eq!(tracked, FILES + 1);
    // By turns, so that what else the machine does meets all three.
    let mut rounds: Vec<[Duration; 3]> = Vec::new();
    for _ in 0..=ROUNDS {
        rounds.push([
            time(|| assert_eq!(capture(&source).expect("captured").files.len(), CHANGED)),
            time(|| plumbing(STASH, &source, &scratch)),
            time(|| plumbing(LEAST, &source, &scratch)),
        ]);
    }
    // The first one reads the disk.
    rounds.remove(0);
    let middle = |at: usize| {
        let mut times: Vec<Duration> = rounds.iter().map(|round| round[at]).collect();
        times.sort();
        times[ROUNDS / 2]
    };
    let [own, stash, least] = [middle(0), middle(1), middle(2)];
    let ratio = |other: Duration| own.as_secs_f64() / other.as_secs_f64();
    println!("{rounds:?}");
    println!(
        "capture {own:?}; stash {stash:?}: {:.2}; least plumbing {least:?}: {:.2}",
        ratio(stash),
        ratio(least)
    );
    assert!(own <= least * 2 && own <= stash * 2, "capture {own:?}, stash {stash:?}, least {least:?}");
    assert_eq!(git(&source, &["stash", "list"]), "");
}
