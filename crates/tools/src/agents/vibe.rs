//! Mistral Vibe: its sessions are read. Its servers are an array of tables in TOML, which the editor of settings does not write.

use baton_transcripts::readers;

use crate::Tool;
use crate::launch::Launch;

/// Mistral Vibe.
pub(crate) static TOOL: Tool = Tool {
    id: "vibe",
    title: "Mistral Vibe",
    aliases: &["mistral_vibe", "mistral"],
    surface: "vibe",
    programs: &["vibe"],
    mcp_client_names: &[],
    reader: Some(&readers::Vibe),
    install: None,
    launch: Some(Launch {
        start: &["{prompt}"],
        resume: &["--resume", "{id}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://github.com/mistralai/mistral-vibe",
        tried: "",
        note: "",
    }),
    native: None,
};
