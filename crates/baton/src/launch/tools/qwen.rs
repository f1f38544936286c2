//! Starting Qwen Code.

use baton_transcripts::PermissionMode;

use crate::launch::{Tool, native};

/// How Qwen Code is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "qwen",
    title: "Qwen Code",
    program: "qwen",
    surface: "qwen",
    start: &["{mode}", "{folder:--include-directories}", "{prompt:-i}"],
    resume: &["--resume", "{id}", "{mode}", "{folder:--include-directories}", "{prompt:-i}"],
    modes: &[
        (PermissionMode::Plan, &["--approval-mode", "plan"]),
        (PermissionMode::Edits, &["--approval-mode", "auto-edit"]),
        (PermissionMode::Full, &["--approval-mode", "yolo"]),
    ],
    headless: None,
    vars: None,
    native: Some(&native::QWEN),
    get: "npm install -g @qwen-code/qwen-code",
};
