//! What is not committed in a working copy, as git objects on top of its commit: [`capture`] reads it, [`apply`] puts it into
//! another working copy.
//!
//! Two trees are captured: that of the index, and that of the working tree with untracked files. Content of the working tree is
//! the bytes on the disk: no filter and no conversion of line ends runs in either direction, so that the files are equal
//! afterwards. Objects are made in a folder of our own; capture leaves index, objects, references and stash alone.
//!
//! Git is run by [`Plumbing`](crate::git::Plumbing), with the guards against what a stranger's repository configures.

mod apply;
mod capture;
pub(crate) mod carry;
mod case;
mod committed;
mod conflict;
mod content;
mod exports;
mod files;
mod interrupted;
mod journal;
mod line_ends;
mod merge;
mod new_place;
mod owner;
mod plumbing;
mod push_note;
mod put_away;
mod recovery;
mod refusal;
mod registration;
mod rejected;
mod remote;
mod scratch_folder;
mod secret;
mod status;
mod submodules;
mod text_encoding;
mod unfinished;
mod unpack;

use baton_model::changes::{GitOperation, UnfinishedOperation};
use baton_model::shell::shell_word;
use serde::{Deserialize, Serialize};

pub(crate) use apply::{Applied, apply, patch};
pub(crate) use capture::capture;
pub(crate) use content::hash as content_hash;
pub(crate) use exports::ExportNotes;
pub(crate) use interrupted::{Leftover, recover, settle};
#[cfg(test)]
pub(crate) use journal::Step;
pub(crate) use owner::require_own_files;
pub(crate) use push_note::PushNote;
pub(crate) use put_away::given_files_advice;
pub(crate) use recovery::{Recovered, Recovery};
pub(crate) use remote::is_in_remote;
pub(crate) use scratch_folder::scratch;

/// The changes of a working copy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Changes {
    /// The commit that they stand on; none in a repository without commits.
    pub base: Option<String>,
    /// The tree of the index.
    pub index_tree: String,
    /// The tree of the working tree, untracked files among it.
    pub worktree_tree: String,
    /// A commit of the index, on the base.
    pub index_commit: String,
    /// A commit of the working tree, on that of the index.
    pub worktree_commit: String,
    /// The paths that differ from the base, as text.
    pub files: Vec<String>,
    /// Files with the bytes of the base, where git checks out others: line ends that git converts.
    pub unconverted: Vec<Unconverted>,
    /// What does not travel.
    pub left_out: Vec<LeftOut>,
    /// What git was in the middle of.
    #[serde(skip)]
    pub unfinished: Vec<UnfinishedOperation>,
    /// The baton with which they came.
    #[serde(skip)]
    pub baton_id: Option<String>,
    /// The branch on which they were made.
    #[serde(skip)]
    pub branch: Option<String>,
    /// The files that were given along before from the working copy in which the changes are to be applied.
    #[serde(skip)]
    pub given_here: Vec<String>,
    /// For each of them what it held then; empty where that is not known.
    #[serde(skip)]
    pub given_fingerprints: Vec<String>,
    /// A thin pack of the objects that the base does not have.
    #[serde(skip)]
    pub pack: Vec<u8>,
}

impl Changes {
    /// Whether nothing differs from the base.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// A file that equals its blob byte by byte, which git calls modified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unconverted {
    /// The bytes of the path.
    pub path: Vec<u8>,
    /// The mode as in a tree.
    pub mode: String,
    /// The id of the blob.
    pub id: String,
}

/// A path that is not captured, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LeftOut {
    /// The path as text.
    pub path: String,
    /// A clause that follows the path.
    pub reason: String,
}

/// What capture takes at most; beyond it nothing is captured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of all captured content, uncompressed.
    pub bytes: u64,
    /// Number of paths.
    pub files: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 25 * 1024 * 1024, files: 2000 }
    }
}

/// Why changes were not captured or not applied. The working copy is then as it was, but for [`Fault::Edited`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// Git refused a call.
    #[error("git {command} failed: {message}")]
    Git {
        /// The subcommand.
        command: String,
        /// What git wrote to its error output.
        message: String,
    },
    /// A file or folder could not be read or written.
    #[error("{what}: {error}")]
    Io {
        /// What was attempted, with the path.
        what: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// The index holds conflicts.
    #[error("{}: {}", conflicts_of(.begun.as_ref()), list(.files))]
    Unmerged {
        /// The files.
        files: Vec<String>,
        /// What git is in the middle of, where that is why.
        begun: Option<GitOperation>,
    },
    /// More paths than the limit.
    #[error("{count} files are changed, more than the limit of {limit}")]
    FileLimit {
        /// Number of changed paths.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// More content than the limit.
    #[error("the changes are larger than the limit of {limit} bytes{}", largest_of(.largest))]
    ByteLimit {
        /// The largest files with their sizes, largest first; none where the sizes are those of a merge.
        largest: Vec<String>,
        /// The limit in bytes.
        limit: u64,
    },
    /// The target does not hold the base.
    #[error("this repository does not hold commit {commit}, on which the changes stand")]
    MissingCommit {
        /// The base.
        commit: String,
        /// Whether the history of the target is cut.
        is_shallow: bool,
        /// The branch on which the changes were made. A clone of one branch fetches no other one by itself.
        branch: Option<String>,
        /// The remote of the target; none where it has none.
        remote: Option<String>,
    },
    /// The target has the base, and nothing checked out.
    #[error("this branch has no commit yet, and the changes stand on commit {0}, which is here")]
    NoHead(String),
    /// The changes were made in a repository without commits.
    #[error("the changes were made in a repository without commits, and this one has some")]
    NoBase,
    /// Git is too old to merge.
    #[error(
        "another commit is checked out here than the one on which the changes stand, and to merge them takes git 2.38 or newer: this is {0}"
    )]
    OldGit(String),
    /// The target has changes of its own.
    #[error("this working copy has changes of its own: {}", list(.0))]
    LocalChanges(Vec<String>),
    /// The working copy has changes, and lacks the commit on which the captured ones were made.
    #[error("this working copy has changes of its own: {}; and {missing}", list(.files))]
    LocalChangesWithoutCommit {
        /// The files.
        files: Vec<String>,
        /// The commit.
        missing: Box<Fault>,
    },
    /// Files would be written or removed whose changes git does not show.
    #[error("git is told not to look at files that would be changed here (sparse checkout, skip-worktree or assume-unchanged): {}", list(.0))]
    HiddenChanges(Vec<String>),
    /// A file that git does not track lies where one would be written.
    #[error("files that git does not track are in the way: {}", list(.0))]
    Obstacles(Vec<String>),
    /// Files would be one file where their names differ only in case.
    #[error("names that differ only in case are one file here: {}", list(.0))]
    CaseClash(Vec<String>),
    /// The merge has conflicts.
    #[error("the changes conflict with what was committed here: {}", list(.0))]
    Conflicts(Vec<String>),
    /// The same, where what is checked out lacks the base, which this repository holds.
    #[error("the changes stand on commit {}, which is here and not in the branch that is checked out, and conflict with it: {}", .commit.get(..7).unwrap_or(.commit), list(.paths))]
    OtherLine {
        /// The paths.
        paths: Vec<String>,
        /// The base.
        commit: String,
    },
    /// Another process applies changes or writes the index.
    #[error("{0} exists or is locked: another process writes to this working copy")]
    Busy(String),
    /// The captured data is damaged, or names a path outside the working copy.
    #[error("the captured changes are not valid: {0}")]
    Invalid(String),
    /// A path has a part that git takes for its own folder, on this system or on another. Only a staged one gets so far.
    #[error("{} has a part that git takes for its own folder, here or on another system", .0.escape_debug())]
    ReservedPath(String),
    /// Git forbids what they hold.
    #[error("git refuses what these changes hold: {}", list(.0))]
    Rejected(Vec<String>),
    /// Files were edited after an application was interrupted.
    #[error("applying changes was interrupted here, and files were edited since: {}", list(.files))]
    Edited {
        /// The files.
        files: Vec<String>,
        /// For each of them the command that puts back what it held before.
        restore: Vec<String>,
    },
}

impl Fault {
    /// What to do, in a sentence.
    pub(crate) fn hint(&self) -> String {
        let hint = match self {
            Self::Git { .. } => "run `git fsck` in this repository",
            Self::Io { .. } => "check the disk's free space and the permissions, then repeat",
            Self::Unmerged { begun, .. } => {
                let resolve = "resolve them and `git add` the files";
                return match begun.and_then(command_of) {
                    Some(command) => format!("{resolve}, or `git {command} --abort`; then repeat"),
                    None => format!("{resolve}, then repeat"),
                };
            }
            Self::FileLimit { .. } | Self::ByteLimit { .. } => {
                "commit a part, or let git ignore what is generated"
            }
            Self::MissingCommit { is_shallow, branch, remote, .. } => {
                return missing_commit_hint(*is_shallow, branch.as_deref(), remote.as_deref());
            }
            Self::NoHead(commit) => {
                return format!("check that commit out first: `git switch -c NAME {commit}`");
            }
            Self::NoBase => {
                "apply them in a repository without commits, or as a patch: `baton changes diff > FILE`, then `git apply FILE`"
            }
            Self::LocalChangesWithoutCommit { missing, .. } => {
                return format!("{}; then put away what lies here, and repeat", missing.hint());
            }
            Self::LocalChanges(_) => "commit or stash them, or apply in a new worktree: `git worktree add`",
            Self::HiddenChanges(_) => {
                "let git look again: `git sparse-checkout disable`, or keep a copy of them and `git update-index --no-skip-worktree --no-assume-unchanged FILE`"
            }
            Self::Obstacles(_) => "move them away, or apply in a new worktree: `git worktree add`",
            Self::CaseClash(_) => {
                "rename one of them where the work was done, or apply where the file system tells them apart"
            }
            Self::OldGit(_) => {
                "install git 2.38 or newer, or apply where the commit of the changes is checked out"
            }
            Self::Conflicts(_) => "apply in a worktree at the commit of the changes, commit there and merge",
            Self::OtherLine { commit, .. } => {
                return format!(
                    "apply where that commit is checked out: in the worktree of its branch, or `git worktree add --detach FOLDER {commit}`"
                );
            }
            Self::Busy(_) => "wait for it; remove an index.lock only if no git process is left",
            Self::Invalid(_) => "capture them anew where the work was done",
            Self::ReservedPath(_) => {
                "where the work was done, take it out of the index (`git rm --cached PATH`) and wrap again: an untracked one stays where it is, and is named; a baton that holds it takes the changes without it: `baton changes keep BATON --replace`"
            }
            Self::Rejected(_) => {
                "rename or mend it where the work was done, and leave a new baton there: `baton wrap --with-changes`; one that waits takes them, too: `baton changes keep BATON --replace`"
            }
            Self::Edited { restore, .. } => return edited_hint(restore),
        };
        hint.to_owned()
    }
}

/// How files are put back that were edited after an interrupted application. `restore`: a command for each.
fn edited_hint(restore: &[String]) -> String {
    let (shown, more) = (restore.iter().take(MAX_NAMED), restore.len().saturating_sub(MAX_NAMED));
    let more = if more > 0 { "; the next call names the rest" } else { "" };
    let commands: Vec<String> = shown.map(|command| format!("`{command}`")).collect();
    format!(
        "copy your edits elsewhere, put back what was there before, then repeat: {}{more}",
        commands.join(", ")
    )
}

/// How a commit is brought that is not here. A clone of one branch, such as `--depth 1` makes, gets it by the name of its branch only.
fn missing_commit_hint(is_shallow: bool, branch: Option<&str>, remote: Option<&str>) -> String {
    let Some(remote) = remote.map(shell_word) else {
        let branch = branch.map_or_else(|| "BRANCH".to_owned(), shell_word);
        return format!(
            "this repository has no remote: `git fetch PATH {branch}` brings it from the other clone; from another machine, write it there \
             into a file (`git bundle create FILE {branch}`), then `git fetch FILE {branch}` here"
        );
    };
    let fetch = match branch {
        Some(branch) => format!("run `git fetch {remote} {}`", shell_word(branch)),
        None => format!("run `git fetch`, or in a clone of one branch `git fetch {remote} BRANCH`"),
    };
    let deepen = if is_shallow { ", then `git fetch --unshallow` if it is older" } else { "" };
    format!("{fetch}{deepen}; push that commit from where the work was done, if it is nowhere yet")
}

/// The command of git's that aborts an operation.
fn command_of(operation: GitOperation) -> Option<&'static str> {
    Some(match operation {
        GitOperation::Merge => "merge",
        GitOperation::Rebase => "rebase",
        GitOperation::CherryPick => "cherry-pick",
        GitOperation::Revert => "revert",
        GitOperation::Am => "am",
        GitOperation::Bisect => return None,
    })
}

/// Why files have conflicts, in a clause.
fn conflicts_of(begun: Option<&GitOperation>) -> String {
    match begun.copied().and_then(command_of) {
        Some(command) => format!("a {command} is not finished, and files have conflicts"),
        None => "files have conflicts that are not resolved".to_owned(),
    }
}

/// How many of a list a message names.
const MAX_NAMED: usize = 10;

/// A clause with the largest files; nothing where they are not known.
fn largest_of(largest: &[String]) -> String {
    if largest.is_empty() { String::new() } else { format!("; the largest: {}", list(largest)) }
}

/// The first ten of a list, and how many more there are.
fn list(items: &[String]) -> String {
    let shown: Vec<String> =
        items.iter().take(MAX_NAMED).map(|item| item.escape_debug().to_string()).collect();
    match items.len().checked_sub(MAX_NAMED) {
        None | Some(0) => shown.join(", "),
        Some(more) => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
