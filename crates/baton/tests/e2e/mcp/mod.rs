//! The MCP face, through real pipes and sockets, in both eras of the protocol.

mod answers;
mod changes;
pub(crate) mod client;
mod others;
mod retries;
mod scopes;
mod tools;
mod unreadable;
mod web;
mod who;
