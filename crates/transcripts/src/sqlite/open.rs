//! Opening a database of another program that may be running.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::header::Stamp;
use crate::report::kind;

const MAGIC: &[u8] = b"SQLite format 3\0";
const BUSY: Duration = Duration::from_millis(200);
const MAX_SCHEMA: usize = 1024 * 1024;
/// The largest text or blob, in bytes.
const MAX_VALUE_BYTES: i32 = 256 * 1024 * 1024;
/// Instructions of SQLite's machine in one step of the count below.
const OPCODES: i32 = 10_000;
/// Steps of one connection: more than reading all of a database of some gigabytes takes.
const STEPS: u32 = 1_000_000;

/// An open database.
#[derive(Debug)]
pub(crate) struct Db {
    pub(super) connection: Connection,
}

/// Why a database cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It is not there, may not be read or is no database.
    Unreadable,
    /// Another program holds it.
    Locked,
    /// It is damaged.
    Damaged,
}

impl Fault {
    /// The word for it in a complaint.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Fault::Unreadable => kind::UNREADABLE,
            Fault::Locked => kind::LOCKED,
            Fault::Damaged => kind::DAMAGED,
        }
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Fault::Locked,
            Some(ErrorCode::CannotOpen | ErrorCode::NotADatabase | ErrorCode::PermissionDenied) => {
                Fault::Unreadable
            }
            _ => Fault::Damaged,
        }
    }
}

/// Whether a file that begins like this is a database.
pub(crate) fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Opens a database read-only.
///
/// Opens a database read-only, together with its write-ahead log. Without a log there is no writer: then it is opened
/// as immutable, or SQLite would create the log and its index beside it.
pub(crate) fn open(path: &Path) -> Result<Db, Fault> {
    let mut head = [0; 100];
    let whole = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    if whole.is_err() || !is_database(&head) {
        return Err(Fault::Unreadable);
    }
    let logs = head[18] == 2;
    let log = std::fs::metadata(sibling_path(path, "-wal")).map_or(0, |meta| meta.len());
    if logs && log == 0 {
        return connect(path, true);
    }
    match connect(path, false) {
        // A folder or disk that cannot be written holds no writer either.
        Err(Fault::Unreadable | Fault::Damaged) => connect(path, true),
        opened => opened,
    }
}

fn connect(path: &Path, immutable: bool) -> Result<Db, Fault> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(uri(path, immutable), flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)?;
    bound(&mut connection, STEPS)?;
    // All that is read of a session is read of one state of the database.
    connection.execute_batch("BEGIN")?;
    let views = "SELECT count(*) FROM sqlite_schema WHERE type = 'view'";
    let views: i64 = connection.query_row(views, [], |row| row.get(0))?;
    // No tool that is read here has views. One in the place of a table may have no end, and gives out sessions until then.
    if views > 0 {
        return Err(Fault::Damaged);
    }
    Ok(Db { connection })
}

/// Ends what takes more steps than this: a database may come from a stranger's repository.
fn bound(connection: &mut Connection, steps: u32) -> rusqlite::Result<()> {
    let mut left = steps;
    let is_over = move || {
        left = left.saturating_sub(1);
        left == 0
    };
    connection.progress_handler(OPCODES, Some(is_over))
}

/// The path as an address that says how to open it.
fn uri(path: &Path, immutable: bool) -> String {
    let mut uri = String::from("file:");
    if cfg!(windows) && path.is_absolute() {
        uri.push('/');
    }
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\\' if cfg!(windows) => uri.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b':' => {
                uri.push(char::from(*byte))
            }
            byte => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri.push_str(if immutable { "?mode=ro&immutable=1" } else { "?mode=ro" });
    uri
}

/// The database's beginning followed by the text of its schema: what a format knows it by.
pub(crate) fn schema(path: &Path) -> Option<Vec<u8>> {
    let db = open(path).ok()?;
    let mut query = db.connection.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table'").ok()?;
    let mut rows = query.query([]).ok()?;
    let mut head = MAGIC.to_vec();
    while let Ok(Some(row)) = rows.next() {
        let text: Option<String> = row.get(0).ok();
        head.extend(text.unwrap_or_default().into_bytes());
        head.push(b'\n');
        if head.len() > MAX_SCHEMA {
            break;
        }
    }
    Some(head)
}

/// The stamp of a database and of its log.
pub(super) fn stamp(path: &Path) -> Stamp {
    let of =
        |path: &Path| std::fs::metadata(path).ok().filter(Metadata::is_file).map(|meta| Stamp::of(&meta));
    let (main, log) = (of(path).unwrap_or_default(), of(&sibling_path(path, "-wal")).unwrap_or_default());
    Stamp {
        size: main.size.saturating_add(log.size),
        mtime_ns: main.mtime_ns.max(log.mtime_ns),
        inode: main.inode,
    }
}

fn sibling_path(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}
