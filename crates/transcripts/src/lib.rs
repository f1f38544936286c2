//! Other tools' transcripts, read into one shape and carried over into hand-off packets.
//!
//! Files are read, never written. Environment and time come in from outside. Reading never fails: it returns what could
//! be read and reports what could not, also for an empty file.

mod collect;
pub mod event;
mod format;
mod formats;
mod header;
mod list;
mod permission_mode;
mod places;
pub mod report;
pub mod search;
mod shared;
mod sqlite;

/// How secrets are taken out, and a user's own rules for it.
pub use baton_redact as redact;
pub use collect::{
    Activity, Attempt, Collector, Command, Decision, Failure, FileChange, Git, Message, Options, Remark,
    Requests, Source, Summary, Task, Text, short_id, show, show_session, summarize, summarize_session,
};
pub use format::{ALL, Format, by_name, detect};
pub use header::{Brief, Header, Stamp, TranscriptFile};
pub use list::{Filter, HeaderCache, Listed, browse, find, header, list};
pub use permission_mode::{PermissionMode, permission_mode};
pub use places::{Env, Os};
pub use report::{Complaint, Report};
