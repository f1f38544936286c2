//! What PostgreSQL's errors mean to us.

use std::error::Error;

use baton_model::shell::shell_word;
use tokio_postgres::error::{DbError, SqlState};

use super::tls;
use crate::engine::fault::{Fault, FaultKind};
use crate::engine::tx::one_line;

/// The fault of a statement.
pub(super) fn fault(place: &str, sql: &str, error: tokio_postgres::Error) -> Fault {
    let kind = kind(&error);
    let attempted = match kind {
        FaultKind::Busy => "cannot get hold of",
        FaultKind::ReadOnly => "cannot write to",
        FaultKind::Full => "no room to write to",
        FaultKind::Corrupt => "cannot read",
        FaultKind::Unreachable => "lost the connection to",
        FaultKind::Retry => "writers collided on",
        _ => "the database refused a statement on",
    };
    let statement = match kind {
        FaultKind::Constraint | FaultKind::Other => format!(" (in: {})", one_line(sql)),
        _ => String::new(),
    };
    if error.code() == Some(&SqlState::INVALID_SCHEMA_NAME) {
        return missing_schema(place, error);
    }
    Fault::new(kind, format!("{attempted} {place}: {}{statement}", chain(&error))).with_source(error)
}

/// The fault of a database in which no schema of the address is there: tables are made in none.
fn missing_schema(place: &str, error: tokio_postgres::Error) -> Fault {
    let what =
        format!("cannot open {place}: its `search_path` names no schema that is there ({})", chain(&error));
    Fault::new(FaultKind::CannotOpen, what).with_source(error).with_hint(
        "Make the schema that `options=-csearch_path…` of the address names: `psql -c 'CREATE SCHEMA NAME' DATABASE`; or name another one \
         in BATON_STORE. `baton config show` shows which counts.",
    )
}

/// The fault of an attempt to connect to this database.
pub(super) fn connect_fault((place, database): (&str, &str), error: tokio_postgres::Error) -> Fault {
    let kind = match error.code() {
        Some(&SqlState::INVALID_CATALOG_NAME) => FaultKind::CannotOpen,
        Some(&SqlState::TOO_MANY_CONNECTIONS) => FaultKind::Busy,
        _ if tls::is_untrusted(&error) => FaultKind::Untrusted,
        _ => FaultKind::Unreachable,
    };
    let fault = Fault::new(kind, format!("cannot connect to {place}: {}", chain(&error))).with_source(error);
    match kind {
        FaultKind::CannotOpen => fault.with_hint(missing_database(database)),
        _ => fault,
    }
}

/// What to do where the server has no such database.
fn missing_database(name: &str) -> String {
    format!(
        "Make it: `createdb {}`, with the server's host and user (-h, -U); or name another one in BATON_STORE. `baton config show` \
         shows which counts.",
        shell_word(name)
    )
}

/// Whether a failed connection attempt is worth retrying: connection refused, the server is starting or stopping, or it
/// is out of connection slots. Not after a timeout, which has waited already.
pub(super) fn may_pass(fault: &Fault) -> bool {
    let mut cause = fault.source();
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return io.kind() != std::io::ErrorKind::TimedOut;
        }
        if let Some(db) = error.downcast_ref::<DbError>() {
            let code = db.code();
            return [
                SqlState::CANNOT_CONNECT_NOW,
                SqlState::TOO_MANY_CONNECTIONS,
                SqlState::ADMIN_SHUTDOWN,
                SqlState::CRASH_SHUTDOWN,
            ]
            .contains(code);
        }
        cause = error.source();
    }
    false
}

fn kind(error: &tokio_postgres::Error) -> FaultKind {
    if error.is_closed() || caused_by_io(error) {
        return FaultKind::Unreachable;
    }
    let Some(db) = error.as_db_error() else {
        // The driver refuses a value of another type before it is sent, and has no kind for that.
        let is_type = error.to_string().starts_with("error serializing parameter");
        return if is_type { FaultKind::Constraint } else { FaultKind::Other };
    };
    match *db.code() {
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => FaultKind::Retry,
        _ if stale_plan(db) || created_twice(db) => FaultKind::Retry,
        SqlState::LOCK_NOT_AVAILABLE => FaultKind::Busy,
        SqlState::DISK_FULL => FaultKind::Full,
        SqlState::READ_ONLY_SQL_TRANSACTION | SqlState::INSUFFICIENT_PRIVILEGE => FaultKind::ReadOnly,
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => FaultKind::Corrupt,
        SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => FaultKind::Unreachable,
        ref code if code.code().starts_with("08") => FaultKind::Unreachable,
        ref code if code.code().starts_with("22") || code.code().starts_with("23") => FaultKind::Constraint,
        _ => FaultKind::Other,
    }
}

/// The tables have changed since the statement was prepared.
fn stale_plan(db: &DbError) -> bool {
    (*db.code() == SqlState::FEATURE_NOT_SUPPORTED && db.message().contains("cached plan"))
        || *db.code() == SqlState::INVALID_SQL_STATEMENT_NAME
}

/// Two connections made the same table at the same time; `IF NOT EXISTS` does not help against that.
fn created_twice(db: &DbError) -> bool {
    matches!(*db.code(), SqlState::DUPLICATE_TABLE | SqlState::DUPLICATE_OBJECT)
        || (*db.code() == SqlState::UNIQUE_VIOLATION && db.schema() == Some("pg_catalog"))
}

fn caused_by_io(error: &tokio_postgres::Error) -> bool {
    let mut source = error.source();
    while let Some(cause) = source {
        if cause.is::<std::io::Error>() {
            return true;
        }
        source = cause.source();
    }
    false
}

/// An error with its causes, in one line.
pub(super) fn chain(error: &tokio_postgres::Error) -> String {
    let mut text = error.as_db_error().map_or_else(|| error.to_string(), |db| db.message().to_owned());
    let mut source = if error.as_db_error().is_some() { None } else { error.source() };
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
