//! An operation's answer as JSON, read by those that handle every operation alike: the chain around each call, HTTP, MCP, and the
//! command line's output. The same of a refusal.

use baton_model::handoff;
use baton_model::refusal::Refusal;
use baton_model::session::ReleaseReason;
use serde::Deserialize;
use serde_json::Value;

use crate::message::DeliveredInput;

/// The details of a refusal on which something follows, whatever operation it is of.
#[derive(Debug, Clone, Copy)]
pub struct RefusalView<'a>(pub &'a Refusal);

/// How a session ended, as a refusal to go on with it tells.
#[derive(Debug, Clone, Copy)]
pub struct EndedSession<'a> {
    /// Why.
    pub reason: ReleaseReason,
    /// Who ended it.
    pub by: &'a str,
}

/// A step of a batch that was refused.
#[derive(Debug, Clone, Copy)]
pub struct RefusedStep<'a> {
    /// Its place in the batch, counted from 0.
    pub index: usize,
    /// What the step alone would have been refused with.
    pub message: &'a str,
}

impl<'a> RefusalView<'a> {
    fn text(self, field: &str) -> Option<&'a str> {
        self.0.details.get(field)?.as_str()
    }

    /// The project that it is about.
    pub fn project_id(self) -> Option<&'a str> {
        self.text("project_id")
    }

    /// Whether the caller's words were kept as a comment all the same.
    pub fn kept_comment(self) -> bool {
        self.0.details.contains_key("kept_comment_id")
    }

    /// How the session ended that the caller spoke in.
    pub fn ended_session(self) -> Option<EndedSession<'a>> {
        let reason = ReleaseReason::deserialize(self.0.details.get("reason")?).ok()?;
        Some(EndedSession { reason, by: self.text("released_by")? })
    }

    /// The step of a batch that it is of.
    pub fn step(self) -> Option<RefusedStep<'a>> {
        let number = self.0.details.get("step")?.as_u64()?;
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        Some(RefusedStep { index, message: self.text("step_message")? })
    }
}

/// The fields of an answer on which something follows, whatever operation it is of.
#[derive(Debug, Clone, Copy)]
pub struct AnswerView<'a>(pub &'a Value);

impl<'a> AnswerView<'a> {
    fn text(self, field: &str) -> Option<&'a str> {
        self.0.get(field)?.as_str()
    }

    /// The project that it is about.
    pub fn project_id(self) -> Option<&'a str> {
        self.text("project_id")
    }

    /// The identity that acted.
    pub fn identity(self) -> Option<&'a str> {
        self.text("identity")
    }

    /// The rows of a list.
    pub fn items(self) -> Option<&'a [Value]> {
        self.0.get("items")?.as_array().map(Vec::as_slice)
    }

    /// Where the next page of a list begins; none on the last one.
    pub fn next(self) -> Option<&'a Value> {
        self.0.get("next").filter(|next| !next.is_null())
    }

    /// What of the answer to an earlier request is not so any more, where this one repeats it.
    pub fn outdated(self) -> Option<&'a str> {
        self.text("since").filter(|_| self.0.get("replayed") == Some(&Value::Bool(true)))
    }

    /// The projects in whose ledgers the operation has written, each once: that of the answer, and both ends of a hand-off.
    pub fn written_projects(self) -> Vec<&'a str> {
        let mut found: Vec<&str> = Vec::new();
        let fields = ["project_id", "from_project_id", "to_project_id"];
        for project_id in fields.into_iter().filter_map(|field| self.text(field)) {
            if !found.contains(&project_id) {
                found.push(project_id);
            }
        }
        found
    }

    /// The hand-off that the operation planned or moved on.
    pub fn handoff_id(self) -> Option<&'a str> {
        self.text("handoff_id")
    }

    /// The hand-off that it shows, where that came back to its sender.
    pub fn returned_handoff(self) -> Option<&'a str> {
        let state = handoff::State::deserialize(self.0.get("state")?).ok()?;
        self.handoff_id().filter(|_| state.is_returned())
    }

    /// Whether it is a message of this type.
    pub fn is_message_of(self, kind: &str) -> bool {
        self.text("type") == Some(kind)
    }

    /// Whether it only shows what would be done.
    pub fn is_dry_run(self) -> bool {
        self.0.get("dry_run") == Some(&Value::Bool(true))
    }

    /// The version of the session state that it wrote.
    pub fn state_version(self) -> Option<i64> {
        self.0.get("state_version")?.as_i64()
    }

    /// The version of what it shows.
    pub fn version(self) -> Option<i64> {
        self.state_version().or_else(|| self.0.get("version")?.as_i64())
    }

    /// A Markdown document.
    pub fn document(self) -> Option<&'a str> {
        self.text("document")
    }

    /// What marks the signals that a pickup brought as delivered; none where it brought none, or was a dry run.
    pub fn delivery(self) -> Option<DeliveredInput> {
        let signals = self.rows("pending_signals").iter().filter_map(message_id);
        self.delivery_of(signals.map(str::to_owned).collect())
    }

    /// What marks the messages of an answer as delivered of which `shown` was written out, with the mail whose reader the answer names itself. A message that
    /// was shortened in a list goes on waiting.
    pub fn delivery_as_shown(self, shown: AnswerView<'_>) -> Option<DeliveredInput> {
        let is_whole = |field: &str, id: &str| self.message(field, id) == shown.message(field, id);
        let signals = self.rows("pending_signals").iter().filter_map(message_id);
        let signals = signals.filter(|id| is_whole("pending_signals", id));
        let mail = self.rows("deliver").iter().filter_map(Value::as_str).filter(|id| is_whole("items", id));
        self.delivery_of(signals.chain(mail).map(str::to_owned).collect())
    }

    fn delivery_of(self, message_ids: Vec<String>) -> Option<DeliveredInput> {
        let project = self.project_id().map(str::to_owned);
        (!message_ids.is_empty() && !self.is_dry_run()).then_some(DeliveredInput { project, message_ids })
    }

    fn rows(self, field: &str) -> &'a [Value] {
        self.0.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The message of this id in a list.
    fn message(self, field: &str, id: &str) -> Option<&'a Value> {
        self.rows(field).iter().find(|row| message_id(row) == Some(id))
    }
}

fn message_id(row: &Value) -> Option<&str> {
    row.get("message_id")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::AnswerView;

    #[test]
    fn what_came_back_is_a_hand_off_that_was_declined_or_expired() {
        let shown = |state: &str| json!({ "handoff_id": "h", "state": state });
        for (state, came_back) in
            [("declined", true), ("expired", true), ("failed", false), ("completed", false), ("open", false)]
        {
            assert_eq!(AnswerView(&shown(state)).returned_handoff().is_some(), came_back, "{state}");
        }
    }

    #[test]
    fn both_ends_of_a_hand_off_were_written_to() {
        let answer = json!({ "project_id": "shop", "from_project_id": "shop", "to_project_id": "lib" });
        assert_eq!(AnswerView(&answer).written_projects(), ["shop", "lib"]);
        assert!(AnswerView(&json!({ "project_id": null })).written_projects().is_empty());
    }

    #[test]
    fn signals_of_a_dry_run_are_not_delivered() {
        let mut answer =
            json!({ "project_id": "p", "pending_signals": [{ "message_id": "m1" }, { "message_id": "m2" }] });
        let delivery = AnswerView(&answer).delivery().expect("two signals");
        assert_eq!((delivery.project.as_deref(), delivery.message_ids.len()), (Some("p"), 2));
        answer["dry_run"] = json!(true);
        assert!(AnswerView(&answer).delivery().is_none());
        assert!(AnswerView(&json!({ "pending_signals": [] })).delivery().is_none());
    }
}
