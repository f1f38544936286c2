//! Starting Copilot CLI.

use baton_transcripts::PermissionMode;

use crate::launch::{Tool, native};

/// How Copilot CLI is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "copilot",
    title: "Copilot CLI",
    program: "copilot",
    surface: "copilot_cli",
    start: &["{mode}", "{folder:--add-dir}", "{prompt:-i}"],
    resume: &["--resume={id}", "{mode}", "{folder:--add-dir}", "{prompt:-i}"],
    modes: &[
        (PermissionMode::Edits, &["--allow-tool", "write"]),
        (PermissionMode::Full, &["--allow-all-tools"]),
    ],
    headless: None,
    vars: None,
    native: Some(&native::COPILOT),
    get: "npm install -g @github/copilot",
};
