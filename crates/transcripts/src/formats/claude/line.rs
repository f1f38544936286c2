//! What kind of line it is, before its content is looked at.

use crate::shared::json::Json;
use crate::shared::{harness, typed};

/// What a line is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of the conversation, if it is on its main chain.
    Turn,
    /// About the session, wherever it stands.
    About,
    /// Known and of no use here.
    Ignored,
    /// Not known.
    Unknown,
}

/// Types of a system line that are known. Of these only `local_command` holds the user's words.
pub(super) const SYSTEM_LINES: &[&str] = &[
    "local_command",
    "api_error",
    "api_metrics",
    "api_refusal",
    "agents_killed",
    "attribution_snapshot",
    "away_summary",
    "bridge_status",
    "compact_boundary",
    "file_snapshot",
    "hook_progress",
    "hook_response",
    "hook_started",
    "informational",
    "init",
    "memory_saved",
    "microcompact_boundary",
    "model_refusal_fallback",
    "notification",
    "permission_retry",
    "rewind",
    "scheduled_task_fire",
    "session_artifact_snapshot",
    "session_start",
    "slash_command",
    "snip_boundary",
    "status",
    "stop_hook_summary",
    "task_notification",
    "task_progress",
    "task_started",
    "thinking",
    "turn_duration",
    "custom_title",
];

/// Types of an attachment that are known: all but two hold what the tool tells its model.
pub(super) const ATTACHMENTS: &[&str] = &[
    "queued_command",
    "todo",
    "agent_listing_delta",
    "agent_mention",
    "already_read_file",
    "async_hook_response",
    "auto_mode",
    "auto_mode_exit",
    "batching_reminder_sent",
    "budget_usd",
    "command_permissions",
    "compact_file_reference",
    "compaction_reminder",
    "context_efficiency",
    "critical_system_reminder",
    "current_session_memory",
    "date",
    "date_change",
    "deferred_tools_delta",
    "diagnostics",
    "directory",
    "dynamic_skill",
    "edited_image_file",
    "edited_text_file",
    "environment",
    "file",
    "hook_additional_context",
    "hook_blocking_error",
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_stopped_continuation",
    "hook_success",
    "hook_system_message",
    "invoked_skills",
    "max_turns_reached",
    "mcp_instructions_delta",
    "mcp_resource",
    "model",
    "nested_memory",
    "opened_file_in_ide",
    "output_style",
    "output_token_usage",
    "pdf_reference",
    "plan_file_reference",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "prompt_snapshot",
    "read_truncation_notice",
    "relevant_memories",
    "remote_session_change",
    "selected_lines_in_ide",
    "session_context",
    "silent_turn_reminder",
    "skill_discovery",
    "skill_listing",
    "structured_output",
    "task_reminder",
    "task_status",
    "team_context",
    "teammate_mailbox",
    "teammate_shutdown_batch",
    "todo_reminder",
    "token_usage",
    "total_tokens_reminder",
    "ultra_effort_enter",
    "ultra_effort_exit",
    "ultrathink_effort",
    "verify_plan_reminder",
];

/// Types of a block of an answer that are known and hold nothing that is told.
pub(super) const BLOCKS: &[&str] = &[
    "redacted_thinking",
    "image",
    "document",
    "fallback",
    "tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "tool_search_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "container_upload",
    "advisor_tool_result",
];

/// The kind of a line by its top-level type. `api-request-blob` carries a message too, of which it is a copy.
pub(super) fn kind_of(name: &str) -> Kind {
    match name {
        "user" | "assistant" | "system" | "attachment" => Kind::Turn,
        "queue-operation" => Kind::About,
        "summary"
        | "custom-title"
        | "ai-title"
        | "agent-name"
        | "pr-link"
        | "last-prompt"
        | "mode"
        | "permission-mode"
        | "file-history-snapshot"
        | "cost-state"
        | "tools-used"
        | "atis-latch"
        | "progress"
        | "api-request"
        | "api-request-shape"
        | "api-request-blob"
        | "tag"
        | "agent-setting"
        | "agent-color"
        | "worktree-state"
        | "content-replacement"
        | "file-history-delta"
        | "attribution-snapshot"
        | "marble-origami-commit"
        | "saved_hook_context"
        | "context-collapse-commit"
        | "context-collapse-snapshot"
        | "bridge-session" => Kind::Ignored,
        _ => Kind::Unknown,
    }
}

/// Whether lines of this type can be links of the conversation.
pub(super) fn links(name: &str) -> bool {
    name == "last-prompt" || matches!(kind_of(name), Kind::Turn | Kind::Unknown)
}

/// The user's own words of a line; nothing where the tool wrote all of it.
pub(super) fn own_words(text: &str) -> Option<&str> {
    const INJECTED: &[&str] = &[
        "<command-name>",
        "<command-message>",
        "<bash-input>",
        "Caveat: The messages below were generated",
        "Operation stopped by hook:",
        "UserPromptSubmit operation blocked by hook:",
    ];
    let own = typed::element(text, "user-memory-input").unwrap_or(harness::own_words(text));
    let start = own.trim_start();
    let own_start =
        !start.is_empty() && !is_interruption(start) && !INJECTED.iter().any(|mark| start.starts_with(mark));
    own_start.then_some(own)
}

/// Whether a line comes from something other than the user, such as a channel or another agent.
pub(super) fn is_foreign(json: &Json<'_>) -> bool {
    json.at_path(&["origin", "kind"]).str().is_some_and(|kind| kind != "human")
}

/// The command that the user ran in the tool: `<bash-input>git status</bash-input>`.
pub(super) fn typed_command(text: &str) -> Option<&str> {
    text.trim_start().starts_with("<bash-input>").then(|| typed::element(text, "bash-input"))?
}

/// What a command that the user ran printed, and its exit code where a version tells it.
pub(super) fn typed_output(text: &str) -> Option<(Option<i64>, String)> {
    if !["<bash-stdout>", "<bash-stderr>", "<bash-exit-code>"]
        .iter()
        .any(|mark| text.trim_start().starts_with(mark))
    {
        return None;
    }
    let printed = ["bash-stdout", "bash-stderr"].map(|name| typed::element(text, name).unwrap_or_default());
    let code = typed::element(text, "bash-exit-code").and_then(|code| code.parse().ok());
    Some((code, printed.join("\n").trim().to_owned()))
}

/// What a notice says of something that ran in the background.
#[derive(Debug)]
pub(super) struct BackgroundEnd<'a> {
    /// Id of the call that began it, where the notice has it.
    pub call: Option<&'a str>,
    /// The tool's id of what ran.
    pub task: &'a str,
    /// Its exit code.
    pub code: Option<i64>,
    /// Whether it succeeded, where there is no exit code.
    pub ok: Option<bool>,
    /// What the notice says in words.
    pub summary: &'a str,
}

/// The end of a command that ran in the background, as `<task-notification>` and before it `<bash-notification>` tell it.
pub(super) fn background_end(text: &str) -> Option<BackgroundEnd<'_>> {
    let text = text.trim_start();
    if !["<task-notification>", "<bash-notification>"].iter().any(|mark| text.starts_with(mark)) {
        return None;
    }
    let task = typed::element(text, "task-id").or_else(|| typed::element(text, "shell-id"))?;
    let summary = typed::element(text, "summary").unwrap_or_default();
    let code = summary.rsplit_once("exit code ").map(|(_, rest)| rest.trim_end_matches(['.', ')', ' ']));
    let ok = match typed::element(text, "status") {
        Some("failed" | "killed" | "stopped") => Some(false),
        _ => None,
    };
    let call = typed::element(text, "tool-use-id");
    Some(BackgroundEnd { call, task, code: code.and_then(|code| code.parse().ok()), ok, summary })
}

/// A slash command with what the user wrote after it: `/fix only the parser`. One without arguments is told only where it
/// gives the agent a prompt, as a skill does: then its message stands first. One of the tool's own asks for nothing.
pub(super) fn slash_command(text: &str) -> Option<String> {
    let text = text.trim_start();
    if !text.starts_with("<command-") {
        return None;
    }
    let tag = |open: &str, close: &str| Some(text.split_once(open)?.1.split_once(close)?.0.trim());
    let arguments = tag("<command-args>", "</command-args>").filter(|arguments| !arguments.is_empty());
    let name = tag("<command-name>", "</command-name>").unwrap_or_default().trim_start_matches('/');
    match arguments {
        Some(arguments) => Some(format!("/{name} {arguments}")),
        None => (text.starts_with("<command-message>") && !name.is_empty()).then(|| format!("/{name}")),
    }
}

/// Whether this is the mark that the user stopped the agent.
pub(super) fn is_interruption(text: &str) -> bool {
    text.starts_with("[Request interrupted by user")
}

/// Whether this is a summary that a compaction left behind.
pub(super) fn is_summary(text: &str) -> bool {
    text.starts_with("This session is being continued from a previous conversation")
}
