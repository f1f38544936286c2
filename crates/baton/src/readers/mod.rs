//! External readers: programs `baton-reader-NAME` on the search path, which give out the sessions of a tool that Baton does not read.
//! A program is run only after the user enabled it, and only as long as it is the same file with the same content.

mod check;
mod program;
mod refresh;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub(crate) use check::{Finding, check};
pub(crate) use refresh::refresh;

use crate::config::trust::sha256;

const PREFIX: &str = "baton-reader-";

/// The readers that the user enabled. They are kept in the user's own configuration folder, where no repository writes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EnabledReaders {
    /// Each name once.
    #[serde(default)]
    pub readers: Vec<EnabledReader>,
}

/// A program that may be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EnabledReader {
    /// What stands behind `baton-reader-`.
    pub name: String,
    /// The file.
    pub program: PathBuf,
    /// SHA-256 of its content.
    pub sha256: String,
}

/// A program on the search path, and whether it may be run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ReaderProgram {
    /// What stands behind `baton-reader-`.
    pub name: String,
    /// The file.
    pub program: PathBuf,
    /// Whether it may be run.
    pub state: ReaderState,
}

/// Whether a program may be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReaderState {
    /// The user enabled it.
    Enabled,
    /// Nobody enabled it.
    Disabled,
    /// The user enabled it with another content or in another place.
    Changed,
}

impl EnabledReaders {
    /// What was enabled so far. What cannot be read enables nothing.
    pub(crate) fn read(config_dir: &Path) -> Self {
        let bytes = std::fs::read(list_file(config_dir)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Keeps it, readable for the user alone.
    pub(crate) fn write(&self, config_dir: &Path) -> std::io::Result<()> {
        crate::private_file::create_folder(config_dir)?;
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::other)?;
        crate::private_file::write(&list_file(config_dir), &text)
    }

    /// Enables a program as it is now.
    pub(crate) fn add(&mut self, name: &str, program: &Path) -> std::io::Result<()> {
        let sha256 = sha256(&std::fs::read(program)?);
        self.remove(name);
        self.readers.push(EnabledReader { name: name.to_owned(), program: program.to_owned(), sha256 });
        Ok(())
    }

    /// Enables it no more; says whether it was.
    pub(crate) fn remove(&mut self, name: &str) -> bool {
        let before = self.readers.len();
        self.readers.retain(|one| one.name != name);
        self.readers.len() != before
    }
}

impl EnabledReader {
    /// Whether the program is still the one that was enabled.
    pub(crate) fn is_same(&self) -> bool {
        std::fs::read(&self.program).is_ok_and(|bytes| sha256(&bytes) == self.sha256)
    }
}

/// The programs in these folders of the search path, by name. Folders that depend on where one stands do not count.
pub(crate) fn programs(path: &str, enabled: &EnabledReaders) -> Vec<ReaderProgram> {
    let mut found: Vec<ReaderProgram> = Vec::new();
    for folder in std::env::split_paths(path).filter(|folder| folder.is_absolute()) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.file_name();
            let Some(name) = file.to_str().and_then(|file| file.strip_prefix(PREFIX)) else { continue };
            let program = entry.path();
            // The first on the search path is the one that is run.
            let is_known = found.iter().any(|one| one.name == name);
            if is_name(name) && !is_known && crate::launch::is_program(&program) {
                let known = enabled.readers.iter().find(|one| one.name == name);
                let state = match known {
                    None => ReaderState::Disabled,
                    Some(known) if known.program == program && known.is_same() => ReaderState::Enabled,
                    Some(_) => ReaderState::Changed,
                };
                found.push(ReaderProgram { name: name.to_owned(), program, state });
            }
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// Whether this may be the name of a reader, which is also the name of a folder.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain)
}

fn list_file(config_dir: &Path) -> PathBuf {
    config_dir.join("readers.json")
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(folder: &Path, name: &str, text: &str) -> std::io::Result<PathBuf> {
        let file = folder.join(name);
        std::fs::write(&file, text)?;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
        Ok(file)
    }

    #[test]
    fn a_program_may_be_run_while_it_is_the_one_that_was_enabled() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = program(dir.path(), "baton-reader-own", "#!/bin/sh\n").expect("a program");
        program(dir.path(), "baton-reader-", "#!/bin/sh\n").expect("a program");
        std::fs::write(dir.path().join("baton-reader-data"), "no program").expect("written");
        let path = dir.path().to_str().expect("text");
        let mut enabled = EnabledReaders::default();
        let states = |enabled: &EnabledReaders| {
            let found = programs(path, enabled);
            found.into_iter().map(|one| (one.name, one.state)).collect::<Vec<_>>()
        };
        assert_eq!(states(&enabled), [("own".to_owned(), ReaderState::Disabled)]);
        enabled.add("own", &file).expect("enabled");
        enabled.write(&dir.path().join("config")).expect("kept");
        let enabled = EnabledReaders::read(&dir.path().join("config"));
        assert_eq!(states(&enabled), [("own".to_owned(), ReaderState::Enabled)]);
        program(dir.path(), "baton-reader-own", "#!/bin/sh\nexit 1\n").expect("a program");
        assert_eq!(states(&enabled), [("own".to_owned(), ReaderState::Changed)]);
        assert!(!enabled.readers[0].is_same());
    }
}
