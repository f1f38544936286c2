//! Registering Baton with other tools: their MCP configuration and their session hooks. One tool, one file under
//! [`tools`], one line in [`tools::ALL`].

pub mod apply;
pub mod change;
pub mod check;
mod edit;
mod entry;
pub mod files;
pub mod record;
pub mod tools;

pub use entry::{EntryContent, InstallEntry, InstallPart};
pub use tools::{ALL, Places, Scope, Tool, by_name};
