//! Qwen Code: hooks and servers in `settings.json`. Without a terminal it announces no session, so the first prompt is used.

use super::shapes::{groups, server};
use super::{Answer, Tool};

pub static TOOL: Tool = Tool {
    id: "qwen",
    title: "Qwen Code",
    aliases: &["qwen_code"],
    home: |places| places.dir("QWEN_HOME", ".qwen"),
    programs: &["qwen"],
    wants: |places, scope| {
        let folder = places.dir("QWEN_HOME", ".qwen");
        let file = places.scoped(scope, folder.join("settings.json"), ".qwen/settings.json");
        let events = [
            ("UserPromptSubmit", "prompt"),
            ("PreCompact", "before-compaction"),
            ("SessionEnd", "session-end"),
        ];
        let mut wants = groups(places, "qwen", &file, 10_000, &events);
        wants.push(server(places, file));
        Some(wants)
    },
    remark: "",
    answer: Answer::Nested,
};
