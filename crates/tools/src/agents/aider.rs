//! Aider: no place for a server or a hook is known.

use baton_transcripts::{PermissionMode, readers};

use crate::Tool;
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Aider.
pub(crate) static TOOL: Tool = Tool {
    id: "aider",
    title: "Aider",
    aliases: &["aider_chat"],
    surface: "aider",
    programs: &["aider"],
    mcp_client_names: &[],
    reader: Some(&readers::Aider),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "PROJECT/.aider.chat.history.md",
            variable: Some("AIDER_CHAT_HISTORY_FILE"),
        }],
        evidence: Evidence::VendorSource("the program"),
        note: "In the folders that are asked about. It tells no outcome of an edit.",
    }),
    install: None,
    launch: Some(Launch {
        // `--message` would end it after one answer, so it reads the document as a file and waits for the user.
        start: &["{mode}", "{file:--read}"],
        resume: &[],
        modes: &[(PermissionMode::Plan, &["--chat-mode", "ask"]), (PermissionMode::Full, &["--yes-always"])],
        headless: None,
        vars: None,
        get: "https://aider.chat",
        tried: "",
        note: "It reads the document as a file and waits for you.",
    }),
    native: None,
};
