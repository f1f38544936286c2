//! Commands in the answers of operations, for an agent that has tools: what helps a hand-off, why one failed, Baton's own notices.

use baton_ops::answer::AnswerView;
use serde_json::Value;

use crate::tool_words::{line_with_call, with_calls};

/// The type of the messages that tell what became of something.
const NOTICE: &str = "StatusUpdate";

/// Says as calls of tools what the fields of Baton's own words name as commands. What agents wrote elsewhere stays as it is.
pub(crate) fn in_tool_words(answer: &mut Value) {
    for row in rows(answer, "sent") {
        replace(row, "help", line_with_call);
        replace(row, "why", with_calls);
    }
    for warning in rows(answer, "warnings") {
        replace(warning, "message", with_calls);
    }
    for list in ["items", "pending_signals"] {
        rows(answer, list).iter_mut().for_each(handoff_or_notice);
    }
    handoff_or_notice(answer);
}

/// The error of a hand-off and of its steps, or the lines of a notice.
fn handoff_or_notice(one: &mut Value) {
    if AnswerView(one).handoff_id().is_some() {
        replace(one, "last_error", with_calls);
        rows(one, "steps").iter_mut().for_each(|step| replace(step, "last_error", with_calls));
    }
    if AnswerView(one).is_message_of(NOTICE) {
        replace(one, "body", |body| body.lines().map(line_with_call).collect::<Vec<_>>().join("\n"));
    }
}

fn rows<'a>(answer: &'a mut Value, field: &str) -> &'a mut [Value] {
    answer.get_mut(field).and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default()
}

fn replace(object: &mut Value, field: &str, words: impl Fn(&str) -> String) {
    if let Some(Value::String(text)) = object.get_mut(field) {
        *text = words(text);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_helps_is_a_call_and_not_a_command() {
        let mut answer = json!({
            "warnings": [{ "message": "the same was sent: take one back: `baton handoff cancel 01a2`" }],
            "sent": [{ "help": "baton handoff retry 01a2 --repo OWNER/NAME",
                "why": "404: name the right one: `baton handoff retry 01a2 --repo OWNER/NAME`" }],
            "items": [
                { "type": "StatusUpdate", "body": "why: no `x`\nmend what it names, then: baton handoff retry 01a2\nor take it back: baton handoff cancel 01a2" },
                { "type": "Question", "body": "what does this do: baton handoff cancel 01a2" },
            ],
            "handoff_id": "01a2", "last_error": "see `git log`, or `baton handoff cancel 01a2`",
        });
        in_tool_words(&mut answer);
        let call = "handoff {action: retry, id: 01a2, repo}";
        let warning = "the same was sent: take one back: handoff {action: cancel, id: 01a2}";
        assert_eq!(answer["warnings"][0]["message"], warning);
        assert_eq!(answer["sent"][0]["help"], call);
        assert_eq!(answer["sent"][0]["why"], format!("404: name the right one: {call}"));
        assert_eq!(
            answer["items"][0]["body"],
            "why: no `x`\nmend what it names, then: handoff {action: retry, id: 01a2}\nor take it back: handoff {action: cancel, id: 01a2}"
        );
        assert_eq!(answer["items"][1]["body"], "what does this do: baton handoff cancel 01a2");
        assert_eq!(answer["last_error"], "see `git log`, or handoff {action: cancel, id: 01a2}");
    }
}
