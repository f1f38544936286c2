//! What can go wrong below an operation, and which of it a user can act on.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use baton_model::refusal::{Kind, Refusal};

/// Why a transaction did not happen.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The rules said no; nothing was written.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The store failed; nothing was written, unless the kind is [`FaultKind::CommitUnknown`].
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// What kind of fault it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// Another process holds the store or the project for longer than we wait.
    Busy,
    /// The store can be read but not written.
    ReadOnly,
    /// The disk or the quota is full.
    Full,
    /// The store does not exist, or may not be opened.
    CannotOpen,
    /// The file is damaged, or is something else than a store.
    Corrupt,
    /// The file is only a part of a store: the log that belongs to it is missing, or it is missing beside its log.
    Incomplete,
    /// The path names another file than the one that this connection has open, or none.
    Replaced,
    /// A newer Baton has written the store.
    Newer {
        /// How many migrations the store has.
        found: i64,
        /// How many this build knows.
        known: i64,
    },
    /// The store lacks migrations, and this connection may not apply them.
    Older {
        /// How many migrations the store has.
        found: i64,
        /// How many this build knows.
        known: i64,
    },
    /// The database server does not answer, or does not let us in.
    Unreachable,
    /// The database server's certificate is not one that the URL lets us believe.
    Untrusted,
    /// The engine asks for the transaction to be run again (serialization failure, deadlock).
    Retry,
    /// The connection broke during COMMIT: the write may have happened.
    CommitUnknown,
    /// A value breaks a rule of its column: its type, or that there has to be one, and one alone.
    Constraint,
    /// Anything else; a mistake of ours until shown otherwise.
    Other,
}

/// A failure of the store. `message` says what was attempted and where; the source is the engine's own error.
#[derive(Clone)]
pub struct Fault {
    /// What kind of fault it is.
    pub kind: FaultKind,
    /// One line: what was attempted, on which store, and what came back. Never holds a password.
    pub message: String,
    /// What to do, where that is more than its kind says.
    hint: Option<String>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl Fault {
    /// A fault without a source.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, source: None }
    }

    /// A fault that no user can act on.
    pub fn other(message: impl Into<String>) -> Self {
        Self::new(FaultKind::Other, message)
    }

    /// The same fault with the error that caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The same fault with what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same fault for a caller on another machine: what happened, without places on this machine's disk and without SQL.
    #[must_use]
    pub fn without_places(&self) -> Self {
        Self::new(self.kind, plain(self.kind))
    }

    /// The refusal to show when a user can act on this fault; `None` for what only a developer can mend.
    pub fn to_refusal(&self) -> Option<Refusal> {
        let (code, kind, hint) = advice(self.kind)?;
        let hint = self.hint.clone().unwrap_or_else(|| hint.to_owned());
        let refusal = Refusal::new(kind, code, self.message.clone(), hint);
        Some(match self.kind {
            FaultKind::Newer { found, known } | FaultKind::Older { found, known } => {
                refusal.with("found", found).with("known", known)
            }
            _ => refusal,
        })
    }
}

/// What happened, in words that hold on every machine.
fn plain(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Busy | FaultKind::Retry => "the store is busy",
        FaultKind::ReadOnly => "the store cannot be written",
        FaultKind::Full => "there is no room left to write to the store",
        FaultKind::CannotOpen => "the store cannot be opened",
        FaultKind::Corrupt => "the store cannot be read",
        FaultKind::Incomplete => "the store is incomplete: its log is missing",
        FaultKind::Replaced => "the store's file was replaced or removed while this process had it open",
        FaultKind::Newer { .. } => "the store was written by a newer Baton",
        FaultKind::Older { .. } => "the store is not up to date",
        FaultKind::Unreachable => "the database cannot be reached; nothing was saved",
        FaultKind::Untrusted => "the database's certificate is not one that is believed",
        FaultKind::CommitUnknown => "the connection to the database broke during a commit",
        FaultKind::Constraint | FaultKind::Other => "the store refused a statement",
    }
}

/// What to do about a file that cannot be read as a store.
const NO_STORE_HINT: &str = "If this file never was a store, name the one that is meant with --store or BATON_STORE (`baton config show` \
     shows which counts). If it was one, keep it (`mv -n FILE FILE.damaged`) and put a backup in its place: `baton restore BACKUP`.";

/// Code, kind and hint of every fault that a user can act on.
fn advice(kind: FaultKind) -> Option<(&'static str, Kind, &'static str)> {
    Some(match kind {
        FaultKind::Busy => (
            "store_busy",
            Kind::Conflict,
            "Another process is writing. Try again; if it stays so, run `baton doctor`.",
        ),
        FaultKind::ReadOnly => (
            "store_readonly",
            Kind::Refused,
            "Make the store and its directory writable for this user, or point BATON_STORE at one that is.",
        ),
        FaultKind::Full => (
            "disk_full",
            Kind::Refused,
            "Free space on that disk, or raise the limit (a quota, `ulimit -f`). What a command of several steps had done before is kept: `baton log` shows it; repeat what is missing.",
        ),
        FaultKind::CannotOpen => (
            "store_unopenable",
            Kind::Refused,
            "Check the path and its permissions, or set BATON_STORE to where the store is; `baton config show` shows which path counts.",
        ),
        FaultKind::Corrupt => ("store_corrupt", Kind::Refused, NO_STORE_HINT),
        FaultKind::Incomplete => (
            "store_incomplete",
            Kind::Refused,
            "Put the store and its -wal file together again, or restore a copy made with `baton backup`. To use what is in the \
             file alone: `baton restore FILE --incomplete`.",
        ),
        FaultKind::Newer { .. } => (
            "store_newer",
            Kind::Refused,
            "Update Baton on this machine: a newer version has written this store. Nothing was touched.",
        ),
        FaultKind::Older { .. } => (
            "store_older",
            Kind::Refused,
            "Run `baton doctor` (or any command that writes) once with the right to write: it brings the store up to date.",
        ),
        FaultKind::Retry => (
            "store_busy",
            Kind::Conflict,
            "Too many writers met on the same rows, and this step was not written. Repeat the command.",
        ),
        FaultKind::Replaced => (
            "store_replaced",
            Kind::Outside,
            "Start this process anew (the server, the agent's MCP connection, the worker): it still has the file open that was \
             there before, and writes nothing more to it.",
        ),
        FaultKind::Unreachable | FaultKind::Untrusted | FaultKind::CommitUnknown => {
            return advice_of_server(kind);
        }
        FaultKind::Constraint | FaultKind::Other => return None,
    })
}

/// The code, kind and advice of a fault that only a database server has.
fn advice_of_server(kind: FaultKind) -> Option<(&'static str, Kind, &'static str)> {
    Some(match kind {
        FaultKind::Unreachable => (
            "store_unreachable",
            Kind::Outside,
            "Check that the database runs and that BATON_STORE names its host, user and password; then repeat the command.",
        ),
        FaultKind::Untrusted => (
            "store_untrusted",
            Kind::Refused,
            "Name the authority that signed the database's certificate with sslrootcert=FILE in BATON_STORE, and its host as the \
             certificate has it; nothing was sent.",
        ),
        FaultKind::CommitUnknown => (
            "commit_unknown",
            Kind::Outside,
            "Repeat it with the same request id (or Idempotency-Key), which does it at most once; without one, look whether \
             the change is there first.",
        ),
        _ => return None,
    })
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("kind", &self.kind)
            .field("message", &self.message)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| source.as_ref() as &(dyn Error + 'static))
    }
}
