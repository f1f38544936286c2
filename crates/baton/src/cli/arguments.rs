//! What arguments say: spans of time, priorities, files.

use std::io::Read;

use baton_model::refusal::Refusal;

use crate::error::AppError;

/// The instant that a span such as `30m` or `7d` reaches back to.
pub(super) fn since(reach: Option<&str>) -> Result<Option<i64>, Refusal> {
    let Some(text) = reach else { return Ok(None) };
    Ok(Some(crate::clock::now().saturating_sub(span(text)?)))
}

/// A span of time such as `30m` or `7d`, in milliseconds.
pub(super) fn span(text: &str) -> Result<i64, Refusal> {
    baton_model::time::parse_span(text).ok_or_else(|| {
        Refusal::invalid(
            "span_invalid",
            format!("`{}` is not a span of time", baton_model::id::visible(text)),
            "write it as 30m, 24h or 7d",
        )
    })
}

/// Parses a priority; the error names the valid ones.
pub(super) fn priority(text: &str) -> Result<i64, String> {
    baton_model::task::word::priority(text)
        .map_err(|refusal| format!("{}: {}", refusal.message, refusal.hint))
}

/// The text of a file, or of standard input for `-`.
pub(super) fn read_input(path: &str) -> Result<String, AppError> {
    let text = if path == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(path)
    };
    text.map_err(|error| {
        let name = if path == "-" { "standard input" } else { path };
        Refusal::invalid(
            "input_unreadable",
            format!("{name} cannot be read: {error}"),
            "give a UTF-8 file that exists, or - for standard input",
        )
        .into()
    })
}
