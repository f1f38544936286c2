//! Gemini CLI: hooks and servers in `settings.json`; its timeouts are milliseconds.

use super::shapes::{groups, server};
use super::{Answer, Places, Tool};

pub static TOOL: Tool = Tool {
    id: "gemini",
    title: "Gemini CLI",
    aliases: &["gemini_cli"],
    home: folder,
    programs: &["gemini"],
    wants: |places, scope| {
        let file = places.scoped(scope, folder(places).join("settings.json"), ".gemini/settings.json");
        // `PreCompress` is called before every round, whether or not anything is compressed: it says nothing.
        let events = [("SessionStart", "session-start"), ("SessionEnd", "session-end")];
        let mut wants = groups(places, "gemini", &file, 10_000, &events);
        wants.push(server(places, file));
        Some(wants)
    },
    remark: "",
    answer: Answer::Nested,
};

fn folder(places: &Places) -> std::path::PathBuf {
    places.dir("GEMINI_CLI_HOME", "").join(".gemini")
}
