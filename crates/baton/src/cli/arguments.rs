//! What arguments say: spans of time, priorities, files.

use std::io::Read;

use baton_model::refusal::Refusal;

use crate::error::AppError;

/// The instant that a span such as `30m` or `7d` reaches back to.
pub(super) fn earliest_instant(reach: Option<&str>) -> Result<Option<i64>, Refusal> {
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

/// A span of time in whole seconds, where one is given.
pub(super) fn seconds(text: Option<&str>) -> Result<Option<i64>, Refusal> {
    Ok(text.map(span).transpose()?.map(|millis| millis / 1_000))
}

/// Parses a span of at least a second and at most a day, in seconds; the error says how one is written.
pub(super) fn seconds_of_a_day(text: &str) -> Result<u64, String> {
    let span = span(text).map_err(|refusal| format!("{}: {}", refusal.message, refusal.hint))?;
    u64::try_from(span / 1_000)
        .ok()
        .filter(|seconds| (1..=86_400).contains(seconds))
        .ok_or_else(|| "give 1s to 24h".to_owned())
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
