//! What is said when a supervised agent has ended.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::session::ReleaseReason;
use baton_ops::answer::RefusalView;
use serde::Serialize;

use super::find_transcript::Conversation;
use super::stop::Stop;
use super::tool_sequence::Handover;
use crate::render;

/// The answer.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    pub project_id: &'a str,
    pub identity: &'a str,
    pub session_id: &'a str,
    pub exit_code: i32,
    /// Why it stopped, unless it was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<&'a Stop>,
    pub warnings: &'a [String],
    #[serde(flatten)]
    pub kept: Outcome,
}

/// What was kept.
#[derive(Serialize)]
pub(super) struct Outcome {
    pub kept: SavedAs,
    /// Source out where keeping failed.
    #[serde(flatten)]
    pub left: Option<Source>,
    /// With what another tool goes on.
    #[serde(skip)]
    pub handover: Handover,
}

/// What stands in the ledger now, and where it was taken from.
#[derive(Serialize)]
pub(super) struct Source {
    pub baton_id: Option<String>,
    pub transcript: Option<Conversation>,
}

/// In which form it was kept.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SavedAs {
    Baton,
    /// As the baton that the conversation had already.
    Taken,
    Checkpoint,
    Note,
    ByAgent,
    ByOther,
    Nothing,
    /// Not at all, though there may be something: the session waits.
    Failed,
}

impl SavedAs {
    /// Of a session that may be over: whether the agent itself ended it.
    pub(super) fn of_end(over: Option<&Refusal>, identity: &str) -> Self {
        let Some(ended) = over.and_then(|refusal| RefusalView(refusal).ended_session()) else {
            return Self::ByAgent;
        };
        let is_own_end = matches!(ended.reason, ReleaseReason::Wrapped | ReleaseReason::Ended);
        if is_own_end && ended.by == identity { Self::ByAgent } else { Self::ByOther }
    }
}

impl Report<'_> {
    /// In a sentence.
    pub(super) fn sentence(&self) -> String {
        let left = self.kept.left.as_ref();
        let from = left.and_then(|left| left.transcript.as_ref()).map_or_else(String::new, |transcript| {
            format!(", from {} session {}", visible(&transcript.agent), visible(&transcript.id))
        });
        let session = format!("session {} of {}", render::short_id(self.session_id), visible(self.identity));
        let baton = left.and_then(|left| left.baton_id.as_deref()).map(render::short_id).unwrap_or_default();
        match self.kept.kept {
            SavedAs::Baton => format!("{session} left baton {baton}{from}; `baton pickup` goes on with it"),
            SavedAs::Taken => format!(
                "{session} left no second baton: baton {baton} of this conversation was made before{from}"
            ),
            SavedAs::Checkpoint => format!("{session} ended with a checkpoint{from}"),
            SavedAs::Note => format!("{session} was released meanwhile; what it did is kept as a note{from}"),
            SavedAs::ByAgent => format!("{session} was ended by the agent itself"),
            SavedAs::ByOther => {
                format!("{session} was ended by another meanwhile; `baton log` says by whom and why")
            }
            SavedAs::Nothing => format!("{session} ended; there was nothing to keep"),
            SavedAs::Failed => format!("{session} waits; what its agent did could not be kept"),
        }
    }
}
