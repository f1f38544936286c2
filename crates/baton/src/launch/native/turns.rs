//! The conversation as any tool can hold it: turns of text, by turns of user and assistant.

use std::fmt::Write as _;

use baton_ops::transcript::{EventBody, EventRow, Role, TodoItem, ToolCall};
use baton_tools::native::Turn;
use serde_json::Value;

/// Maximum length of a tool result, from its end, which shows the outcome.
const RESULT: usize = 1_500;
/// So much of the conversation goes along, the newest of it; the document has the rest.
const WHOLE: usize = 160 * 1024;

/// What was said.
#[derive(Debug)]
pub(crate) struct Turns {
    /// The turns; the first is the user's.
    pub turns: Vec<Turn>,
    /// How many turns at the beginning were left out.
    pub left_out: usize,
}

impl Turns {
    /// The conversation of the events of a transcript. Sub-agents had their own.
    pub(crate) fn of(events: &[Value]) -> Self {
        let mut turns: Vec<Turn> = Vec::new();
        for event in events.iter().filter_map(EventRow::read).filter(|event| event.subagent.is_none()) {
            let Some((user, text)) = turn_of(&event.body) else { continue };
            let text = text.trim();
            match turns.last_mut() {
                _ if text.is_empty() => {}
                Some(last) if last.user == user => {
                    last.text.push_str("\n\n");
                    last.text.push_str(text);
                }
                _ => turns.push(Turn { user, text: text.to_owned() }),
            }
        }
        let from = cut(&turns);
        let turns = turns.split_off(from);
        Self { turns, left_out: from }
    }
}

/// Where the part begins that goes along: at a word of the user, and at the last one at the latest.
fn cut(turns: &[Turn]) -> usize {
    let (mut size, mut from) = (0, turns.len());
    for (at, turn) in turns.iter().enumerate().rev() {
        size += turn.text.len();
        if size > WHOLE && from < turns.len() {
            break;
        }
        if turn.user {
            from = at;
        }
    }
    from
}

fn turn_of(event: &EventBody<'_>) -> Option<(bool, String)> {
    match event {
        EventBody::Message { role, text } => Some((*role == Role::User, text.clone().into_owned())),
        EventBody::Compaction { text } => Some((false, format!("[what came before, summed up]\n{text}"))),
        EventBody::ToolCall(call) => Some((false, call_text(call))),
        EventBody::Todo { items } => Some((false, plan_text(items))),
        EventBody::Interrupted | EventBody::ProviderError { .. } | EventBody::Edit(_) | EventBody::Other => {
            None
        }
    }
}

/// A tool call as text, so that the model does not take it for a call that it can make.
fn call_text(call: &ToolCall<'_>) -> String {
    let mut line = format!("[ran {}", call.tool);
    if !call.target.is_empty() {
        let _ = write!(line, ": {}", call.target);
    }
    match (call.exit_code, call.ok) {
        (Some(code), _) => _ = write!(line, " → exit {code}]"),
        (None, Some(true)) => line.push_str(" → ok]"),
        (None, Some(false)) => line.push_str(" → failed]"),
        (None, None) => line.push_str(" → outcome unknown]"),
    }
    let speaks = call.ok == Some(false) || call.category == "shell";
    if let Some(result) = call.result.as_deref().map(str::trim).filter(|text| speaks && !text.is_empty()) {
        let mut from = result.len().saturating_sub(RESULT);
        while !result.is_char_boundary(from) {
            from += 1;
        }
        let _ = write!(line, "\n{}{}", if from > 0 { "…" } else { "" }, &result[from..]);
    }
    line
}

fn plan_text(items: &[TodoItem<'_>]) -> String {
    let line = |item: &TodoItem<'_>| format!("\n- {} ({})", item.title, item.status);
    format!("[plan]{}", items.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn says(user: bool, text: &str) -> Value {
        json!({ "event": "message", "role": if user { "user" } else { "assistant" }, "text": text })
    }

    #[test]
    fn turns_alternate_and_calls_are_told_as_text() {
        let conversation = Turns::of(&[
            says(false, "hello"),
            says(true, "Fix it"),
            says(true, "and test"),
            says(false, "Looking."),
            json!({ "event": "tool_call", "tool": "Bash", "category": "shell", "target": "make", "exit_code": 2, "ok": false, "result": "boom\n" }),
            json!({ "event": "tool_call", "tool": "Read", "category": "read", "target": "a.rs", "ok": true, "result": "long file" }),
            json!({ "event": "message", "role": "assistant", "text": "inside", "subagent": "s1" }),
            json!({ "event": "edit", "path": "a.rs" }),
        ]);
        let expected = [
            (true, "Fix it\n\nand test"),
            (false, "Looking.\n\n[ran Bash: make → exit 2]\nboom\n\n[ran Read: a.rs → ok]"),
        ];
        let turns: Vec<(bool, &str)> =
            conversation.turns.iter().map(|turn| (turn.user, turn.text.as_str())).collect();
        assert_eq!((turns.as_slice(), conversation.left_out), (expected.as_slice(), 1));
    }

    #[test]
    fn a_long_conversation_begins_later_and_says_so() {
        let long = "x".repeat(70 * 1024);
        let events: Vec<Value> = (0..5).flat_map(|_| [says(true, "go"), says(false, &long)]).collect();
        let conversation = Turns::of(&events);
        assert_eq!(
            (conversation.turns.len(), conversation.left_out, conversation.turns[0].user),
            (4, 6, true)
        );
        // A single turn beyond all measure goes along all the same: it is what was asked last.
        let conversation =
            Turns::of(&[says(true, "first"), says(false, "yes"), says(true, &"y".repeat(200 * 1024))]);
        assert_eq!((conversation.turns.len(), conversation.left_out), (1, 2));
    }
}
