//! A call of git's plumbing, and who runs it: [`Plumbing`](super::Plumbing), or a test.

use std::ffi::OsString;
use std::path::Path;

/// One call of git.
#[derive(Debug)]
pub(crate) struct Call {
    /// Subcommand and arguments.
    pub args: Vec<String>,
    /// Variables to set. They include `GIT_INDEX_FILE`, `GIT_OBJECT_DIRECTORY` and settings as `GIT_CONFIG_COUNT`.
    pub env: Vec<(String, OsString)>,
    /// Standard input.
    pub input: Vec<u8>,
}

/// What git answered.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The exit code; none after a signal.
    pub code: Option<i32>,
    /// Standard output, whole.
    pub out: Vec<u8>,
    /// Error output.
    pub error: String,
}

/// Runs git at the top folder of a working copy, with the caller's guards against what a repository configures.
pub(crate) trait GitRunner {
    /// Runs one call to its end.
    fn call(&self, root: &Path, call: &Call) -> std::io::Result<Answer>;
}
