//! Finding an agent: by a name that a person gives, by a process, by an MCP client.

use std::path::Path;

use baton_transcripts::TranscriptReader;

use crate::install::Installer;
use crate::launch::{Headless, Launch};
use crate::{ALL, Tool};

/// An agent that can be started on a terminal.
#[derive(Clone, Copy)]
pub struct Launcher {
    /// The agent.
    pub tool: &'static Tool,
    /// Its command lines.
    pub launch: &'static Launch,
}

impl Launcher {
    /// The program that is started.
    pub fn program(&self) -> &'static str {
        self.tool.programs.first().copied().unwrap_or(self.tool.id)
    }
}

/// The agent of this id or other name; `-`, blanks and capitals do not matter.
pub fn by_name(name: &str) -> Option<&'static Tool> {
    let name = name.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    ALL.iter().copied().find(|tool| tool.id == name || tool.aliases.contains(&name.as_str()))
}

/// Every agent with which Baton can be registered: what `baton install` takes.
pub fn installers() -> impl Iterator<Item = Installer> {
    ALL.iter().copied().filter_map(installer_of)
}

/// The agent of this name, if Baton can be registered with it.
pub fn installer(name: &str) -> Option<Installer> {
    by_name(name).and_then(installer_of)
}

fn installer_of(tool: &'static Tool) -> Option<Installer> {
    tool.install.as_ref().map(|install| Installer { tool, install })
}

/// Every agent that can be started: what `--in` takes.
pub fn launchers() -> impl Iterator<Item = Launcher> {
    ALL.iter().copied().filter_map(launcher_of)
}

/// The agent of this name, if it can be started.
pub fn launcher(name: &str) -> Option<Launcher> {
    by_name(name).and_then(launcher_of)
}

fn launcher_of(tool: &'static Tool) -> Option<Launcher> {
    tool.launch.as_ref().map(|launch| Launcher { tool, launch })
}

/// The agent that a program is, by the program's name, if it can be started.
pub fn launcher_of_program(program: &str) -> Option<Launcher> {
    let name = Path::new(program).file_stem()?.to_str()?;
    launchers().find(|launcher| launcher.tool.programs.contains(&name))
}

/// The agents that run without a terminal.
pub fn headless() -> impl Iterator<Item = (Launcher, &'static Headless)> {
    launchers().filter_map(|launcher| Some((launcher, launcher.launch.headless.as_ref()?)))
}

/// Every agent whose transcripts are read.
pub fn readers() -> impl Iterator<Item = (&'static Tool, &'static dyn TranscriptReader)> {
    ALL.iter().filter_map(|tool| Some((*tool, tool.reader?)))
}

/// The reader of the transcripts of the agent of this name.
pub fn reader(name: &str) -> Option<&'static dyn TranscriptReader> {
    by_name(name)?.reader
}

/// The surface of the agent that a process is, by the name of its command.
pub fn surface_of_program(command: &str) -> Option<&'static str> {
    ALL.iter().find(|tool| tool.programs.contains(&command)).map(|tool| tool.surface)
}

/// The surface of the agent to which an MCP client belongs, by the name that it gives itself. Of several agents that a
/// name fits, the one whose own name is longest: `Kilo-Code` is not Kilo.
pub fn surface_of_client(client: &str) -> Option<&'static str> {
    let client = words(client);
    let mut best: Option<(usize, &'static str)> = None;
    for tool in ALL {
        for name in tool.mcp_client_names.iter().map(|name| words(name)) {
            let fits = !name.is_empty() && client.windows(name.len()).any(|part| part == name);
            if fits && best.is_none_or(|(longest, _)| name.len() > longest) {
                best = Some((name.len(), tool.surface));
            }
        }
    }
    best.map(|(_, surface)| surface)
}

/// Whether sessions of an agent are registered under this surface, or under another name of the agent.
pub fn has_surface(id: &str, surface: &str) -> bool {
    by_name(id).is_some_and(|tool| {
        tool.surface == surface || by_name(surface).is_some_and(|named| named.id == tool.id)
    })
}

fn words(name: &str) -> Vec<String> {
    let parts = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(str::to_ascii_lowercase).collect()
}

#[cfg(test)]
#[path = "lookup_tests.rs"]
mod tests;
