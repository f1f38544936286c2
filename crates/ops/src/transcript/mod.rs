//! Other tools' transcripts: find, list, search, show, make a document, import as a baton, capture while the agent runs,
//! continue in another tool, push to the ledger of the project.

mod capture;
mod capture_end;
mod capture_wrap;
mod continue_session;
mod conversation_home;
mod copies;
mod copy;
mod copy_file;
mod document;
mod events;
mod find;
mod idle;
mod import;
mod index;
mod isolation;
mod list;
mod locate;
mod own_sessions;
mod push;
mod read;
mod row;
mod same_conversation;
mod search;
mod show;
mod unwrapped;
mod withdraw;
pub use capture::{Capture, CaptureInput, CaptureOutput};
pub use continue_session::{Continue, ContinueInput, ContinueOutput};
pub use copies::{Copies, CopiesInput, CopiesOutput, CopyPart, CopyPartInput, CopyPartOutput};
pub use copy::{Copy, CopyInput, CopyOutput};
pub use copy_file::{MOST_FILE_BYTES, TranscriptCopy};
pub use document::{Document, DocumentInput, DocumentOutput, LeftOut};
pub use events::{Events, EventsInput, EventsOutput};
pub use import::{Import, ImportInput, ImportOutput};
pub use index::RefreshStats;
pub use list::{List, ListInput, ListOutput};
pub use locate::{Find, FindInput, FindOutput};
pub use push::{CopyRow, CopyUpload, CopyUploadInput, CopyUploadOutput, Push, PushInput, PushOutput};
pub use row::Row;
pub use search::{IndexState, MatchingSession, Search, SearchInput, SearchOutput};
pub use show::{Message, Role, Show, ShowInput, ShowOutput};
pub use unwrapped::UnwrappedQuery;
pub use withdraw::{Withdraw, WithdrawInput, WithdrawOutput};

pub use read::{DocumentRequest, read_for_remote};
