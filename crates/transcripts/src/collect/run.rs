//! A command that ended.

use super::SourceRef;
use super::importance::Importance;

/// A command that ended.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// The command line, cleaned.
    pub command: String,
    /// Its exit code.
    pub exit_code: Option<i64>,
    /// Whether it succeeded, where known.
    pub ok: Option<bool>,
    /// The last line of what a failing command said.
    pub note: Option<String>,
    /// Its place.
    pub at: SourceRef,
    /// How much it matters.
    pub importance: Importance,
    /// Whether it failed and was made good since.
    pub mended: bool,
}
