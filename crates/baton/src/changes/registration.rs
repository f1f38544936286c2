//! What each working copy has of its own, so that it neither travels nor is in the way: the document that `baton init` writes, and a
//! settings file that git does not track.

use std::collections::BTreeSet;
use std::path::Path;

use baton_model::changes::is_settings;
use baton_model::project_document;

use super::files::read_entry;
use super::plumbing::{Repo, Scratch};
use super::{Changes, Fault};

/// Where a repository says what it is.
pub(super) const DOCUMENT: &[u8] = b"docs/PROJECT.md";

/// Whether it is the document that `baton init` writes, as it wrote it.
pub(super) fn is_registration(path: &[u8], bytes: &[u8]) -> bool {
    path == DOCUMENT && std::str::from_utf8(bytes).is_ok_and(project_document::is_generated)
}

/// Whether the document lies in the working copy as `baton init` has changed the committed one, and no person has since.
pub(super) fn is_rewritten(repo: &Repo<'_>) -> Result<bool, Fault> {
    let Some((_, found)) = read_entry(&repo.root, DOCUMENT)? else { return Ok(false) };
    let named = [b"HEAD:", DOCUMENT].concat();
    let answer =
        repo.answer(&Scratch::default(), &["cat-file", "blob", &String::from_utf8_lossy(&named)], b"")?;
    let is_known = answer.code == Some(0);
    let (Ok(before), Ok(after)) = (std::str::from_utf8(&answer.out), std::str::from_utf8(&found)) else {
        return Ok(false);
    };
    Ok(is_known && before != after && project_document::is_rewrite(before, after))
}

/// A captured working tree without the settings files of which git knew nothing.
pub(super) struct OwnTree {
    /// The tree.
    pub tree: String,
    /// The paths of those files. Earlier versions captured them.
    pub settings: Vec<Vec<u8>>,
}

impl OwnTree {
    /// Of changes whose objects are unpacked. `dir`: where an index may be written.
    pub(super) fn of(
        repo: &Repo<'_>,
        scratch: &Scratch,
        changes: &Changes,
        dir: &Path,
    ) -> Result<Self, Fault> {
        let base = repo.tree(scratch, changes.base.as_deref())?;
        let added = |tree: &str| -> Result<BTreeSet<Vec<u8>>, Fault> {
            let new = repo.diff(scratch, &base, tree)?.into_iter();
            Ok(new
                .filter(|entry| entry.status == "A" && is_settings(&entry.path))
                .map(|entry| entry.path)
                .collect())
        };
        let staged = added(&changes.index_tree)?;
        let settings: Vec<Vec<u8>> =
            added(&changes.worktree_tree)?.into_iter().filter(|path| !staged.contains(path)).collect();
        if settings.is_empty() {
            return Ok(Self { tree: changes.worktree_tree.clone(), settings });
        }
        let scratch = Scratch { index: Some(dir.join("without-settings")), objects: scratch.objects.clone() };
        repo.run(&scratch, &["read-tree", &changes.worktree_tree], b"")?;
        let mut gone = Vec::new();
        for path in &settings {
            gone.extend_from_slice(format!("0 {}\t", "0".repeat(base.len())).as_bytes());
            gone.extend_from_slice(path);
            gone.push(0);
        }
        repo.run(&scratch, &["update-index", "-z", "--index-info"], &gone)?;
        Ok(Self { tree: repo.line(&scratch, &["write-tree"], b"")?, settings })
    }
}
