//! What the last writer of this machine noted about a Beads file: kept in Baton's own data folder, so that nothing but the file
//! itself lies in the repository.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use baton_model::task::conflict::Conflict;

use crate::file_lock::{LockFault, lock_within};
use crate::private_file;

/// The place of a note.
pub(crate) struct BeadsFileNote(PathBuf);

impl BeadsFileNote {
    /// Of the file at this path, whatever name leads to its folder.
    pub(crate) fn of(file: &Path, data_dir: &Path) -> io::Result<Self> {
        let notes = data_dir.join("mirrors");
        private_file::create_folder(&notes)?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let whole = folder.join(file.file_name().unwrap_or_default());
        Ok(Self(notes.join(format!("{:016x}", fnv(whole.as_os_str().as_encoded_bytes())))))
    }

    /// The note; empty where there is none, or what is there is no text.
    pub(crate) fn read(&self) -> String {
        fs::read_to_string(&self.0).unwrap_or_default()
    }

    /// Removes the note.
    pub(crate) fn clear(&self) -> io::Result<()> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Replaces the note.
    pub(crate) fn write(&self, text: &str) -> io::Result<()> {
        private_file::write(&self.0, text.as_bytes())
    }

    /// The project with which a file outside of its repository is in step.
    pub(crate) fn project(&self) -> Option<String> {
        fs::read_to_string(self.project_path()).ok().filter(|id| !id.is_empty())
    }

    /// Notes that project.
    pub(crate) fn set_project(&self, project: &str) -> io::Result<()> {
        private_file::write(&self.project_path(), project.as_bytes())
    }

    fn project_path(&self) -> PathBuf {
        self.0.with_extension("project")
    }

    /// Adds what git's merge driver has settled in the file, so that the ledger can report it.
    pub(crate) fn add_settled(&self, conflicts: &[Conflict]) -> io::Result<()> {
        let mut all = self.resolved_conflicts();
        all.extend_from_slice(conflicts);
        let lines: Vec<String> = all.iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
        private_file::write(&self.settled_path(), lines.join("\n").as_bytes())
    }

    /// What the merge driver has settled and the ledger has not said yet.
    pub(crate) fn resolved_conflicts(&self) -> Vec<Conflict> {
        let text = fs::read_to_string(self.settled_path()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Forgets what the ledger has said.
    pub(crate) fn clear_resolved_conflicts(&self) {
        // What is said twice is better than what is not said.
        let _ = fs::remove_file(self.settled_path());
    }

    fn settled_path(&self) -> PathBuf {
        self.0.with_extension("settled")
    }

    /// A lock for file systems on which a folder cannot be locked.
    pub(crate) fn lock(&self, patience: Duration) -> Result<File, LockFault> {
        let path = self.0.with_extension("lock");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        lock_within(file.map_err(LockFault::Io)?, patience)
    }
}

/// FNV-1a: a name for a path.
fn fnv(bytes: &[u8]) -> u64 {
    let begin = 0xcbf2_9ce4_8422_2325_u64;
    bytes.iter().fold(begin, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
