//! Other tools' transcripts: find, list, search, show, make a document, import as a baton, capture while the agent runs,
//! continue in another tool.

mod capture;
mod capture_end;
mod capture_wrap;
mod continue_session;
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
mod row;
mod same_conversation;
mod search;
mod show;
mod unwrapped;
pub use capture::{Capture, CaptureInput, CaptureOutput};
pub use continue_session::{Continue, ContinueInput, ContinueOutput};
pub use document::{Document, DocumentInput, DocumentOutput, LeftOut};
pub use events::{Events, EventsInput, EventsOutput};
pub use import::{Import, ImportInput, ImportOutput};
pub use index::RefreshStats;
pub use list::{List, ListInput, ListOutput};
pub use locate::{Find, FindInput, FindOutput};
pub use row::Row;
pub use search::{IndexState, MatchingSession, Search, SearchInput, SearchOutput};
pub use show::{Message, Role, Show, ShowInput, ShowOutput};
pub use unwrapped::UnwrappedQuery;

pub use read::{DocumentRequest, for_elsewhere};
