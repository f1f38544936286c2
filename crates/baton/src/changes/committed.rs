//! Which paths of a working copy are as its commit has them.

use std::collections::BTreeSet;

use super::Fault;
use super::files::read_entry;
use super::plumbing::{Repo, Scratch, items};

pub(super) struct CommittedPaths {
    in_head: BTreeSet<Vec<u8>>,
    changed: BTreeSet<Vec<u8>>,
}

impl CommittedPaths {
    pub(super) fn read(repo: &Repo<'_>) -> Result<Self, Fault> {
        let none = Scratch::default();
        let mut in_head = BTreeSet::new();
        if repo.head()?.is_some() {
            let listed =
                repo.run(&none, &["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"], b"")?;
            in_head.extend(items(&listed).map(<[u8]>::to_vec));
        }
        let status = repo.tracked_status(&none)?;
        let changed = items(&status).filter_map(|item| item.get(3..)).map(<[u8]>::to_vec).collect();
        Ok(Self { in_head, changed })
    }

    /// Whether a path holds, or lacks, just what the commit has.
    pub(super) fn has(&self, repo: &Repo<'_>, path: &[u8]) -> Result<bool, Fault> {
        let is_there = read_entry(&repo.root, path)?.is_some();
        Ok(!self.changed.contains(path) && self.in_head.contains(path) == is_there)
    }
}
