//! The version of a Beads file from which both sides of a conflict began. Git's marks lack it unless its settings ask for it, but git has
//! it until the file is added again.

use std::path::Path;

use crate::git;

/// The lines of that version; none where the file is in no conflict, as far as git knows.
pub(super) fn conflict_base(path: &Path) -> Vec<String> {
    let text = path.parent().and_then(|folder| {
        let root = git::root(folder)?;
        let file = path.strip_prefix(&root).ok()?.to_str()?;
        git::read(folder, &["cat-file", "blob", &format!(":1:{file}")])
    });
    text.unwrap_or_default().lines().map(str::to_owned).collect()
}
