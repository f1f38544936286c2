//! Cline, CLI and extension: servers only; its hooks cannot add to the model's context.

use std::path::PathBuf;

use super::shapes::server;
use super::{Answer, Places, Scope, Tool};

pub static TOOL: Tool = Tool {
    id: "cline",
    title: "Cline",
    aliases: &["cline_cli"],
    home: |places| {
        let folder = places.dir("CLINE_DIR", ".cline");
        if folder.is_dir() { folder } else { extension(places) }
    },
    programs: &["cline"],
    wants: |places, scope| {
        let own = places.dir("CLINE_DIR", ".cline").join("data/settings/cline_mcp_settings.json");
        let named = places.vars.get("CLINE_MCP_SETTINGS_PATH").filter(|path| !path.is_empty());
        let mut wants = vec![server(places, named.map_or(own, PathBuf::from))];
        if extension(places).is_dir() {
            wants.push(server(places, extension(places).join("settings/cline_mcp_settings.json")));
        }
        (scope == Scope::User).then_some(wants)
    },
    remark: "",
    answer: Answer::None,
};

fn extension(places: &Places) -> PathBuf {
    places.extension("saoudrizwan.claude-dev")
}
