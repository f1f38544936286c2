//! Goose: servers in a YAML file, which is shown to be added by hand: no editor of ours would leave it as it is.

use serde_json::Value;

use super::super::{EntryContent, InstallEntry, InstallPart};
use super::{Answer, Scope, Tool};

pub static TOOL: Tool = Tool {
    id: "goose",
    title: "Goose",
    aliases: &[],
    home: |places| places.config("goose"),
    programs: &["goose"],
    wants: |places, scope| {
        let program = Value::from(places.baton.as_str());
        let text = format!(
            "extensions:\n  baton:\n    enabled: true\n    type: stdio\n    name: baton\n    cmd: {program}\n    args: [mcp]\n"
        );
        let file = places.config("goose").join("config.yaml");
        (scope == Scope::User)
            .then(|| vec![InstallEntry { part: InstallPart::Mcp, file, what: EntryContent::ByHand(text) }])
    },
    remark: "",
    answer: Answer::None,
};
