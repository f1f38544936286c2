//! Where an agent keeps its configuration, and what Baton wants to stand there.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::Tool;

/// An agent with which Baton can be registered.
#[derive(Clone, Copy)]
pub struct Installer {
    /// The agent.
    pub tool: &'static Tool,
    /// Where its entries go.
    pub install: &'static Install,
}

/// How Baton is registered with an agent: its MCP server and its session hooks.
pub struct Install {
    /// The folder whose presence says that the agent is used here.
    pub home: fn(&Places) -> PathBuf,
    /// Programs of its editor. They show that it is here, but what runs below one may be a person's shell.
    pub editor_programs: &'static [&'static str],
    /// Everything that Baton wants to stand in its files; none for a scope that it does not have.
    pub wants: fn(&Places, Scope) -> Option<Vec<InstallEntry>>,
    /// What the user has to know or do besides.
    pub remark: &'static str,
    /// What shows that the tool has Baton from a package of its own kind, which brings the same entries.
    pub package: Option<fn(&Places) -> PackageMark>,
    /// Where the tool notes whether the user trusts what is installed; without that it does not run it.
    pub trust: Option<fn(&Places) -> TrustMark>,
    /// How a session start is answered.
    pub answer: HookContextFormat,
    /// What was tried with the real program; empty if nothing was.
    pub tried: &'static str,
    /// What the documentation says beside the entries.
    pub note: &'static str,
}

/// Where a tool notes that it has taken a package in.
pub enum PackageMark {
    /// The folder of an extension.
    Folder(PathBuf),
    /// A list of plugins in its settings: a member `baton@MARKETPLACE` that is `true`, or has a true `enabled`.
    Enabled {
        /// The file, in JSON or TOML.
        file: PathBuf,
        /// The key of the list.
        list: &'static str,
    },
}

/// Where a tool notes what the user trusts.
pub enum TrustMark {
    /// Each hook by the digest of its definition, in a table `hooks.state` of its settings.
    HookDigests {
        /// The file, in TOML.
        file: PathBuf,
    },
    /// Folders, in a file of their own. In others it starts no server.
    Folders {
        /// The file, in JSON: folders and how far each is trusted.
        file: PathBuf,
        /// Its settings, in which this may be off.
        settings: PathBuf,
    },
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
pub enum HookContextFormat {
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

/// Which half of an installation an entry belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallPart {
    /// The MCP server.
    Mcp,
    /// A session hook.
    Hooks,
}

/// One entry in one file.
#[derive(Debug, Clone)]
pub struct InstallEntry {
    /// What it is for.
    pub part: InstallPart,
    /// The file.
    pub file: PathBuf,
    /// The entry.
    pub what: EntryContent,
}

/// An entry.
#[derive(Debug, Clone)]
pub enum EntryContent {
    /// The member `baton` of an object in JSON.
    Member {
        /// The keys that lead to the object.
        at: &'static [&'static str],
        /// The member.
        value: Value,
    },
    /// An element of a list in JSON.
    Element {
        /// The keys that lead to the list.
        at: Vec<&'static str>,
        /// The element.
        value: Value,
    },
    /// A setting that the entries need; left as it is where it has another value.
    Setting {
        /// The keys that lead to its object.
        at: &'static [&'static str],
        /// Its name.
        key: &'static str,
        /// Its value.
        value: Value,
    },
    /// A table of TOML.
    Table {
        /// The keys of the table.
        at: &'static [&'static str],
        /// Whether it is one of a list.
        many: bool,
        /// What is in it.
        value: Value,
    },
    /// A whole file of ours.
    Whole(String),
    /// Something that the user has to add: a kind of file that cannot be edited safely.
    ByHand(String),
}

/// The name under which the server is registered.
pub const NAME: &str = "baton";

/// The variables that decide which store is opened, and for whom. A tool that starts servers with few variables has to be told
/// to pass these on; else a server opens another store than the hooks and the shell of the same session. Only names are
/// written, since a value may be a secret, and would hold where the shell has long another one.
pub const PASSED_ON: &[&str] = &[
    "BATON_STORE",
    "BATON_SERVER",
    "BATON_SERVER_CA",
    "BATON_TOKEN",
    "BATON_REDIS_URL",
    "BATON_QDRANT_URL",
    "BATON_IDENTITY",
    "BATON_PROJECT",
    "BATON_SESSION",
    "BATON_PROCESS",
    "BATON_MACHINE",
    "BATON_SUPERVISOR",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// Where things are on this machine.
#[derive(Debug, Clone)]
pub struct Places {
    /// The user's home directory.
    pub home: PathBuf,
    /// The root of the repository, else the working directory.
    pub project: PathBuf,
    /// The environment.
    pub vars: BTreeMap<String, String>,
    /// The folders in which programs are looked for.
    pub search_path: Vec<PathBuf>,
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
        self.search_path.iter().any(|folder| folder.join(name).is_file())
    }

    /// Whether an agent is used here.
    pub fn is_installed(&self, installer: &Installer) -> bool {
        let Installer { tool, install } = installer;
        let mut programs = tool.programs.iter().chain(install.editor_programs);
        (install.home)(self).is_dir() || programs.any(|name| self.has_program(name))
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
impl Places {
    /// Those that documents and packages name: below `~`, with the program on the path.
    pub(crate) fn on_path() -> Self {
        Self {
            home: "~".into(),
            project: PathBuf::new(),
            vars: BTreeMap::new(),
            search_path: Vec::new(),
            macos: false,
            baton: NAME.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_line_survives_a_folder_with_blanks() {
        let places = Places {
            home: PathBuf::new(),
            project: PathBuf::new(),
            vars: BTreeMap::new(),
            search_path: Vec::new(),
            macos: false,
            baton: "/opt/it's mine/baton".into(),
        };
        assert_eq!(places.hook("x", "codex"), "'/opt/it'\\''s mine/baton' hook x --agent codex");
    }
}
