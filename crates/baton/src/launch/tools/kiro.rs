//! Starting Kiro.

use baton_transcripts::PermissionMode;

use crate::launch::Tool;

/// How Kiro is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "kiro",
    title: "Kiro",
    program: "kiro-cli",
    surface: "kiro",
    start: &["chat", "{mode}", "{prompt}"],
    resume: &["chat", "--resume-id", "{id}", "{mode}", "{prompt}"],
    modes: &[(PermissionMode::Full, &["--trust-all-tools"])],
    headless: None,
    vars: None,
    native: None,
    get: "https://kiro.dev/cli",
};
