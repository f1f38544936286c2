//! Crush: servers only; its one hook runs before tools.

use serde_json::json;

use super::shapes::server_at;
use super::{Answer, Tool};

pub static TOOL: Tool = Tool {
    id: "crush",
    title: "Crush",
    aliases: &[],
    home: |places| places.config("crush"),
    programs: &["crush"],
    wants: |places, scope| {
        let file = places.scoped(scope, places.config("crush").join("crush.json"), "crush.json");
        let server = json!({ "type": "stdio", "command": places.baton, "args": ["mcp"] });
        Some(vec![server_at(file, &["mcp"], server)])
    },
    remark: "",
    answer: Answer::None,
};
