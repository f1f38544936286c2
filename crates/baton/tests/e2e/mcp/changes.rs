//! Change notices: whoever changes a resource, in whatever process, those who asked are told.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, MODERN, OLDER, stream};
use crate::http::Server;
use crate::stage::{Stage, text};

const STATUS: &str = "baton://projects/shop/status";
const MAIL: &str = "baton://projects/shop/mail/Lola";

fn change(stage: &Stage) {
    stage.terminal("Donna").json(&["signal", "send", "--to", "Lola", "look"]);
}

fn assert_updated(notice: &Value, uri: &str) {
    assert_eq!(notice["method"], "notifications/resources/updated", "{notice:#}");
    assert_eq!(notice["params"]["uri"], uri);
}

#[test]
fn an_older_client_that_subscribed_is_told() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&stage.terminal("Lola"), OLDER[0]);
    client.ok("resources/subscribe", json!({ "uri": MAIL }));
    change(&stage);
    assert_updated(&client.notice(), MAIL);
    client.ok("resources/unsubscribe", json!({ "uri": MAIL }));
    client.ok("resources/subscribe", json!({ "uri": STATUS }));
    change(&stage);
    stage.terminal("Donna").json(&["task", "create", "paint"]);
    assert_updated(&client.notice(), STATUS);
    assert_eq!(client.fails("resources/subscribe", json!({ "uri": "file:///a" }))["code"], -32002);
}

#[test]
fn a_newer_client_listens() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&stage.terminal("Lola"), MODERN);
    let params = json!({ "notifications": { "resourceSubscriptions": [STATUS, "file:///a"], "toolsListChanged": true } });
    client.send("subscriptions/listen", params);
    let granted = client.notice();
    assert_eq!(granted["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(granted["params"]["notifications"], json!({ "resourceSubscriptions": [STATUS] }));
    let made = stage.terminal("Donna").json(&["handoff", "create", "--to", "shop", "--subject", "paint it"]);
    assert_updated(&client.notice(), STATUS);
    let read = client.ok("resources/read", json!({ "uri": STATUS }));
    assert!(read.to_string().contains(&text(&made, "handoff_id")));
    assert_eq!(client.end().0, Some(0), "a listener does not hold up the end");
}

#[test]
fn a_stream_over_http_carries_notices() {
    let stage = Stage::ready();
    let mut server = Server::start(&stage.terminal("Server"));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "resourceSubscriptions": [MAIL] });
    let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": { "notifications": params, "_meta": meta } });
    let headers = [
        ("accept", "application/json, text/event-stream".to_owned()),
        ("content-type", "application/json".to_owned()),
        ("mcp-protocol-version", MODERN.to_owned()),
        ("mcp-method", "subscriptions/listen".to_owned()),
    ];
    let events = BufReader::new(stream(&server.address, &headers, listen.to_string().as_bytes()));
    let mut messages = events
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    assert_eq!(messages.next().expect("granted")["method"], "notifications/subscriptions/acknowledged");
    change(&stage);
    assert_updated(&messages.next().expect("told"), MAIL);
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0), "a stream does not hold up the end");
}

#[test]
fn a_call_that_was_cancelled_does_not_hold_up_the_end() {
    let stage = Stage::ready();
    let capabilities = json!({ "elicitation": {} });
    let terminal = stage.bare().with("BATON_PROCESS", "p1");
    let mut client = Client::pipe_with(&terminal, OLDER[1], &[], capabilities);
    // The user is asked for a name and gives none.
    let id = client.send("tools/call", json!({ "name": "session_start", "arguments": {} }));
    std::thread::sleep(Duration::from_millis(300));
    client.tell("notifications/cancelled", json!({ "requestId": id }));
    let begin = Instant::now();
    assert_eq!(client.end().0, Some(0));
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}
