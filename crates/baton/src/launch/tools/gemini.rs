//! Starting Gemini CLI.

use baton_transcripts::PermissionMode;

use crate::launch::{Headless, Tool, native};

/// How Gemini CLI is started and taken up again.
pub static TOOL: Tool = Tool {
    id: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    surface: "gemini_cli",
    start: &["{mode}", "{folder:--include-directories}", "{prompt:-i}"],
    resume: &["--resume", "{id}", "{mode}", "{folder:--include-directories}", "{prompt:-i}"],
    modes: &[
        (PermissionMode::Plan, &["--approval-mode", "plan"]),
        (PermissionMode::Edits, &["--approval-mode", "auto_edit"]),
        (PermissionMode::Full, &["--approval-mode", "yolo"]),
    ],
    headless: Some(Headless {
        words: &["{mode}", "{folder:--include-directories}", "{more}", "{prompt:-p}"],
        modes: &[],
    }),
    vars: None,
    native: Some(&native::GEMINI),
    get: "npm install -g @google/gemini-cli",
};
