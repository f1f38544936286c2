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

/// A call of the agent, and what it printed.
fn worked(id: &str, command: &str) -> [Value; 2] {
    let call = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]);
    let result = json!([{"type": "tool_result", "tool_use_id": id, "content": "ok", "is_error": false}]);
    [json!({"role": "assistant", "content": call}), json!({"role": "user", "content": result})]
}

/// A session in which these lines stand between two calls of the agent, which answers at the end.
fn at_work(operations: &[Value], attached: &[Value]) -> Value {
    let mut messages =
        vec![user("Add the filter to the listing of the sessions, with a test for each field")];
    messages.extend(worked("c1", "make build"));
    messages.extend(attached.iter().cloned());
    messages.extend(worked("c2", "make listing"));
    messages.push(agent("The listing has its filter."));
    let mut lines = claude_lines(&messages);
    lines.splice(3..3, operations.iter().cloned());
    document("f0000000-0000-4000-8000-000000000001.jsonl", &lines)
}

#[test]
fn what_is_typed_while_the_agent_works_adds_to_its_request_and_takes_no_place_of_it() {
    let words = "and never touch the old parser please";
    let whole = "and never touch the old parser please — said while the agent was at work on: “Add the filter to the listing of the \
                sessions, with a test for each field”";
    let taken = [queue("enqueue", Some(words)), queue("remove", None)];
    let attached = json!({"role": "attachment", "type": "attachment", "attachment": {"type": "queued_command",
        "prompt": [{"type": "text", "text": words}], "commandMode": "prompt", "origin": {"kind": "human"}}});
    for packet in
        [at_work(&taken, &[]), at_work(&taken, std::slice::from_ref(&attached)), at_work(&[], &[attached])]
    {
        assert_eq!(packet["requests"]["last"]["text"], whole);
        assert_eq!(column(&packet, "constraints", "text"), ["and never touch the old parser please"]);
    }
    // Two of them stand with the same request.
    let two = [
        queue("enqueue", Some("also mend the help text of it")),
        queue("remove", None),
        queue("enqueue", Some(words)),
        queue("remove", None),
    ];
    let last = at_work(&two, &[])["requests"]["last"]["text"].as_str().unwrap_or_default().to_owned();
    assert!(last.starts_with(words) && last.contains("“Add the filter"), "{last}");
    assert!(last.contains("“also mend the help text of it”"), "{last}");
}

#[test]
fn what_was_never_taken_up_is_younger_than_what_the_agent_did_after_it_was_typed() {
    let words = "Stop and drop the filter of the archived ones again";
    let packet = at_work(&[queue("enqueue", Some(words))], &[]);
    let line = |at: &Value| at.as_str().and_then(|at| at.rsplit('#').next()?.parse::<u64>().ok());
    let request = &packet["requests"]["last"];
    assert!(request["text"].as_str().is_some_and(|text| text.starts_with(words)), "{request}");
    assert!(line(&request["at"]) >= line(&packet["last_answer"]["at"]), "{packet:#}");
    assert!(column(&packet, "next_steps", "text")[0].starts_with(words), "{packet:#}");
}

#[test]
fn what_another_agent_put_into_the_queue_is_not_the_users() {
    let attached = json!({"role": "attachment", "type": "attachment", "attachment": {"type": "queued_command",
        "prompt": "Report your progress, please", "commandMode": "prompt", "isMeta": false,
        "origin": {"kind": "teammate", "from": "lead", "senderTaskId": "a1"}}});
    let packet = at_work(&[], &[attached]);
    assert_eq!(
        packet["requests"]["last"]["text"],
        "Add the filter to the listing of the sessions, with a test for each field"
    );
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
