//! Files of a working copy by the bytes of their path. No link is followed on the way to one.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Fault;

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kind {
    File,
    Executable,
    Link,
}

impl Kind {
    pub(crate) fn mode(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }

    pub(crate) fn of_mode(mode: &str) -> Option<Self> {
        [Self::File, Self::Executable, Self::Link].into_iter().find(|kind| kind.mode() == mode)
    }
}

/// An error with what was attempted.
pub(crate) fn fault<'a>(verb: &'a str, path: &'a Path) -> impl FnOnce(io::Error) -> Fault + 'a {
    move |error| Fault::Io { what: format!("cannot {verb} {}", path.display()), error }
}

/// Requires a regular file among git's own: a symlink may leave the repository, and a pipe or a device may never end.
pub(crate) fn check_regular(path: &Path, meta: &fs::Metadata) -> Result<(), Fault> {
    if meta.is_file() {
        Ok(())
    } else {
        Err(Fault::Invalid(format!("{} is no regular file", path.display())))
    }
}

pub(crate) fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

#[cfg(unix)]
pub(crate) fn from_bytes(path: &[u8]) -> Result<PathBuf, Fault> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(path).into())
}

#[cfg(not(unix))]
pub(crate) fn from_bytes(path: &[u8]) -> Result<PathBuf, Fault> {
    let text = std::str::from_utf8(path).map_err(|_| Fault::Invalid("a path is not UTF-8".into()))?;
    Ok(text.into())
}

/// A path inside the working copy; a fault where it leads out of it or into a git folder.
pub(crate) fn inside(root: &Path, path: &[u8]) -> Result<PathBuf, Fault> {
    let leads_out = |part: &[u8]| matches!(part, b"" | b"." | b"..");
    if path.split(|byte| *byte == b'/').any(leads_out) {
        return Err(Fault::Invalid(format!("{:?} is no path of a working copy", text(path))));
    }
    if is_reserved(path) {
        return Err(Fault::ReservedPath(text(path)));
    }
    Ok(root.join(from_bytes(path)?))
}

/// Whether a component of a path means `.git` on some system (other case, `git~1`): no commit can hold such a path.
pub(crate) fn is_reserved(path: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| {
        let name = part.to_ascii_lowercase();
        // HFS+ ignores these characters in names.
        let plain: String = String::from_utf8_lossy(&name).chars().filter(|c| !is_ignorable(*c)).collect();
        let plain = plain.trim_end_matches(['.', ' ']);
        plain == ".git" || plain == "git~1"
    })
}

fn is_ignorable(c: char) -> bool {
    matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

/// What lies at a path, unless a link or file stands in place of one of its folders.
pub(crate) fn metadata(root: &Path, path: &[u8]) -> Result<Option<fs::Metadata>, Fault> {
    let full = inside(root, path)?;
    for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let above = inside(root, &path[..at])?;
        if !above.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return Ok(None);
        }
    }
    match full.symlink_metadata() {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(error) => Err(fault("read", &full)(error)),
    }
}

/// Kind and content of a path; none where there is nothing, a folder or a device.
pub(crate) fn read_entry(root: &Path, path: &[u8]) -> Result<Option<(Kind, Vec<u8>)>, Fault> {
    let (Some(meta), full) = (metadata(root, path)?, inside(root, path)?) else { return Ok(None) };
    if meta.is_symlink() {
        let target = fs::read_link(&full).map_err(fault("read", &full))?;
        return Ok(Some((Kind::Link, target.into_os_string().into_encoded_bytes())));
    }
    if !meta.is_file() {
        return Ok(None);
    }
    let kind = if is_executable(&meta) { Kind::Executable } else { Kind::File };
    Ok(Some((kind, fs::read(&full).map_err(fault("read", &full))?)))
}

/// Puts content at a path in one step: beside it first, then by rename. Where that fails, as on a full disk, nothing of it is left.
pub(crate) fn put(root: &Path, path: &[u8], content: &(Kind, Vec<u8>), beside: &str) -> Result<(), Fault> {
    let full = inside(root, path)?;
    let temporary = full.parent().unwrap_or(root).join(beside);
    let mut new_folders = Vec::new();
    let outcome = make_folders(root, path, &mut new_folders).and_then(|()| {
        let outcome = put_beside(content, &temporary).and_then(|()| put_in_place(&temporary, &full));
        if outcome.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        outcome
    });
    if outcome.is_err() {
        new_folders.iter().rev().for_each(|folder| _ = fs::remove_dir(folder));
    }
    outcome
}

fn put_beside((kind, bytes): &(Kind, Vec<u8>), temporary: &Path) -> Result<(), Fault> {
    // It stems from an interrupted application.
    let _ = fs::remove_file(temporary);
    if *kind == Kind::Link {
        return link(&from_bytes(bytes)?, temporary).map_err(fault("create", temporary));
    }
    fs::write(temporary, bytes).map_err(fault("write", temporary))?;
    set_executable(temporary, *kind == Kind::Executable).map_err(fault("write", temporary))
}

fn put_in_place(temporary: &Path, full: &Path) -> Result<(), Fault> {
    if full.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        remove_empty(full).map_err(fault("remove the folder", full))?;
    }
    fs::rename(temporary, full).map_err(fault("write", full))
}

/// Makes the folders above a path, and says which are new.
fn make_folders(root: &Path, path: &[u8], new: &mut Vec<PathBuf>) -> Result<(), Fault> {
    for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
        let folder = inside(root, &path[..at])?;
        match folder.symlink_metadata() {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Err(Fault::Obstacles(vec![text(&path[..at])])),
            Err(_) => {
                fs::create_dir(&folder).map_err(fault("create", &folder))?;
                new.push(folder);
            }
        }
    }
    Ok(())
}

/// Removes what a kill left beside a path, and the folders above that are empty then: they may be new, too.
pub(super) fn remove_temporary(root: &Path, path: &[u8], beside: &str) -> Result<(), Fault> {
    let full = inside(root, path)?;
    let Some(folder) = full.parent().filter(|folder| folder.is_dir()) else { return Ok(()) };
    let temporary = folder.join(beside);
    if temporary.symlink_metadata().is_err() {
        return Ok(());
    }
    remove_if_there(&temporary)?;
    prune(root, path)
}

/// Removes a folder that holds nothing but folders.
fn remove_empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty(&entry.path())?;
        }
    }
    fs::remove_dir(folder)
}

/// Removes a file, and the folders that are empty then.
pub(crate) fn remove(root: &Path, path: &[u8]) -> Result<(), Fault> {
    let full = inside(root, path)?;
    fs::remove_file(&full).map_err(fault("remove", &full))?;
    prune(root, path)
}

/// Removes the folders above a path that are empty.
fn prune(root: &Path, path: &[u8]) -> Result<(), Fault> {
    let full = inside(root, path)?;
    for folder in full.ancestors().skip(1).take_while(|folder| *folder != root) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

#[cfg(unix)]
fn is_executable(meta: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn set_executable(path: &Path, is_executable: bool) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(path)?.permissions().mode();
    // Who may read may run, as git sets it.
    let mode = if is_executable { mode | ((mode & 0o444) >> 2) } else { mode & !0o111 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_executable(_: &Path, _: bool) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::Error::other("symbolic links are not supported here"))
}

/// Writes a file of ours, and waits until it is on the disk.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Fault> {
    let mut file = fs::File::create(path).map_err(fault("write", path))?;
    file.write_all(bytes).and_then(|()| file.sync_all()).map_err(fault("write", path))
}

pub(super) fn remove_if_there(path: &Path) -> Result<(), Fault> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(fault("remove", path)(error)),
        _ => Ok(()),
    }
}

/// A file of ours or of git's; none where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    let meta = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        meta => meta.map_err(fault("read", path))?,
    };
    check_regular(path, &meta)?;
    fs::read(path).map(Some).map_err(fault("read", path))
}
