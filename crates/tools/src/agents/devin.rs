//! Devin CLI: its sessions are read. It runs the hooks of Claude Code's settings, too.

use baton_transcripts::readers;

use crate::Tool;
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Devin CLI.
pub(crate) static TOOL: Tool = Tool {
    id: "devin",
    title: "Devin CLI",
    aliases: &["devin_cli"],
    surface: "devin",
    programs: &["devin"],
    mcp_client_names: &[],
    reader: Some(&readers::Devin),
    storage: Some(Storage {
        files: &[
            StoredFile { path: "~/.local/share/devin/cli/sessions.db", variable: None },
            StoredFile { path: "~/.local/share/devin/cli/transcripts/ID.json", variable: None },
        ],
        evidence: Evidence::OtherReaders,
        note: "The second is written when a session ends.",
    }),
    install: None,
    launch: Some(Launch {
        start: &["{prompt}"],
        resume: &["-r", "{id}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://cli.devin.ai",
        tried: "",
        note: "",
    }),
    native: None,
};
