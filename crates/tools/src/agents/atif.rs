//! ATIF: the form in which Harbor and others exchange runs of any agent. It is no agent: it has a reader, and nothing is started.

use baton_transcripts::readers;

use crate::Tool;
use crate::storage::{Evidence, Storage};

/// ATIF.
pub(crate) static TOOL: Tool = Tool {
    id: "atif",
    title: "ATIF",
    aliases: &["trajectory", "harbor"],
    surface: "atif",
    programs: &[],
    mcp_client_names: &[],
    reader: Some(&readers::Atif),
    storage: Some(Storage {
        files: &[],
        evidence: Evidence::Specification("1.0 to 1.8"),
        note: "It has no folder of its own: name a trajectory by its path.",
    }),
    install: None,
    launch: None,
    native: None,
};
