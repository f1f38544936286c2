//! Starting Cursor.

use baton_transcripts::PermissionMode;

use crate::launch::Tool;

/// How Cursor is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "cursor",
    title: "Cursor",
    program: "cursor-agent",
    surface: "cursor",
    start: &["{mode}", "{prompt}"],
    resume: &["--resume", "{id}", "{mode}", "{prompt}"],
    modes: &[(PermissionMode::Full, &["--force"])],
    headless: None,
    vars: None,
    native: None,
    get: "https://cursor.com/cli",
};
