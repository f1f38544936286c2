//! Which settings files of repositories the user trusts: a folder and the content that was shown. It is kept in the user's
//! own configuration folder, where no repository writes.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What is trusted.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct TrustStore {
    /// Each folder once.
    #[serde(default)]
    pub folders: Vec<Entry>,
    /// Each folder whose `docs/PROJECT.md` may name the tracker, once.
    #[serde(default)]
    pub documents: Vec<Entry>,
}

/// A trusted content of a folder's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// The real path of the folder.
    pub folder: PathBuf,
    /// SHA-256 of the file's content.
    pub sha256: String,
}

impl TrustStore {
    /// What was trusted so far. What cannot be read trusts nothing.
    pub(crate) fn read(config_dir: &Path) -> Self {
        let bytes = std::fs::read(trust_file(config_dir)).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Whether this content of this folder's file is trusted.
    pub(crate) fn holds(&self, folder: &Path, sha256: &str) -> bool {
        let folder = real(folder);
        self.folders.iter().any(|entry| entry.folder == folder && entry.sha256 == sha256)
    }

    /// Trusts this content, and no other of this folder any more.
    pub(crate) fn add(&mut self, folder: &Path, sha256: &str) {
        self.remove(folder);
        self.folders.push(Entry { folder: real(folder), sha256: sha256.to_owned() });
    }

    /// Whether this content of this folder's document is trusted.
    pub(crate) fn holds_document(&self, folder: &Path, sha256: &str) -> bool {
        let folder = real(folder);
        self.documents.iter().any(|entry| entry.folder == folder && entry.sha256 == sha256)
    }

    /// Trusts this content of this folder's document, and no other any more.
    pub(crate) fn add_document(&mut self, folder: &Path, sha256: &str) {
        let folder = real(folder);
        self.documents.retain(|entry| entry.folder != folder);
        self.documents.push(Entry { folder, sha256: sha256.to_owned() });
    }

    /// Trusts nothing of this folder; says whether anything was.
    pub(crate) fn remove(&mut self, folder: &Path) -> bool {
        let (folder, before) = (real(folder), self.folders.len() + self.documents.len());
        self.folders.retain(|entry| entry.folder != folder);
        self.documents.retain(|entry| entry.folder != folder);
        self.folders.len() + self.documents.len() != before
    }

    /// Keeps it, readable for the user alone.
    pub(crate) fn write(&self, config_dir: &Path) -> std::io::Result<()> {
        crate::private_file::create_folder(config_dir)?;
        let mut random = [0; 8];
        crate::clock::random(&mut random);
        let beside = config_dir.join(format!("trust.{:016x}.tmp", u64::from_le_bytes(random)));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&beside)?;
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::other)?;
        let put = file.write_all(&text).and_then(|()| file.sync_all());
        let put = put.and_then(|()| std::fs::rename(&beside, trust_file(config_dir)));
        if put.is_err() {
            let _ = std::fs::remove_file(&beside);
        }
        put
    }
}

/// The digest of a content, in hex.
pub(crate) fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn trust_file(config_dir: &Path) -> PathBuf {
    config_dir.join("trust.json")
}

fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_folder_of_settings_is_the_users_alone_whatever_the_umask_is() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("dir");
        let own = dir.path().join("config/baton");
        // The mask is of the whole process: other tests ask for modes of their own.
        let before = rustix::process::umask(rustix::fs::Mode::empty());
        let written = TrustStore::default().write(&own);
        rustix::process::umask(before);
        written.expect("written");
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&own), mode(&trust_file(&own))), (0o700, 0o600));
    }

    #[test]
    fn trust_is_of_a_folder_and_a_content_and_the_users_alone() {
        let dir = tempfile::tempdir().expect("dir");
        let (one, two) = (dir.path().join("one"), dir.path().join("two"));
        let mut trusted = TrustStore::read(dir.path());
        trusted.add(&one, "aa");
        trusted.add(&one, "bb");
        trusted.write(dir.path()).expect("written");
        let known = TrustStore::read(dir.path());
        assert!(known.holds(&one, "bb") && !known.holds(&one, "aa") && !known.holds(&two, "bb"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(trust_file(dir.path())).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert!(!known.holds_document(&one, "bb"), "the one is not the other");
        trusted.remove(&one);
        trusted.add_document(&one, "cc");
        assert!(trusted.holds_document(&one, "cc") && !trusted.holds(&one, "cc") && trusted.remove(&one));
        trusted.write(dir.path()).expect("written");
        assert!(!TrustStore::read(dir.path()).holds(&one, "bb"));
        std::fs::write(trust_file(dir.path()), "not JSON").expect("written");
        assert!(TrustStore::read(dir.path()).folders.is_empty(), "what cannot be read trusts nothing");
        assert_eq!(std::fs::read_dir(dir.path()).expect("folder").count(), 1, "no half file stays");
    }
}
