//! Tools that Baton does not read itself: a program `baton-reader-NAME` gives out their sessions.

use baton_transcripts::readers;

use crate::Tool;
use crate::storage::{Evidence, Storage, StoredFile};

/// The tools of external readers.
pub(crate) static TOOL: Tool = Tool {
    id: "external",
    title: "external readers",
    aliases: &["external_readers", "events"],
    surface: "external",
    programs: &[],
    mcp_client_names: &[],
    reader: Some(&readers::External),
    storage: Some(Storage {
        files: &[StoredFile {
            path: "~/.cache/baton/readers/NAME/ID.jsonl",
            variable: Some("XDG_CACHE_HOME"),
        }],
        evidence: Evidence::Own,
        note: "Given out by a [program of yours](readers.md).",
    }),
    install: None,
    launch: None,
    native: None,
};
