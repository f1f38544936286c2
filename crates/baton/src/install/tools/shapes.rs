//! Shapes that several tools share.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::{Part, Want, What};
use super::Places;

/// The member `baton` of `mcpServers`.
pub fn server(places: &Places, file: PathBuf) -> Want {
    server_at(file, &["mcpServers"], json!({ "command": places.baton, "args": ["mcp"] }))
}

/// The member `baton` of another object.
pub fn server_at(file: PathBuf, at: &'static [&'static str], value: Value) -> Want {
    Want { part: Part::Mcp, file, what: What::Member { at, value } }
}

/// A hook as one element of the list of its event.
pub fn hook(file: PathBuf, event: &'static str, value: Value) -> Want {
    Want { part: Part::Hooks, file, what: What::Element { at: vec!["hooks", event], value } }
}

/// Hooks in Claude Code's shape, which others took over: groups of commands under each event. `timeout` is what the tool
/// takes for ten seconds.
pub fn groups(
    places: &Places,
    agent: &str,
    file: &std::path::Path,
    timeout: i64,
    events: &[(&'static str, &str)],
) -> Vec<Want> {
    let group = |(event, ours): &(&'static str, &str)| {
        let command = json!({ "type": "command", "command": places.hook(ours, agent), "timeout": timeout });
        hook(file.to_owned(), event, json!({ "hooks": [command] }))
    };
    events.iter().map(group).collect()
}

/// A whole file of ours.
pub fn whole(part: Part, file: PathBuf, text: String) -> Want {
    Want { part, file, what: What::Whole(text) }
}

/// A plugin of OpenCode and of its offspring: it runs our hooks and hands over what they print.
pub fn plugin(places: &Places, agent: &str, file: PathBuf) -> Want {
    let text = include_str!("opencode_plugin.js")
        .replace("@BATON@", &Value::from(places.baton.as_str()).to_string())
        .replace("@AGENT@", &Value::from(agent).to_string());
    whole(Part::Hooks, file, text)
}
