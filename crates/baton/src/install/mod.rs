//! Registering Baton with coding agents: their MCP configuration and their session hooks. What is wanted where stands in
//! `baton-tools`.

pub mod apply;
pub mod change;
pub mod check;
mod edit;
mod entry;
pub mod files;
pub mod record;
