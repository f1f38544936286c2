//! Codebuff, and Freebuff, which keeps its chats in the same place: they are read.

use baton_transcripts::readers;

use crate::Tool;
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Codebuff.
pub(crate) static TOOL: Tool = Tool {
    id: "codebuff",
    title: "Codebuff",
    aliases: &["freebuff", "manicode"],
    surface: "codebuff",
    programs: &["codebuff"],
    mcp_client_names: &[],
    reader: Some(&readers::Codebuff),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.config/manicode/projects/PROJECT/chats/TIME/chat-messages.json",
            variable: None,
        }],
        evidence: Evidence::OtherReaders,
        note: "Also Freebuff. The model is not kept.",
    }),
    install: None,
    launch: Some(Launch {
        start: &["{prompt}"],
        resume: &["--continue", "{id}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "npm install -g codebuff",
        tried: "",
        note: "Read as other programs that read it describe it.",
    }),
    native: None,
};
