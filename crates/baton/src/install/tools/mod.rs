//! The family of tools: where each keeps its configuration, what its hooks are called, and in which shape.

mod amp;
mod antigravity;
mod claude;
mod cline;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod droid;
mod gemini;
mod goose;
mod kilo;
mod kilo_code;
mod kimi;
mod kiro;
mod opencode;
mod pi;
mod qwen;
mod roo;
mod shapes;
mod zed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::InstallEntry;

/// One tool.
pub struct Tool {
    /// The one id: `claude`, `codex`, ….
    pub id: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Other names of the same.
    pub aliases: &'static [&'static str],
    /// The folder whose presence says that the tool is used here.
    pub home: fn(&Places) -> PathBuf,
    /// Programs that are the tool.
    pub programs: &'static [&'static str],
    /// Everything that Baton wants to stand in its files; none for a scope that it does not have.
    pub wants: fn(&Places, Scope) -> Option<Vec<InstallEntry>>,
    /// What the user has to know or do besides.
    pub remark: &'static str,
    /// How a session start is answered.
    pub answer: Answer,
}

/// The scope of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// For the user, in every project.
    User,
    /// For this project, in files that its repository may hold.
    Project,
}

/// The shape in which a tool's hook adds context at the start of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// `{"hookSpecificOutput": {"hookEventName", "additionalContext"}}`.
    Nested,
    /// `{"additionalContext"}`.
    TopLevel,
    /// The text itself.
    Plain,
    /// `{"injectSteps": [{"ephemeralMessage"}]}`, and `{}` when there is nothing to say.
    Steps,
    /// Its hooks cannot add context.
    None,
}

/// Every tool.
pub static ALL: &[&Tool] = &[
    &claude::TOOL,
    &codex::TOOL,
    &gemini::TOOL,
    &copilot::TOOL,
    &cursor::TOOL,
    &opencode::TOOL,
    &kilo::TOOL,
    &qwen::TOOL,
    &kimi::TOOL,
    &droid::TOOL,
    &antigravity::TOOL,
    &kiro::TOOL,
    &cline::TOOL,
    &roo::TOOL,
    &kilo_code::TOOL,
    &pi::TOOL,
    &crush::TOOL,
    &goose::TOOL,
    &zed::TOOL,
    &amp::TOOL,
];

/// The tool of this id or other name; `-` and capitals do not matter.
pub fn by_name(name: &str) -> Option<&'static Tool> {
    let name = name.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    ALL.iter().copied().find(|tool| tool.id == name || tool.aliases.contains(&name.as_str()))
}

/// Where things are on this machine.
#[derive(Debug, Clone)]
pub struct Places {
    /// The user's home directory.
    pub home: PathBuf,
    /// The root of the repository, else the working directory.
    pub project: PathBuf,
    /// The environment.
    pub vars: BTreeMap<String, String>,
    /// Whether this is macOS, which has other places.
    pub macos: bool,
    /// The program that files are to name.
    pub baton: String,
}

impl Places {
    /// The folder that a variable names, else one below the home directory.
    pub fn dir(&self, variable: &str, fallback: &str) -> PathBuf {
        let named = self.vars.get(variable).filter(|value| !value.is_empty());
        named.map_or_else(|| self.home.join(fallback), PathBuf::from)
    }

    /// A folder below the user's configuration.
    pub fn config(&self, name: &str) -> PathBuf {
        self.dir("XDG_CONFIG_HOME", ".config").join(name)
    }

    /// The file of a scope: below the tool's own folder, or in the project.
    pub fn scoped(&self, scope: Scope, user: PathBuf, project: &str) -> PathBuf {
        match scope {
            Scope::User => user,
            Scope::Project => self.project.join(project),
        }
    }

    /// The folder in which an extension of VS Code keeps its settings.
    pub fn extension(&self, name: &str) -> PathBuf {
        let base = if self.macos { "Library/Application Support" } else { ".config" };
        self.home.join(base).join("Code/User/globalStorage").join(name)
    }

    /// Whether a program of this name is on the path.
    pub fn has_program(&self, name: &str) -> bool {
        let path = self.vars.get("PATH").map(String::as_str).unwrap_or_default();
        std::env::split_paths(path).any(|folder| Path::new(&folder).join(name).is_file())
    }

    /// Whether a tool is used here.
    pub fn is_installed(&self, tool: &Tool) -> bool {
        (tool.home)(self).is_dir() || tool.programs.iter().any(|name| self.has_program(name))
    }

    /// The line that runs a hook.
    pub fn hook(&self, event: &str, agent: &str) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:".contains(c);
        let program = match self.baton.chars().all(plain) {
            true => self.baton.clone(),
            false => format!("'{}'", self.baton.replace('\'', "'\\''")),
        };
        format!("{program} hook {event} --agent {agent}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_known_to_the_readers_of_transcripts() {
        let mut names: Vec<&str> = ALL.iter().flat_map(|t| t.aliases.iter().copied().chain([t.id])).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for tool in ALL {
            let format = baton_transcripts::by_name(tool.id);
            assert_eq!(format.map(|format| format.id()), Some(tool.id), "{}", tool.id);
        }
        assert_eq!(by_name("Claude-Code").map(|tool| tool.id), Some("claude"));
    }

    #[test]
    fn a_hook_line_survives_a_folder_with_blanks() {
        let places = Places {
            home: PathBuf::new(),
            project: PathBuf::new(),
            vars: BTreeMap::new(),
            macos: false,
            baton: "/opt/it's mine/baton".into(),
        };
        assert_eq!(places.hook("x", "codex"), "'/opt/it'\\''s mine/baton' hook x --agent codex");
    }
}
