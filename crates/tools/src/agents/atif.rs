//! ATIF: the form in which Harbor and others exchange runs of any agent. It is no agent: it has a reader, and nothing is started.

use baton_transcripts::readers;

use crate::Tool;

/// ATIF.
pub(crate) static TOOL: Tool = Tool {
    id: "atif",
    title: "ATIF",
    aliases: &["trajectory", "harbor"],
    surface: "atif",
    programs: &[],
    mcp_client_names: &[],
    reader: Some(&readers::Atif),
    install: None,
    launch: None,
    native: None,
};
