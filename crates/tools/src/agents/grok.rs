//! Grok Build: its transcripts are read; nothing else of it is known.

use baton_transcripts::readers;

use crate::Tool;

/// Grok Build.
pub(crate) static TOOL: Tool = Tool {
    id: "grok",
    title: "Grok Build",
    aliases: &["grok_build", "grok_cli"],
    surface: "grok",
    programs: &["grok"],
    mcp_client_names: &["grok-shell"],
    reader: Some(&readers::Grok),
    install: None,
    launch: None,
    native: None,
};
