//! Factory Droid: hooks in `hooks.json`, servers in `mcp.json`.

use super::shapes::{groups, server};
use super::{Answer, Tool};

pub static TOOL: Tool = Tool {
    id: "droid",
    title: "Factory Droid",
    aliases: &["factory", "factory_droid"],
    home: |places| places.home.join(".factory"),
    programs: &["droid"],
    wants: |places, scope| {
        let folder = places.home.join(".factory");
        let file = places.scoped(scope, folder.join("hooks.json"), ".factory/hooks.json");
        let events = [
            ("SessionStart", "session-start"),
            ("PreCompact", "before-compaction"),
            ("SessionEnd", "session-end"),
        ];
        let mut wants = groups(places, "droid", &file, 10, &events);
        wants.push(server(places, places.scoped(scope, folder.join("mcp.json"), ".factory/mcp.json")));
        Some(wants)
    },
    remark: "",
    answer: Answer::Nested,
};
