//! Zed: servers only, in `settings.json`, which has comments; it has no hooks.

use baton_transcripts::readers;
use serde_json::json;

use crate::Tool;
use crate::install::{HookContextFormat, Install};
use crate::shapes::server_at;
use crate::storage::{Evidence, Storage, StoredFile};

/// Zed.
pub(crate) static TOOL: Tool = Tool {
    id: "zed",
    title: "Zed",
    aliases: &["zed_agent"],
    surface: "zed",
    programs: &[],
    mcp_client_names: &["zed"],
    reader: Some(&readers::Zed),
    storage: Some(Storage {
        files: &[StoredFile { path: "~/.local/share/zed/threads/threads.db", variable: None }],
        evidence: Evidence::OtherReaders,
        note: "",
    }),
    install: Some(Install {
        home: |places| places.config("zed"),
        editor_programs: &["zed", "zeditor"],
        wants: |places, scope| {
            let file = places.scoped(scope, places.config("zed").join("settings.json"), ".zed/settings.json");
            let server = json!({ "source": "custom", "command": places.baton, "args": ["mcp"], "env": {} });
            Some(vec![server_at(file, &["context_servers"], server)])
        },
        remark: "",
        package: None,
        trust: None,
        answer: HookContextFormat::None,
        tried: "",
        note: "",
    }),
    launch: None,
    native: None,
};
