//! Claude Code: hooks in `settings.json`, servers in `~/.claude.json` or the project's `.mcp.json`.

use serde_json::json;

use super::shapes::{groups, server_at};
use super::{Answer, Places, Tool};

pub static TOOL: Tool = Tool {
    id: "claude",
    title: "Claude Code",
    aliases: &["claude_code"],
    home: |places| places.dir("CLAUDE_CONFIG_DIR", ".claude"),
    programs: &["claude"],
    wants: |places, scope| {
        let folder = places.dir("CLAUDE_CONFIG_DIR", ".claude");
        // With a folder of its own, the file with the servers lies in it.
        let servers = match places.vars.get("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()) {
            Some(_) => folder.join(".claude.json"),
            None => places.home.join(".claude.json"),
        };
        let settings = places.scoped(scope, folder.join("settings.json"), ".claude/settings.json");
        let server = json!({ "type": "stdio", "command": places.baton, "args": ["mcp"], "env": {} });
        let mut wants = hooks(places, &settings);
        wants.push(server_at(places.scoped(scope, servers, ".mcp.json"), &["mcpServers"], server));
        Some(wants)
    },
    remark: "",
    answer: Answer::Nested,
};

fn hooks(places: &Places, settings: &std::path::Path) -> Vec<super::super::InstallEntry> {
    let events = [
        ("SessionStart", "session-start"),
        ("PreCompact", "before-compaction"),
        ("PostCompact", "after-compaction"),
        ("StopFailure", "failure"),
        ("SessionEnd", "session-end"),
    ];
    groups(places, "claude", settings, 10, &events)
}
