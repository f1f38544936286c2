//! Windsurf: the transcripts that it writes for a hook are read. It has no command line.

use baton_transcripts::readers;

use crate::Tool;

/// Windsurf.
pub(crate) static TOOL: Tool = Tool {
    id: "windsurf",
    title: "Windsurf",
    aliases: &["cascade", "windsurf_cascade"],
    surface: "windsurf",
    programs: &[],
    mcp_client_names: &[],
    reader: Some(&readers::Windsurf),
    install: None,
    launch: None,
    native: None,
};
