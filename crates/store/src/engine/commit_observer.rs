//! Observers of the store: a cache of heartbeats outside the ledger, and notifications of every commit.

use baton_model::time::Millis;

use crate::state::SavedState;

/// A heartbeat cache beside the ledger, notified of commits. It is called inside transactions and between them, so it
/// answers from memory and never blocks.
pub trait CommitObserver: Send + Sync {
    /// Time of the session's cached heartbeat, in epoch milliseconds; none if only the ledger has one.
    fn heard_at(&self, session_id: &str) -> Option<Millis>;

    /// Called after a commit. Notifications may be lost: nothing may depend on them.
    fn committed(&self, notes: Vec<CommitEvent>);
}

/// A committed change.
#[derive(Debug, Clone, PartialEq)]
pub enum CommitEvent {
    /// The ledger of a project has come so far.
    Head {
        /// The project.
        project_id: String,
        /// The number of the delta.
        seq: i64,
    },
    /// A state was saved.
    Saved {
        /// The project.
        project_id: String,
        /// As it is now.
        state: SavedState,
    },
    /// The state of a session is over; the session may go on.
    Forgotten {
        /// The session.
        session_id: String,
    },
    /// A session is over: it was released, or what was seeded for it was taken back.
    Released {
        /// The session.
        session_id: String,
    },
}
