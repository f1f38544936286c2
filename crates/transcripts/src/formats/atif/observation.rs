//! How the call of a step ended. ATIF has no field for it: tools put an exit code or a mark of failure into `extra`, and
//! some only into the words of the result.

use crate::event::Category;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;

const EXIT_CODES: &[&str] = &["exit_code", "exitCode", "returncode", "return_code"];
const FAILURES: &[&str] = &["is_error", "error", "isError"];

/// Emits the result of a call.
pub(super) fn end_call(emitter: &mut EventEmitter<'_>, result: &Json<'_>) {
    let oldest = || emitter.waiting().map(|open| open.id.clone());
    let id = result.get("source_call_id").str().map(str::to_owned).or_else(oldest).unwrap_or_default();
    let (output, extra) = (result.get("content").text(), result.get("extra"));
    let code = EXIT_CODES.iter().find_map(|key| extra.get(key).int());
    let failed = FAILURES.iter().any(|key| is_set(extra.get(key))) || is_failure(&output);
    let is_shell = emitter.open(&id).is_some_and(|open| open.category == Category::Shell);
    // The outcome of a command without an exit code is not known.
    let ok = if failed { Some(false) } else { (!is_shell).then_some(true) };
    emitter.end_call(ToolResult { id: &id, ok, code, output, edits: Vec::new() });
}

fn is_set(mark: &Json<'_>) -> bool {
    mark.is_true() || mark.str().is_some_and(|text| !text.is_empty())
}

/// Whether a result says in its first word that it is an error.
fn is_failure(output: &str) -> bool {
    let text = output.trim_start();
    ["Error:", "error:", "ERROR:", "<tool_use_error>", "<error>", "Traceback (most recent call last)"]
        .iter()
        .any(|mark| text.starts_with(mark))
}
