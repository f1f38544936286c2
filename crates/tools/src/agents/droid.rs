//! Factory Droid: hooks in `hooks.json`, servers in `mcp.json`.

use baton_transcripts::readers;

use crate::Tool;
use crate::install::{HookContextFormat, Install};
use crate::launch::Launch;
use crate::shapes::{groups, server};
use crate::storage::{Evidence, Storage, StoredFile};

/// Factory Droid.
pub(crate) static TOOL: Tool = Tool {
    id: "droid",
    title: "Factory Droid",
    aliases: &["factory", "factory_droid", "droid_cli"],
    surface: "droid",
    programs: &["droid"],
    mcp_client_names: &["factory-cli", "droid"],
    reader: Some(&readers::Droid),
    storage: Some(Storage {
        files: &[StoredFile { path: "~/.factory/sessions/SLUG/ID.jsonl", variable: None }],
        evidence: Evidence::OtherReaders,
        note: "",
    }),
    install: Some(Install {
        home: |places| places.home.join(".factory"),
        editor_programs: &[],
        wants: |places, scope| {
            let folder = places.home.join(".factory");
            let file = places.scoped(scope, folder.join("hooks.json"), ".factory/hooks.json");
            let events = [
                ("SessionStart", "session-start"),
                ("PreCompact", "before-compaction"),
                ("SessionEnd", "session-end"),
            ];
            let mut wants = groups(places, "droid", &file, 10, &events);
            wants.push(server(places, places.scoped(scope, folder.join("mcp.json"), ".factory/mcp.json")));
            Some(wants)
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::Nested,
        tried: "",
        note: "",
    }),
    launch: Some(Launch {
        start: &["{prompt}"],
        resume: &["--resume", "{id}", "{prompt}"],
        modes: &[],
        headless: None,
        vars: None,
        get: "https://docs.factory.ai/cli",
        tried: "",
        note: "",
    }),
    native: None,
};
