//! Git, called in one way only. A working copy may come from a stranger, and an unpacked one brings its own `.git/config`:
//! nothing in it may start a program, reach a network, or show another repository in its place.
//!
//! | what a repository tries | what stands against it |
//! | --- | --- |
//! | `core.fsmonitor`, `core.hooksPath`, hooks | set to nothing on the command line, which wins over every file |
//! | `filter.*` by `.gitattributes` | drivers that the repository itself defines are emptied; one that cannot be is not called |
//! | pager, editor, `diff.external`, textconv, `gpg.program`, aliases | only built-in commands that use none of them |
//! | `remote.*`, a promisor, `ext::` | no transport is allowed, and missing objects are not fetched; what you have sent to a remote goes from a repository of Baton's own |
//! | `core.worktree`, a bare repository in a folder | the folder that was found is the working tree, and git begins there |
//! | a `.git` file or link that leads elsewhere | followed only where the other side names this folder |
//! | submodules | not looked into |
//! | `include.path` on a FIFO, a huge index | a time limit for all calls together, and a limit on the answer |

mod budget;
mod call;
mod commits_place;
mod committed;
mod filtered;
mod history;
mod layout;
mod plumbing;
mod reflog;
mod rule_files;
mod stash;
mod state;
mod transfer;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use baton_model::time::Millis;

use crate::process;
pub(crate) use call::{Answer, Call, GitRunner};
pub(crate) use commits_place::commits_place;
pub(crate) use committed::committed_files;
pub(crate) use filtered::is_listed_as;
pub(crate) use history::{CommitInfo, Pushed, commit_id, commits, commits_of_file, commits_of_lines, pushed};
pub(crate) use layout::{
    ID_KEY, absolute_remote, bare_folder, git_dir, holds_id, is_own_worktree, repository, uses_reftable,
};
pub(crate) use plumbing::Plumbing;
pub(crate) use reflog::commits_made;
pub(crate) use stash::{folders_own, printable_pattern, stash_command};
pub(crate) use state::{has_untracked_document, state, uncommitted};
pub(crate) use transfer::transfer;

/// How long git may take for a change that the user asked for.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest answer that is read, in bytes.
const LIMIT: u64 = 16 * 1024 * 1024;
/// The memory that git may take beside the files it maps, in bytes.
#[cfg(target_os = "linux")]
const MEMORY: u64 = 1024 * 1024 * 1024;

/// Settings that win over those of the repository.
const SETTINGS: [&str; 17] = [
    "blame.ignoreRevsFile=",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.untrackedCache=false",
    "core.sshCommand=false",
    "core.gitProxy=",
    "core.askPass=",
    "credential.helper=",
    "diff.external=",
    "gc.auto=0",
    "gpg.program=false",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// Variables that turn git to another repository, or make it run something. They may stem from a hook of git's in which we
/// were called.
const FOREIGN: [&str; 21] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_ATTR_SOURCE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_EXTERNAL_DIFF",
    "GIT_DEFAULT_HASH",
    "GIT_QUARANTINE_PATH",
    "GIT_TEMPLATE_DIR",
];

/// The top folder of the git working copy that holds this folder.
pub(crate) fn root(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().find(|f| f.join(".git").symlink_metadata().is_ok()).map(Path::to_owned)
}

/// The output of a built-in git command that only reads, run at the top of the working copy that holds this folder.
pub(crate) fn read(folder: &Path, args: &[&str]) -> Option<String> {
    let root = root(folder)?;
    if !is_its_own(&root) {
        return None;
    }
    run(&root, args, &[])
}

/// The name that git has for its user here; outside of a repository the one of all repositories.
pub(crate) fn user_name(folder: &Path) -> Option<String> {
    match root(folder) {
        Some(_) => read(folder, &["config", "user.name"]),
        None => run(folder, &["config", "--global", "user.name"], &[]),
    }
}

/// Runs a command of git that also reads files of the working copy: filters that the repository brings do not run. None where one
/// of them cannot be switched off.
pub(crate) fn read_files(folder: &Path, args: &[&str]) -> Option<String> {
    let root = root(folder)?;
    if !is_its_own(&root) {
        return None;
    }
    run(&root, args, &filters(&root)?)
}

/// Whether files of the working copy can be read without running a filter that the repository brings.
pub(crate) fn can_read_files(folder: &Path) -> bool {
    root(folder).is_none_or(|root| filters(&root).is_some())
}

/// The working copies in which git did not answer in time, so that facts are missing.
pub(crate) fn unanswered() -> Vec<PathBuf> {
    budget::of_process(|budget| budget.out())
}

/// Runs a command of git that writes because the user asked for it, with a time limit of its own.
fn change(folder: &Path, args: &[&str]) -> Option<String> {
    let root = root(folder)?;
    if !is_its_own(&root) {
        return None;
    }
    call(&root, args, &[], WRITE_TIMEOUT).ok().flatten()
}

/// Changes the settings of a working copy's own repository, where the user asked for that.
pub(crate) fn configure(folder: &Path, args: &[&str]) -> Option<()> {
    let args: Vec<&str> = ["config", "--local"].into_iter().chain(args.iter().copied()).collect();
    change(folder, &args).map(drop)
}

/// Merges two versions of a file line by line into the first, with the marks of a conflict where they differ.
pub(crate) fn merge_lines(folder: &Path, [ours, base, theirs]: [&str; 3]) {
    // The status counts the conflicts.
    let _ = change(folder, &["merge-file", "--", ours, base, theirs]);
}

/// The remote that code is pushed to. A path is absolute: one that is relative means another folder in every clone.
pub(crate) fn remote(folder: &Path) -> Option<String> {
    let url = read(folder, &["remote", "get-url", "origin"]).map(|url| url.trim().to_owned())?;
    Some(layout::absolute_remote(root(folder).as_deref().unwrap_or(folder), url))
}

/// The working copy of the repository around a folder in which a branch is checked out, if it is there.
pub(crate) fn checkout_of(folder: &Path, branch: &str) -> Option<String> {
    let listed = read(folder, &["worktree", "list", "--porcelain"])?;
    let wanted = format!("branch refs/heads/{branch}");
    let mut found = listed.split("\n\n").filter(|copy| copy.lines().any(|line| line == wanted));
    let path = found.next()?.lines().find_map(|line| line.strip_prefix("worktree "))?;
    // Another folder may lie in the place of a working copy that was moved by hand.
    (root(Path::new(path)).as_deref() == Some(Path::new(path))).then(|| path.to_owned())
}

/// Another working copy of the repository around a folder in which a commit is checked out, if it is there.
pub(crate) fn checkout_at(folder: &Path, commit: &str) -> Option<String> {
    let listed = read(folder, &["worktree", "list", "--porcelain"])?;
    let (own, wanted) = (root(folder), format!("HEAD {commit}"));
    let found = listed.split("\n\n").filter(|copy| copy.lines().any(|line| line == wanted));
    let mut paths = found.filter_map(|copy| copy.lines().find_map(|line| line.strip_prefix("worktree ")));
    let is_there = |path: &&str| {
        let top = root(Path::new(path));
        top.as_deref() == Some(Path::new(path)) && top != own
    };
    paths.find(is_there).map(str::to_owned)
}

/// The linked worktree that has this name in the repository around a folder, and since when: git names one by the folder in which it
/// was made, and it keeps the name where it is moved to.
pub(crate) fn worktree_named(folder: &Path, name: &str) -> Option<(String, Millis)> {
    let (top, git_dir) = layout::worktree_named(&root(folder)?, name)?;
    Some((top.to_str()?.to_owned(), reflog::begun_at(&git_dir)?))
}

/// Whether a working copy holds a commit.
pub(crate) fn has_commit(folder: &Path, revision: &str) -> Option<bool> {
    root(folder)?;
    if revision.starts_with('-') || revision.is_empty() {
        return Some(false);
    }
    Some(read(folder, &["cat-file", "-e", &format!("{revision}^{{commit}}")]).is_some())
}

/// Whether what is checked out in a working copy has a commit: it is one of its ancestors, or the same.
pub(crate) fn head_contains(folder: &Path, commit: &str) -> Option<bool> {
    contains(folder, "HEAD", commit)
}

/// Whether a commit, or that of a branch, has another one: it is one of its ancestors, or the same. None where either is not here.
pub(crate) fn commit_contains(folder: &Path, tip: &str, commit: &str) -> Option<bool> {
    if is_hex(tip) || is_branch_reference(tip) { contains(folder, tip, commit) } else { None }
}

/// Whether a text is the full name of a branch, here or of a remote, and no expression of git's around one.
fn is_branch_reference(text: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && !" ~^:?*[\\".contains(c);
    (text.starts_with("refs/heads/") || text.starts_with("refs/remotes/"))
        && !text.contains("..")
        && !text.contains("@{")
        && text.chars().all(is_plain)
}

fn contains(folder: &Path, tip: &str, commit: &str) -> Option<bool> {
    if !is_hex(commit) {
        return None;
    }
    let missing = read(folder, &["rev-list", "-1", commit, "--not", tip])?;
    Some(missing.trim().is_empty())
}

fn is_hex(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Settings that empty the filters which the repository's own files define; the user's own are the user's. None where one
/// has a name that cannot be given on a command line, or the settings cannot be read.
fn filters(root: &Path) -> Option<Vec<String>> {
    let listed = run(root, &["config", "--list", "--null", "--show-scope", "--includes"], &[])?;
    let mut settings = Vec::new();
    let mut parts = listed.split('\0');
    while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
        let key = entry.split_once('\n').map_or(entry, |(key, _)| key);
        if !matches!(scope, "local" | "worktree") || !key.starts_with("filter.") {
            continue;
        }
        if key.contains(['=', '\n', '\r']) {
            return None;
        }
        let (driver, name) = key.rsplit_once('.')?;
        let value = if name == "required" { "false" } else { "" };
        let more = ["clean=", "smudge=", "process=", "required=false"].map(|end| format!("{driver}.{end}"));
        settings.push(format!("{key}={value}"));
        settings.extend(more);
    }
    settings.sort();
    settings.dedup();
    Some(settings)
}

/// Whether `.git` is this folder's own: a folder, or a file whose other side names this folder, as for worktrees and
/// submodules.
fn is_its_own(root: &Path) -> bool {
    layout::layout(root).is_ok()
}

/// One of the calls that share the time of a command.
fn run(root: &Path, args: &[&str], settings: &[String]) -> Option<String> {
    let begin = Instant::now();
    let patience = budget::of_process(|budget| budget.remaining(root, begin))?;
    let answer = call(root, args, settings, patience);
    let now = Instant::now();
    budget::of_process(|budget| budget.spend(root, now - begin, answer.is_ok(), now));
    answer.ok().flatten()
}

/// Git did not answer in time.
struct GitTimeout;

fn call(
    root: &Path,
    args: &[&str],
    settings: &[String],
    patience: Duration,
) -> Result<Option<String>, GitTimeout> {
    let Some(mut command) = command(root, args, settings) else { return Ok(None) };
    let Ok(mut child) = command.spawn() else { return Ok(None) };
    bound(&child);
    let answer = answer(&mut child, patience);
    if !matches!(answer, Ok(Some(_))) {
        kill(&mut child);
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    let answer = answer?.filter(|_| succeeded);
    Ok(answer.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Git with everything that a repository could turn against us switched off.
fn command(root: &Path, args: &[&str], settings: &[String]) -> Option<Command> {
    let mut command = Command::new(process::program("git")?);
    command.arg("-C").arg(root).args(["--no-pager", "--no-replace-objects", "--work-tree"]).arg(root);
    for setting in SETTINGS.iter().copied().chain(settings.iter().map(String::as_str)) {
        command.args(["-c", setting]);
    }
    command.args(args);
    for name in FOREIGN {
        command.env_remove(name);
    }
    for (name, value) in [
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_NO_LAZY_FETCH", "1"),
        ("GIT_ALLOW_PROTOCOL", "none"),
        ("GIT_PROTOCOL_FROM_USER", "0"),
        ("GIT_PAGER", "cat"),
        ("GIT_EDITOR", "true"),
        ("GIT_ASKPASS", "true"),
        ("SSH_ASKPASS", "true"),
        ("GIT_SSH_COMMAND", "false"),
        ("LC_ALL", "C"),
    ] {
        command.env(name, value);
    }
    // Where `.git` is none after all, git does not look further up.
    if let Some(above) = root.canonicalize().ok().as_deref().and_then(Path::parent) {
        command.env("GIT_CEILING_DIRECTORIES", above);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    in_own_process_group(&mut command);
    Some(command)
}

/// What a child writes, whole and in time; nothing where that is too much.
fn answer(child: &mut Child, patience: Duration) -> Result<Option<Vec<u8>>, GitTimeout> {
    let Some(out) = child.stdout.take() else { return Ok(None) };
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = out.take(LIMIT + 1).read_to_end(&mut bytes);
        _ = sender.send(read.ok().map(|_| bytes));
    });
    let bytes = receiver.recv_timeout(patience).map_err(|_| GitTimeout)?;
    Ok(bytes.filter(|bytes| u64::try_from(bytes.len()).is_ok_and(|read| read <= LIMIT)))
}

/// Bounds the memory of a child: a file of the repository may be a link to a device that never ends.
#[cfg(target_os = "linux")]
fn bound(child: &Child) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(MEMORY), maximum: Some(MEMORY) };
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let _ = prlimit(pid, Resource::Data, limit);
}

#[cfg(not(target_os = "linux"))]
fn bound(_: &Child) {}

/// A group of its own, so that what a child starts ends with it.
#[cfg(unix)]
fn in_own_process_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
fn in_own_process_group(_: &mut Command) {}

#[cfg(unix)]
fn kill(child: &mut Child) {
    let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
}

#[cfg(not(unix))]
fn kill(child: &mut Child) {
    let _ = child.kill();
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
