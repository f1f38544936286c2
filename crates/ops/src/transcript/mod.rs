//! Other tools' transcripts: list, search, show, make a document, import as a baton, capture while the agent runs.

mod capture;
mod document;
mod find;
mod import;
mod index;
mod list;
mod search;
mod show;

pub(crate) use capture::Capture;
pub(crate) use document::Document;
pub(crate) use import::Import;
pub(crate) use list::List;
pub(crate) use search::Search;
pub(crate) use show::Show;
