//! How a SQLite file is created and opened.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use baton_model::store_place::StorePlace;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::error;
use super::{OpenMode, STATEMENTS};
use crate::engine::fault::{Fault, FaultKind};

/// How long SQLite itself waits for a lock that a process without our side file holds.
const BUSY_TIMEOUT: Duration = Duration::from_millis(5000);
/// No memory mapping: a ledger is small, and a mapped file that shrinks kills the process. The log is written back by `log.rs`
/// and not by SQLite; it is cut when it begins anew, so its size says how much is in it.
const SETTINGS: &str = "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; \
    PRAGMA cache_size = -16000; PRAGMA mmap_size = 0; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 0;";

/// What a file looked like, to notice that it has changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp(Option<(u64, SystemTime)>, u64);

impl Stamp {
    pub(super) fn of(path: &Path) -> Self {
        let meta = std::fs::metadata(path).ok();
        Self(meta.and_then(|meta| Some((meta.len(), meta.modified().ok()?))), log_size(path))
    }
}

/// Which file a path names: its device, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId(u64, u64);

impl FileId {
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(path).ok().map(|meta| Self(meta.dev(), meta.ino()))
    }

    #[cfg(not(unix))]
    pub(super) fn of(path: &Path) -> Option<Self> {
        path.exists().then_some(Self(0, 0))
    }
}

/// Where a store's file is.
#[derive(Debug, Clone)]
pub(super) struct Location {
    /// As the user names it.
    pub(super) given: PathBuf,
    /// Without symbolic links: SQLite keeps its side files beside this one.
    pub(super) real: PathBuf,
    id: Option<FileId>,
}

impl Location {
    /// The location of a file that exists.
    pub(super) fn of(path: &Path) -> Result<Self, Fault> {
        let real = path.canonicalize().map_err(|e| error::io_fault("cannot open", path, e))?;
        Ok(Self { given: path.to_owned(), real, id: FileId::of(path) })
    }

    /// The place as it is noted. The number of a device may be another after the next start of the machine.
    pub(super) fn place(&self) -> StorePlace {
        let number = self.id.map(|FileId(_, number)| number).filter(|number| *number != 0);
        StorePlace {
            place: self.real.display().to_string(),
            key: number.map(|number| number.to_string()).unwrap_or_default(),
            ..StorePlace::default()
        }
    }

    /// Whether the path names another file by now, or none.
    pub(super) fn has_moved(&self) -> bool {
        FileId::of(&self.given) != self.id
    }

    /// The fault of a location that has moved.
    pub(super) fn replaced(&self) -> Fault {
        let message = format!(
            "{} is not the file any more that this process has opened: it was replaced or removed",
            self.given.display()
        );
        Fault::new(FaultKind::Replaced, message)
    }
}

/// The path with something added to its last part: `store.db` → `store.db-wal`.
pub(super) fn sibling_path(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Bytes in the write-ahead log.
pub(super) fn log_size(path: &Path) -> u64 {
    std::fs::metadata(sibling_path(path, "-wal")).map_or(0, |meta| meta.len())
}

/// Creates an empty file that only its owner can read.
pub(super) fn create_private(path: &Path) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    private(&mut options);
    options.open(path).map(drop)
}

#[cfg(unix)]
pub(super) fn private(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
pub(super) fn private(_: &mut OpenOptions) {}

/// Keeps a file that exists for its owner alone.
#[cfg(unix)]
pub(super) fn restrict(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
pub(super) fn restrict(_: &Path) -> std::io::Result<()> {
    Ok(())
}

/// Creates a folder, and those above it, for their owner alone.
pub(super) fn create_directories(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Makes sure that there is a file to open.
pub(super) fn ensure_file(path: &Path, access: OpenMode) -> Result<(), Fault> {
    let unopenable = |message: String| Err(Fault::new(FaultKind::CannotOpen, message));
    let shown = path.display();
    if path.as_os_str().is_empty() {
        return unopenable("the path of the store is empty".to_owned());
    }
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_dir() => unopenable(format!("{shown} is a directory, not a store")),
        // Opening a pipe waits for its other end, and a device has none.
        Ok(meta) if !meta.is_file() => unopenable(format!("{shown} is no regular file")),
        Ok(meta) if meta.len() == 0 && has_orphaned_log(path) => Err(orphaned_log(path)),
        // A store begins in it, whatever it was made for.
        Ok(meta) if meta.len() == 0 && access == OpenMode::Create => {
            restrict(path).map_err(|e| error::io_fault("cannot keep others from", path, e))
        }
        Ok(_) => Ok(()),
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(error::io_fault("cannot open", path, e)),
        Err(_) if has_orphaned_log(path) => Err(orphaned_log(path)),
        Err(_) if access != OpenMode::Create => unopenable(format!("there is no store at {shown}")),
        Err(_) => create(path).map_err(|e| error::io_fault("cannot create", path, e)),
    }
}

/// With what every database of SQLite begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The fault of a file that is no database, with what it holds.
fn no_database(path: &Path, error: rusqlite::Error) -> Fault {
    let shown = path.display().to_string();
    match foreign_content(path) {
        Some(what) => Fault::new(FaultKind::Corrupt, format!("{shown} is no store of Baton: {what}")),
        None => error::fault(&shown, None, error),
    }
}

/// What a file holds that does not begin as a database does; nothing of an empty one, and of one that cannot be read. Only for a
/// file that SQLite has refused: to close a file releases the locks that this process has on it through any other connection.
fn foreign_content(path: &Path) -> Option<&'static str> {
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(512).read_to_end(&mut head)).ok()?;
    if head.is_empty() || head.starts_with(MAGIC) {
        return None;
    }
    // A character may be cut at the end of what was read.
    let is_text = match std::str::from_utf8(&head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && error.valid_up_to() > 0,
    };
    match is_text && !head.contains(&0) {
        true => Some("it holds text, and no database"),
        false => Some("it does not begin as a database does"),
    }
}

/// Whether there is a log whose store is gone: SQLite would delete it when it makes a new store.
fn has_orphaned_log(path: &Path) -> bool {
    log_size(path) > 0 && std::fs::metadata(path).map_or(0, |meta| meta.len()) == 0
}

fn orphaned_log(path: &Path) -> Fault {
    let message = format!("{0} is gone or empty, and its log is still there: {0}-wal", path.display());
    Fault::new(FaultKind::Incomplete, message)
}

fn create(path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        create_directories(parent)?;
    }
    match create_private(path) {
        // Another process was faster.
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

/// Opens a database in memory.
pub(super) fn memory() -> rusqlite::Result<Connection> {
    configure(Connection::open_in_memory()?, OpenMode::Create)
}

/// Opens a file. Where SQLite cannot make its side files, a file whose log is empty is opened as one that does not
/// change: the stamp says what it looked like.
pub(super) fn file(path: &Path, access: OpenMode) -> Result<(Connection, Option<Stamp>), Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|conn| configure(conn, access));
    let fault = match opened {
        Ok(conn) => return Ok((conn, None)),
        Err(e) if e.sqlite_error_code() == Some(ErrorCode::NotADatabase) => return Err(no_database(path, e)),
        Err(e) => error::fault(&path.display().to_string(), None, e),
    };
    match fault.kind {
        FaultKind::CannotOpen | FaultKind::ReadOnly => open_immutable(path, access, fault),
        _ => Err(fault),
    }
}

fn open_immutable(path: &Path, access: OpenMode, fault: Fault) -> Result<(Connection, Option<Stamp>), Fault> {
    let Some(uri) = path.to_str().map(immutable_uri) else { return Err(fault) };
    let stamp = Stamp::of(path);
    if log_size(path) > 0 {
        let message = format!(
            "{} has changes in its log that cannot be read without writing beside it: its directory is read-only",
            path.display()
        );
        return Err(Fault::new(FaultKind::ReadOnly, message).with_source(fault));
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    match Connection::open_with_flags(uri, flags).and_then(|conn| configure(conn, access)) {
        Ok(conn) => Ok((conn, Some(stamp))),
        // The first attempt says better what is wrong.
        Err(_) => Err(fault),
    }
}

fn immutable_uri(path: &str) -> String {
    let path = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    // A path that begins with two slashes would be taken for a host.
    let path = if path.starts_with('/') { format!("//{path}") } else { path };
    format!("file:{path}?immutable=1")
}

/// Whoever made the file also wrote its schema. Nothing of it runs with our statements: no trigger (what Baton has of them holds
/// programs off that know less), no view in a table's place, and no function with effects; nor do our statements change it by its
/// rows.
fn distrust_schema(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    Ok(())
}

/// Settings of the connection. Reads the file once, so that one that cannot be read is found out here.
fn configure(conn: Connection, access: OpenMode) -> rusqlite::Result<Connection> {
    // What cannot be read is left as it is: closing it would delete a log that looks empty.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    conn.busy_timeout(BUSY_TIMEOUT)?;
    conn.set_prepared_statement_cache_capacity(STATEMENTS);
    conn.execute_batch(SETTINGS)?;
    distrust_schema(&conn)?;
    // A plan must not depend on what is bound: else SQLite, which looks at bound limits and at values that a partial index
    // may match, prepares such a statement anew each time it is run.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))?;
    if access == OpenMode::ReadOnly {
        conn.execute_batch("PRAGMA query_only = ON")?;
    } else {
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
    }
    Ok(conn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_survives_as_a_uri() {
        assert_eq!(immutable_uri("a b/c?d#e%f.db"), "file:a b/c%3fd%23e%25f.db?immutable=1");
        assert_eq!(immutable_uri("/a.db"), "file:///a.db?immutable=1");
    }
}
