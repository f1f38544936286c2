//! Requests on which the agent is at work while the user says more: his words add to them, and do not take their place.

use super::Sentence;
use crate::shared::words::one_line;

/// Between what the user says into a running turn and what the agent is at work on.
const AT_WORK: &str = " — said while the agent was at work on: ";
/// How many of them are told; the first is what the turn began with.
const MAX_RUNNING: usize = 3;
/// So much is told of one, in characters.
const MAX_CHARS: usize = 300;

/// The requests of the running turn that are not told as the last one.
#[derive(Debug, Default)]
pub(super) struct RunningRequests {
    /// Whether what the user says next is said into the running turn.
    pub steers: bool,
    before: Vec<Sentence>,
}

impl RunningRequests {
    /// A request follows this one: said into the same turn it leaves it running, else there is none but itself.
    pub(super) fn follow(&mut self, last: Option<&Sentence>) {
        if !self.steers {
            return self.before.clear();
        }
        if self.before.len() == MAX_RUNNING {
            self.before.remove(1);
        }
        self.before.extend(last.cloned());
    }

    /// The last request with those that were running; nothing where it stands alone.
    pub(super) fn text_with(&self, last: &Sentence) -> Option<String> {
        let before = self.before.iter().filter(|before| before.at.line < last.at.line);
        let before: Vec<String> = before.map(|one| format!("“{}”", one_line(&one.text, MAX_CHARS))).collect();
        (!before.is_empty()).then(|| format!("{}{AT_WORK}{}", last.text, before.join(", and then: ")))
    }
}
