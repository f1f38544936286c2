//! Cursor, editor and agent: hooks in `hooks.json`, servers in `mcp.json`.

use baton_transcripts::{PermissionMode, readers};
use serde_json::json;

use crate::Tool;
use crate::install::{EntryContent, HookContextFormat, Install, InstallEntry, InstallPart};
use crate::launch::Launch;
use crate::shapes::{hook, server};
use crate::storage::{Evidence, Storage, StoredFile};

/// Cursor.
pub(crate) static TOOL: Tool = Tool {
    id: "cursor",
    title: "Cursor",
    aliases: &["cursor_cli", "cursor_agent"],
    surface: "cursor",
    programs: &["cursor-agent"],
    mcp_client_names: &["cursor"],
    reader: Some(&readers::Cursor),
    storage: Some(Storage {
        files: &[
            StoredFile {
                path: "~/.cursor/projects/SLUG/agent-transcripts/ID/ID.jsonl",
                variable: Some("CURSOR_CONFIG_DIR"),
            },
            StoredFile { path: "~/.cursor/chats/HASH/ID/store.db", variable: Some("CURSOR_CONFIG_DIR") },
            StoredFile { path: "~/.config/Cursor/User/globalStorage/state.vscdb", variable: None },
        ],
        evidence: Evidence::OtherReaders,
        note: "What its agent kept without results is told without an outcome.",
    }),
    install: Some(Install {
        home: |places| places.dir("CURSOR_CONFIG_DIR", ".cursor"),
        editor_programs: &["cursor"],
        wants: |places, scope| {
            let folder = places.dir("CURSOR_CONFIG_DIR", ".cursor");
            let file = places.scoped(scope, folder.join("hooks.json"), ".cursor/hooks.json");
            let events = [
                ("sessionStart", "session-start"),
                ("preCompact", "before-compaction"),
                ("sessionEnd", "session-end"),
            ];
            let version = EntryContent::Setting { at: &[], key: "version", value: json!(1) };
            let mut wants =
                vec![InstallEntry { part: InstallPart::Hooks, file: file.clone(), what: version }];
            wants.extend(events.map(|(event, ours)| {
                hook(file.clone(), event, json!({ "command": places.hook(ours, "cursor") }))
            }));
            wants.push(server(places, places.scoped(scope, folder.join("mcp.json"), ".cursor/mcp.json")));
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
        start: &["{mode}", "{prompt}"],
        resume: &["--resume", "{id}", "{mode}", "{prompt}"],
        modes: &[(PermissionMode::Full, &["--force"])],
        headless: None,
        vars: None,
        get: "https://cursor.com/cli",
        tried: "",
        note: "",
    }),
    native: None,
};
