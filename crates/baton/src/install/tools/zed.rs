//! Zed: servers only, in `settings.json`, which has comments; it has no hooks.

use serde_json::json;

use super::shapes::server_at;
use super::{Answer, Tool};

pub static TOOL: Tool = Tool {
    id: "zed",
    title: "Zed",
    aliases: &[],
    home: |places| places.config("zed"),
    programs: &["zed", "zeditor"],
    wants: |places, scope| {
        let file = places.scoped(scope, places.config("zed").join("settings.json"), ".zed/settings.json");
        let server = json!({ "source": "custom", "command": places.baton, "args": ["mcp"], "env": {} });
        Some(vec![server_at(file, &["context_servers"], server)])
    },
    remark: "",
    answer: Answer::None,
};
