//! Shares: an address under which one baton or one thread is read without a token, until it ends or is revoked.

use serde::{Deserialize, Serialize};

use crate::refusal::{Kind, Refusal};
use crate::time::{Millis, Timestamp};

/// The longest life of a share, in milliseconds.
pub const MAX_SHARE: Millis = 90 * 86_400_000;
/// The life of a share that names none, in milliseconds.
pub const USUAL: Millis = 7 * 86_400_000;

/// What is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SharedKind {
    /// One baton: its document, and the session that left it.
    Baton,
    /// A thread: the sessions that a piece of work went through.
    Thread,
}

impl SharedKind {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Baton => "baton",
            Self::Thread => "thread",
        }
    }

    /// Reads the word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Baton, Self::Thread].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A share, as it is kept. Of its secret only the hash is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Share {
    /// Its id.
    pub share_id: String,
    /// The hash of its secret.
    pub hash: String,
    /// The project.
    pub project_id: String,
    /// What is shared.
    pub kind: SharedKind,
    /// Id of the baton or the thread.
    pub object_id: String,
    /// The identity that made it.
    pub created_by: String,
    /// When.
    pub created_at: Millis,
    /// When it ends.
    pub expires_at: Millis,
    /// When it was taken back.
    pub revoked_at: Option<Millis>,
}

/// A share as answers show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareRow {
    /// Its id.
    pub share_id: String,
    /// The project.
    pub project_id: String,
    /// What is shared.
    pub kind: SharedKind,
    /// Id of the baton or the thread.
    pub object_id: String,
    /// The identity that made it.
    pub created_by: String,
    /// When.
    pub created_at: Timestamp,
    /// When it ends.
    pub expires_at: Timestamp,
    /// When it was taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// Whether its address still answers.
    pub valid: bool,
}

impl Share {
    /// Whether its address still answers.
    pub fn is_valid(&self, now: Millis) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }

    /// The share without its hash.
    pub fn row(&self, now: Millis) -> ShareRow {
        ShareRow {
            share_id: self.share_id.clone(),
            project_id: self.project_id.clone(),
            kind: self.kind,
            object_id: self.object_id.clone(),
            created_by: self.created_by.clone(),
            created_at: Timestamp(self.created_at),
            expires_at: Timestamp(self.expires_at),
            revoked_at: self.revoked_at.map(Timestamp),
            valid: self.is_valid(now),
        }
    }
}

/// The refusal of an address that does not answer. It does not say whether it ever did.
pub fn share_invalid_refusal() -> Refusal {
    Refusal::new(
        Kind::NotFound,
        "share_invalid",
        "nothing is shared at this address: it ended, was taken back, or never was",
        "ask whoever sent the address for another: `baton share ID`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_answers_until_it_ends_or_is_taken_back() {
        let share = Share {
            share_id: "s".into(),
            hash: String::new(),
            project_id: "p".into(),
            kind: SharedKind::Baton,
            object_id: "b".into(),
            created_by: "Ann".into(),
            created_at: 0,
            expires_at: 10,
            revoked_at: None,
        };
        assert!(share.is_valid(9) && !share.is_valid(10));
        let revoked = Share { revoked_at: Some(3), ..share };
        assert!(!revoked.is_valid(4), "{:?}", revoked.row(4));
        assert_eq!(SharedKind::from_word("thread"), Some(SharedKind::Thread));
        assert_eq!(SharedKind::from_word("project"), None);
    }
}
