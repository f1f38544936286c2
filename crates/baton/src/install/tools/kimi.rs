//! Kimi Code: hooks in `config.toml`, servers in `mcp.json`. Only what a prompt's hook prints reaches the model.

use serde_json::json;

use super::super::{EntryContent, InstallEntry, InstallPart};
use super::shapes::server;
use super::{Answer, Scope, Tool};

pub static TOOL: Tool = Tool {
    id: "kimi",
    title: "Kimi Code",
    aliases: &["kimi_code"],
    home: |places| places.dir("KIMI_CODE_HOME", ".kimi-code"),
    programs: &["kimi"],
    wants: |places, scope| {
        let folder = places.dir("KIMI_CODE_HOME", ".kimi-code");
        let events = [
            ("UserPromptSubmit", "prompt"),
            ("PreCompact", "before-compaction"),
            ("SessionEnd", "session-end"),
        ];
        let hook = |(event, ours): (&str, &str)| {
            let value = json!({ "event": event, "command": places.hook(ours, "kimi"), "timeout": 10 });
            let what = EntryContent::Table { at: &["hooks"], many: true, value };
            InstallEntry { part: InstallPart::Hooks, file: folder.join("config.toml"), what }
        };
        let mut wants: Vec<InstallEntry> = events.into_iter().map(hook).collect();
        wants.push(server(places, folder.join("mcp.json")));
        (scope == Scope::User).then_some(wants)
    },
    remark: "",
    answer: Answer::Plain,
};
