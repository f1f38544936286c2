//! Tool calls and what came of them: one part holds both.

use std::borrow::Cow;

use crate::event::{Call, Category, Change, Edit, Outcome, Usage};
use crate::shared::call;
use crate::shared::json::Json;
use crate::shared::replaced::hunks;
use crate::shared::shell;

/// The call in a tool part.
pub(super) fn call<'a>(part: &'a Json<'a>) -> Call<'a> {
    let id = part.first(&["callID", "id"]).unwrap_or_default();
    let name = part.first(&["tool", "name"]).unwrap_or_default();
    let call = call::call(id, name, part.at_path(&["state", "input"]));
    // In other tools this name is a shell's; here it runs a program that calls tools.
    match name {
        "execute" => Call { category: Category::Other, ..call },
        _ => call,
    }
}

/// How it ended, if it did.
pub(super) fn outcome<'a>(part: &'a Json<'a>, call: &Call<'a>) -> Option<Outcome<'a>> {
    let state = part.get("state");
    let done = match state.get("status").str() {
        Some("completed") => true,
        Some("error") => false,
        _ => return None,
    };
    let exit_code = match (&call.category, state.at_path(&["metadata", "exit"]).int()) {
        (Category::Shell, None) => shell::told_exit(&printed(state)),
        (_, code) => code,
    };
    let ok = match (done, exit_code) {
        (false, _) => Some(false),
        (true, Some(code)) => Some(code == 0),
        // A command that ran into its time limit ends without a code.
        (true, None) if call.category == Category::Shell => None,
        (true, None) => Some(true),
    };
    let error = state.get("error");
    let output = match error.str().or_else(|| error.get("message").str()).filter(|_| !done) {
        Some(error) => Cow::Borrowed(error),
        None => printed(state),
    };
    Some(Outcome {
        id: call.id.clone(),
        ok,
        exit_code,
        output,
        edits: if ok == Some(false) { Vec::new() } else { edits(state, call) },
    })
}

/// What it returned: a text, since version 2 a list of contents.
fn printed<'a>(state: &'a Json<'a>) -> Cow<'a, str> {
    state.get("output").str().map_or_else(|| state.get("content").text(), Cow::Borrowed)
}

/// The change as the tool reports it, which is surer than what the call asked for.
fn edits(state: &Json<'_>, call: &Call<'_>) -> Vec<Edit> {
    let metadata = state.get("metadata");
    let files: Vec<Edit> = metadata.get("files").items().iter().filter_map(file).collect();
    if !files.is_empty() {
        return files;
    }
    let [edit] = call.edits.as_slice() else { return Vec::new() };
    let created = matches!(metadata.get("exists"), Json::Bool(false))
        || state.get("content").text().starts_with("Created file");
    let change = if created { Change::Created } else { edit.change };
    match metadata.get("diff").str() {
        Some(diff) => vec![Edit::with_diff(&edit.path, change, hunks(diff))],
        None => vec![Edit { change, ..edit.clone() }],
    }
}

/// Reads a file change of `apply_patch` or of the diffs of a turn.
pub(super) fn file(file: &Json<'_>) -> Option<Edit> {
    let path = file.first(&["file", "filePath", "relativePath", "path"])?;
    let change = match file.first(&["status", "type"]) {
        Some("added" | "add") => Change::Created,
        Some("deleted" | "delete") => Change::Deleted,
        Some("move" | "renamed") => Change::Renamed,
        _ => Change::Modified,
    };
    let from = (change == Change::Renamed).then(|| path.to_owned());
    let path = file.get("movePath").str().unwrap_or(path);
    let edit = match file.first(&["patch", "diff"]) {
        Some(diff) if change != Change::Deleted => Edit::with_diff(path, change, hunks(diff)),
        _ => {
            let count = |key| file.get(key).int().and_then(|count| u64::try_from(count).ok());
            Edit { added: count("additions"), removed: count("deletions"), ..Edit::bare(path, change) }
        }
    };
    Some(Edit { from, ..edit })
}

/// Tokens of one answer.
pub(super) fn usage(tokens: &Json<'_>) -> Usage {
    Usage {
        input: tokens.get("input").count(),
        cache_read: tokens.at_path(&["cache", "read"]).count(),
        cache_write: tokens.at_path(&["cache", "write"]).count(),
        output: tokens.get("output").count().saturating_add(tokens.get("reasoning").count()),
    }
}
