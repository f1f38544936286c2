//! The walk with open folders: each part is opened in the folder before it, and no link is left to the system.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, fstat, mkdirat, openat, readlinkat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::{Fault, LINKS, parts};

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// A FIFO or a terminal does not hold up who opens it so.
const SAFE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// A folder that is held open.
pub(super) struct Dir(OwnedFd);

impl Dir {
    /// The folder of a path below `root`, and the last part of the path. None where a folder is not there.
    pub(super) fn descend(
        root: &Path,
        parts_of: Vec<OsString>,
        make: bool,
    ) -> Result<Option<(Self, OsString)>, Fault> {
        let Some(top) = missing(openat(CWD, root, FOLDER, Mode::empty()))? else { return Ok(None) };
        let mut open = vec![top];
        let mut rest: VecDeque<OsString> = parts_of.into();
        let mut links = 0;
        while let Some(part) = rest.pop_front() {
            if part == ".." {
                open.pop();
                if open.is_empty() {
                    return Err(Fault::Outside);
                }
                continue;
            }
            let Some(here) = open.last() else { return Err(Fault::Outside) };
            if let Some(target) = link(here, &part)? {
                links += 1;
                let target = match target.strip_prefix(root) {
                    Ok(inside) => {
                        open.truncate(1);
                        inside.to_owned()
                    }
                    Err(_) => target,
                };
                if links > LINKS {
                    return Err(Errno::LOOP.into());
                }
                parts(&target)?.into_iter().rev().for_each(|part| rest.push_front(part));
                continue;
            }
            if rest.is_empty() {
                let Some(dir) = open.pop() else { return Err(Fault::Outside) };
                return Ok(Some((Self(dir), part)));
            }
            let below = openat(here, &part, FOLDER | OFlags::NOFOLLOW, Mode::empty());
            let below = match missing(below)? {
                Some(below) => below,
                None if make => {
                    match mkdirat(here, &part, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    openat(here, &part, FOLDER | OFlags::NOFOLLOW, Mode::empty())?
                }
                None => return Ok(None),
            };
            open.push(below);
        }
        Err(Fault::NotAFile("a folder"))
    }

    /// A regular file of this folder, for reading; none when there is none.
    pub(super) fn open(&self, name: &OsStr) -> Result<Option<File>, Fault> {
        // Opening a device can have an effect of its own, so it is looked at before, and once more when it is open.
        match missing(statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW))? {
            None => return Ok(None),
            Some(stat) => regular(FileType::from_raw_mode(stat.st_mode))?,
        }
        let Some(file) = missing(openat(&self.0, name, OFlags::RDONLY | SAFE, Mode::empty()))? else {
            return Ok(None);
        };
        checked(file).map(Some)
    }

    /// The folder as a file that can be locked.
    pub(super) fn handle(&self) -> std::io::Result<File> {
        Ok(openat(&self.0, ".", FOLDER, Mode::empty())?.into())
    }

    /// The names in this folder.
    pub(super) fn names(&self) -> std::io::Result<Vec<OsString>> {
        let names = rustix::fs::Dir::read_from(&self.0)?.filter_map(Result::ok);
        Ok(names.map(|entry| OsString::from_vec(entry.file_name().to_bytes().to_vec())).collect())
    }

    /// A file of this name that was not there.
    pub(super) fn make(&self, name: &OsStr) -> Result<File, Fault> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | SAFE;
        checked(openat(&self.0, name, flags, Mode::from_raw_mode(0o666))?)
    }

    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> std::io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    pub(super) fn remove(&self, name: &OsStr) -> std::io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(super) fn sync(&self) -> std::io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }
}

impl From<Errno> for Fault {
    fn from(error: Errno) -> Self {
        Self::Io(error.into())
    }
}

/// What a link says; none for what is no link, or not there.
fn link(folder: &OwnedFd, name: &OsStr) -> Result<Option<PathBuf>, Fault> {
    match readlinkat(folder, name, Vec::new()) {
        Ok(target) => Ok(Some(OsString::from_vec(target.into_bytes()).into())),
        Err(Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn missing<T>(result: rustix::io::Result<T>) -> Result<Option<T>, Fault> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn checked(file: OwnedFd) -> Result<File, Fault> {
    regular(FileType::from_raw_mode(fstat(&file)?.st_mode))?;
    Ok(file.into())
}

fn regular(kind: FileType) -> Result<(), Fault> {
    match kind {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Fault::NotAFile("a folder")),
        FileType::Symlink => Err(Fault::NotAFile("a link")),
        FileType::Fifo => Err(Fault::NotAFile("a FIFO")),
        FileType::Socket => Err(Fault::NotAFile("a socket")),
        _ => Err(Fault::NotAFile("a device")),
    }
}
