//! Prompts that the user types while the agent works. What the tool takes up in the middle of a turn has no record but
//! those of the queue; what it takes up at the end of a turn is written as a message, too.

use std::collections::VecDeque;

use crate::event::SourcePosition;
use crate::shared::json::Json;
use crate::shared::time;

/// So many prompts wait at once.
const MAX_WAITING: usize = 64;

/// A prompt of the queue.
#[derive(Debug)]
pub(super) struct QueuedPrompt {
    /// Its text as the user typed it.
    pub text: String,
    /// The line on which it was taken up; that on which it was queued, where it was not taken up.
    pub position: SourcePosition,
    pub at_ms: Option<i64>,
    /// Whether it was handed to the agent in the middle of a turn.
    pub is_steering: bool,
    /// Whether a message with the same words was met.
    is_recorded: bool,
}

/// The queue of a session.
#[derive(Debug, Default)]
pub(super) struct PromptQueue {
    waiting: VecDeque<QueuedPrompt>,
    /// Taken up, and not yet known to have a record of their own.
    taken: Vec<QueuedPrompt>,
}

impl PromptQueue {
    /// A `queue-operation` line. `remove` hands a prompt to the agent at work, `dequeue` begins a turn with it, `popAll`
    /// gives it back to the user's editor.
    pub(super) fn operation(&mut self, json: &Json<'_>, place: SourcePosition) {
        let text = json.get("content").text();
        let at_ms = json.get("timestamp").str().and_then(time::parse);
        match json.get("operation").str() {
            Some("enqueue") if self.waiting.len() < MAX_WAITING && !text.trim().is_empty() => {
                let text = text.into_owned();
                self.waiting.push_back(QueuedPrompt {
                    text,
                    position: place,
                    at_ms,
                    is_steering: false,
                    is_recorded: false,
                });
            }
            Some(operation @ ("dequeue" | "remove")) => {
                let named = self.waiting.iter().position(|prompt| is_same(&prompt.text, &text));
                let prompt = self.waiting.remove(named.unwrap_or(0));
                let prompt = prompt.filter(|prompt| !prompt.is_recorded);
                let is_steering = operation == "remove";
                self.taken.extend(prompt.map(|prompt| QueuedPrompt {
                    position: place,
                    at_ms,
                    is_steering,
                    ..prompt
                }));
            }
            Some("popAll" | "clear") => self.waiting.clear(),
            _ => {}
        }
    }

    /// A message of the user: a prompt with the same words is told by it.
    pub(super) fn recorded(&mut self, words: &str) {
        if let Some(at) = self.taken.iter().position(|prompt| is_same(&prompt.text, words)) {
            self.taken.remove(at);
        } else if let Some(prompt) = self.waiting.iter_mut().find(|prompt| is_same(&prompt.text, words)) {
            prompt.is_recorded = true;
        }
    }

    /// What was taken up and has no record of its own; asked for where the agent speaks next.
    pub(super) fn take_unrecorded(&mut self) -> Vec<QueuedPrompt> {
        std::mem::take(&mut self.taken)
    }

    /// What was never taken up, at the end of the session.
    pub(super) fn take_waiting(&mut self) -> impl Iterator<Item = QueuedPrompt> {
        std::mem::take(&mut self.waiting).into_iter().filter(|prompt| !prompt.is_recorded)
    }
}

impl QueuedPrompt {
    /// Whether it is a command of the tool, `/ide`, and no path, `/srv/app is down`.
    pub(super) fn is_command(&self) -> bool {
        let first = self.text.split_whitespace().next().unwrap_or_default();
        first.strip_prefix('/').is_some_and(|name| !name.contains('/'))
    }
}

fn is_same(one: &str, other: &str) -> bool {
    one.trim() == other.trim()
}
