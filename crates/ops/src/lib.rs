//! What Baton can do: one verb, one file, one line in [`all::ALL`].
//!
//! An operation is synchronous. It resolves who is asking, opens one transaction, reads rows, asks the model, writes
//! rows, and answers. It prints nothing, opens no socket and reads no clock: what it needs from outside comes in
//! through [`Cx`](op::Cx).

mod agent;
pub mod all;
mod audit;
mod bearer;
mod card;
pub mod document;
mod handoff;
mod key;
mod lease;
mod ledger;
mod memory;
mod message;
pub mod mirror;
pub mod once;
pub mod op;
mod ownership;
mod project;
pub mod recall;
mod replay;
mod request;
mod resolve;
mod roles;
pub mod saga;
mod seal;
mod session;
pub mod sweep;
mod task;
mod token;
pub mod transcript;

pub use task::{ImportWish, Lines, import_lines};
