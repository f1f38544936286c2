//! Other tools' transcripts, read into one shape and carried over into hand-off packets.
//!
//! Files are read, never written. Environment and time come in from outside. Reading never fails: it returns what could
//! be read and reports what could not, also for an empty file.

mod check;
mod collect;
pub mod event;
mod folders;
mod format;
mod formats;
mod header;
mod line_diff;
mod list;
mod permission_mode;
mod places;
mod printable;
pub mod report;
pub mod search;
mod shared;
mod sqlite;

/// How secrets are taken out, and a user's own rules for it.
pub use baton_redact as redact;
pub use check::{SessionCheck, check};
pub use collect::{
    Collector, Options, is_request, short_id, show, show_session, summarize, summarize_session,
};
pub use folders::working_folders;
pub use format::{ALL, TranscriptReader, by_id, detect};
pub use formats::external::{EVENTS_FORMAT, external_sessions};
pub use header::{Brief, Header, Stamp, TranscriptFile};
pub use list::{Filter, HeaderCache, SessionListing, browse, find, header, list};
pub use permission_mode::{LineMode, PermissionMode, permission_mode};
pub use places::{Os, TranscriptEnv};
pub use printable::printable;
pub use report::{Complaint, Report};

/// The readers, one for each tool.
pub mod readers {
    pub use crate::formats::aider::Aider;
    pub use crate::formats::amp::Amp;
    pub use crate::formats::antigravity::Antigravity;
    pub use crate::formats::atif::Atif;
    pub use crate::formats::auggie::Auggie;
    pub use crate::formats::claude::Claude;
    pub use crate::formats::cline::{CLINE, KILO_CODE, ROO};
    pub use crate::formats::cn::Continue;
    pub use crate::formats::codebuff::Codebuff;
    pub use crate::formats::codex::Codex;
    pub use crate::formats::copilot::Copilot;
    pub use crate::formats::crush::Crush;
    pub use crate::formats::cursor::Cursor;
    pub use crate::formats::devin::Devin;
    pub use crate::formats::droid::Droid;
    pub use crate::formats::external::External;
    pub use crate::formats::gemini::Gemini;
    pub use crate::formats::goose::Goose;
    pub use crate::formats::grok::Grok;
    pub use crate::formats::hermes::Hermes;
    pub use crate::formats::kimi::Kimi;
    pub use crate::formats::kimi_cli::KimiCli;
    pub use crate::formats::kiro::Kiro;
    pub use crate::formats::opencode::{KILO, OPENCODE};
    pub use crate::formats::openhands::OpenHands;
    pub use crate::formats::pi::Pi;
    pub use crate::formats::qoder::Qoder;
    pub use crate::formats::qwen::Qwen;
    pub use crate::formats::vibe::Vibe;
    pub use crate::formats::vscode::VsCodeCopilot;
    pub use crate::formats::windsurf::Windsurf;
    pub use crate::formats::zed::Zed;
}
