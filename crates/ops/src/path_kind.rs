//! What a path names.

use serde::{Deserialize, Serialize};

/// What a path or glob names in a working copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// A folder.
    Folder,
    /// A file, or a glob that some file matches.
    File,
    /// Nothing that is there.
    Nothing,
}
