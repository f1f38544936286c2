//! How a command line ended, as far as the tool and its output tell.

use super::super::piped::PipeEnd;
use crate::event::Outcome;

/// How a command line ended.
#[derive(Debug, Default)]
pub(in super::super) struct LineOutcome<'a> {
    pub exit_code: Option<i64>,
    /// Whether it succeeded, where known.
    pub ok: Option<bool>,
    /// What is known of the steps that ran through a pipe.
    pub piped: Option<&'a PipeEnd>,
    /// The line of its output that says most about its failure.
    pub error: Option<String>,
    /// What it printed.
    pub printed: &'a str,
    /// Whether the call itself was wrong.
    pub is_miscall: bool,
    /// When it began.
    pub at_ms: Option<i64>,
}

impl<'a> LineOutcome<'a> {
    /// As the tool tells it.
    pub(in super::super) fn of(outcome: &'a Outcome<'_>, at_ms: Option<i64>) -> Self {
        let printed = outcome.output.as_ref();
        Self { exit_code: outcome.exit_code, ok: outcome.ok, printed, at_ms, ..Self::default() }
    }
}
