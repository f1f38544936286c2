//! Antigravity CLI: a plugin of our own with one hook, servers in `mcp_config.json`.

use serde_json::json;

use super::super::InstallPart;
use super::shapes::{server, whole_file};
use super::{Answer, Scope, Tool};

pub static TOOL: Tool = Tool {
    id: "antigravity",
    title: "Antigravity",
    aliases: &["antigravity_cli"],
    home: |places| places.home.join(".gemini/antigravity-cli"),
    programs: &["antigravity"],
    wants: |places, scope| {
        let folder = places.home.join(".gemini/config");
        let command =
            json!({ "type": "command", "command": places.hook("prompt", "antigravity"), "timeout": 10 });
        let hooks = json!({ "baton": { "PreInvocation": [command] } });
        let plugin = json!({ "name": "baton" });
        let wants = vec![
            whole_file(InstallPart::Hooks, folder.join("plugins/baton/plugin.json"), format!("{plugin:#}\n")),
            whole_file(InstallPart::Hooks, folder.join("plugins/baton/hooks.json"), format!("{hooks:#}\n")),
            server(places, folder.join("mcp_config.json")),
        ];
        (scope == Scope::User).then_some(wants)
    },
    remark: "",
    answer: Answer::Steps,
};
