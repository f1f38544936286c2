//! What was made at an installation: so that taking it out again gives back what was there, and not a byte more.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What Baton did to files of others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Record {
    files: BTreeMap<PathBuf, InstallRecord>,
}

/// What Baton did to one file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct InstallRecord {
    /// Whether there was no such file before.
    pub created: bool,
    /// Folders that were made for it, outermost first.
    pub folders: Vec<PathBuf>,
    /// Keys that lead to each object, list or setting that was made.
    pub made: Vec<Vec<String>>,
    /// For a whole file of ours: the digest of what was written.
    pub digest: Option<String>,
}

impl Record {
    /// Reads it; one that is lost or damaged is as good as none, since entries are known by what they say.
    pub(crate) fn read(file: &Path) -> Self {
        std::fs::read(file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Its text.
    pub(crate) fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Whether there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// What is known about a file.
    pub(crate) fn get(&self, file: &Path) -> Option<&InstallRecord> {
        self.files.get(file)
    }

    /// Notes more about a file.
    pub(crate) fn add(&mut self, file: &Path, mark: InstallRecord) {
        let known = self.files.entry(file.to_owned()).or_default();
        known.created |= mark.created;
        known.digest = mark.digest.or_else(|| known.digest.take());
        mark.made.into_iter().for_each(|keys| add_once(&mut known.made, keys));
        mark.folders.into_iter().for_each(|folder| add_once(&mut known.folders, folder));
    }

    /// Forgets a file.
    pub(crate) fn remove(&mut self, file: &Path) {
        self.files.remove(file);
    }
}

fn add_once<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// The digest of a text.
pub(crate) fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
