//! OpenHands CLI: its conversations are read.

use baton_transcripts::readers;

use crate::Tool;
use crate::launch::Launch;

/// OpenHands CLI.
pub(crate) static TOOL: Tool = Tool {
    id: "openhands",
    title: "OpenHands CLI",
    aliases: &["openhands_cli", "open_hands"],
    surface: "openhands",
    programs: &["openhands"],
    mcp_client_names: &[],
    reader: Some(&readers::OpenHands),
    install: None,
    launch: Some(Launch {
        start: &["{prompt:-t}"],
        resume: &["--resume", "{id}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://docs.openhands.dev",
        tried: "",
        note: "Read as its source describes it.",
    }),
    native: None,
};
