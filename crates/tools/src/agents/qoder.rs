//! Qoder: its sessions, which are made of the lines of Claude Code, are read.

use baton_transcripts::{PermissionMode, readers};

use crate::Tool;
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Qoder.
pub(crate) static TOOL: Tool = Tool {
    id: "qoder",
    title: "Qoder",
    aliases: &["qodercli", "qoder_cli"],
    surface: "qoder",
    programs: &["qodercli"],
    mcp_client_names: &[],
    reader: Some(&readers::Qoder),
    storage: Some(Storage {
        files: &[
            StoredFile { path: "~/.qoder/projects/SLUG/ID.jsonl", variable: Some("QODER_CONFIG_DIR") },
            StoredFile { path: "~/.config/Qoder/SharedClientCache/cli/projects/ID.jsonl", variable: None },
        ],
        evidence: Evidence::OtherReaders,
        note: "The lines of Claude Code.",
    }),
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
