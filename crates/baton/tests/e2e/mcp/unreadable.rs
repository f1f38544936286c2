//! What cannot be read is answered: a client waits for every answer.

use serde_json::{Value, json};

use super::client::{Client, ERAS, MODERN, OLDER, Reply};
use crate::http::Server;
use crate::stage::Stage;

/// Lines that no server can read, each with the code and the id of its answer.
fn lines() -> Vec<(Vec<u8>, i64, Value)> {
    let call = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":"c-1","method":"tools/call","params":{{"name":"note","arguments":{{"text":{text}}}}}}}"#
        )
    };
    let mut no_text = call("\"?\"").into_bytes();
    no_text.iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = 0xff);
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    vec![
        (call(r#""\ud83d""#).into_bytes(), -32700, json!("c-1")),
        (no_text, -32700, json!("c-1")),
        (call(&deep).into_bytes(), -32700, json!("c-1")),
        (b"{\"jsonrpc\":\"2.0\",".to_vec(), -32700, Value::Null),
        (b"hello".to_vec(), -32700, Value::Null),
        (b"[]".to_vec(), -32600, Value::Null),
        (br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":[1]}"#.to_vec(), -32602, json!(9)),
        (br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":5}}"#.to_vec(), -32602, json!(9)),
    ]
}

#[test]
fn a_line_that_cannot_be_read_is_answered_and_the_next_one_works() {
    let stage = Stage::ready();
    for era in ERAS {
        let mut client = Client::pipe(&stage.terminal("Lola"), era);
        for (line, code, id) in lines() {
            let answer = client.raw(&line);
            let shown = String::from_utf8_lossy(&line).chars().take(120).collect::<String>();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{shown}: {answer:#}");
            assert!(answer.as_object().is_some_and(|fields| fields.contains_key("id")), "{answer:#}");
        }
        client.done("session_start", json!({ "identity": format!("Lola{}", era.len()) }));
        client.done("session_wrap", json!({ "summary": "s", "identity": format!("Lola{}", era.len()) }));
        let (code, _) = client.end();
        assert_eq!(code, Some(0));
    }
}

#[test]
fn a_line_that_is_too_long_is_answered_under_its_id() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&stage.terminal("Lola"), MODERN);
    let text = "x".repeat(17 * 1024 * 1024);
    let line = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"{text}"}}}}"#);
    let answer = client.raw(line.as_bytes());
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(5)));
    client.done("task_read", json!({ "action": "list" }));
}

#[test]
fn a_body_over_http_that_cannot_be_read_is_answered() {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let headers = [
        ("accept", "application/json, text/event-stream".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    let empty = (Vec::new(), -32700, Value::Null);
    for (body, code, id) in lines().into_iter().chain([empty]) {
        let reply = Reply::to(&server.address, &headers, &body);
        let answer = reply.messages().into_iter().next().unwrap_or_default();
        assert_eq!(reply.status, 400, "{reply:?}");
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{reply:?}");
    }
    let status = |body: &[u8]| Reply::to(&server.address, &headers, body).status;
    assert_eq!(
        status(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":5}"#),
        202,
        "nobody waits"
    );
    let marked = [b"\xEF\xBB\xBF".as_slice(), hello().to_string().as_bytes()].concat();
    assert_eq!(status(&marked), 200);
}

fn hello() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": OLDER[0], "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } })
}

#[test]
fn a_client_that_takes_any_type_is_answered_and_its_session_ends_without_a_body() {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let json = ("content-type", "application/json".to_owned());
    for accept in [None, Some("*/*"), Some("application/*, text/*;q=0.5")] {
        let accept = accept.map(|accept| ("accept", accept.to_owned()));
        let headers: Vec<_> = accept.into_iter().chain([json.clone()]).collect();
        let greeted = Reply::to(&server.address, &headers, hello().to_string().as_bytes());
        assert_eq!(greeted.status, 200, "{greeted:?}");
        let session = greeted.header("mcp-session-id").expect("a session");
        let of = [("mcp-session-id", session)];
        assert_eq!(Reply::deleted(&server.address, &of).status, 204);
        assert_eq!(Reply::deleted(&server.address, &of).status, 404);
    }
    let headers = [("accept", "text/html".to_owned()), json];
    assert_eq!(Reply::to(&server.address, &headers, hello().to_string().as_bytes()).status, 406);
}
