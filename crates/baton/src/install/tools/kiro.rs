//! Kiro: servers only. Its hooks stand in the files of single agents, which are the user's own.

use super::shapes::server;
use super::{Answer, Tool};

pub static TOOL: Tool = Tool {
    id: "kiro",
    title: "Kiro",
    aliases: &["kiro_cli"],
    home: |places| places.home.join(".kiro"),
    programs: &["kiro-cli"],
    wants: |places, scope| {
        let user = places.home.join(".kiro/settings/mcp.json");
        Some(vec![server(places, places.scoped(scope, user, ".kiro/settings/mcp.json"))])
    },
    remark: "hooks of Kiro belong to one agent: add `baton hook session-start --agent kiro` to its `agentSpawn`",
    answer: Answer::Plain,
};
