//! Roo Code: servers only; it has no hooks.

use super::shapes::server;
use super::{Answer, Places, Tool};

pub static TOOL: Tool = Tool {
    id: "roo",
    title: "Roo Code",
    aliases: &["roo_code"],
    home: folder,
    programs: &[],
    wants: |places, scope| {
        let user = folder(places).join("settings/mcp_settings.json");
        Some(vec![server(places, places.scoped(scope, user, ".roo/mcp.json"))])
    },
    remark: "",
    answer: Answer::None,
};

fn folder(places: &Places) -> std::path::PathBuf {
    places.extension("rooveterinaryinc.roo-cline")
}
