//! Shapes that several tools share.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::install::{EntryContent, InstallEntry, InstallPart, Places};

/// The member `baton` of `mcpServers`.
pub(crate) fn server(places: &Places, file: PathBuf) -> InstallEntry {
    server_at(file, &["mcpServers"], json!({ "command": places.baton, "args": ["mcp"] }))
}

/// The member `baton` of another object.
pub(crate) fn server_at(file: PathBuf, at: &'static [&'static str], value: Value) -> InstallEntry {
    InstallEntry { part: InstallPart::Mcp, file, what: EntryContent::Member { at, value } }
}

/// A hook as one element of the list of its event.
pub(crate) fn hook(file: PathBuf, event: &'static str, value: Value) -> InstallEntry {
    InstallEntry {
        part: InstallPart::Hooks,
        file,
        what: EntryContent::Element { at: vec!["hooks", event], value },
    }
}

/// Hooks in Claude Code's shape, which others took over: groups of commands under each event. `timeout` is what the tool
/// takes for ten seconds.
pub(crate) fn groups(
    places: &Places,
    agent: &str,
    file: &Path,
    timeout: i64,
    events: &[(&'static str, &str)],
) -> Vec<InstallEntry> {
    let group = |(event, ours): &(&'static str, &str)| {
        let command = json!({ "type": "command", "command": places.hook(ours, agent), "timeout": timeout });
        hook(file.to_owned(), event, json!({ "hooks": [command] }))
    };
    events.iter().map(group).collect()
}

/// A whole file of ours.
pub(crate) fn whole_file(part: InstallPart, file: PathBuf, text: String) -> InstallEntry {
    InstallEntry { part, file, what: EntryContent::Whole(text) }
}

/// A plugin of OpenCode and of its offspring: it runs our hooks and hands over what they print.
pub(crate) fn plugin(places: &Places, agent: &str, file: PathBuf) -> InstallEntry {
    let text = include_str!("opencode_plugin.js")
        .replace("@BATON@", &Value::from(places.baton.as_str()).to_string())
        .replace("@AGENT@", &Value::from(agent).to_string());
    whole_file(InstallPart::Hooks, file, text)
}
