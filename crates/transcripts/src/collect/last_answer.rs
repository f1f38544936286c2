//! Which of the agent's messages is told as its last answer.

use super::{Sentence, prose};

/// A longer message that ends with a look at something has told enough before that.
const MAX_LOOK_WORDS: usize = 90;

/// The agent's last messages, by how much each says.
#[derive(Debug, Default)]
pub(super) struct LastAnswers {
    /// The last that says more than what comes next.
    full: Option<Sentence>,
    /// The last that tells something of its own.
    telling: Option<Sentence>,
    /// The last of those that does not end with a look at something, by which it may have been refuted.
    sure: Option<Sentence>,
    /// Whether a call came back since the last that tells something.
    was_followed: bool,
}

impl LastAnswers {
    /// The agent said this.
    pub(super) fn add(&mut self, answer: &Sentence) {
        if !prose::only_announces(&answer.text) {
            self.full = Some(answer.clone());
        }
        if !prose::tells_something(&answer.text) {
            return;
        }
        let is_long = answer.text.split_whitespace().count() > MAX_LOOK_WORDS;
        if !prose::thinks_aloud(&answer.text) && (!prose::looks_first(&answer.text) || is_long) {
            self.sure = Some(answer.clone());
        }
        (self.telling, self.was_followed) = (Some(answer.clone()), false);
    }

    /// A call of the agent came back.
    pub(super) fn call_ended(&mut self) {
        self.was_followed = true;
    }

    /// The one that is told, where the user spoke last on this line.
    pub(super) fn to_tell(&self, spoke_at: u64) -> Option<&Sentence> {
        let sure = self.sure.as_ref().filter(|answer| self.was_followed && answer.at.line > spoke_at);
        sure.or(self.telling.as_ref()).or(self.full.as_ref())
    }
}
