//! Over the network a message counts as delivered for its receiver only, and only when its receiver says so or a pickup brought it.

use serde_json::{Value, json};

use crate::api::{ask, served};
use crate::http::Server;
use crate::mcp::client::{MODERN, Reply};
use crate::stage::{Stage, items, text};

fn bearer(stage: &Stage, args: &[&str]) -> String {
    let args: Vec<&str> = ["token", "create"].iter().chain(args).copied().collect();
    format!("Bearer {}", text(&stage.terminal("Owner").json(&args), "token"))
}

fn send(stage: &Stage, subject: &str) -> String {
    text(
        &stage.terminal("Bob").json(&[
            "mail",
            "send",
            "--to",
            "Ann",
            "--wait",
            "--subject",
            subject,
            "--text",
            "b",
        ]),
        "message_id",
    )
}

/// What waits for Ann.
fn waiting(stage: &Stage) -> usize {
    items(&stage.terminal("Ann").json(&["signal", "pending"])).len()
}

fn call(server: &Server, bearer: &str, operation: &str, input: &Value) -> u16 {
    ask(server, "POST", &format!("/api/v1/ops/{operation}"), input, &[("authorization", bearer)]).status
}

/// The inbox of Ann over MCP, with the bodies.
fn inbox_over_mcp(server: &Server, bearer: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let arguments = json!({ "action": "inbox", "project": "shop", "identity": "Ann", "bodies": true });
    let params = json!({ "name": "mail", "arguments": arguments, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", "mail"),
        ("authorization", bearer),
    ];
    let headers = headers.map(|(name, value)| (name, value.to_owned()));
    Reply::to(&server.address, &headers, body.to_string().as_bytes()).messages()[0]["result"]["structuredContent"].clone()
}

#[test]
fn a_token_that_is_not_the_receiver_marks_nothing() {
    let (stage, server) = served();
    stage.terminal("Ann").json(&["start"]);
    let readers = [bearer(&stage, &["--scope", "read"]), bearer(&stage, &["--scope", "write"])];
    std::thread::sleep(std::time::Duration::from_millis(600));
    let id = send(&stage, "s");
    for reader in &readers {
        let inbox = json!({ "project": "shop", "identity": "Ann", "bodies": true });
        assert_eq!(call(&server, reader, "mail_inbox", &inbox), 200);
        let thread = json!({ "project": "shop", "identity": "Ann", "message_id": id });
        assert_eq!(call(&server, reader, "mail_thread", &thread), 200);
        assert_eq!(inbox_over_mcp(&server, reader)["deliver"], json!([id]));
        let mark = json!({ "project": "shop", "message_ids": [id] });
        assert_eq!(call(&server, reader, "signal_delivered", &mark), 403);
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(waiting(&stage), 1, "it waits for Ann");
}

#[test]
fn mail_that_a_program_reads_waits_until_the_program_says_that_it_has_it() {
    let (stage, server) = served();
    let id = send(&stage, "s");
    let inbox = server.ok("mail_inbox", &json!({ "project": "shop", "identity": "Ann", "bodies": true }));
    assert_eq!(inbox["deliver"], json!([id]));
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(waiting(&stage), 1, "its answer may be lost");
    server.ok("signal_delivered", &json!({ "project": "shop", "message_ids": inbox["deliver"] }));
    assert_eq!(waiting(&stage), 0);
}
