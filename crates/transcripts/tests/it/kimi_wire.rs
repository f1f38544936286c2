//! The log of the old Kimi CLI's user interface, named by itself.

use serde_json::{Value, json};

use super::field::document;
use super::{check, column, packet, sample};

fn record(kind: &str, payload: Value) -> Value {
    json!({ "timestamp": 1773723366.1, "message": { "type": kind, "payload": payload } })
}

#[test]
fn a_log_without_its_messages_is_read_by_itself() {
    let packet = document(
        "wire.jsonl",
        &[
            json!({ "type": "metadata", "protocol_version": "1.4" }),
            record("TurnBegin", json!({ "user_input": "Run the tests" })),
            record("StepBegin", json!({ "n": 1 })),
            record("ContentPart", json!({ "type": "text", "text": "I run " })),
            record("ContentPart", json!({ "type": "text", "text": "them." })),
            record(
                "ToolCall",
                json!({ "type": "function", "id": "t1", "function": { "name": "Shell", "arguments": "{\"comm" } }),
            ),
            record("ToolCallPart", json!({ "arguments_part": "and\": \"make test\"}" })),
            record("StatusUpdate", json!({ "context_usage": 0.1 })),
            record(
                "ToolResult",
                json!({ "tool_call_id": "t1", "return_value": { "is_error": true, "output": "boom",
            "message": "Command failed with exit code: 2." } }),
            ),
            record("TurnEnd", json!({})),
        ],
    );
    check(
        &packet,
        &[
            ("/source/agent", json!("kimi_cli")),
            ("/requests/first/text", json!("Run the tests")),
            ("/last_answer/text", json!("I run them.")),
            ("/commands/0/exit_code", json!(2)),
        ],
    );
    assert_eq!(column(&packet, "commands", "command"), ["make test"]);
}

#[test]
fn what_is_typed_into_the_running_turn_is_the_users() {
    let call = json!({ "type": "function", "id": "t1", "function": { "name": "Shell", "arguments": "{\"command\": \"make test\"}" } });
    let packet = document(
        "wire.jsonl",
        &[
            json!({ "type": "metadata", "protocol_version": "1.4" }),
            record("TurnBegin", json!({ "user_input": "Mend the parser of the settings" })),
            record("StepBegin", json!({ "n": 1 })),
            record("ToolCall", call),
            record(
                "SteerInput",
                json!({ "user_input": [{ "type": "text", "text": "Never touch the lexer." }] }),
            ),
            record(
                "ToolResult",
                json!({ "tool_call_id": "t1", "return_value": { "is_error": false, "output": "ok" } }),
            ),
            record("ContentPart", json!({ "type": "text", "text": "The parser reads them." })),
            record("TurnEnd", json!({})),
        ],
    );
    assert_eq!(column(&packet, "constraints", "text"), ["Never touch the lexer."]);
    let last = packet["requests"]["last"]["text"].as_str().unwrap_or_default();
    assert!(
        last.starts_with("Never touch the lexer. — said while the agent was at work on: “Mend the parser"),
        "{last}"
    );
}

#[test]
fn a_log_beside_its_messages_stands_for_them() {
    let context = sample(
        "kimi_cli/normal/sessions/0f343b0931126a20f133d67c2b018a3b/95000000-0000-4000-8000-00000000000c/context.jsonl",
    );
    let (by_log, by_messages) = (packet(&context.with_file_name("wire.jsonl")), packet(&context));
    assert_eq!(by_log["requests"], by_messages["requests"]);
    assert_eq!(by_log["commands"], by_messages["commands"]);
}
