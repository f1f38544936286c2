//! Records of changes pushed to a remote before a baton references them; they survive a killed process. A reference that a baton
//! gives up while the remote does not answer has one, too.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{private_file, process};

/// A push of changes into a remote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PushNote {
    /// The address as git takes it, without a password.
    pub url: String,
    /// The full name of the reference.
    pub reference: String,
    /// The working copy whose changes they are: its project has the baton, if any has.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// The project, where it was named.
    #[serde(default)]
    pub project: Option<String>,
    /// The ledger whose baton was to have them, as people name it: another one knows nothing of them.
    #[serde(default)]
    pub ledger: Option<String>,
    /// A baton had the reference, and has other changes or none now.
    #[serde(default)]
    pub is_given_up: bool,
    /// The fingerprint of the process that pushes.
    process: String,
}

impl PushNote {
    /// A push of this process, out of a working copy of a project.
    pub(super) fn new(url: String, reference: String, owner: &Owner<'_>) -> Self {
        let (root, project) = (Some(owner.root.to_owned()), owner.project.map(str::to_owned));
        let ledger = Some(owner.ledger.to_owned());
        Self {
            url,
            reference,
            root,
            project,
            ledger,
            is_given_up: false,
            process: process::own_fingerprint(),
        }
    }

    /// A reference that a baton had, out of a working copy of its project.
    pub(super) fn of_given_up(url: String, reference: String, owner: &Owner<'_>) -> Self {
        Self { is_given_up: true, ..Self::new(url, reference, owner) }
    }

    /// Writes the note. The push goes on without one where that fails.
    pub(super) fn write(&self, data_dir: &Path) {
        let Ok(text) = serde_json::to_vec(self) else { return };
        let _ = private_file::create_folder(&folder(data_dir))
            .and_then(|()| private_file::write(&file(data_dir, &self.reference), &text));
    }

    /// Removes the note of a reference: a baton names it, or it is not there.
    pub(super) fn forget(data_dir: &Path, reference: &str) {
        let _ = fs::remove_file(file(data_dir, reference));
    }

    /// The references whose processes have ended before a baton named them. Each with the file of its note.
    pub(crate) fn interrupted(data_dir: &Path) -> Vec<(PathBuf, Self)> {
        let files = fs::read_dir(folder(data_dir)).into_iter().flatten().flatten().map(|entry| entry.path());
        let read = |path: PathBuf| {
            let note: Self = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            process::has_ended(&note.process).then_some((path, note))
        };
        files.filter_map(read).collect()
    }
}

/// Whose changes are pushed.
pub(super) struct Owner<'a> {
    /// The top folder of the working copy.
    pub root: &'a Path,
    /// The project, where it is named.
    pub project: Option<&'a str>,
    /// The ledger that gets the baton.
    pub ledger: &'a str,
}

fn file(data_dir: &Path, reference: &str) -> PathBuf {
    let name = reference.rsplit('/').next().unwrap_or_default();
    folder(data_dir).join(format!("{name}.json"))
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("pushes")
}
