//! Copilot CLI: a file of hooks of our own, servers in `mcp-config.json`.

use serde_json::{Map, Value, json};

use super::super::InstallPart;
use super::shapes::{server_at, whole_file};
use super::{Answer, Places, Scope, Tool};

pub static TOOL: Tool = Tool {
    id: "copilot",
    title: "Copilot CLI",
    aliases: &["copilot_cli", "github_copilot"],
    home: |places| places.dir("COPILOT_HOME", ".copilot"),
    programs: &["copilot"],
    wants: |places, scope| {
        let folder = places.dir("COPILOT_HOME", ".copilot");
        let own = places.scoped(scope, folder.join("hooks/baton.json"), ".github/hooks/baton.json");
        let mut wants = vec![whole_file(InstallPart::Hooks, own, hooks(places))];
        if scope == Scope::User {
            let server = json!({ "type": "local", "command": places.baton, "args": ["mcp"], "tools": ["*"] });
            wants.push(server_at(folder.join("mcp-config.json"), &["mcpServers"], server));
        }
        Some(wants)
    },
    remark: "",
    answer: Answer::TopLevel,
};

fn hooks(places: &Places) -> String {
    let events = [
        ("sessionStart", "session-start"),
        ("preCompact", "before-compaction"),
        ("sessionEnd", "session-end"),
    ];
    let entry = |(event, ours): (&str, &str)| {
        let line = places.hook(ours, "copilot");
        let command = json!({ "type": "command", "bash": line, "powershell": line, "timeoutSec": 10 });
        (event.to_owned(), json!([command]))
    };
    let hooks: Map<String, Value> = events.into_iter().map(entry).collect();
    format!("{:#}\n", json!({ "version": 1, "hooks": hooks }))
}
