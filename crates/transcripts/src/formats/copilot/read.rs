//! The full read of a session.

use std::borrow::Cow;
use std::path::Path;

use crate::event::{Change, Edit, Event, EventKind, SourcePosition, TranscriptInfo, Usage};
use crate::report::Report;
use crate::shared::emit::{EventEmitter, ToolResult};
use crate::shared::json::Json;
use crate::shared::{call, plan, sidecar};

/// Reads a session.
pub(super) fn read(path: &Path, sink: &mut dyn FnMut(&Event<'_>)) -> Report {
    let mut emitter = EventEmitter::new(sink);
    let mut state = State::default();
    let facts = sidecar::text(&path.with_file_name("workspace.yaml"));
    emitter.each_line(path, &mut |emitter, json| record(emitter, json, &mut state, &facts));
    let plan = plan::checklist(&sidecar::text(&path.with_file_name("plan.md")));
    if !state.planned && !plan.is_empty() {
        (emitter.position, emitter.at_ms, emitter.subagent) = (SourcePosition::default(), None, None);
        emitter.plan(Some(plan));
    }
    emitter.finish()
}

#[derive(Debug, Default)]
struct State {
    planned: bool,
    /// Whether token usage has its own records; then the final sum is ignored.
    metered: bool,
}

/// Whether an event belongs to the main line and not to a sub-agent.
pub(super) fn is_main(json: &Json<'_>) -> bool {
    subagent(json).is_none()
}

/// The sub-agent to which an event belongs, which newer versions name beside the data.
fn subagent<'j>(json: &'j Json<'j>) -> Option<&'j str> {
    json.get("agentId").str().or_else(|| json.get("data").first(&["agentId", "parentToolCallId"]))
}

fn record(emitter: &mut EventEmitter<'_>, json: &Json<'_>, state: &mut State, facts: &str) {
    let (name, data) = (json.get("type").str().unwrap_or_default(), json.get("data"));
    emitter.subagent = subagent(json).map(str::to_owned);
    match name {
        "session.start" | "session.resume" => session(emitter, data, facts),
        "session.model_change" => model(emitter, data.get("newModel")),
        "user.message" => emitter.user(data.get("content").str().unwrap_or_default()),
        "assistant.message" => assistant(emitter, data, state),
        // The call stands in the message of the agent, except in versions that did not repeat it there.
        "tool.execution_start" => started(emitter, data, state),
        "tool.execution_complete" => {
            let ended = call_end(emitter, data);
            emitter.end_call(ended);
        }
        "session.usage_record" => {
            state.metered = true;
            emitter.spend(usage(data.get("usage")));
        }
        "session.compaction_complete" => compacted(emitter, data),
        "session.shutdown" if !state.metered => totals(emitter, data),
        "abort" | "session.abort" | "assistant.abort" => emitter.send(EventKind::Interrupted),
        "session.error" => emitter.provider_error(data.first(&["message", "error"]).unwrap_or_default()),
        // A family is ignored with what later versions add to it; what seems to hold words or a result is named.
        name if is_ignored(name) => {
            let telling = ["content", "result", "toolCallId"].iter().any(|key| !data.get(key).is_null());
            if telling && !WITHOUT_NEWS.contains(&name) {
                emitter.unknown_part("event", name);
            }
        }
        name => emitter.unknown_type(name),
    }
}

/// Events that hold words or name a call, and tell nothing that another one does not.
const WITHOUT_NEWS: &[&str] = &[
    "assistant.message_delta",
    "assistant.message_start",
    "assistant.reasoning",
    "assistant.reasoning_delta",
    "assistant.streaming_delta",
    "hook.end",
    "hook.start",
    "mcp_app.tool_call_complete",
    "permission.completed",
    "permission.requested",
    "session.plan_changed",
    "skill.invoked",
    "subagent.completed",
    "subagent.deselected",
    "subagent.failed",
    "subagent.selected",
    "subagent.started",
    "system.message",
    "system.notification",
    "tool.execution_partial_result",
    "tool.execution_progress",
    "tool.user_requested",
    "user_input.completed",
    "user_input.requested",
];

/// Whether an event belongs to a known family that is ignored.
fn is_ignored(name: &str) -> bool {
    const FAMILIES: &[&str] = &[
        "session.",
        "assistant.",
        "system.",
        "hook.",
        "tool.",
        "permission.",
        "subagent.",
        "user.",
        "external_tool.",
        "skill.",
        "mcp.",
        "mcp_app.",
        "auto_mode_switch.",
        "capabilities.",
        "command.",
        "commands.",
        "elicitation.",
        "exit_plan_mode.",
        "factory.",
        "model.",
        "pending_messages.",
        "sampling.",
        "session_limits_exhausted.",
        "tool_search.",
        "ui.",
        "user_input.",
    ];
    FAMILIES.iter().any(|family| name.starts_with(family))
}

fn session(emitter: &mut EventEmitter<'_>, data: &Json<'_>, facts: &str) {
    let context = data.get("context");
    let field = |key: &str| context.get(key).str().map(Cow::Borrowed);
    let fact = |key: &str| sidecar::flat(facts, key).map(Cow::Borrowed);
    emitter.session(TranscriptInfo {
        id: data.get("sessionId").str().map(Cow::Borrowed),
        cwd: fact("cwd").or(field("cwd")),
        branch: fact("branch").or(field("branch")),
        commit: field("headCommit"),
        model: data.get("selectedModel").str().map(Cow::Borrowed),
        version: data.get("copilotVersion").str().map(Cow::Borrowed),
    });
}

fn model(emitter: &mut EventEmitter<'_>, model: &Json<'_>) {
    emitter.session(TranscriptInfo { model: model.str().map(Cow::Borrowed), ..TranscriptInfo::default() });
}

fn assistant(emitter: &mut EventEmitter<'_>, data: &Json<'_>, state: &mut State) {
    model(emitter, data.get("model"));
    emitter.thinking(data.first(&["reasoningText", "reasoning"]).unwrap_or_default());
    emitter.assistant(&data.get("content").text());
    for one in data.get("toolRequests").items() {
        tool(emitter, one.get("toolCallId"), one.get("name"), one.get("arguments"), state);
    }
}

fn started(emitter: &mut EventEmitter<'_>, data: &Json<'_>, state: &mut State) {
    if emitter.open(data.get("toolCallId").str().unwrap_or_default()).is_none() {
        tool(emitter, data.get("toolCallId"), data.get("toolName"), data.get("arguments"), state);
    }
}

fn tool(emitter: &mut EventEmitter<'_>, id: &Json<'_>, name: &Json<'_>, raw: &Json<'_>, state: &mut State) {
    // Some models give their arguments as JSON in a string.
    let parsed =
        raw.str().and_then(|text| Json::parse(text).ok()).filter(|json| matches!(json, Json::Obj(_)));
    let args = parsed.as_ref().unwrap_or(raw);
    let name = name.str().unwrap_or_default();
    emitter.call(call::call(id.str().unwrap_or_default(), name, args));
    let plan = call::plan(name, args);
    state.planned |= plan.is_some();
    emitter.plan(plan);
}

/// How a call ended. A command that exits with another code than 0 is a success to the tool.
fn call_end<'a>(emitter: &EventEmitter<'_>, data: &'a Json<'a>) -> ToolResult<'a> {
    let ok = match data.get("success") {
        Json::Bool(ok) => Some(*ok),
        _ => None,
    };
    let (result, error) = (data.get("result"), data.get("error"));
    let output = result.first(&["content", "detailedContent"]).or(result.str());
    let output = output.or_else(|| error.get("message").str()).or(error.str()).unwrap_or_default();
    let id = data.get("toolCallId").str().unwrap_or_default();
    let path = emitter.open(id).and_then(|open| open.path.as_deref()).filter(|_| ok == Some(true));
    let edits = changed(path, result.get("detailedContent").str().unwrap_or_default());
    ToolResult {
        id,
        ok,
        code: data.at_path(&["shellExecution", "exitCode"]).int(),
        output: Cow::Borrowed(output),
        edits,
    }
}

/// The change of the file that the call names, as git prints it; in the diff its path has lost its root.
fn changed(path: Option<&str>, diff: &str) -> Vec<Edit> {
    let Some(path) = path.filter(|_| diff.starts_with("diff --git ")) else { return Vec::new() };
    let change = if diff.contains("\n--- /dev/null") {
        Change::Created
    } else if diff.contains("\n+++ /dev/null") {
        Change::Deleted
    } else {
        Change::Modified
    };
    let body: Vec<&str> = diff.lines().skip_while(|line| !line.starts_with("@@")).collect();
    vec![Edit::with_diff(path, change, &body.join("\n"))]
}

fn compacted(emitter: &mut EventEmitter<'_>, data: &Json<'_>) {
    if data.get("success") != &Json::Bool(false) {
        let summary = data.first(&["summaryContent", "summary", "content"]);
        emitter.compaction(summary.unwrap_or("The tool keeps no summary of what it compacted."));
    }
}

fn usage(usage: &Json<'_>) -> Usage {
    let count = |key| usage.get(key).count();
    Usage {
        input: count("inputTokens").saturating_sub(count("cacheReadTokens")),
        cache_read: count("cacheReadTokens"),
        cache_write: count("cacheWriteTokens"),
        output: count("outputTokens"),
    }
}

/// The sums by model that stand at the end.
fn totals(emitter: &mut EventEmitter<'_>, data: &Json<'_>) {
    let metrics = data.at_path(&["accountingSnapshot", "modelMetrics"]);
    let metrics = if metrics.is_null() { data.get("modelMetrics") } else { metrics };
    for (_, one) in metrics.fields() {
        emitter.spend(usage(one.get("usage")));
    }
}
