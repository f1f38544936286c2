//! What a capture costs in a large repository: `cargo nextest run --run-ignored only -E 'test(changes::tests::speed)'`, best in
//! release.

use std::fs;
use std::time::{Duration, Instant};

use super::stage::{Stage, capture, commit, git, write};

const FILES: usize = 100_000;
const CHANGED: usize = 100;
const ROUNDS: usize = 5;

fn name(n: usize) -> Vec<u8> {
    format!("dir{}/sub{}/file{n}.txt", n % 97, n % 1009).into_bytes()
}

/// The middle of several runs.
fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            run();
            begin.elapsed()
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

#[test]
#[ignore = "it makes a repository of 100,000 files"]
fn a_capture_of_100_files_in_100_000_costs_at_most_twice_what_stash_does() {
    let stage = Stage::new(&[("a", "a\n")], &[]);
    let first = stage.dir.path().join("first");
    for n in 0..FILES {
        write(&first, &name(n), format!("content of {n}\n").as_bytes());
    }
    commit(&first);
    let source = stage.clone("source");
    for n in 0..CHANGED / 2 {
        write(&source, &name(n * 1999), b"changed\n");
        write(&source, format!("new/file{n}").as_bytes(), b"new\n");
    }
    let own = median(|| assert_eq!(capture(&source).expect("captured").files.len(), CHANGED));
    // What `git stash create --include-untracked` does, were there such a thing: both trees, and a commit for each.
    let scratch = stage.dir.path().join("scratch-index");
    let index = scratch.to_str().expect("UTF-8");
    let stash = median(|| {
        fs::copy(source.join(".git/index"), &scratch).expect("copied");
        let script = format!(
            "git write-tree && export GIT_INDEX_FILE={index} && git add -A && \
             git -c user.name=a -c user.email=a@b commit-tree -m x -p HEAD $(git write-tree)"
        );
        let run = std::process::Command::new("sh").current_dir(&source).args(["-ec", &script]).output();
        assert!(run.expect("sh runs").status.success());
    });
    println!("capture {own:?}, plumbing of a stash {stash:?}");
    assert!(own <= stash * 2, "capture {own:?}, plumbing of a stash {stash:?}");
    assert_eq!(git(&source, &["stash", "list"]), "");
}
