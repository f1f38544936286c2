//! Augment's Auggie: its sessions are read. Version 1.x keeps them in a form that is not known.

use baton_transcripts::readers;

use crate::Tool;
use crate::launch::Launch;
use crate::storage::{Evidence, Storage, StoredFile};

/// Auggie.
pub(crate) static TOOL: Tool = Tool {
    id: "auggie",
    title: "Auggie",
    aliases: &["augment", "augment_code", "auggie_cli"],
    surface: "auggie",
    programs: &["auggie"],
    mcp_client_names: &[],
    reader: Some(&readers::Auggie),
    storage: Some(Storage {
        files: &[StoredFile { path: "~/.augment/sessions/ID.json", variable: None }],
        evidence: Evidence::VendorSource("the published 0.36.0"),
        note: "1.x keeps its sessions in another form, which is not known.",
    }),
    install: None,
    launch: Some(Launch {
        start: &["{prompt:--instruction}"],
        resume: &["--resume", "{id}", "{prompt:--instruction}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "npm install -g @augmentcode/auggie",
        tried: "",
        note: "Read as the published 0.36.0 writes it; 1.x is not read.",
    }),
    native: None,
};
