//! Other tools' transcripts: list, show, make a document, import as a baton, capture while the agent runs.

mod capture;
mod document;
mod find;
mod import;
mod list;
mod show;

pub(crate) use capture::Capture;
pub(crate) use document::Document;
pub(crate) use import::Import;
pub(crate) use list::List;
pub(crate) use show::Show;
