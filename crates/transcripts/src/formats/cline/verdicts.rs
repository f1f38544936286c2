//! Outcomes of calls: the record for the user does not hold them, the one for the model does.

use std::collections::HashMap;

use super::api::ApiMessageReader;
use crate::event::{Category, Event, EventKind};
use crate::shared::emit::EventEmitter;
use crate::shared::json::Json;

/// How a call ended.
#[derive(Debug, Clone, Default)]
pub(super) struct CallOutcome {
    /// Whether it succeeded, where known.
    pub ok: Option<bool>,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
    /// What it returned.
    pub output: String,
}

/// The calls of a session in their order, each with its end.
#[derive(Debug, Default)]
pub(super) struct Verdicts(Vec<Option<(bool, String, CallOutcome)>>);

impl Verdicts {
    /// Those of the messages that were sent.
    pub(super) fn of(sent: &Json<'_>) -> Self {
        let (mut calls, mut ends) = (Vec::new(), HashMap::new());
        let mut sink = |event: &Event<'_>| match &event.what {
            EventKind::Call(call) => {
                calls.push((call.id.to_string(), call.category == Category::Shell, call.target.to_string()))
            }
            EventKind::Outcome(end) => {
                let verdict =
                    CallOutcome { ok: end.ok, exit_code: end.exit_code, output: end.output.to_string() };
                ends.insert(end.id.to_string(), verdict);
            }
            _ => {}
        };
        let (mut emitter, mut messages) = (EventEmitter::new(&mut sink), ApiMessageReader::default());
        sent.items().iter().for_each(|message| messages.message(&mut emitter, message));
        drop(emitter);
        let with_end = |(id, shell, target): (String, bool, String)| Some((shell, target, ends.remove(&id)?));
        Self(calls.into_iter().map(with_end).collect())
    }

    /// Takes out the end of the first call of this command, or of this path.
    pub(super) fn take(&mut self, shell: bool, target: &str) -> Option<CallOutcome> {
        let target = target.trim();
        let is_it = |one: &Option<(bool, String, CallOutcome)>| {
            one.as_ref()
                .is_some_and(|(is_shell, name, _)| *is_shell == shell && same(shell, name.trim(), target))
        };
        let at = self.0.iter().position(is_it)?;
        self.0.get_mut(at)?.take().map(|(_, _, verdict)| verdict)
    }
}

fn same(shell: bool, one: &str, other: &str) -> bool {
    one == other
        || (!shell && !other.is_empty() && (one.ends_with(other) || other.ends_with(one)) && !one.is_empty())
}
