//! Interruptions, conflicts and bad input: all or nothing, and nothing of the user's is lost.

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;

use crate::changes::{Applied, Changes, ExportNotes, Fault, Leftover, Limits, Recovery, Step, recover};
use crate::git::Plumbing;

use super::stage::{
    Stage, above, apply, capture, commit, files, git, link, make_executable, remove, rename, status, write,
};

pub(super) const FILES: [(&str, &str); 4] =
    [("a", "one\ntwo\n"), ("b", "b\n"), ("dir/c", "c\n"), (".gitignore", "*.log\n")];

/// Changes of each kind, the index apart from the working tree.
pub(super) fn edited(stage: &Stage) -> (std::path::PathBuf, Changes) {
    let source = stage.clone("source");
    write(&source, b"a", b"staged\n");
    git(&source, &["add", "a"]);
    write(&source, b"a", b"later\r\n");
    remove(&source, b"b");
    write(&source, b"b/now a folder", b"x");
    make_executable(&source, b"dir/c");
    link(&source, b"link", "a");
    let changes = capture(&source).expect("captured");
    (source, changes)
}

/// Everything of a working copy that a person can see.
fn seen(root: &Path) -> impl PartialEq + std::fmt::Debug + use<> {
    let left = [".git/index.lock", ".git/baton-apply"].map(|name| root.join(name).exists());
    (status(root), files(root), left)
}

#[test]
fn a_kill_before_any_step_leaves_it_as_it_was_or_is_finished() {
    let stage = Stage::new(&FILES, &[]);
    let (source, changes) = edited(&stage);
    for n in 0.. {
        let target = stage.clone(&format!("killed-{n}"));
        let (before, mut count) = (seen(&target), 0);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            crate::changes::apply(&Plumbing, &target, above(&target), &changes, &mut |step| {
                count += 1;
                if count > n {
                    std::panic::resume_unwind(Box::new(step));
                }
                Ok(())
            })
        }));
        let Err(step) = outcome else {
            assert!(n > 8, "there are steps for each path");
            break;
        };
        let step = step.downcast_ref::<Step>().copied().expect("a step");
        let left = match step {
            Step::Prepare | Step::LockIndex => None,
            Step::Plan => Some(Leftover::IndexLock),
            _ => Some(Leftover::Files),
        };
        assert_eq!(Leftover::find(&target), left, "{step:?}");
        let is_finished = recover(&Plumbing, &target).expect("recovered").recovery == Recovery::Finished;
        assert_eq!(is_finished, !matches!(step, Step::Prepare | Step::LockIndex | Step::Plan), "{step:?}");
        if is_finished {
            assert_eq!(seen(&target), seen(&source), "{step:?}");
        } else {
            assert_eq!(seen(&target), before, "{step:?}");
        }
        assert_eq!(
            recover(&Plumbing, &target).expect("nothing left").recovery,
            Recovery::Nothing,
            "{step:?}"
        );
    }
}

#[test]
fn a_full_disk_at_any_step_takes_everything_back() {
    let stage = Stage::new(&FILES, &[]);
    let (source, changes) = edited(&stage);
    for n in 0.. {
        let target = stage.clone(&format!("full-{n}"));
        let (before, mut count) = (seen(&target), 0);
        let outcome = crate::changes::apply(&Plumbing, &target, above(&target), &changes, &mut |step| {
            count += 1;
            if count > n && step != Step::Finish { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
        });
        match outcome {
            Err(Fault::Io { .. }) => assert_eq!(seen(&target), before, "step {n}"),
            outcome => {
                outcome.expect("applied");
                assert_eq!(seen(&target), seen(&source));
                break;
            }
        }
    }
}

#[test]
fn an_edit_after_a_kill_is_kept() {
    let stage = Stage::new(&FILES, &[]);
    let (_, changes) = edited(&stage);
    let target = stage.clone("target");
    let _ = catch_unwind(AssertUnwindSafe(|| {
        crate::changes::apply(&Plumbing, &target, above(&target), &changes, &mut |step| match step {
            Step::Index => std::panic::resume_unwind(Box::new(())),
            _ => Ok(()),
        })
    }));
    write(&target, b"a", b"mine\n");
    let fault = recover(&Plumbing, &target).expect_err("refused");
    assert!(matches!(&fault, Fault::Edited { files, .. } if files == &["a"]), "{fault}");
    assert_eq!(fs::read(target.join("a")).expect("read"), b"mine\n");
}

/// Interrupts an application before its index is written, edits every file that it touches, and does what the hint says.
fn follow_the_hint(stage: &Stage, target: &Path) {
    let (source, changes) = edited(stage);
    let _ = catch_unwind(AssertUnwindSafe(|| {
        crate::changes::apply(&Plumbing, target, above(target), &changes, &mut |step| match step {
            Step::Index => std::panic::resume_unwind(Box::new(())),
            _ => Ok(()),
        })
    }));
    for name in ["a", "b/now a folder", "dir/c", "link"] {
        write(target, name.as_bytes(), b"mine\n");
    }
    let fault = recover(&Plumbing, target).expect_err("refused");
    let hint = fault.hint();
    let commands: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
    assert_eq!(commands.len(), 4, "{hint}");
    for command in commands {
        let status = Command::new("sh").args(["-c", command]).current_dir("/").status();
        assert!(status.is_ok_and(|status| status.success()), "{command}");
    }
    assert_eq!(recover(&Plumbing, target).expect("finished").recovery, Recovery::Finished, "{hint}");
    assert_eq!(files(target), files(&source), "{hint}");
}

#[test]
fn what_an_interrupted_application_asks_for_can_be_done_in_a_worktree_too() {
    let stage = Stage::new(&FILES, &[]);
    let target = stage.clone("it's a target");
    follow_the_hint(&stage, &target);
    let stage = Stage::new(&FILES, &[]);
    let main = stage.clone("main");
    let target = above(&main).join("worktree");
    git(&main, &["worktree", "add", "-q", "-b", "w", &target.display().to_string()]);
    follow_the_hint(&stage, &target);
}

#[test]
fn elsewhere_it_is_merged_and_a_conflict_is_told_before_anything_is_written() {
    let stage = Stage::new(&[("a", "1\n2\n3\n4\n5\n6\n7\n"), ("b", "b\n")], &[]);
    let source = stage.clone("source");
    write(&source, b"a", b"1\n2\n3\n4\n5\n6\nseven\n");
    write(&source, b"new", b"new\n");
    let changes = capture(&source).expect("captured");
    let target = stage.clone("target");
    write(&target, b"a", b"one\n2\n3\n4\n5\n6\n7\n");
    commit(&target);
    assert!(apply(&target, &changes).expect("merged").is_merge);
    assert_eq!(fs::read(target.join("a")).expect("read"), b"one\n2\n3\n4\n5\n6\nseven\n");
    assert!(status(&target).contains("? new"));
    let other = stage.clone("other");
    write(&other, b"a", b"1\n2\n3\n4\n5\n6\nVII\n");
    commit(&other);
    let before = seen(&other);
    let fault = apply(&other, &changes).expect_err("a conflict");
    assert!(matches!(&fault, Fault::Conflicts(paths) if paths == &["a"]), "{fault}");
    assert_eq!(seen(&other), before);
    // A folder in the way of a file is named by its path, and not as git calls the two sides.
    let folder = stage.clone("folder");
    write(&folder, b"new/deep", b"deep\n");
    commit(&folder);
    let before = seen(&folder);
    let fault = apply(&folder, &changes).expect_err("a conflict");
    assert!(matches!(&fault, Fault::Conflicts(paths) if paths == &["new"]), "{fault}");
    assert_eq!(seen(&folder), before);
}

#[test]
fn a_merge_driver_of_the_repository_does_not_run() {
    let stage = Stage::new(&[("a", "1\n2\n3\n"), (".gitattributes", "* merge=evil filter=evil\n")], &[]);
    let source = stage.clone("source");
    write(&source, b"a", b"1\n2\nthree\n");
    let changes = capture(&source).expect("captured");
    let target = stage.clone("target");
    write(&target, b"a", b"one\n2\n3\n");
    commit(&target);
    let canary = stage.dir.path().join("canary");
    for key in ["merge.evil.driver", "filter.evil.clean", "filter.evil.smudge"] {
        git(&target, &["config", key, &format!("touch {}; cat", canary.display())]);
    }
    assert!(matches!(apply(&target, &changes), Err(Fault::Conflicts(_))));
    assert!(capture(&target).is_ok() && !canary.exists());
}

#[test]
fn what_is_not_committed_here_is_never_written_over() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b"fresh", b"theirs\n");
    write(&source, b"sub/x", b"theirs\n");
    write(&source, b"a", b"theirs\n");
    let changes = capture(&source).expect("captured");
    let target = stage.clone("target");
    write(&target, b"dir/c", b"mine\n");
    assert!(matches!(apply(&target, &changes), Err(Fault::LocalChanges(paths)) if paths == ["dir/c"]));
    let target = stage.clone("untracked");
    write(&target, b"fresh/mine.log", b"mine\n");
    link(&target, b"sub", "/");
    let before = seen(&target);
    let fault = apply(&target, &changes).expect_err("in the way");
    assert!(matches!(&fault, Fault::Obstacles(paths) if paths == &["fresh/mine.log", "sub"]), "{fault}");
    assert_eq!(seen(&target), before);
    let target = stage.clone("temporary");
    write(&target, b".baton-apply-0.tmp", b"mine\n");
    assert!(
        matches!(apply(&target, &changes), Err(Fault::Obstacles(paths)) if paths == [".baton-apply-0.tmp"])
    );
    assert_eq!(fs::read(target.join(".baton-apply-0.tmp")).expect("read"), b"mine\n");
    let target = stage.clone("the same file");
    write(&target, b"sub/x", b"theirs\n");
    apply(&target, &changes).expect("what is there already is in nobody's way");
    assert_eq!(fs::read(target.join("fresh")).expect("read"), b"theirs\n");
    let target = stage.clone("other file");
    write(&target, b"other", b"mine\n");
    apply(&target, &changes).expect("an untracked file elsewhere is no obstacle");
    assert_eq!(fs::read(target.join("other")).expect("read"), b"mine\n");
}

#[test]
fn where_a_commit_is_missing_the_advice_brings_it() {
    let stage = Stage::new(&FILES, &[]);
    let (source, _) = edited(&stage);
    commit(&source);
    write(&source, b"a", b"later\n");
    let changes = capture(&source).expect("captured");
    commit(&source);
    let url = format!("file://{}", source.display());
    git(stage.dir.path(), &["clone", "-q", "--depth=1", &url, "cut"]);
    let cut = stage.dir.path().join("cut");
    let fault = apply(&cut, &changes).expect_err("its commit is beyond the cut");
    assert!(fault.hint().contains("git fetch --unshallow"), "{}", fault.hint());
    let named = Changes { branch: Some("fix".into()), ..changes.clone() };
    let fault = apply(&cut, &named).expect_err("its commit is beyond the cut");
    assert!(fault.hint().contains("`git fetch origin fix`"), "{}", fault.hint());
    git(&cut, &["fetch", "-q", "--unshallow"]);
    apply(&cut, &changes).expect("it is here");
    // A branch without a commit, in a repository that has the one of the changes.
    let unborn = stage.clone("unborn");
    git(&unborn, &["fetch", "-q", &url, "main"]);
    git(&unborn, &["checkout", "-q", "--orphan", "new"]);
    git(&unborn, &["rm", "-rqf", "--cached", "."]);
    let fault = apply(&unborn, &changes).expect_err("nothing is checked out");
    assert!(matches!(&fault, Fault::NoHead(commit) if Some(commit) == changes.base.as_ref()), "{fault}");
    git(stage.dir.path(), &["init", "-q", "-b", "main", "empty"]);
    let empty = stage.dir.path().join("empty");
    write(&empty, b"x", b"x\n");
    let changes = capture(&empty).expect("captured");
    assert!(matches!(apply(&stage.clone("other"), &changes), Err(Fault::NoBase)));
}

#[test]
fn a_missing_commit_a_lock_and_damage_are_told() {
    let stage = Stage::new(&FILES, &[]);
    let (source, changes) = edited(&stage);
    commit(&source);
    write(&source, b"a", b"on a commit of its own\n");
    let alone = capture(&source).expect("captured");
    let target = stage.clone("target");
    let before = seen(&target);
    assert!(matches!(apply(&target, &alone), Err(Fault::MissingCommit { is_shallow: false, .. })));
    let mut damaged = changes.clone();
    let middle = damaged.pack.len() / 2;
    damaged.pack[middle] ^= 0xff;
    assert!(matches!(apply(&target, &damaged), Err(Fault::Invalid(_))));
    let message = apply(&target, &damaged).expect_err("damaged").to_string();
    assert_eq!(message, "the captured changes are not valid: their content is damaged");
    let swapped = Changes { worktree_tree: changes.index_tree.clone(), ..changes.clone() };
    assert!(matches!(apply(&target, &swapped), Err(Fault::Invalid(_))));
    assert_eq!(seen(&target), before);
    std::os::unix::fs::symlink("../dir", target.join(".git/baton-apply")).expect("link");
    assert!(
        matches!(apply(&target, &changes), Err(Fault::Invalid(_))),
        "a journal elsewhere is not followed"
    );
    fs::remove_file(target.join(".git/baton-apply")).expect("removed");
    assert_eq!(seen(&target), before);
    fs::write(target.join(".git/index.lock"), "").expect("written");
    assert!(matches!(apply(&target, &changes), Err(Fault::Busy(_))));
    fs::remove_file(target.join(".git/index.lock")).expect("removed");
    let twice = crate::changes::apply(&Plumbing, &target, above(&target), &changes, &mut |step| {
        assert!(step != Step::Plan || matches!(apply(&target, &changes), Err(Fault::Busy(_))));
        Ok(())
    });
    twice.expect("the first of two goes on");
}

#[test]
fn secrets_limits_conflicts_and_repositories_inside_are_named() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b".env", b"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQ7rT2pLm9\n");
    write(&source, b"seen", b"plain\n");
    write(&source, b"hidden.log", b"ignored\n");
    git(&source, &["init", "-q", "inner"]);
    write(&source, b"inner/x", b"x");
    git(
        &source.join("inner"),
        &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--allow-empty", "-qm", "x"],
    );
    let changes = capture(&source).expect("captured");
    let names: Vec<&str> = changes.left_out.iter().map(|left| left.path.as_str()).collect();
    assert_eq!((names, changes.files.clone()), (vec![".env", "inner/"], vec!["seen".to_owned()]));
    let limits = Limits { files: 1, ..Limits::default() };
    assert!(matches!(
        crate::changes::capture(&Plumbing, &source, above(&source), limits, &ExportNotes::of(above(&source))),
        Err(Fault::FileLimit { count: 3, limit: 1 })
    ));
    let limits = Limits { bytes: 50, ..Limits::default() };
    let fault =
        crate::changes::capture(&Plumbing, &source, above(&source), limits, &ExportNotes::of(above(&source)))
            .expect_err("too large");
    assert!(
        matches!(&fault, Fault::ByteLimit { largest, .. } if largest[0].starts_with(".env (")),
        "{fault}"
    );
    let other = stage.clone("other");
    write(&other, b"a", b"x\n");
    commit(&other);
    git(&other, &["checkout", "-qb", "side", "HEAD~1"]);
    write(&other, b"a", b"y\n");
    commit(&other);
    git(&other, &["-c", "user.name=a", "-c", "user.email=a@b", "merge", "-q", "main"]);
    assert!(matches!(capture(&other), Err(Fault::Unmerged { files, begun: Some(_) }) if files == ["a"]));
}

#[test]
fn worktrees_shallow_clones_detached_heads_and_repositories_without_commits_work() {
    let stage = Stage::new(&FILES, &[]);
    let (source, _) = edited(&stage);
    git(&source, &["worktree", "add", "-q", "--detach", "../linked"]);
    let linked = stage.dir.path().join("linked");
    write(&linked, b"a", b"in a worktree\n");
    let changes = capture(&linked).expect("captured");
    let url = format!("file://{}", stage.dir.path().join("first").display());
    git(stage.dir.path(), &["clone", "-q", "--depth=1", &url, "shallow"]);
    let shallow = stage.dir.path().join("shallow");
    apply(&shallow, &changes).expect("applied");
    assert_eq!(fs::read(shallow.join("a")).expect("read"), b"in a worktree\n");
    assert_eq!(status(&source), status(&source));
    for name in ["empty", "empty-too"] {
        git(stage.dir.path(), &["init", "-q", "-b", "main", name]);
    }
    let (empty, too) = (stage.dir.path().join("empty"), stage.dir.path().join("empty-too"));
    write(&empty, b"x", b"x\n");
    git(&empty, &["add", "x"]);
    write(&empty, b"y", b"y\n");
    let changes = capture(&empty).expect("captured");
    apply(&too, &changes).expect("applied");
    assert_eq!(seen(&too), seen(&empty));
}

#[test]
fn line_ends_that_git_would_convert_arrive_as_they_are() {
    let stage = Stage::new(&[("d.crlf", "one\n"), (".gitattributes", "*.crlf text eol=crlf\n")], &[]);
    let (source, target) = (stage.clone("source"), stage.clone("target"));
    assert_eq!(fs::read(target.join("d.crlf")).expect("read"), b"one\r\n");
    write(&source, b"d.crlf", b"one\n");
    let changes = capture(&source).expect("captured");
    assert_eq!(changes.unconverted.len(), 1, "the trees are equal");
    apply(&target, &changes).expect("applied");
    assert_eq!(
        (fs::read(target.join("d.crlf")).expect("read"), seen(&target)),
        (b"one\n".to_vec(), seen(&source))
    );
}

#[test]
fn what_git_forbids_is_told_without_its_own_words() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b".gitmodules", b"[submodule \"x\"]\n\tpath = x\n\turl = -u./foo\n");
    let changes = capture(&source).expect("captured");
    let target = stage.clone("target");
    let before = seen(&target);
    let fault = apply(&target, &changes).expect_err("no submodule may have this address");
    assert!(matches!(&fault, Fault::Rejected(reasons) if reasons[0].contains(".gitmodules")), "{fault}");
    let message = format!("{fault}; {}", fault.hint());
    assert!(
        !message.contains("fsck")
            && !message.contains("index-pack")
            && message.contains("where the work was done"),
        "{message}"
    );
    assert_eq!(seen(&target), before);
}

/// A merge may be larger than what either side holds: the sizes are not those of files then.
#[test]
fn what_is_larger_than_the_limit_names_no_files_where_none_are_known() {
    let fault = |largest: &[&str]| {
        let largest = largest.iter().map(|name| (*name).to_owned()).collect();
        Fault::ByteLimit { largest, limit: 10 }.to_string()
    };
    assert_eq!(fault(&[]), "the changes are larger than the limit of 10 bytes");
    assert_eq!(fault(&["a (12)"]), "the changes are larger than the limit of 10 bytes; the largest: a (12)");
}

#[test]
fn a_journal_or_an_index_that_leads_elsewhere_is_not_followed() {
    let stage = Stage::new(&FILES, &[]);
    let (source, changes) = edited(&stage);
    let outside = stage.dir.path().join("outside");
    fs::write(&outside, b"of another").expect("written");
    let target = stage.clone("target");
    let journal = target.join(".git/baton-apply");
    fs::create_dir_all(journal.join("new")).expect("folder");
    let plan = r#"[{"path":[97],"old":null,"new":"File"}]"#;
    fs::write(journal.join("plan"), plan).expect("written");
    std::os::unix::fs::symlink(&outside, journal.join("new/0")).expect("link");
    assert!(matches!(apply(&target, &changes), Err(Fault::Invalid(_))));
    assert_eq!(fs::read(target.join("a")).expect("read"), b"one\ntwo\n");
    fs::remove_file(source.join(".git/index")).expect("removed");
    std::os::unix::fs::symlink("/dev/zero", source.join(".git/index")).expect("link");
    assert!(matches!(capture(&source), Err(Fault::Invalid(_))));
}

#[test]
fn content_that_was_kept_is_the_same_and_damage_is_told() {
    use crate::changes::content::{decode, encode};
    let stage = Stage::new(&FILES, &[]);
    let (source, changes) = edited(&stage);
    let content = encode(&changes).expect("encoded");
    assert_eq!(decode(&content).expect("decoded"), changes);
    assert_eq!(encode(&capture(&source).expect("captured")).expect("encoded"), content, "kept once");
    for damaged in [&content[..content.len() / 2], &content[1..], b""] {
        assert!(matches!(decode(damaged), Err(Fault::Invalid(_))));
    }
    let bomb = zstd::bulk::compress(&vec![0; 100 * 1024 * 1024], 1).expect("compressed");
    assert!(matches!(decode(&bomb), Err(Fault::Invalid(_))));
}

#[test]
fn names_that_are_one_file_on_this_disk_are_refused_before_anything_is_written() {
    let stage = Stage::new(&FILES, &[]);
    let source = stage.clone("source");
    write(&source, b"new/Readme", b"one\n");
    write(&source, b"new/readme", b"two\n");
    let changes = capture(&source).expect("captured");
    let target = stage.clone("target");
    // As git notes it where the disk is such a one.
    git(&target, &["config", "core.ignorecase", "true"]);
    let before = files(&target);
    let refused = apply(&target, &changes).expect_err("refused");
    assert!(
        matches!(&refused, Fault::CaseClash(found) if *found == ["new/Readme", "new/readme"]),
        "{refused}"
    );
    assert_eq!((files(&target), status(&target)), (before, String::new()));
    // A file that is only spelled otherwise than before is no clash.
    let other = stage.clone("other");
    rename(&other, b"a", b"A");
    let changes = capture(&other).expect("captured");
    apply(&target, &changes).expect("applied");
    assert_eq!(files(&target), files(&other));
}

#[test]
fn of_two_that_apply_at_once_one_does_and_nothing_is_mixed() {
    let stage = Stage::new(&FILES, &[]);
    let (source, changes) = edited(&stage);
    for n in 0..20 {
        let target = stage.clone(&format!("target-{n}"));
        let barrier = std::sync::Barrier::new(2);
        let run = || {
            barrier.wait();
            apply(&target, &changes)
        };
        let (one, two) = std::thread::scope(|scope| {
            let other = scope.spawn(run);
            (run(), other.join().expect("ended"))
        });
        let done = [&one, &two].into_iter().filter(|end| matches!(end, Ok(done) if !done.was_there)).count();
        assert_eq!(done, 1, "{one:?} {two:?}");
        let is_told = |end: &Result<Applied, Fault>| matches!(end, Ok(_) | Err(Fault::Busy(_)));
        assert!(is_told(&one) && is_told(&two), "{one:?} {two:?}");
        assert_eq!((files(&target), status(&target)), (files(&source), status(&source)));
    }
}
