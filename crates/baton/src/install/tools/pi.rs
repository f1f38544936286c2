//! Pi: servers only; an extension of ours would be program text in a place that changes from version to version.

use super::shapes::server;
use super::{Answer, Places, Scope, Tool};

pub static TOOL: Tool = Tool {
    id: "pi",
    title: "Pi",
    aliases: &["pi_agent"],
    home: folder,
    programs: &["pi"],
    wants: |places, scope| {
        (scope == Scope::User).then(|| vec![server(places, folder(places).join("mcp.json"))])
    },
    remark: "",
    answer: Answer::None,
};

fn folder(places: &Places) -> std::path::PathBuf {
    places.dir("PI_CODING_AGENT_DIR", ".pi/agent")
}
