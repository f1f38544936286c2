//! OpenCode: a plugin of our own, servers in `opencode.json` or `opencode.jsonc`.

use serde_json::json;

use super::shapes::{plugin, server_at};
use super::{Answer, Places, Scope, Tool};
use std::path::{Path, PathBuf};

pub static TOOL: Tool = Tool {
    id: "opencode",
    title: "OpenCode",
    aliases: &["open_code"],
    home: |places| places.config("opencode"),
    programs: &["opencode"],
    wants: |places, scope| {
        let folder = places.config("opencode");
        let file = match scope {
            Scope::User => either(&folder, "opencode"),
            Scope::Project => either(&places.project, "opencode"),
        };
        let own = places.scoped(scope, folder.join("plugins/baton.js"), ".opencode/plugins/baton.js");
        Some(vec![plugin(places, "opencode", own), server_at(file, &["mcp"], server(places))])
    },
    remark: "",
    answer: Answer::Plain,
};

/// The entry of a server.
pub fn server(places: &Places) -> serde_json::Value {
    json!({ "type": "local", "command": [places.baton, "mcp"], "enabled": true })
}

/// The file with comments, where there is one.
pub fn either(folder: &Path, name: &str) -> PathBuf {
    let commented = folder.join(format!("{name}.jsonc"));
    if commented.is_file() { commented } else { folder.join(format!("{name}.json")) }
}
