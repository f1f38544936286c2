//! Other tools' transcripts: find, list, search, show, make a document, import as a baton, capture while the agent runs,
//! continue in another tool.

mod capture;
mod capture_wrap;
mod carry;
mod document;
mod events;
mod find;
mod import;
mod index;
mod isolation;
mod list;
mod locate;
mod own_sessions;
mod read;
mod search;
mod show;

pub(crate) use capture::Capture;
pub(crate) use carry::Continue;
pub(crate) use document::Document;
pub(crate) use events::Events;
pub(crate) use import::Import;
pub(crate) use list::List;
pub(crate) use locate::Find;
pub use read::{Wish, for_elsewhere};
pub(crate) use search::Search;
pub(crate) use show::Show;
