//! Registering Baton with coding agents: their MCP configuration and their session hooks. What is wanted where stands in
//! `baton-tools`.

pub(crate) mod apply;
pub(crate) mod change;
pub(crate) mod check;
mod edit;
mod entry;
pub(crate) mod files;
pub(crate) mod opened_ledger;
pub(crate) mod package;
pub(crate) mod record;
mod retired;
pub(crate) mod trust;
