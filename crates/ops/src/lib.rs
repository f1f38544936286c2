//! What Baton can do: one verb, one file, one line in [`all::ALL`].
//!
//! An operation is synchronous. It resolves who is asking, opens one transaction, reads rows, asks the model, writes
//! rows, and answers. It prints nothing, opens no socket and reads no clock: what it needs from outside comes in
//! through [`Cx`](op::Cx).

pub mod agent;
pub mod all;
pub mod answer;
pub mod attention;
pub mod audit;
pub mod baton;
mod caller;
mod caller_project;
pub mod card;
pub mod changes;
mod clock;
mod content;
mod displaced;
pub mod document;
mod encryption;
mod force_request;
pub mod handoff;
mod id_prefix;
pub mod idempotency;
pub mod input;
pub mod key;
pub mod lease;
pub mod ledger;
mod locate;
pub mod memory;
pub mod memory_index;
pub mod message;
mod meta;
pub mod op;
mod ownership;
mod packet_input;
mod page;
mod path_kind;
pub mod portable;
mod priority;
mod process_identity;
pub mod project;
pub mod project_folders;
mod project_hint;
mod project_name;
mod resolve;
mod roles;
pub mod saga;
pub mod session;
pub mod share;
pub mod sweep;
pub mod task;
pub mod thread;
pub mod token;
mod token_rights;
pub mod transcript;

pub use page::Order;
pub use task::{ImportRequest, Lines, import_lines};
