//! Windsurf: the transcripts that it writes for a hook are read. It has no command line.

use baton_transcripts::readers;

use crate::Tool;
use crate::storage::{Evidence, Storage, StoredFile};

/// Windsurf.
pub(crate) static TOOL: Tool = Tool {
    id: "windsurf",
    title: "Windsurf",
    aliases: &["cascade", "windsurf_cascade"],
    surface: "windsurf",
    programs: &[],
    mcp_client_names: &[],
    reader: Some(&readers::Windsurf),
    storage: Some(Storage {
        files: &[StoredFile { path: "~/.windsurf/transcripts/ID.jsonl", variable: None }],
        evidence: Evidence::OtherReaders,
        note: "Written once a hook for `post_cascade_response_with_transcript` is registered. Its own store, `~/.codeium/windsurf/cascade/*.pb`, is encrypted and not read. Cannot be taken up again from a command line.",
    }),
    install: None,
    launch: None,
    native: None,
};
