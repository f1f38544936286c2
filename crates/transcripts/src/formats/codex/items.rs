//! Tool calls of Codex and their results, in the words of every version.

use std::borrow::Cow;

use crate::event::{Call, Category, Change, Edit, Outcome, PlanItem, Usage};
use crate::shared::json::Json;
use crate::shared::{patch, shell, tool};

/// A `function_call`, with its arguments read.
pub(super) fn function_call<'a>(item: &'a Json<'a>, args: &'a Json<'a>) -> Call<'a> {
    let name = full_name(item);
    let (category, command) = (tool::category(&name), command(args));
    let patch = match category {
        Category::Shell => command.as_deref().and_then(patch::in_command),
        Category::Edit => args.first(&["input", "patch"]).or(args.str()).or(command.as_deref()),
        _ => None,
    };
    let edits = patch.map(patch::parse).unwrap_or_default();
    call(item, name, category, command.or_else(|| target(args)), edits)
}

/// A `custom_tool_call`: its input is text.
pub(super) fn custom_call<'a>(item: &'a Json<'a>) -> Call<'a> {
    let (name, input) = (full_name(item), item.get("input").str().unwrap_or_default());
    let category = tool::category(&name);
    let edits = if category == Category::Edit { patch::parse(input) } else { Vec::new() };
    call(item, name, category, Some(Cow::Borrowed(input)), edits)
}

/// A `local_shell_call`.
pub(super) fn local_shell_call<'a>(item: &'a Json<'a>) -> Call<'a> {
    let command = command(item.get("action"));
    let edits = command.as_deref().and_then(patch::in_command).map(patch::parse).unwrap_or_default();
    call(item, Cow::Borrowed("local_shell_call"), Category::Shell, command, edits)
}

/// A call of any tool. One that changes files is an edit, however it was made, and is named by its files.
fn call<'a>(
    item: &'a Json<'a>,
    name: Cow<'a, str>,
    category: Category,
    target: Option<Cow<'a, str>>,
    edits: Vec<Edit>,
) -> Call<'a> {
    let id = Cow::Borrowed(item.first(&["call_id", "id"]).unwrap_or_default());
    if edits.is_empty() {
        return Call { id, name, category, target: target.unwrap_or_default(), edits, ..Call::default() };
    }
    let paths: Vec<&str> = edits.iter().map(|edit| edit.path.as_str()).collect();
    let target = Cow::Owned(paths.join(", "));
    Call { id, name, category: Category::Edit, target, edits, ..Call::default() }
}

fn full_name<'a>(item: &'a Json<'a>) -> Cow<'a, str> {
    let name = item.get("name").str().unwrap_or_default();
    match item.get("namespace").str() {
        Some(space) if space.starts_with("mcp__") => {
            Cow::Owned(format!("{}__{name}", space.trim_end_matches('_')))
        }
        _ => Cow::Borrowed(name),
    }
}

/// The command line of a shell tool: `cmd`, `command` as text, or as a list of arguments.
fn command<'a>(args: &'a Json<'a>) -> Option<Cow<'a, str>> {
    if let Some(text) = args.first(&["cmd", "command"]) {
        return Some(Cow::Borrowed(text));
    }
    let words: Vec<&str> = args.get("command").items().iter().filter_map(Json::str).collect();
    (!words.is_empty()).then(|| Cow::Owned(shell::from_args(&words)))
}

fn target<'a>(args: &'a Json<'a>) -> Option<Cow<'a, str>> {
    const TARGETS: &[&str] =
        &["path", "file_path", "query", "pattern", "url", "message", "explanation", "prompt", "chars"];
    let first = || args.fields().iter().find_map(|(_, value)| value.str());
    args.first(TARGETS).or_else(first).map(Cow::Borrowed)
}

/// The plan that `update_plan` sets.
pub(super) fn plan(args: &Json<'_>) -> Vec<PlanItem> {
    let item = |item: &Json<'_>| {
        let title = item.first(&["step", "title", "content"])?.to_owned();
        Some(PlanItem { title, status: item.get("status").str().unwrap_or("pending").to_owned(), id: None })
    };
    args.get("plan").items().iter().filter_map(item).collect()
}

/// A `function_call_output` or `custom_tool_call_output`.
pub(super) fn output<'a>(item: &'a Json<'a>) -> Outcome<'a> {
    let raw = item.get("output");
    let text = match raw {
        Json::Obj(_) => raw.get("content").text(),
        _ => raw.text(),
    };
    let (exit_code, output) = unwrap(&text);
    let ok = match (exit_code, raw.get("success")) {
        (Some(code), _) => Some(code == 0),
        (None, Json::Bool(ok)) => Some(*ok),
        _ if is_refusal(&output) => Some(false),
        _ => None,
    };
    let id = Cow::Borrowed(item.first(&["call_id", "id"]).unwrap_or_default());
    Outcome { id, ok, exit_code, output: Cow::Owned(output), edits: Vec::new() }
}

/// Exit code and text of an output, which older versions wrote as JSON.
fn unwrap(text: &str) -> (Option<i64>, String) {
    if text.starts_with('{')
        && let Ok(json) = Json::parse(text)
        && let Json::Str(output) = json.get("output")
    {
        return (json.at_path(&["metadata", "exit_code"]).int(), output.clone().into_owned());
    }
    let (code, output) = shell::split_exit_code(text);
    (code, output.to_owned())
}

fn is_refusal(output: &str) -> bool {
    const STARTS: &[&str] = &[
        "failed to ",
        "failed in sandbox",
        "command timed out",
        "timed out",
        "exec command rejected",
        "sandbox ",
        "invalid patch",
        "execution error",
        "exec_command failed",
        "apply_patch verification failed",
        "aborted",
        "unsupported call",
        "unsupported custom tool call",
        "unsupported tool",
        "rejected",
        "error:",
        "patch rejected",
        "shell_command failed",
        "tool call error",
    ];
    let head: String = output.trim_start().chars().take(40).collect::<String>().to_lowercase();
    STARTS.iter().any(|start| head.starts_with(start))
}

/// A finished item of the paginated history, which tells more about a call than its output.
pub(super) fn completed<'a>(item: &'a Json<'a>) -> Option<Outcome<'a>> {
    let exit_code = item.get("exit_code").int();
    let done = match item.get("status").str() {
        Some("completed") => Some(true),
        Some("failed" | "declined" | "errored") => Some(false),
        _ => None,
    };
    let success = match item.get("success") {
        Json::Bool(ok) => Some(*ok),
        _ => None,
    };
    let ok = exit_code.map(|code| code == 0).or(success).or(done);
    let edits = match item.get("type").str()? {
        "FileChange" => changes(item.get("changes")),
        "CommandExecution" | "McpToolCall" | "DynamicToolCall" | "CollabAgentToolCall" => Vec::new(),
        _ => return None,
    };
    let error = item.at_path(&["error", "message"]).str().or(item.get("error").str());
    let output = match item.first(&["aggregated_output", "stdout"]).or(error) {
        Some(output) => Cow::Borrowed(output),
        None => either(item, "content_items", "contentItems")
            .map_or_else(|| item.at_path(&["result", "content"]).text(), Json::text),
    };
    let id = Cow::Borrowed(item.get("id").str()?);
    Some(Outcome { id, ok, exit_code, output, edits })
}

/// The call of which a finished item tells, for one that a program made. What the user ran stands in a message as well.
pub(super) fn completed_call<'a>(item: &'a Json<'a>) -> Option<Call<'a>> {
    item.get("id").str()?;
    match item.get("type").str()? {
        "CommandExecution" if item.get("source").str() != Some("user_shell") => {
            let command = command(item);
            let edits = command.as_deref().and_then(patch::in_command).map(patch::parse).unwrap_or_default();
            Some(call(item, Cow::Borrowed("exec_command"), Category::Shell, command, edits))
        }
        "FileChange" => {
            let edits = changes(item.get("changes"));
            Some(call(item, Cow::Borrowed("apply_patch"), Category::Edit, None, edits))
        }
        "McpToolCall" => {
            let (server, tool) = (item.get("server").str()?, item.get("tool").str()?);
            let name = Cow::Owned(format!("mcp__{server}__{tool}"));
            let category = tool::category(&name);
            Some(call(item, name, category, target(item.get("arguments")), Vec::new()))
        }
        "DynamicToolCall" => {
            let name = Cow::Borrowed(item.get("tool").str()?);
            let category = tool::category(&name);
            Some(call(item, name, category, target(item.get("arguments")), Vec::new()))
        }
        "CollabAgentToolCall" => {
            let name = Cow::Borrowed(item.get("tool").str()?);
            let prompt = item.get("prompt").str().map(Cow::Borrowed);
            Some(call(item, name, Category::Task, prompt, Vec::new()))
        }
        _ => None,
    }
}

/// A field that is spelled in one of two ways.
fn either<'j>(item: &'j Json<'j>, one: &str, other: &str) -> Option<&'j Json<'j>> {
    [one, other].iter().map(|key| item.get(key)).find(|value| !value.is_null())
}

/// The threads of sub-agents that an item, or an event, names.
pub(super) fn subagents<'j>(item: &'j Json<'j>) -> Vec<&'j str> {
    let several = either(item, "receiver_thread_ids", "receiverThreadIds").map_or(&[][..], Json::items);
    let one = item.first(&["agent_thread_id", "agentThreadId", "new_thread_id"]);
    several.iter().filter_map(Json::str).chain(one).collect()
}

/// The events by which older versions report the end of a command or patch.
pub(super) fn outcome<'a>(event: &'a Json<'a>) -> Option<Outcome<'a>> {
    let exit_code = event.get("exit_code").int();
    let ok = match event.get("success") {
        Json::Bool(ok) => Some(*ok),
        _ => exit_code.map(|code| code == 0),
    };
    let output = event.first(&["aggregated_output", "stdout", "stderr"]).unwrap_or_default();
    let id = Cow::Borrowed(event.get("call_id").str()?);
    Some(Outcome { id, ok, exit_code, output: Cow::Borrowed(output), edits: changes(event.get("changes")) })
}

/// Changed files as `{path: {type, unified_diff | content, move_path}}`.
fn changes(changes: &Json<'_>) -> Vec<Edit> {
    changes.fields().iter().map(|(path, change)| one_change(path, change)).collect()
}

fn one_change(path: &str, change: &Json<'_>) -> Edit {
    let text = |key| change.get(key).str().unwrap_or_default();
    match (change.get("type").str(), change.get("move_path").str()) {
        (Some("add"), _) => Edit::new_text(path, Change::Created, text("content")),
        (Some("delete"), _) => Edit::bare(path, Change::Deleted),
        (_, Some(target)) => Edit {
            from: Some(path.to_owned()),
            ..Edit::with_diff(target, Change::Renamed, text("unified_diff"))
        },
        _ => Edit::with_diff(path, Change::Modified, text("unified_diff")),
    }
}

/// Total use of tokens. Codex counts input that was read from the cache or written to it as input; here it is apart.
pub(super) fn usage(total: &Json<'_>) -> Option<Usage> {
    let (input, cached) = (total.get("input_tokens").count(), total.get("cached_input_tokens").count());
    let written = total.get("cache_write_input_tokens").count();
    let usage = Usage {
        input: input.saturating_sub(cached).saturating_sub(written),
        cache_read: cached,
        cache_write: written,
        output: total.get("output_tokens").count(),
    };
    (usage != Usage::default()).then_some(usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Codex 0.169 answers for a patch that its model may not make: nothing was written.
    #[test]
    fn a_call_that_codex_does_not_take_was_refused() {
        for output in
            ["unsupported custom tool call: apply_patch", "unsupported call: apply_patch", "Failed to find x"]
        {
            assert!(is_refusal(output), "{output}");
        }
        assert!(!is_refusal("Success. Updated the following files:"));
    }
}
