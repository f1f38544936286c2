//! What SQLite's errors mean to us.

use std::io;
use std::path::Path;

use rusqlite::{Error, ErrorCode, ffi};

use crate::engine::fault::{Fault, FaultKind};
use crate::engine::tx::one_line;

/// The fault of an SQLite error on the store at `place`; the statement is included only where it helps a developer.
pub(super) fn fault(place: &str, sql: Option<&str>, error: Error) -> Fault {
    let kind = kind(&error);
    let attempted = match kind {
        FaultKind::Busy => "cannot get hold of",
        FaultKind::ReadOnly => "cannot write to",
        FaultKind::Full => "no room to write to",
        FaultKind::CannotOpen => "cannot open",
        FaultKind::Corrupt => "cannot read",
        _ => "the database refused a statement on",
    };
    let statement = match (kind, sql) {
        (FaultKind::Constraint | FaultKind::Other, Some(sql)) => format!(" (in: {})", one_line(sql)),
        _ => String::new(),
    };
    Fault::new(kind, format!("{attempted} {place}: {error}{statement}")).with_source(error)
}

fn kind(error: &Error) -> FaultKind {
    // SQLite does not look into texts: what Baton wrote is UTF-8.
    if matches!(error, Error::Utf8Error(..)) {
        return FaultKind::Corrupt;
    }
    let Error::SqliteFailure(ffi::Error { code, extended_code }, _) = error else { return FaultKind::Other };
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed => {
            FaultKind::Busy
        }
        ErrorCode::ReadOnly => FaultKind::ReadOnly,
        ErrorCode::DiskFull => FaultKind::Full,
        ErrorCode::CannotOpen | ErrorCode::PermissionDenied => FaultKind::CannotOpen,
        ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch => FaultKind::Constraint,
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => FaultKind::Corrupt,
        ErrorCode::SystemIoFailure => match *extended_code {
            // A full disk has a code of its own: of what else refuses a write, quotas and limits of file sizes are the likely ones.
            ffi::SQLITE_IOERR_SHMSIZE | ffi::SQLITE_IOERR_WRITE => FaultKind::Full,
            ffi::SQLITE_IOERR_CORRUPTFS | ffi::SQLITE_IOERR_DATA => FaultKind::Corrupt,
            _ => FaultKind::Other,
        },
        _ => FaultKind::Other,
    }
}

/// The fault of a file operation.
pub(super) fn io_fault(attempted: &str, path: &Path, error: io::Error) -> Fault {
    let kind = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            FaultKind::Full
        }
        io::ErrorKind::ReadOnlyFilesystem => FaultKind::ReadOnly,
        _ => FaultKind::CannotOpen,
    };
    Fault::new(kind, format!("{attempted} {}: {error}", path.display())).with_source(error)
}
