//! Starting Aider.

use baton_transcripts::PermissionMode;

use crate::launch::Tool;

/// `--message` would end it after one answer, so it reads the document as a file and waits for the user.
pub static TOOL: Tool = Tool {
    id: "aider",
    title: "Aider",
    program: "aider",
    surface: "aider",
    start: &["{mode}", "{file:--read}"],
    resume: &[],
    modes: &[(PermissionMode::Plan, &["--chat-mode", "ask"]), (PermissionMode::Full, &["--yes-always"])],
    headless: None,
    vars: None,
    native: None,
    get: "https://aider.chat",
};
