//! Sessions whose last change was not sent: their copy in Redis may be stale, and is deleted before anything else is sent.

use std::collections::BTreeSet;
use std::sync::Mutex;

use baton_store::CommitEvent;

/// The most sessions that are remembered one by one.
const MAX_SESSIONS: usize = 65_536;

/// Sessions with an unsent change.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Sessions {
    named: BTreeSet<String>,
    /// There were more than are remembered: it may be any.
    is_any: bool,
}

impl Sessions {
    /// Takes in one more.
    pub(super) fn add(&mut self, session_id: String) {
        if self.named.len() < MAX_SESSIONS || self.named.contains(&session_id) {
            self.named.insert(session_id);
        } else {
            self.is_any = true;
        }
    }

    /// Takes in all of others.
    pub(super) fn merge(&mut self, others: Self) {
        self.is_any |= others.is_any;
        others.named.into_iter().for_each(|session_id| self.add(session_id));
    }

    /// Those that are known by name.
    pub(super) fn by_name(&self) -> impl Iterator<Item = &String> {
        self.named.iter()
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.named.is_empty() && !self.is_any
    }

    /// Whether it may be any session.
    pub(super) fn is_any(&self) -> bool {
        self.is_any
    }

    /// Whether it may be this one.
    pub(super) fn has(&self, session_id: &str) -> bool {
        self.is_any || self.named.contains(session_id)
    }
}

/// Sessions whose committed changes could not be sent to Redis; filled by the commit observers.
#[derive(Debug, Default)]
pub(super) struct DirtySessions(Mutex<Sessions>);

impl DirtySessions {
    /// Marks the sessions of unsent events as dirty.
    pub(super) fn leave(&self, notes: Vec<CommitEvent>) {
        let Ok(mut sessions) = self.0.lock() else { return };
        for note in notes {
            match note {
                CommitEvent::Saved { state, .. } => sessions.add(state.session_id),
                CommitEvent::Released { session_id } | CommitEvent::Forgotten { session_id } => {
                    sessions.add(session_id);
                }
                // A hint is good for the moment only.
                CommitEvent::Head { .. } => {}
            }
        }
    }

    /// What was left since the last time.
    pub(super) fn take(&self) -> Sessions {
        self.0.lock().map(|mut sessions| std::mem::take(&mut *sessions)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_are_remembered_means_that_it_may_be_any() {
        let unsent = DirtySessions::default();
        let released = |n: usize| CommitEvent::Released { session_id: format!("s{n}") };
        unsent.leave((0..MAX_SESSIONS).map(released).collect());
        unsent.leave(vec![released(0), CommitEvent::Head { project_id: "shop".into(), seq: 1 }]);
        let mut known = unsent.take();
        assert!(!known.is_any() && known.has("s0") && !known.has("another"));
        assert_eq!(unsent.take(), Sessions::default(), "it is taken once");
        unsent.leave(vec![released(MAX_SESSIONS)]);
        known.merge(unsent.take());
        assert!(known.is_any() && known.has("another"));
        assert_eq!(known.by_name().count(), MAX_SESSIONS);
    }
}
