//! Grok Build: its transcripts are read; nothing else of it is known.

use baton_transcripts::readers;

use crate::Tool;
use crate::storage::{Evidence, Storage, StoredFile};

/// Grok Build.
pub(crate) static TOOL: Tool = Tool {
    id: "grok",
    title: "Grok Build",
    aliases: &["grok_build", "grok_cli"],
    surface: "grok",
    programs: &["grok"],
    mcp_client_names: &["grok-shell"],
    reader: Some(&readers::Grok),
    storage: Some(Storage {
        files: &[
            StoredFile { path: "~/.grok/sessions/DIRECTORY/ID/updates.jsonl", variable: Some("GROK_HOME") },
            StoredFile {
                path: "~/.grok/sessions/DIRECTORY/ID/chat_history.jsonl",
                variable: Some("GROK_HOME"),
            },
        ],
        evidence: Evidence::OtherReaders,
        note: "The second where the first is missing.",
    }),
    install: None,
    launch: None,
    native: None,
};
