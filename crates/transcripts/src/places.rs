//! Where tools keep their files. The environment comes in from outside: nothing here reads it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The operating system whose conventions hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Os {
    /// Linux and the BSDs.
    #[default]
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// What a reader may know about the machine.
#[derive(Debug, Clone, Default)]
pub struct TranscriptEnv {
    /// The user's home directory.
    pub home: PathBuf,
    /// Environment variables.
    pub vars: BTreeMap<String, String>,
    /// Operating system.
    pub os: Os,
    /// Folders of known projects. Some tools keep their transcripts there; no other folder is searched for them.
    pub folders: Vec<PathBuf>,
}

impl TranscriptEnv {
    /// A directory named by a variable, if it is set to something.
    pub fn dir(&self, var: &str) -> Option<PathBuf> {
        self.vars.get(var).filter(|value| !value.is_empty()).map(|value| self.expand(value))
    }

    /// The directory that the variable names, else the one of this name in the home directory.
    pub fn dir_or_home(&self, var: &str, name: &str) -> PathBuf {
        self.dir(var).unwrap_or_else(|| self.home.join(name))
    }

    /// The folder of an XDG variable, else the one of this name in the home directory. The XDG specification has relative paths
    /// ignored.
    fn xdg(&self, var: &str, name: &str) -> PathBuf {
        self.dir(var).filter(|path| path.is_absolute()).unwrap_or_else(|| self.home.join(name))
    }

    /// Where applications keep their data: `$XDG_DATA_HOME`, `~/Library/Application Support` or `%APPDATA%`.
    pub fn data_dir(&self) -> PathBuf {
        match self.os {
            Os::Linux => self.xdg("XDG_DATA_HOME", ".local/share"),
            Os::MacOs => self.home.join("Library/Application Support"),
            Os::Windows => self.dir_or_home("APPDATA", "AppData/Roaming"),
        }
    }

    /// Where command line tools that follow XDG on every system keep their data: `$XDG_DATA_HOME`, else `~/.local/share`.
    pub fn xdg_data_dir(&self) -> PathBuf {
        self.xdg("XDG_DATA_HOME", ".local/share")
    }

    /// Where editors keep their settings: `$XDG_CONFIG_HOME`, `~/Library/Application Support` or `%APPDATA%`.
    pub fn config_dir(&self) -> PathBuf {
        match self.os {
            Os::Linux => self.xdg("XDG_CONFIG_HOME", ".config"),
            Os::MacOs | Os::Windows => self.data_dir(),
        }
    }

    /// Settings of Visual Studio Code and of the editors made from it.
    pub fn editor_dirs(&self) -> Vec<PathBuf> {
        const EDITORS: &[&str] = &["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
        let config = self.config_dir();
        let local = EDITORS.iter().map(|name| config.join(name).join("User"));
        let remote = [".vscode-server", ".vscode-server-insiders", ".cursor-server"];
        local.chain(remote.iter().map(|name| self.home.join(name).join("data/User"))).collect()
    }

    /// Whether a file that a tool keeps in a project is there and in it: a link of a repository may lead elsewhere.
    pub fn is_in(folder: &Path, path: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        path.is_file() && real(path).zip(real(folder)).is_some_and(|(path, folder)| path.starts_with(folder))
    }

    fn expand(&self, value: &str) -> PathBuf {
        match value.strip_prefix("~/") {
            Some(rest) => self.home.join(rest),
            None => Path::new(value).to_owned(),
        }
    }
}
