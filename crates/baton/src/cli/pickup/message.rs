//! The messages that come with a pickup, as people read them: each with its id and the command that answers it.

use std::borrow::Cow;

use baton_model::id::visible;
use baton_model::message::View as Message;
use baton_model::time::rfc3339;

use crate::render;

/// A signal or a piece of mail: another agent's words, shown as such. What is too long to be shown here goes on waiting.
pub(super) fn message_text(message: &Message) -> String {
    let id = visible(&message.message_id);
    let mut text = format!(
        "signal {} {id} from {}: {}\n",
        visible(&message.kind),
        visible(&message.from),
        visible(&message.subject)
    );
    let body = body(message);
    let part = beginning(&body);
    text.push_str(&render::quoted(&part));
    if !is_shown_whole(message) {
        let rest = body.len().saturating_sub(part.len());
        text.push_str(&format!("  … {rest} bytes more, so it goes on waiting: baton mail read {id}\n"));
    }
    text + &answers(message, &id)
}

/// The commands that answer a message. A reply acknowledges it, too.
fn answers(message: &Message, id: &str) -> String {
    let mut text = match message.ack_by.filter(|_| message.acked_at.is_none()) {
        Some(by) => format!("  to be acknowledged by {}: baton mail ack {id}\n", rfc3339(by.0)),
        None => String::new(),
    };
    // What Baton gives out itself is answered by the work on its task, and a notice that is no agent's takes no answer.
    if message.content.is_none() && message.author().kind.is_agent() {
        text.push_str(&format!("  answer: baton mail send --reply-to {id} --text TEXT\n"));
    }
    text
}

/// The most of one message that a pickup shows as text.
const MAX_CHARS: usize = 4_000;
const MAX_LINES: usize = 60;

/// As much of a text as a pickup shows of it.
pub(super) fn beginning(text: &str) -> String {
    let part: String = text.lines().take(MAX_LINES).collect::<Vec<_>>().join("\n");
    part.chars().take(MAX_CHARS).collect()
}

fn body(message: &Message) -> Cow<'_, str> {
    match (&message.content, &message.body) {
        (Some(content), _) => format!("{content:#}").into(),
        (None, Some(body)) => body.into(),
        (None, None) => "".into(),
    }
}

/// Whether a pickup's text has all of it: then it counts as delivered.
pub(super) fn is_shown_whole(message: &Message) -> bool {
    let body = body(message);
    body.chars().count() <= MAX_CHARS && body.lines().count() <= MAX_LINES
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const AT: &str = "2026-11-20T10:00:00Z";

    fn notice(from_type: &str) -> Message {
        serde_json::from_value(json!({
            "message_id": "m1", "type": "StatusUpdate", "from": "Baton", "from_type": from_type, "to": "Ann",
            "subject": "hand-off 0199aaaa has failed", "importance": "normal", "thread_id": "m1", "created_at": AT,
            "expires_at": null, "delivered_at": null, "ack_by": null, "acked_at": null, "body": "why: 404",
        }))
        .expect("a message")
    }

    #[test]
    fn a_notice_that_nobody_reads_an_answer_to_names_no_command_that_answers() {
        assert!(message_text(&notice("agent")).contains("answer: baton mail send --reply-to m1"));
        for from_type in ["system", "github_user", "tracker", "project"] {
            let text = message_text(&notice(from_type));
            assert!(text.contains("why: 404") && !text.contains("answer:"), "{from_type}: {text}");
        }
    }
}
