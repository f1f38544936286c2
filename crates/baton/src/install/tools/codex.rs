//! Codex: hooks in `hooks.json`, servers in `config.toml`.

use serde_json::json;

use super::super::{EntryContent, InstallEntry, InstallPart};
use super::shapes::groups;
use super::{Answer, Scope, Tool};

pub static TOOL: Tool = Tool {
    id: "codex",
    title: "Codex",
    aliases: &["codex_cli"],
    home: |places| places.dir("CODEX_HOME", ".codex"),
    programs: &["codex"],
    wants: |places, scope| {
        let folder = places.dir("CODEX_HOME", ".codex");
        let events = [
            ("SessionStart", "session-start"),
            ("PreCompact", "before-compaction"),
            ("PostCompact", "after-compaction"),
            ("StopFailure", "failure"),
            ("SessionEnd", "session-end"),
        ];
        let file = places.scoped(scope, folder.join("hooks.json"), ".codex/hooks.json");
        let mut wants = groups(places, "codex", &file, 10, &events);
        if scope == Scope::User {
            let value = json!({ "command": places.baton, "args": ["mcp"] });
            let what = EntryContent::Table { at: &["mcp_servers", "baton"], many: false, value };
            wants.push(InstallEntry { part: InstallPart::Mcp, file: folder.join("config.toml"), what });
        }
        Some(wants)
    },
    remark: "Codex runs new hooks only after you have trusted them once: open it and type /hooks",
    answer: Answer::Nested,
};
