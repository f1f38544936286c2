//! Mistral Vibe: its sessions are read. Its servers are an array of tables in TOML, which the editor of settings does not write.

use baton_transcripts::readers;

use crate::Tool;
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Mistral Vibe.
pub(crate) static TOOL: Tool = Tool {
    id: "vibe",
    title: "Mistral Vibe",
    aliases: &["mistral_vibe", "mistral"],
    surface: "vibe",
    programs: &["vibe"],
    mcp_client_names: &[],
    reader: Some(&readers::Vibe),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.vibe/logs/session/session_TIME_ID/messages.jsonl",
            variable: Some("VIBE_HOME"),
        }],
        evidence: Evidence::VendorSource("2.18.4"),
        note: "Messages have no times. A compaction begins a new session.",
    }),
    install: None,
    launch: Some(Launch {
        start: &["{prompt}"],
        resume: &["--resume", "{id}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://github.com/mistralai/mistral-vibe",
        tried: "",
        note: "",
    }),
    native: None,
};
