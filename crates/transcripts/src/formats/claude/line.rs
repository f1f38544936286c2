//! What kind of line it is, before its content is looked at.

/// What a line is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Part of the conversation, if it is on its main chain.
    Talk,
    /// About the session, wherever it stands.
    About,
    /// Known and of no use here.
    Ignored,
    /// Not known.
    Unknown,
}

/// The kind of a line by its top-level type. `api-request-blob` carries a message too, of which it is a copy.
pub(super) fn kind_of(name: &str) -> Kind {
    match name {
        "user" | "assistant" | "system" | "attachment" => Kind::Talk,
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
    name == "last-prompt" || matches!(kind_of(name), Kind::Talk | Kind::Unknown)
}

/// Text of user lines that no user wrote.
pub(super) fn is_prompt(text: &str) -> bool {
    const INJECTED: &[&str] = &[
        "<task-notification>",
        "<local-command-caveat>",
        "<command-name>",
        "<command-message>",
        "<local-command-stdout>",
        "<local-command-stderr>",
        "<bash-input>",
        "<bash-stdout>",
        "<bash-stderr>",
        "<system-reminder>",
        "<user-memory-input>",
        "Caveat: The messages below were generated",
    ];
    let text = text.trim_start();
    !text.is_empty() && !is_interruption(text) && !INJECTED.iter().any(|start| text.starts_with(start))
}

/// A slash command with what the user wrote after it: `/fix only the parser`. One without arguments asks for nothing that
/// is written here.
pub(super) fn slash_command(text: &str) -> Option<String> {
    let text = text.trim_start();
    if !text.starts_with("<command-") {
        return None;
    }
    let tag = |open: &str, close: &str| Some(text.split_once(open)?.1.split_once(close)?.0.trim());
    let arguments = tag("<command-args>", "</command-args>").filter(|arguments| !arguments.is_empty())?;
    let name = tag("<command-name>", "</command-name>").unwrap_or_default();
    Some(format!("/{} {arguments}", name.trim_start_matches('/')))
}

/// Whether this is the mark that the user stopped the agent.
pub(super) fn is_interruption(text: &str) -> bool {
    text.starts_with("[Request interrupted by user")
}

/// Whether this is a summary that a compaction left behind.
pub(super) fn is_summary(text: &str) -> bool {
    text.starts_with("This session is being continued from a previous conversation")
}
