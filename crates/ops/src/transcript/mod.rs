//! Other tools' transcripts: list, search, show, make a document, import as a baton.

mod document;
mod find;
mod import;
mod index;
mod list;
mod search;
mod show;

pub(crate) use document::Document;
pub(crate) use import::Import;
pub(crate) use list::List;
pub(crate) use search::Search;
pub(crate) use show::Show;
