//! How much is told of a transcript.

/// How a transcript is summarised.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether secrets are taken out. On by default.
    pub redact: bool,
    /// The home directory, which is written as `~`.
    pub home: Option<String>,
    /// How many of the last turns are kept.
    pub recent_messages: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { redact: true, home: None, recent_messages: 12 }
    }
}
