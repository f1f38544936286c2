//! Qoder: its sessions, which are made of the lines of Claude Code, are read.

use baton_transcripts::{PermissionMode, readers};

use crate::Tool;
use crate::launch::Launch;

/// Qoder.
pub(crate) static TOOL: Tool = Tool {
    id: "qoder",
    title: "Qoder",
    aliases: &["qodercli", "qoder_cli"],
    surface: "qoder",
    programs: &["qodercli"],
    mcp_client_names: &[],
    reader: Some(&readers::Qoder),
    install: None,
    launch: Some(Launch {
        start: &["{mode}", "{prompt}"],
        resume: &["--resume", "{id}", "{mode}", "{prompt}"],
        modes: &[
            (PermissionMode::Edits, &["--permission-mode", "accept_edits"]),
            (PermissionMode::Full, &["--dangerously-skip-permissions"]),
        ],
        headless: None,
        vars: None,
        get: "npm install -g @qoder-ai/qodercli",
        tried: "",
        note: "Read as other programs that read it describe it.",
    }),
    native: None,
};
