//! Kimi CLI: no place for a server or a hook is known.

use baton_transcripts::readers;

use crate::Tool;
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Kimi CLI.
pub(crate) static TOOL: Tool = Tool {
    id: "kimi_cli",
    title: "Kimi CLI",
    aliases: &["kimi_python"],
    surface: "kimi",
    programs: &["kimi"],
    mcp_client_names: &[],
    reader: Some(&readers::KimiCli),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.kimi/sessions/HASH/ID/context.jsonl",
            variable: Some("KIMI_SHARE_DIR"),
        }],
        evidence: Evidence::VendorSource("the Python program"),
        note: "Times and tokens from `wire.jsonl` beside it.",
    }),
    install: None,
    launch: Some(Launch {
        start: &[],
        resume: &["--session", "{id}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://moonshotai.github.io/kimi-cli",
        tried: "",
        note: "The older program of the same name. How it takes a first prompt is not documented.",
    }),
    native: None,
};
