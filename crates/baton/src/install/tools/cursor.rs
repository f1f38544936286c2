//! Cursor, editor and agent: hooks in `hooks.json`, servers in `mcp.json`.

use serde_json::json;

use super::super::{EntryContent, InstallEntry, InstallPart};
use super::shapes::{hook, server};
use super::{Answer, Tool};

pub static TOOL: Tool = Tool {
    id: "cursor",
    title: "Cursor",
    aliases: &["cursor_agent", "cursor_cli"],
    home: |places| places.dir("CURSOR_CONFIG_DIR", ".cursor"),
    programs: &["cursor-agent", "cursor"],
    wants: |places, scope| {
        let folder = places.dir("CURSOR_CONFIG_DIR", ".cursor");
        let file = places.scoped(scope, folder.join("hooks.json"), ".cursor/hooks.json");
        let events = [
            ("sessionStart", "session-start"),
            ("preCompact", "before-compaction"),
            ("sessionEnd", "session-end"),
        ];
        let version = EntryContent::Setting { at: &[], key: "version", value: json!(1) };
        let mut wants = vec![InstallEntry { part: InstallPart::Hooks, file: file.clone(), what: version }];
        wants.extend(events.map(|(event, ours)| {
            hook(file.clone(), event, json!({ "command": places.hook(ours, "cursor") }))
        }));
        wants.push(server(places, places.scoped(scope, folder.join("mcp.json"), ".cursor/mcp.json")));
        Some(wants)
    },
    remark: "",
    answer: Answer::Nested,
};
