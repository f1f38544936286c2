//! Kilo CLI, an offspring of OpenCode.

use baton_transcripts::readers;

use super::opencode::{either, server};
use crate::Tool;
use crate::install::{HookContextFormat, Install, Scope};
use crate::launch::Launch;
use crate::shapes::{plugin, server_at};
use crate::storage::{Evidence, Storage, StoredFile};

/// Kilo CLI.
pub(crate) static TOOL: Tool = Tool {
    id: "kilo",
    title: "Kilo CLI",
    aliases: &["kilo_cli", "kilocli"],
    surface: "kilo",
    programs: &["kilo"],
    mcp_client_names: &["kilo"],
    reader: Some(&readers::KILO),
    storage: Some(Storage {
        files: &[StoredFile { path: "~/.local/share/kilo/kilo.db", variable: Some("KILO_DB") }],
        evidence: Evidence::Program("7.7.9"),
        note: "The tables of OpenCode.",
    }),
    install: Some(Install {
        home: |places| places.config("kilo"),
        editor_programs: &[],
        wants: |places, scope| {
            let folder = places.config("kilo");
            let own = folder.join("plugins/baton.js");
            let file = either(&folder, "kilo");
            (scope == Scope::User)
                .then(|| vec![plugin(places, "kilo", own), server_at(file, &["mcp"], server(places))])
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::Plain,
        tried: "",
        note: "The same plugin as for OpenCode.",
    }),
    launch: Some(Launch {
        start: &["run", "{prompt}"],
        resume: &["run", "--session", "{id}", "{prompt}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "npm install -g @kilocode/cli",
        tried: "",
        note: "One answer, then it ends: `kilo --continue` goes on on the terminal.",
    }),
    native: None,
};
