//! An application that was killed half-way: what it left in a working copy is neither the user's work nor the whole of what was
//! to be applied, so that it is settled before the working copy is read, and its temporary files belong to neither.

use std::fs::{self, Metadata};
use std::path::Path;

use super::Fault;
use super::journal::{FOLDER, Journal, LOCK, Lock};
use super::plumbing::Repo;
use super::recovery::Recovered;
use crate::git::{self, GitRunner};

/// Finishes an application that was interrupted, or takes it back.
pub(crate) fn recover(git: &dyn GitRunner, root: &Path) -> Result<Recovered, Fault> {
    let repo = Repo::open(git, root)?;
    let lock = Lock::take(&repo.git_dir)?;
    Journal::recover(&repo, &lock)
}

/// A guard: an interrupted apply was recovered, and no other one begins while this is held.
pub(crate) struct StableWorkingCopy {
    /// How the interrupted one was recovered.
    pub recovered: Recovered,
    _lock: Option<Lock>,
}

/// Finishes an interrupted application before a working copy is read. A working copy in which no changes were ever applied is not written to.
pub(crate) fn settle(git: &dyn GitRunner, root: &Path) -> Result<StableWorkingCopy, Fault> {
    let repo = Repo::open(git, root)?;
    let has = |name: &str| repo.git_dir.join(name).symlink_metadata().is_ok();
    if !has(FOLDER) && !has(LOCK) {
        return Ok(StableWorkingCopy { recovered: Recovered::nothing(), _lock: None });
    }
    let lock = Lock::take(&repo.git_dir)?;
    let recovered = Journal::recover(&repo, &lock)?;
    Ok(StableWorkingCopy { recovered, _lock: Some(lock) })
}

/// What an application of changes left that was killed, or has written so far where it is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leftover {
    /// Git's lock of the index alone: no file was written, and git writes nothing here.
    IndexLock,
    /// It has begun to write files.
    Files,
}

impl Leftover {
    /// What was left in the working copy with this top folder.
    pub(crate) fn find(root: &Path) -> Option<Self> {
        let git_dir = git::git_dir(root)?;
        let folder = git_dir.join(FOLDER);
        if folder.join("plan").symlink_metadata().is_ok() {
            return Some(Self::Files);
        }
        // Git's lock is Baton's where it holds the index that an application prepared.
        let (prepared, lock) = (folder.join("index"), git_dir.join("index.lock"));
        let length =
            |path: &Path| path.symlink_metadata().ok().filter(Metadata::is_file).map(|meta| meta.len());
        let is_own = length(&prepared).is_some()
            && length(&prepared) == length(&lock)
            && fs::read(&prepared).ok() == fs::read(&lock).ok();
        is_own.then_some(Self::IndexLock)
    }

    /// What a person is told of it.
    pub(crate) fn sentence(self) -> &'static str {
        match self {
            Self::IndexLock => {
                "an application of changes was interrupted in this working copy before it wrote a file, and its index.lock keeps git \
                 from writing: `baton changes apply` takes the lock away"
            }
            Self::Files => {
                "an application of changes was interrupted in this working copy, which may hold a part of its files: \
                 `baton changes apply` finishes it or takes it back"
            }
        }
    }
}
