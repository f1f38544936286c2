//! A command that ended.

use super::SourceRef;
use super::importance::Importance;
use super::steps::{chain, without_settings};

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
    /// Whether the same program went well later with other arguments.
    pub found_another_way: bool,
    /// Whether git says in what it printed that it made a commit.
    pub has_committed: bool,
}

impl Run {
    /// The programs that a line runs, each with its first argument. `echo x | shop --print` tries the second, too.
    pub(super) fn programs(&self) -> Vec<String> {
        let steps = chain(&self.command).into_iter().map(|step| step.text);
        let parts = steps.flat_map(|step| step.split(" | ").map(str::to_owned).collect::<Vec<_>>());
        let first =
            |part: String| without_settings(&part).split_whitespace().take(2).collect::<Vec<_>>().join(" ");
        parts.map(first).filter(|words| words.contains(' ')).collect()
    }

    /// Whether it failed, and is no check whose failure stays though its program goes well with other arguments.
    pub(super) fn is_failed_trial(&self) -> bool {
        self.ok == Some(false) && self.importance == Importance::Some
    }
}
