//! OpenHands CLI: its conversations are read.

use baton_transcripts::readers;

use crate::Tool;
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// OpenHands CLI.
pub(crate) static TOOL: Tool = Tool {
    id: "openhands",
    title: "OpenHands CLI",
    aliases: &["openhands_cli", "open_hands"],
    surface: "openhands",
    programs: &["openhands"],
    mcp_client_names: &[],
    reader: Some(&readers::OpenHands),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.openhands/conversations/ID/base_state.json",
            variable: Some("OPENHANDS_CONVERSATIONS_DIR"),
        }],
        evidence: Evidence::VendorSource("1.16"),
        note: "Its events below `events`. `OPENHANDS_PERSISTENCE_DIR` moves the folder above.",
    }),
    install: None,
    launch: Some(Launch {
        start: &["{prompt:-t}"],
        resume: &["--resume", "{id}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://docs.openhands.dev",
        tried: "",
        note: "Read as its source describes it.",
    }),
    native: None,
};
