//! The same by paths, where folders cannot be held open: the real path is compared with the folder's before each use.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::Fault;

/// A folder, by its real path.
pub struct Dir {
    root: PathBuf,
    path: PathBuf,
}

impl Dir {
    /// The folder of a path below `root`, and the last part of the path. None where a folder is not there.
    pub fn descend(
        root: &Path,
        mut parts: Vec<OsString>,
        make: bool,
    ) -> Result<Option<(Self, OsString)>, Fault> {
        let root = root.canonicalize()?;
        let name = parts.pop().filter(|name| name != "..").ok_or(Fault::NotAFile("a folder"))?;
        let mut path = root.clone();
        for part in parts {
            path.push(part);
            path = match path.canonicalize() {
                Ok(real) if real.starts_with(&root) => real,
                Ok(_) => return Err(Fault::Outside),
                Err(error) if error.kind() == ErrorKind::NotFound && make => {
                    fs::create_dir(&path)?;
                    path.canonicalize()?
                }
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
                Err(error) => return Err(error.into()),
            };
        }
        Ok(Some((Self { root, path }, name)))
    }

    fn real(&self, name: &OsStr) -> Result<PathBuf, Fault> {
        let path = self.path.join(name);
        match path.canonicalize() {
            Ok(real) if real.starts_with(&self.root) => Ok(real),
            Ok(_) => Err(Fault::Outside),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(path),
            Err(error) => Err(error.into()),
        }
    }

    /// A regular file of this folder, for reading; none when there is none.
    pub fn open(&self, name: &OsStr) -> Result<Option<File>, Fault> {
        let path = self.real(name)?;
        match fs::metadata(&path) {
            Ok(meta) if meta.is_file() => Ok(Some(File::open(path)?)),
            Ok(_) => Err(Fault::NotAFile("a folder or a device")),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The folder as a file that can be locked; not every system opens folders.
    pub fn handle(&self) -> std::io::Result<File> {
        File::open(&self.path)
    }

    /// The names in this folder.
    pub fn names(&self) -> std::io::Result<Vec<OsString>> {
        Ok(fs::read_dir(&self.path)?.filter_map(Result::ok).map(|entry| entry.file_name()).collect())
    }

    /// A file of this name that was not there.
    pub fn make(&self, name: &OsStr) -> Result<File, Fault> {
        Ok(OpenOptions::new().read(true).write(true).create_new(true).open(self.path.join(name))?)
    }

    pub fn rename(&self, from: &OsStr, to: &OsStr) -> std::io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    pub fn remove(&self, name: &OsStr) -> std::io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    /// The system does it by itself where folders cannot be opened.
    #[allow(clippy::unused_self, reason = "the other side of this pair needs it")]
    pub fn sync(&self) -> std::io::Result<()> {
        Ok(())
    }
}
