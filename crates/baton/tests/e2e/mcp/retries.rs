//! Every write over MCP may be repeated with its `request_id`: it is done once, and another call under the same id is refused.

use serde_json::{Value, json};

use super::client::{Client, ERAS};
use crate::http::Server;
use crate::stage::{Stage, Terminal, text};

/// What can be written with one call, without the fields of who and where.
fn writes(task: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("session_checkpoint", json!({ "action": "note", "text": "a remark" })),
        ("session_checkpoint", json!({ "action": "remember", "text": "half up" })),
        ("session_checkpoint", json!({ "action": "save", "summary": "so far" })),
        ("task_write", json!({ "action": "create", "title": "more" })),
        ("task_write", json!({ "action": "comment", "id": task, "text": "seen" })),
        ("task_write", json!({ "action": "increment", "title": "a step" })),
        ("task_write", json!({ "action": "update", "id": task, "title": "other" })),
        ("mail", json!({ "action": "send", "to": "Ben", "subject": "s", "body": "b" })),
        ("handoff_create", json!({ "to_project_id": "shop", "subject": "s", "local": true })),
    ]
}

fn check(mut client: Client, stage: &Stage) {
    stage.terminal("Ben").json(&["start"]);
    client.done("session_start", json!({ "identity": "Ann" }));
    let made = client.done("task_write", json!({ "action": "create", "title": "hers" }));
    for (at, (tool, call)) in writes(&text(&made, "id")).into_iter().enumerate() {
        let mut call = call;
        call["request_id"] = json!(format!("r{at}"));
        let first = client.tool(tool, call.clone());
        assert_ne!(first["isError"], json!(true), "{tool} {call}: {first:#}");
        let before = stage.ledger("shop").len();
        let second = client.tool(tool, call.clone());
        assert_ne!(second["isError"], json!(true), "{tool} {call}: {second:#}");
        assert_eq!(stage.ledger("shop").len(), before, "{tool} {call} is done once");
        let ids = |answer: &Value| {
            ["delta_id", "id", "message_id", "memory_id", "handoff_id"]
                .map(|name| answer["structuredContent"][name].clone())
        };
        assert_eq!(ids(&first), ids(&second), "{tool} {call}");
        let other = ["text", "title", "body", "subject", "summary"];
        let changed = other.iter().find(|name| call.get(**name).is_some()).expect("a field to change");
        call[*changed] = json!("another");
        client.refused("request_mismatch", tool, call);
    }
}

#[test]
fn a_repeated_write_is_done_once_over_a_pipe() {
    let stage = Stage::ready();
    check(Client::pipe(&stage.terminal("Ann"), ERAS[0]), &stage);
}

#[test]
fn a_repeated_write_is_done_once_through_a_server() {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let ann: Terminal<'_> = stage.terminal("Ann").with("BATON_SERVER", format!("http://{}", server.address));
    check(Client::pipe(&ann, ERAS[0]), &stage);
}

#[test]
fn every_tool_that_writes_lists_the_id_of_a_request() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&stage.terminal("Ann"), ERAS[0]);
    for tool in client.ok("tools/list", json!({}))["tools"].as_array().expect("tools") {
        let is_listed = tool["inputSchema"]["properties"].get("request_id").is_some();
        assert_eq!(is_listed, tool["annotations"]["readOnlyHint"] == json!(false), "{}", tool["name"]);
    }
}
