//! Hermes Agent: its conversations are read.

use baton_transcripts::{PermissionMode, readers};

use crate::Tool;
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Hermes Agent.
pub(crate) static TOOL: Tool = Tool {
    id: "hermes",
    title: "Hermes Agent",
    aliases: &["hermes_agent"],
    surface: "hermes",
    programs: &["hermes"],
    mcp_client_names: &[],
    reader: Some(&readers::Hermes),
    storage: Some(Storage {
        files: &[
            StoredFile { path: "~/.hermes/state.db", variable: Some("HERMES_HOME") },
            StoredFile { path: "~/.hermes/sessions/ID.jsonl", variable: Some("HERMES_HOME") },
        ],
        evidence: Evidence::VendorSource("0.19.0"),
        note: "Also below `profiles/NAME`. Times of the older files are local ones.",
    }),
    install: None,
    launch: Some(Launch {
        start: &["chat", "{mode}", "{prompt:--query}"],
        resume: &["--resume", "{id}", "{mode}"],
        modes: &[(PermissionMode::Full, &["--yolo"])],
        headless: None,
        vars: None,
        get: "https://github.com/NousResearch/hermes-agent",
        tried: "",
        note: "Read as its source (0.19.0) describes it. One answer, then it ends: `hermes --resume` goes on on the terminal.",
    }),
    native: None,
};
