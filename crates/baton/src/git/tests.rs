//! Working copies that try to have git run something. Each trick leaves a canary when git is called as a person calls it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant, UNIX_EPOCH};

use baton_model::packet::Git;

use super::*;

struct Copy {
    dir: tempfile::TempDir,
}

impl Copy {
    fn new() -> Self {
        let copy = Self { dir: tempfile::tempdir().expect("dir") };
        fs::create_dir(copy.root()).expect("folder");
        copy.git(&["init", "-q", "-b", "main"]);
        copy.write("a.txt", "a\n");
        copy.git(&["add", "-A"]);
        copy.git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"]);
        copy
    }

    fn root(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    fn canary(&self) -> PathBuf {
        self.dir.path().join("canary")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root().join(name), text).expect("written");
    }

    /// Git as a person calls it.
    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .arg("-C")
            .arg(self.root())
            .args(args)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", self.dir.path());
        let output = command.output().expect("git runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A program that leaves the canary.
    fn program(&self, name: &str) -> String {
        self.program_that(name, "cat")
    }

    fn program_that(&self, name: &str, then: &str) -> String {
        let file = self.dir.path().join(name);
        let text = format!("#!/bin/sh\necho {name} >> {}\n{then}\n", self.canary().display());
        fs::write(&file, text).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("mode");
        file.display().to_string()
    }

    /// Everything that we ask of git.
    fn ask(&self) -> Option<Git> {
        let root = self.root();
        let seen = state(&root);
        remote(&root);
        has_commit(&root, "HEAD");
        has_commit(&root, "0123456789012345678901234567890123456789");
        read(&root, &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        seen
    }

    fn sings(&self) -> bool {
        let sang = self.canary().exists();
        let _ = fs::remove_file(self.canary());
        sang
    }

    /// Same size, other content, another time: git has to look into the file.
    fn touch(&self) {
        self.write("a.txt", "b\n");
    }
}

/// Files of LFS and its like: git compares the bytes on the disk with those that the filter made of them.
#[test]
fn a_file_with_a_filter_is_unchanged_while_it_has_the_size_and_time_that_the_index_knows() {
    let copy = Copy::new();
    copy.git(&["config", "filter.pointer.clean", "tr a-z b-za"]);
    copy.git(&["config", "filter.pointer.smudge", "tr b-za a-z"]);
    copy.write(".gitattributes", "*.bin filter=pointer\n");
    copy.write("big.bin", "abc\n");
    // The file is not older than the index: git looks into it.
    let later = std::time::UNIX_EPOCH + std::time::Duration::from_secs(4_000_000_000);
    let file = fs::File::options().write(true).open(copy.root().join("big.bin")).expect("a file");
    file.set_modified(later).expect("a time");
    copy.git(&["add", "-A"]);
    copy.git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a file with a filter"]);
    let clean = state(&copy.root()).expect("a working copy");
    assert_eq!((clean.dirty, uncommitted(&copy.root())), (Some(false), Some(Vec::new())));
    copy.write("big.bin", "abcd\n");
    let changed = state(&copy.root()).expect("a working copy");
    assert_eq!((changed.dirty, uncommitted(&copy.root())), (Some(true), Some(vec!["big.bin".to_owned()])));
}

#[test]
fn nothing_that_a_working_copy_configures_runs() {
    let copy = Copy::new();
    copy.write(".gitattributes", "* filter=evil diff=evil merge=evil text working-tree-encoding=UTF-8\n");
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.askPass",
        "core.gitProxy",
        "credential.helper",
        "diff.external",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "merge.evil.driver",
        "gpg.program",
        "alias.status",
        "alias.remote",
        "sequence.editor",
        "uploadpack.packObjectsHook",
    ] {
        copy.git(&["config", key, &copy.program(&key.replace('.', "-"))]);
    }
    let hooks = copy.dir.path().join("hooks");
    fs::create_dir(&hooks).expect("folder");
    for hook in ["post-index-change", "pre-auto-gc", "post-checkout", "fsmonitor-watchman", "query-watchman"]
    {
        fs::copy(copy.program(hook), hooks.join(hook)).expect("copied");
        fs::copy(copy.program(hook), copy.root().join(".git/hooks").join(hook)).expect("copied");
    }
    copy.git(&["config", "core.hooksPath", &hooks.display().to_string()]);
    copy.touch();
    copy.git(&["status"]);
    assert!(copy.sings(), "the tricks work on a git that is called as a person calls it");
    copy.touch();
    let seen = copy.ask().expect("a working copy");
    assert!(!copy.sings());
    assert_eq!((seen.branch.as_deref(), seen.dirty), (Some("main"), Some(true)));
}

#[test]
fn a_filter_that_comes_in_by_an_include_or_has_an_odd_name_does_not_run() {
    for name in ["plain", "a=b", "dots.in.it", "with space"] {
        let copy = Copy::new();
        let text = format!("[filter \"{name}\"]\n\tclean = {}\n\trequired\n", copy.program("clean"));
        copy.write("evil.config", &text);
        copy.git(&["config", "include.path", "../evil.config"]);
        copy.write(".git/info/attributes", &format!("* \"filter={name}\"\na.txt filter={name}\n"));
        copy.touch();
        copy.git(&["status"]);
        let able = copy.sings();
        assert!(able || name == "with space", "{name}");
        copy.touch();
        let seen = copy.ask().expect("a working copy");
        assert!(!copy.sings(), "{name}");
        assert_eq!(seen.branch.as_deref(), Some("main"));
        assert_eq!(seen.dirty.is_none(), name == "a=b", "{name}: left out where it cannot be told");
    }
}

#[test]
fn missing_objects_are_not_fetched() {
    let copy = Copy::new();
    let program = copy.program_that("transport", "exit 1");
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", &format!("ext::{program}")),
        ("remote.origin.uploadpack", &program),
        ("protocol.ext.allow", "always"),
        ("protocol.allow", "always"),
    ] {
        copy.git(&["config", key, value]);
    }
    copy.git(&["cat-file", "-e", "0123456789012345678901234567890123456789"]);
    assert!(copy.sings(), "the trick works on a git that is called as a person calls it");
    copy.ask();
    assert!(!copy.sings());
}

#[test]
fn a_bare_repository_in_a_folder_of_a_clone_does_not_count() {
    let copy = Copy::new();
    let bare = copy.root().join("fixtures");
    copy.git(&["init", "-q", "--bare", "fixtures"]);
    let config =
        format!("[core]\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {}\n", copy.program("monitor"));
    fs::write(bare.join("config"), format!("{config}\trepositoryformatversion = 0\n")).expect("written");
    let seen = state(&bare).expect("the clone's own");
    assert_eq!(seen.branch.as_deref(), Some("main"));
    assert!(seen.commit.is_some() && !copy.sings());
}

#[test]
fn a_git_file_that_leads_to_another_repository_is_not_followed() {
    let (copy, other) = (Copy::new(), Copy::new());
    fs::remove_dir_all(copy.root().join(".git")).expect("removed");
    let theirs = other.root().join(".git");
    copy.write(".git", &format!("gitdir: {}\n", theirs.display()));
    assert_eq!((copy.ask(), remote(&copy.root())), (None, None));
    fs::remove_file(copy.root().join(".git")).expect("removed");
    std::os::unix::fs::symlink(&theirs, copy.root().join(".git")).expect("link");
    assert_eq!(copy.ask(), None);
    fs::remove_file(copy.root().join(".git")).expect("removed");
    fs::create_dir(copy.root().join(".git")).expect("folder");
    copy.write(".git/HEAD", "ref: refs/heads/main\n");
    copy.write(".git/commondir", &theirs.display().to_string());
    assert_eq!(copy.ask(), None);
}

#[test]
fn worktrees_and_submodules_are_still_told() {
    let (copy, other) = (Copy::new(), Copy::new());
    let beside = copy.dir.path().join("beside");
    copy.git(&["worktree", "add", "-q", "-b", "side", &beside.display().to_string()]);
    assert_eq!(state(&beside).expect("a worktree").branch.as_deref(), Some("side"));
    let url = other.root().display().to_string();
    copy.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "lib"]);
    let seen = state(&copy.root().join("lib")).expect("a submodule");
    assert_eq!((seen.branch.as_deref(), seen.dirty), (Some("main"), Some(false)));
}

/// Git's log has whole seconds: of two that are made in one second it has to be clear which was there when a session was.
#[test]
fn a_worktree_is_not_older_than_it_is() {
    let copy = Copy::new();
    for at in 0..3 {
        let (name, before) = (format!("w{at}"), crate::clock::now());
        copy.git(&["worktree", "add", "-q", "--detach", &format!("../{name}")]);
        let (folder, since) = worktree_named(&copy.root(), &name).expect("a worktree");
        assert!(folder.ends_with(&name), "{folder}");
        // The kernel's clock of files may be some milliseconds behind.
        assert!((before - 20..=crate::clock::now()).contains(&since), "{before} {since}");
        // A copy of the repository has other times of its files.
        let file = copy.root().join(".git/worktrees").join(&name).join("commondir");
        let later = UNIX_EPOCH + Duration::from_millis(crate::clock::now().unsigned_abs() + 60_000);
        fs::File::options().append(true).open(file).expect("a file").set_modified(later).expect("set");
        let (_, since) = worktree_named(&copy.root(), &name).expect("a worktree");
        assert!(since <= crate::clock::now() && since % 1_000 == 0, "{since}");
    }
}

#[test]
fn a_submodule_that_was_moved_on_is_not_committed() {
    let (copy, other) = (Copy::new(), Copy::new());
    let url = other.root().display().to_string();
    copy.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "lib"]);
    copy.git(&["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qam", "lib"]);
    let seen = |dirty: bool, files: &[&str]| {
        assert_eq!(state(&copy.root()).expect("a working copy").dirty, Some(dirty));
        assert_eq!(uncommitted(&copy.root()).expect("a working copy"), files);
    };
    seen(false, &[]);
    let within = ["-C", "lib", "-c", "user.name=n", "-c", "user.email=e@x"];
    copy.git(&[&within[..], &["commit", "-q", "--allow-empty", "-m", "on"]].concat());
    seen(true, &["lib"]);
}

#[test]
fn a_working_tree_elsewhere_is_not_looked_at() {
    let copy = Copy::new();
    copy.git(&["config", "core.worktree", "/"]);
    let seen = copy.ask().expect("a working copy");
    assert_eq!(seen.dirty, Some(false), "its own folder is compared");
}

#[test]
fn git_that_hangs_is_given_up() {
    let copy = Copy::new();
    let pipe = copy.root().join(".git/pipe");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("fifo");
    copy.git(&["config", "core.excludesFile", &pipe.display().to_string()]);
    let begin = Instant::now();
    assert!(
        state(&copy.root()).is_some_and(|seen| seen.dirty.is_none()),
        "branch and commit are told all the same"
    );
    assert!(begin.elapsed() < budget::TOTAL_TIMEOUT * 2, "all calls share one limit");
    assert_eq!(unanswered(), [copy.root()], "which is said");
}

#[test]
fn a_deep_worktree_costs_a_command_less_than_two_milliseconds() {
    let copy = Copy::new();
    for n in 0..300 {
        copy.git(&["branch", &format!("packed-{n}")]);
    }
    copy.git(&["pack-refs", "--all"]);
    copy.git(&["worktree", "add", "-q", "-b", "fix", "../beside"]);
    let deep = copy.dir.path().join("beside/a/b/c/d/e/f/g/h/i/j");
    fs::create_dir_all(&deep).expect("folder");
    let found = || repository(&root(&deep).expect("a root")).expect("a repository");
    assert!(found().is_worktree && found().branch.as_deref() == Some("fix") && found().commit.is_some());
    // The best of several rounds: the machine may have much else to do.
    let round = || {
        let begin = Instant::now();
        (0..50).for_each(|_| drop(found()));
        begin.elapsed() / 50
    };
    let best = (0..10).map(|_| round()).min().expect("rounds");
    assert!(best < std::time::Duration::from_millis(2), "{best:?}");
}

#[test]
fn a_repository_that_keeps_its_references_in_a_table_has_branch_commit_and_log() {
    let dir = tempfile::tempdir().expect("dir");
    let root = dir.path().join("repo");
    let path = root.display().to_string();
    let run = |args: &[&str]| {
        let author = ["-c", "user.name=a", "-c", "user.email=a@b"];
        let output = Command::new("git").args(author).args(args).output().expect("git runs");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    if run(&["init", "-q", "-b", "main", "--ref-format=reftable", &path]).is_none() {
        return; // An older git knows no other store of references.
    }
    let unborn = repository(&root).expect("sound");
    assert_eq!((unborn.branch.as_deref(), unborn.commit), (Some("main"), None));
    run(&["-C", &path, "commit", "-q", "--allow-empty", "-m", "one"]).expect("committed");
    let head = run(&["-C", &path, "rev-parse", "HEAD"]).expect("a commit");
    let found = repository(&root).expect("sound");
    assert_eq!((found.branch.as_deref(), found.commit.as_deref()), (Some("main"), Some(head.as_str())));
    let made = commits_made(&root, 0, None).expect("a log");
    assert_eq!(made.iter().map(|commit| commit.id.as_str()).collect::<Vec<_>>(), [head.as_str()]);
    let beside = dir.path().join("beside");
    run(&["-C", &path, "worktree", "add", "-q", "-b", "fix", &beside.display().to_string()]).expect("added");
    let found = repository(&beside).expect("sound");
    assert_eq!((found.branch.as_deref(), found.commit), (Some("fix"), Some(head)));
}

#[test]
fn commits_of_the_second_in_which_a_session_began_are_not_its_own_where_the_log_was_not_written_since() {
    let copy = Copy::new();
    // The commit of `new` and the instant are in one second.
    let now = crate::clock::now;
    while now() % 1_000 > 300 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let commit = |message: &str| {
        copy.git(&[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            message,
        ]);
    };
    commit("before");
    std::thread::sleep(Duration::from_millis(30));
    let began = now();
    let made = || reflog::commits_made(&copy.root(), began, Some("elsewhere")).expect("read").len();
    assert_eq!(made(), 0, "before the session");
    std::thread::sleep(Duration::from_millis(30));
    commit("after");
    assert!(made() > 0, "by the session");
}
