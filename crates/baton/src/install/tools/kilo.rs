//! Kilo CLI, an offspring of OpenCode.

use super::opencode::{either, server};
use super::shapes::{plugin, server_at};
use super::{Answer, Scope, Tool};

pub static TOOL: Tool = Tool {
    id: "kilo",
    title: "Kilo CLI",
    aliases: &["kilo_cli"],
    home: |places| places.config("kilo"),
    programs: &["kilo"],
    wants: |places, scope| {
        let folder = places.config("kilo");
        let own = folder.join("plugins/baton.js");
        let file = either(&folder, "kilo");
        (scope == Scope::User)
            .then(|| vec![plugin(places, "kilo", own), server_at(file, &["mcp"], server(places))])
    },
    remark: "",
    answer: Answer::Plain,
};
