//! Tools that Baton does not read itself: a program `baton-reader-NAME` gives out their sessions.

use baton_transcripts::readers;

use crate::Tool;

/// The tools of external readers.
pub(crate) static TOOL: Tool = Tool {
    id: "external",
    title: "external readers",
    aliases: &["external_readers", "events"],
    surface: "external",
    programs: &[],
    mcp_client_names: &[],
    reader: Some(&readers::External),
    install: None,
    launch: None,
    native: None,
};
