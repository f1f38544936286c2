//! Bodies that come slowly: what they ask for is decided when they are there.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::served;
use crate::door::token;
use crate::http::Server;
use crate::stage::items;

/// A client that sends all but the last byte of its body.
fn half_sent(server: &Server, bearer: Option<&str>, operation: &str, body: &Value) -> (TcpStream, u8) {
    let body = body.to_string().into_bytes();
    let authorization = bearer.map(|bearer| format!("authorization: {bearer}\r\n")).unwrap_or_default();
    let head = format!(
        "POST /api/v1/ops/{operation} HTTP/1.1\r\nhost: {}\r\n{authorization}content-type: application/json\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        server.address,
        body.len()
    );
    let (last, rest) = body.split_last().expect("a body");
    let mut stream = TcpStream::connect(&server.address).expect("connected");
    stream.write_all(&[head.as_bytes(), rest].concat()).expect("sent");
    (stream, *last)
}

fn completed((mut stream, last): (TcpStream, u8)) -> String {
    stream.write_all(&[last]).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_body_that_ends_after_its_token_is_not_carried_out() {
    let (stage, server) = served();
    let note = |who: &str| json!({ "project": "shop", "identity": who, "text": "late" });
    let nobodys = half_sent(&server, None, "ledger_note", &note("Nobody"));
    // The head has to be read before the token is made.
    std::thread::sleep(Duration::from_millis(300));
    let (id, operator) = token(&stage, &["--scope", "operator"]);
    let (_, short) = token(&stage, &["--scope", "write", "--expires-in", "1s"]);
    let expired = half_sent(&server, Some(&short), "ledger_note", &note("Late"));
    let made = json!({ "name": "backdoor", "scope": "operator" });
    let revoked = half_sent(&server, Some(&operator), "token_create", &made);
    let (_, other) = token(&stage, &["--scope", "write"]);
    let valid = half_sent(&server, Some(&other), "ledger_note", &note("Slow"));
    std::thread::sleep(Duration::from_millis(300));
    stage.terminal("Owner").json(&["token", "revoke", &id]);
    std::thread::sleep(Duration::from_millis(1_500));
    for (sent, who) in [(nobodys, "no token"), (expired, "expired"), (revoked, "revoked")] {
        let status = completed(sent);
        assert!(status.contains(" 401 "), "{who}: {status}");
    }
    let status = completed(valid);
    assert!(status.contains(" 200 "), "{status}");
    let tokens = stage.terminal("Owner").json(&["token", "list"]).to_string();
    assert!(!tokens.contains("backdoor"), "{tokens}");
    assert_eq!(items(&stage.terminal("Owner").json(&["log", "--kind", "note"])).len(), 1);
}
