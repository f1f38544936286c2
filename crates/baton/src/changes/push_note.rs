//! Notes of pushes into a remote that are under way. A push that is killed may leave a reference that no baton names; its note says
//! which.

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
    /// The fingerprint of the process that pushes.
    process: String,
}

impl PushNote {
    /// A push of this process.
    pub(super) fn new(url: String, reference: String) -> Self {
        Self { url, reference, process: process::own() }
    }

    /// Writes the note. The push goes on without one where that fails. Gives the file, which goes with the value.
    pub(super) fn write(&self, data_dir: &Path) -> Option<WrittenNote> {
        let folder = folder(data_dir);
        let name = self.reference.rsplit('/').next().unwrap_or_default();
        let path = folder.join(format!("{name}.json"));
        let text = serde_json::to_vec(self).ok()?;
        private_file::create_folder(&folder).and_then(|()| private_file::write(&path, &text)).ok()?;
        Some(WrittenNote(path))
    }

    /// The pushes that did not end: their processes have. Each with the file of its note.
    pub(crate) fn interrupted(data_dir: &Path) -> Vec<(PathBuf, Self)> {
        let files = fs::read_dir(folder(data_dir)).into_iter().flatten().flatten().map(|entry| entry.path());
        let read = |path: PathBuf| {
            let note: Self = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
            process::has_ended(&note.process).then_some((path, note))
        };
        files.filter_map(read).collect()
    }
}

/// The file of a note; removed when the push has ended, however it did.
pub(super) struct WrittenNote(PathBuf);

impl Drop for WrittenNote {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("pushes")
}
