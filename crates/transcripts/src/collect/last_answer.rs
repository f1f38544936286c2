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
    /// The last of those that does not lead to a step.
    concluding: Option<Sentence>,
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
        if !prose::leads_to_step(&answer.text) {
            self.concluding = Some(answer.clone());
        }
        (self.telling, self.was_followed) = (Some(answer.clone()), false);
    }

    /// A call of the agent came back.
    pub(super) fn call_ended(&mut self) {
        self.was_followed = true;
    }

    /// The one that is told, where the user spoke last on this line. `proved_at` is the line of the last change of files, where tests
    /// passed after it: the step that was announced before that was done.
    pub(super) fn to_tell(&self, spoke_at: u64, proved_at: Option<u64>) -> Option<&Sentence> {
        let is_since = |answer: &&Sentence| answer.at.line > spoke_at;
        let is_done = |answer: &Sentence| proved_at.is_some_and(|line| answer.at.line < line);
        let sure = self.sure.as_ref().filter(|answer| self.was_followed && is_since(answer));
        let answer = sure.or(self.telling.as_ref()).or(self.full.as_ref())?;
        let concluding = self.concluding.as_ref().filter(is_since);
        Some(concluding.filter(|_| prose::leads_to_step(&answer.text) && is_done(answer)).unwrap_or(answer))
    }
}
