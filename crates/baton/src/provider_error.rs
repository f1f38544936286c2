//! The error of a provider with which a conversation ended.

use baton_model::time::Millis;
use baton_ops::transcript::{EventBody, EventRow, Role};
use serde_json::Value;

/// The error that stands last among the events of a conversation, behind everything that its agent did, and when it came. What a
/// sub-agent met is not the agent's.
pub(crate) fn last(events: &[Value]) -> Option<(String, Option<Millis>)> {
    let is_of_agent = |event: &EventRow<'_>| {
        let is_act = matches!(
            event.body,
            EventBody::ProviderError { .. }
                | EventBody::ToolCall(_)
                | EventBody::Message { role: Role::Assistant, .. }
        );
        is_act && event.subagent.is_none()
    };
    let last = events.iter().rev().filter_map(EventRow::read).find(is_of_agent)?;
    match last.body {
        EventBody::ProviderError { text } => Some((text.into_owned(), last.at.map(|at| at.0))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_counts_where_the_agent_did_nothing_after_it() {
        let error = json!({ "event": "provider_error", "text": "429", "at": "2026-11-26T10:00:00Z" });
        let question = json!({ "event": "message", "role": "user", "text": "go on" });
        let reply = json!({ "event": "message", "role": "assistant", "text": "done" });
        let inner = json!({ "event": "tool_call", "tool": "Bash", "category": "shell", "target": "make", "subagent": "s" });
        let of = |events: &[&Value]| last(&events.iter().map(|event| (*event).clone()).collect::<Vec<_>>());
        assert_eq!(
            of(&[&reply, &error]).map(|(text, at)| (text, at.is_some())),
            Some(("429".to_owned(), true))
        );
        assert!(of(&[&error, &question, &inner]).is_some());
        assert!(of(&[&error, &reply]).is_none() && of(&[&reply]).is_none() && of(&[]).is_none());
    }
}
