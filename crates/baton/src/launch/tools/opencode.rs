//! Starting OpenCode.

use baton_transcripts::PermissionMode;

use crate::launch::{Headless, Tool};

/// How OpenCode is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "opencode",
    title: "OpenCode",
    program: "opencode",
    surface: "opencode",
    start: &["{mode}", "{prompt:--prompt}"],
    resume: &["--session", "{id}", "{mode}", "{prompt:--prompt}"],
    modes: &[(PermissionMode::Plan, &["--agent", "plan"]), (PermissionMode::Full, &["--auto"])],
    headless: Some(Headless {
        words: &["run", "{mode}", "{more}", "{prompt}"],
        // Without a terminal it edits files by itself.
        modes: &[(PermissionMode::Edits, &[])],
    }),
    vars: None,
    native: None,
    get: "npm install -g opencode-ai",
};
