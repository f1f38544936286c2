//! Amp: servers only, in `settings.json`; it has no hooks that are documented.

use super::super::{EntryContent, InstallEntry, InstallPart};
use super::{Answer, Scope, Tool};
use serde_json::json;

pub static TOOL: Tool = Tool {
    id: "amp",
    title: "Amp",
    aliases: &[],
    home: |places| places.config("amp"),
    programs: &["amp"],
    wants: |places, scope| {
        let value = json!({ "command": places.baton, "args": ["mcp"] });
        let what = EntryContent::Member { at: &["amp.mcpServers"], value };
        let file = places.config("amp").join("settings.json");
        (scope == Scope::User).then(|| vec![InstallEntry { part: InstallPart::Mcp, file, what }])
    },
    remark: "",
    answer: Answer::None,
};
