//! Prompts that were typed while Claude Code worked.

use serde_json::{Value, json};

use super::column;
use super::field::{agent, claude_lines, document, user};

fn queue(operation: &str, content: Option<&str>) -> Value {
    let mut line = json!({"type": "queue-operation", "operation": operation, "timestamp": "2026-02-10T03:11:28.749Z",
        "sessionId": "f0000000-0000-4000-8000-000000000001"});
    if let Some(content) = content {
        line["content"] = content.into();
    }
    line
}

/// The user's turns of a session in which these lines stand between a request and the agent's next words.
fn turns(operations: &[Value], after: &[Value]) -> Vec<String> {
    let mut messages =
        vec![user("Add the filter to the listing"), agent("I added the filter to the listing.")];
    messages.extend(after.iter().cloned());
    messages.push(agent("The test covers the filter."));
    let mut lines = claude_lines(&messages);
    lines.splice(2..2, operations.iter().cloned());
    let packet = document("f0000000-0000-4000-8000-000000000001.jsonl", &lines);
    let texts = column(&packet, "recent_messages", "text");
    let messages = texts.into_iter().zip(column(&packet, "recent_messages", "role"));
    messages.filter(|(_, role)| *role == "user").skip(1).map(|(text, _)| text.to_owned()).collect()
}

#[test]
fn what_was_taken_up_while_the_agent_worked_is_the_users_message() {
    let words = "and add a test for this please";
    let taken = [queue("enqueue", Some(words)), queue("remove", None)];
    assert_eq!(turns(&taken, &[]), [words]);
    // A turn that begins with it, or an attachment, tells it once.
    let begun = [queue("enqueue", Some(words)), queue("dequeue", None)];
    assert_eq!(turns(&begun, &[user(words)]), [words]);
    let attached = json!({"role": "attachment", "type": "attachment",
        "attachment": {"type": "queued_command", "prompt": words}});
    assert_eq!(turns(&taken, &[attached]), [words]);
}

#[test]
fn what_went_back_to_the_editor_or_is_a_command_is_no_message() {
    let words = "can we do this in a subagent?";
    let edited = [queue("enqueue", Some(words)), queue("popAll", Some(words))];
    assert_eq!(turns(&edited, &[]), [""; 0]);
    assert_eq!(turns(&[queue("enqueue", Some("/ide")), queue("remove", None)], &[]), [""; 0]);
    let notice =
        "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>";
    assert_eq!(turns(&[queue("enqueue", Some(notice)), queue("dequeue", None)], &[]), [""; 0]);
    // Of several that are taken at once each is told, in their order.
    let two = [
        queue("enqueue", Some("first this one")),
        queue("enqueue", Some("then that one")),
        queue("remove", None),
        queue("remove", None),
    ];
    assert_eq!(turns(&two, &[]), ["first this one", "then that one"]);
}

#[test]
fn the_words_of_a_hook_are_not_the_users() {
    let packet = super::field::claude(&[
        user("Number the folders from one"),
        user("Operation stopped by hook: Another session is active: \"x\"\n\nYou can continue here."),
        user("Number them from zero, please"),
    ]);
    let users = column(&packet, "recent_messages", "text");
    assert_eq!(users, ["Number the folders from one", "Number them from zero, please"]);
}
