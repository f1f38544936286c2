//! What kind of line it is, and which text is the user's.

use crate::shared::harness;
use crate::shared::json::Json;

/// Top-level types that are used.
pub(super) const USED: &[&str] =
    &["session_meta", "turn_context", "response_item", "event_msg", "compacted", "token_usage_record"];
/// Top-level types that are known and of no use here.
const IGNORED: &[&str] = &[
    "world_state",
    "turn_state",
    "ghost_snapshot",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "retained_context",
    "security_risk_score",
    "realtime_item",
];
/// Types of the first version, which had no envelope.
const BARE: &[&str] = &["message", "reasoning", "function_call", "function_call_output", "local_shell_call"];

/// Types of items that are known and of no use here.
const IGNORED_ITEMS: &[&str] = &[
    "ghost_snapshot",
    "compaction",
    "compaction_summary",
    "context_compaction",
    "image_generation_call",
    "tool_search_call",
    "tool_search_output",
    "agent_message",
    "additional_tools",
    "other",
];

/// Types of events that are known: what they tell stands in an item as well, or is of no use here.
const IGNORED_EVENTS: &[&str] = &[
    "user_message",
    "agent_message",
    "task_started",
    "task_complete",
    "turn_started",
    "turn_complete",
    "agent_message_delta",
    "agent_message_content_delta",
    "agent_reasoning",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "background_event",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "elicitation_request",
    "entered_review_mode",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_output_delta",
    "exited_review_mode",
    "guardian_assessment",
    "hook_completed",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "item_started",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "model_reroute",
    "patch_apply_begin",
    "plan_update",
    "raw_response_item",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "request_user_input",
    "session_configured",
    "shutdown_complete",
    "sub_agent_activity",
    "terminal_interaction",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "turn_diff",
    "undo_completed",
    "undo_started",
    "view_image_tool_call",
    "warning",
    "web_search_begin",
    "web_search_end",
];

/// Whether events of this type are known and of no use here.
pub(super) fn is_ignored_event(name: &str) -> bool {
    IGNORED_EVENTS.contains(&name) || name.starts_with("collab_") || name.starts_with("realtime_")
}

/// Whether items of this type are known and of no use here.
pub(super) fn is_ignored_item(name: &str) -> bool {
    IGNORED_ITEMS.contains(&name)
}

/// Whether a top-level type belongs to this format.
pub(super) fn is_known(name: &str) -> bool {
    USED.contains(&name) || IGNORED.contains(&name)
}

/// Whether a line of the first version is an item itself.
pub(super) fn is_bare(name: &str) -> bool {
    BARE.contains(&name)
}

/// The top-level type, if it stands before the payload as it does in every line that the tool itself wrote.
pub(super) fn leading_type(bytes: &[u8]) -> Option<&str> {
    let head = &bytes[..bytes.len().min(200)];
    let at = memchr::memmem::find(head, b"\"type\":")?;
    if memchr::memmem::find(&head[..at], b"\"payload\"").is_some() {
        return None;
    }
    let rest = head[at + 7..].trim_ascii_start().strip_prefix(b"\"")?;
    std::str::from_utf8(&rest[..memchr::memchr(b'"', rest)?]).ok()
}

/// Whether lines of this type need not be parsed.
pub(super) fn is_ignored(name: &str) -> bool {
    IGNORED.contains(&name)
}

/// What the user wrote in a message: the parts that no harness put there.
pub(super) fn prompt(content: &Json<'_>) -> Option<String> {
    let parts: Vec<&str> = match content {
        Json::Arr(items) => {
            items.iter().filter_map(|item| item.str().or_else(|| item.get("text").str())).collect()
        }
        _ => content.str().into_iter().collect(),
    };
    let own: Vec<&str> = parts.into_iter().filter_map(own_words).collect();
    (!own.is_empty()).then(|| own.join("\n"))
}

/// The user's own words of a part of a message; nothing where a harness wrote all of it.
pub(super) fn own_words(text: &str) -> Option<&str> {
    const INJECTED: &[&str] = &[
        "# AGENTS.md instructions",
        "<permissions",
        "<skills_instructions>",
        "<hook",
        "<INSTRUCTIONS>",
        "<skill>",
        "<user_shell_command>",
        "<collaboration_mode>",
        "<apps_instructions>",
        "<plugins_instructions>",
        "<codex_internal_context",
    ];
    let own = harness::own_words(text);
    let start = own.trim_start();
    (!start.is_empty() && !INJECTED.iter().any(|mark| start.starts_with(mark))).then_some(own)
}
