//! The nouns of Baton and their rules: values and pure functions.
//!
//! Nothing here reads a clock, a file, an environment variable or a random number, and nothing can fail except by a
//! [`Refusal`](refusal::Refusal). What a rule needs from outside comes in as an argument.

pub mod access;
pub mod accounting;
pub mod actor;
pub mod agent;
pub mod agent_limit;
pub mod attention;
pub mod baton;
pub mod baton_file;
mod byte_budget;
pub mod changes;
pub mod completeness;
pub mod confinement;
pub mod conversation;
pub mod delta;
pub mod duty;
pub mod effect;
pub mod handoff;
pub mod handoff_message;
pub mod holder;
pub mod id;
pub mod instructions;
pub mod issue;
pub mod issue_conversation;
pub mod lease;
pub mod liveness;
pub mod lossless_json;
pub mod memory;
pub mod memory_index;
pub mod message;
pub mod moment;
pub mod notification;
pub mod packet_from_ledger;
pub mod project;
pub mod project_document;
pub mod query;
pub mod remote;
pub mod repository;
pub mod role;
pub mod route;
pub mod row_action;
pub mod saga;
pub mod seed;
pub mod session;
pub mod share;
pub mod shell;
pub mod store_place;
pub mod suggest;
pub mod task;
pub mod time;
pub mod tracker;
pub mod transcript_copy;
pub mod usage_limit;

pub use baton_packet::{budget, markdown, packet, printable, refusal};
