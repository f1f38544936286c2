//! The document that `baton init` writes: each working copy has its own, so that it neither travels nor is in the way.

use baton_model::project_document;

use super::Fault;
use super::files::read_entry;
use super::plumbing::{Repo, Scratch};

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
