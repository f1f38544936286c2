//! Kimi CLI: no place for a server or a hook is known.

use baton_transcripts::readers;

use crate::Tool;
use crate::launch::Launch;

/// Kimi CLI.
pub(crate) static TOOL: Tool = Tool {
    id: "kimi_cli",
    title: "Kimi CLI",
    aliases: &["kimi_python"],
    surface: "kimi",
    programs: &["kimi"],
    mcp_client_names: &[],
    reader: Some(&readers::KimiCli),
    install: None,
    launch: Some(Launch {
        start: &[],
        resume: &["--session", "{id}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://moonshotai.github.io/kimi-cli",
        tried: "",
        note: "The older program of the same name. How it takes a first prompt is not documented.",
    }),
    native: None,
};
