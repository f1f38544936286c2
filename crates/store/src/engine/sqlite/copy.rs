//! How a store is written to a new file, so that the file is whole and on the disk when it has its name.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::open::{self, create_private, sibling_path};
use super::{APPLICATION_ID, error, log};
use crate::engine::fault::{Fault, FaultKind};

/// Where SQLite keeps the application's id in a file's header: four bytes, the highest first.
const ID_AT: u64 = 68;

/// Writes what a connection sees to a new file, for its owner alone. A copy that is cut off never has the file's name.
pub(super) fn write_copy(conn: &Connection, to: &Path) -> Result<(), Fault> {
    if fs::symlink_metadata(to).is_ok() {
        let error = io::Error::from(io::ErrorKind::AlreadyExists);
        return Err(error::io_fault("cannot write to", to, error));
    }
    sweep(to);
    let draft = draft_of(to);
    let written = write_draft(conn, &draft)
        .and_then(|()| second_name(&draft, to).map_err(|e| error::io_fault("cannot write to", to, e)));
    discard(&draft);
    written?;
    sync_folder(to)
}

/// Writes a copy into a new file that is not open elsewhere; on an error the partial file is left.
pub(super) fn write_draft(conn: &Connection, draft: &Path) -> Result<(), Fault> {
    let Some(target) = draft.to_str() else {
        let message = format!("cannot write to {}: the path is not UTF-8", draft.display());
        return Err(Fault::new(FaultKind::CannotOpen, message));
    };
    let fault = |e| error::io_fault("cannot write to", draft, e);
    create_private(draft).map_err(fault)?;
    let copied = conn.execute("VACUUM INTO ?1", [target]);
    copied.map_err(|e| error::fault(target, None, e))?;
    set_application_id(draft).map_err(fault)?;
    File::open(draft).and_then(|file| file.sync_all()).map_err(fault)
}

/// A copy is whole, also when its original was read while the mark of a new log was being set.
fn set_application_id(copy: &Path) -> io::Result<()> {
    let mark = id_in(copy)? == Some(log::MARK);
    if mark { write_id(copy) } else { Ok(()) }
}

/// The `application_id` in the header of a database that is not open; none if the file is no SQLite database.
fn id_in(path: &Path) -> io::Result<Option<i64>> {
    let mut header = Vec::with_capacity(100);
    File::open(path)?.take(100).read_to_end(&mut header)?;
    let at = usize::try_from(ID_AT).unwrap_or_default();
    let id = header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    Ok(id.filter(|_| header.starts_with(b"SQLite format 3\0")).map(i64::from))
}

fn write_id(path: &Path) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    file.seek(SeekFrom::Start(ID_AT))?;
    file.write_all(&u32::try_from(APPLICATION_ID).unwrap_or_default().to_be_bytes())
}

/// What stands between the name of a file and the number of the process that writes it. No backup is given such a name: it would be
/// removed as a draft.
pub const DRAFT_MARK: &str = ".baton-draft-";

/// Where a file is written before it has its name.
pub(super) fn draft_of(path: &Path) -> PathBuf {
    sibling_path(path, &format!("{DRAFT_MARK}{}", std::process::id()))
}

/// What SQLite and Baton keep beside a database, by the end of its name.
const SIDES: [&str; 4] = ["-wal", "-shm", "-journal", "-lock"];

/// The folder of a file, which for a bare name is the working directory.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes drafts of processes that are gone, and what is left beside them: a backup or restore that was killed leaves some.
pub(super) fn sweep(store: &Path) {
    let Some(name) = store.file_name() else { return };
    let prefix = format!("{}{DRAFT_MARK}", name.to_string_lossy());
    if !Path::new("/proc/self").exists() {
        return;
    }
    for entry in fs::read_dir(folder_of(store)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(&prefix)).map(without_side);
        let is_number = |pid: &&str| pid.bytes().all(|byte| byte.is_ascii_digit());
        // One with this process's number is of an earlier one that had it.
        let is_gone =
            |pid: &str| pid == std::process::id().to_string() || !Path::new("/proc").join(pid).exists();
        if let Some(pid) = pid.filter(is_number).filter(|pid| is_gone(pid)) {
            discard(&folder_of(store).join(format!("{prefix}{pid}")));
        }
    }
}

/// The name of a database, given its own or that of a file beside it.
fn without_side(name: &str) -> &str {
    SIDES.iter().find_map(|side| name.strip_suffix(side)).unwrap_or(name)
}

/// Removes a database that is not open, with its sidecar files.
pub(super) fn discard(path: &Path) {
    for suffix in [""].into_iter().chain(SIDES) {
        // Errors are ignored: a file that is left does no harm.
        let _ = fs::remove_file(sibling_path(path, suffix));
    }
}

/// Gives a file a second name that is not taken yet. Where a file has only one name, it is copied.
pub(super) fn second_name(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Err(e),
        Err(_) => {
            let mut copy = fs::OpenOptions::new();
            copy.write(true).create_new(true);
            open::private(&mut copy);
            let mut copy = copy.open(to)?;
            let copied = io::copy(&mut File::open(from)?, &mut copy).and_then(|_| copy.sync_all());
            // A part of it must not be taken for the whole.
            copied.inspect_err(|_| drop(fs::remove_file(to)))
        }
    }
}

/// Puts the entries of a file's folder on the disk.
pub(super) fn sync_folder(path: &Path) -> Result<(), Fault> {
    let folder = folder_of(path);
    #[cfg(unix)]
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|e| error::io_fault("cannot write to", folder, e))?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
