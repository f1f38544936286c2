//! An application that was killed half-way: what it left in a working copy is neither the user's work nor the whole of what was
//! to be applied, so that it is settled before the working copy is read, and its temporary files are nobody's.

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

/// A working copy in which no application is half done, and none begins while this is held.
pub(crate) struct StableWorkingCopy {
    /// What became of one that was interrupted.
    pub recovered: Recovered,
    _lock: Option<Lock>,
}

/// The same before a working copy is read. Nothing is written where nobody ever applied anything.
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

/// Whether an application was interrupted in the working copy with this top folder, or is under way there.
pub(crate) fn is_interrupted(root: &Path) -> bool {
    git::git_dir(root).is_some_and(|git_dir| git_dir.join(FOLDER).join("plan").symlink_metadata().is_ok())
}
