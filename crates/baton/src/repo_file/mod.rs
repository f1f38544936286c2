//! Files of a repository. A repository may come from a stranger: its paths are followed from its top folder down, a link is
//! followed only as long as it stays inside, and only regular files up to a size are read.
//!
//! A FIFO would hold the reader up for ever, a device never ends, and a link reads or writes what the repository's author
//! cannot reach.

#[cfg(not(unix))]
mod portable;
#[cfg(unix)]
mod unix;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::file_lock::{LockFault, lock_within};
#[cfg(not(unix))]
use portable::Dir;
#[cfg(unix)]
use unix::Dir;

/// The largest settings, roles or project document that is read, in bytes.
pub(crate) const MAX_SMALL_FILE_BYTES: u64 = 256 * 1024;

/// Links that are followed in one path.
const LINKS: usize = 16;

/// Why a file of a repository is not opened.
#[derive(Debug)]
pub enum Fault {
    /// The path leads out of the repository.
    Outside,
    /// It is no regular file: what it is.
    NotAFile(&'static str),
    /// It has more bytes than this.
    TooLarge(u64),
    /// It is not UTF-8.
    NotText,
    /// What the system says.
    Io(io::Error),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outside => write!(f, "it leads out of the repository"),
            Self::NotAFile(kind) => write!(f, "it is {kind}, not a file"),
            Self::TooLarge(limit) => write!(f, "it is larger than {limit} bytes"),
            Self::NotText => write!(f, "it is not UTF-8 text"),
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Io(error) => error,
            other => Self::other(other.to_string()),
        }
    }
}

/// A path below a folder that it may not leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RepoFile {
    root: PathBuf,
    inside: PathBuf,
}

impl RepoFile {
    /// A path as a file of the repository gives it.
    pub(crate) fn new(root: &Path, inside: impl AsRef<Path>) -> Self {
        Self { root: root.to_owned(), inside: inside.as_ref().to_owned() }
    }

    /// A path that the user named. In a working copy it is held to that: a folder on the way may come from the repository.
    /// Elsewhere the user's own links are followed up to the file's folder.
    pub(crate) fn from_user_path(path: &Path) -> Self {
        let there = || path.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned);
        let root = working_copy(path).or_else(there).unwrap_or_default();
        let inside = path.strip_prefix(&root).unwrap_or(path).to_owned();
        let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
        Self { root, inside }
    }

    /// A path in an argument of a command: a relative one does not leave the folder in which it was given by a link either.
    pub(crate) fn named_in(cwd: Option<&Path>, path: &Path) -> Self {
        let Some(cwd) = cwd else { return Self::from_user_path(path) };
        let whole = cwd.join(path);
        let climbs = path.components().any(|part| part == Component::ParentDir);
        if path.is_absolute() || climbs || working_copy(&whole).is_some() {
            return Self::from_user_path(&whole);
        }
        Self::new(cwd, path)
    }

    /// The whole path.
    pub(crate) fn path(&self) -> PathBuf {
        self.root.join(&self.inside)
    }

    /// The file, opened for reading; none when there is none.
    pub(crate) fn open(&self) -> Result<Option<File>, Fault> {
        match self.folder(false)? {
            Some(folder) => folder.open(&folder.name),
            None => Ok(None),
        }
    }

    /// Its bytes, up to a limit that is refused, not cut.
    pub(crate) fn bytes(&self, limit: u64) -> Result<Option<Vec<u8>>, Fault> {
        let Some(file) = self.open()? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.take(limit + 1).read_to_end(&mut bytes)?;
        match u64::try_from(bytes.len()) {
            Ok(read) if read <= limit => Ok(Some(bytes)),
            _ => Err(Fault::TooLarge(limit)),
        }
    }

    /// Its text.
    pub(crate) fn text(&self, limit: u64) -> Result<Option<String>, Fault> {
        let bytes = self.bytes(limit)?;
        bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| Fault::NotText)).transpose()
    }

    /// The folder in which the file is, held open; made where that is asked for.
    pub(crate) fn folder(&self, make: bool) -> Result<Option<Folder>, Fault> {
        let parts = parts(&self.inside)?;
        Ok(Dir::descend(&self.root, parts, make)?.map(|(dir, name)| Folder { dir, name }))
    }

    /// Removes the file, if it is there.
    pub(crate) fn remove(&self) -> Result<(), Fault> {
        match self.folder(false)? {
            Some(folder) => match folder.dir.remove(&folder.name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
                _ => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// Puts a text in place of the file: a new file beside it, flushed, then renamed.
    pub(crate) fn replace(&self, text: &str) -> Result<(), Fault> {
        let missing = || Fault::Io(io::ErrorKind::NotFound.into());
        let folder = self.folder(true)?.ok_or_else(missing)?;
        let mut file = folder.begin()?;
        let written = file.file.write_all(text.as_bytes()).and_then(|()| file.file.sync_all());
        match written {
            Ok(()) => folder.put(&file),
            Err(error) => {
                folder.discard(&file);
                Err(error.into())
            }
        }
    }
}

/// A folder that a path led to, and the name of the file in it. It stays this folder, whatever becomes of its name.
pub(crate) struct Folder {
    dir: Dir,
    name: OsString,
}

/// A file that is being written beside the one whose place it takes.
pub(crate) struct Draft {
    /// What is written to.
    pub file: File,
    name: OsString,
}

impl Folder {
    fn open(&self, name: &OsStr) -> Result<Option<File>, Fault> {
        self.dir.open(name)
    }

    /// The file, opened for reading; none when there is none.
    pub(crate) fn file(&self) -> Result<Option<File>, Fault> {
        self.open(&self.name)
    }

    /// Locks the folder itself, which leaves nothing in it.
    pub(crate) fn lock(&self, patience: Duration) -> Result<File, LockFault> {
        lock_within(self.dir.handle().map_err(LockFault::Io)?, patience)
    }

    /// The names of everything in this folder.
    pub(crate) fn names(&self) -> Vec<OsString> {
        self.dir.names().unwrap_or_default()
    }

    /// The names that begin with the file's own, each with how it goes on.
    pub(crate) fn siblings_with_prefix(&self) -> Vec<(OsString, String)> {
        let own = self.name.to_string_lossy().into_owned();
        let ending = |name: OsString| {
            let ending = name.to_str()?.strip_prefix(&own)?.to_owned();
            (!ending.is_empty()).then_some((name, ending))
        };
        self.names().into_iter().filter_map(ending).collect()
    }

    /// The text of a file of this folder; none where it has none, or more bytes than this.
    pub(crate) fn text(&self, name: &OsStr, limit: u64) -> Option<String> {
        let mut text = String::new();
        self.open(name).ok()??.take(limit + 1).read_to_string(&mut text).ok()?;
        u64::try_from(text.len()).is_ok_and(|read| read <= limit).then_some(text)
    }

    /// Removes a file of this folder.
    pub(crate) fn remove(&self, name: &OsStr) {
        let _ = self.dir.remove(name);
    }

    /// A new file beside it, with the permissions of the one that is there.
    pub(crate) fn begin(&self) -> Result<Draft, Fault> {
        let mut random = [0; 8];
        crate::clock::random(&mut random);
        let name = with_ending(&self.name, &format!(".{:016x}.tmp", u64::from_le_bytes(random)));
        let old = self.file()?;
        let file = self.dir.make(&name)?;
        if let Some(old) = old {
            file.set_permissions(old.metadata()?.permissions())?;
        }
        Ok(Draft { file, name })
    }

    /// Renames what was written to the file's own name. The name is on disk once the folder is.
    pub(crate) fn put(&self, draft: &Draft) -> Result<(), Fault> {
        if let Err(error) = self.dir.rename(&draft.name, &self.name) {
            self.discard(draft);
            return Err(error.into());
        }
        Ok(self.dir.sync()?)
    }

    /// Takes what was written away again.
    pub(crate) fn discard(&self, draft: &Draft) {
        let _ = self.dir.remove(&draft.name);
    }
}

fn with_ending(name: &OsStr, ending: &str) -> OsString {
    let mut name = name.to_owned();
    name.push(ending);
    name
}

/// The parts of a path that begins at a folder; one that begins elsewhere leads out of it.
fn parts(path: &Path) -> Result<Vec<OsString>, Fault> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_owned()),
            Component::ParentDir => parts.push("..".into()),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return Err(Fault::Outside),
        }
    }
    if parts.is_empty() { Err(Fault::NotAFile("a folder")) } else { Ok(parts) }
}

/// The working copy that a path lies in by its words. A folder that is reached through a link of a working copy is none:
/// the link may come from there.
pub(crate) fn working_copy(path: &Path) -> Option<PathBuf> {
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    let mut found: Option<PathBuf> = None;
    let mut linked = false;
    for folder in above.into_iter().rev() {
        let is_link = folder.symlink_metadata().is_ok_and(|meta| meta.file_type().is_symlink());
        linked = found.is_some() && (linked || is_link);
        let is_copy = folder.join(".git").symlink_metadata().is_ok();
        if is_copy && !linked {
            found = Some(folder.to_owned());
        }
    }
    found
}

/// Whether a name is git's own folder, also where case and final dots do not count.
fn is_git(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_lowercase();
    let name = name.trim_end_matches(['.', ' ']);
    name == ".git" || name.starts_with("git~")
}

/// Whether a path stays below its folder by its words alone and keeps out of git's own folder.
pub(crate) fn stays_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some()
        && parts.all(|part| match part {
            Component::Normal(name) => !is_git(name),
            Component::CurDir => true,
            _ => false,
        })
}

#[cfg(test)]
mod tests;
