//! The ledger: what Baton knows, in one database.
//!
//! [`engine`] opens a store and runs transactions on SQLite and PostgreSQL from one SQL text; every other module is one
//! noun with its statements, its row reader and its writes. Nothing here decides anything: rules live in `baton_model`.

pub mod agent;
pub mod attention;
pub mod baton;
pub mod chain;
pub mod changes;
pub mod content;
pub mod conversation;
pub mod conversation_project;
pub mod counter;
pub mod delta;
pub mod dump;
pub mod duty;
pub mod effect_owner;
pub mod engine;
pub mod export_file;
pub mod handoff;
pub mod handoff_step;
pub mod hit;
pub mod issue_comment;
pub mod issue_text;
mod json;
pub mod key;
pub mod lease;
pub mod ledger_transfer;
pub mod memory;
pub mod message;
mod migrate;
pub mod outbox;
pub mod project;
pub mod project_root;
pub mod request;
pub mod revocations;
pub mod search;
pub mod search_memory;
pub mod session;
pub mod session_commit;
mod session_heartbeat;
pub mod session_open;
pub mod share;
pub mod state;
pub mod task;
pub mod token;
pub mod tracker;
pub mod transcript;
pub mod transcript_copy;
pub mod vector;

pub use engine::{
    CommitEvent, CommitObserver, DRAFT_MARK, Failure, Fault, FaultKind, Row, RowReader, Store, Target, Tx,
    Value, restore,
};
pub use migrate::{MIGRATIONS, Migrations};

/// Every statement of every noun, by name: what the test prepares on both engines.
pub fn statements() -> Vec<(&'static str, &'static str, &'static str)> {
    [
        ("agent", agent::ALL),
        ("attention", attention::ALL),
        ("baton", baton::ALL),
        ("chain", chain::ALL),
        ("changes", changes::ALL),
        ("content", content::ALL),
        ("conversation", conversation::ALL),
        ("conversation_project", conversation_project::ALL),
        ("copy", ledger_transfer::ALL),
        ("counter", counter::ALL),
        ("delta", delta::ALL),
        ("dump", dump::ALL),
        ("duty", duty::ALL),
        ("effect_owner", effect_owner::ALL),
        ("handoff", handoff::ALL),
        ("handoff_step", handoff_step::ALL),
        ("hit", hit::ALL),
        ("issue_comment", issue_comment::ALL),
        ("issue_text", issue_text::ALL),
        ("key", key::ALL),
        ("lease", lease::ALL),
        ("memory", memory::ALL),
        ("message", message::ALL),
        ("outbox", outbox::ALL),
        ("place", project_root::ALL),
        ("project", project::ALL),
        ("request", request::ALL),
        ("session", session::ALL),
        ("session_commit", session_commit::ALL),
        ("session_open", session_open::ALL),
        ("session_heartbeat", session_heartbeat::ALL),
        ("share", share::ALL),
        ("state", state::ALL),
        ("task", task::ALL),
        ("task_comment", task::comment::ALL),
        ("task_count", task::count::ALL),
        ("task_dependency", task::dependency::ALL),
        ("task_line", task::line::ALL),
        ("task_page", task::page::ALL),
        ("token", token::ALL),
        ("tracker", tracker::ALL),
        ("transcript", transcript::ALL),
        ("transcript_copy", transcript_copy::ALL),
        ("vector", vector::ALL),
    ]
    .into_iter()
    .flat_map(|(noun, all)| all.iter().map(move |(name, text)| (noun, *name, *text)))
    .collect()
}

/// A text that is greater than every id with this prefix, in the C collation of `SQLite` and in the linguistic ones that
/// a PostgreSQL database may have, which look at letters and digits first.
fn prefix_end(prefix: &str) -> String {
    format!("{prefix}zzzzzzzzzzzz")
}
