//! MCP over HTTP: both eras at one address, and who may not reach it.

use serde_json::json;

use super::client::{Client, ERAS, MODERN, OLDER, Reply};
use crate::http::Server;
use crate::stage::{Stage, items};

#[test]
fn both_eras_work_at_one_address() {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    for era in ERAS {
        let mut lola = Client::web(&server.address, era);
        let lola_is = json!({ "project": "shop", "identity": "Lola" });
        lola.done("session_start", lola_is.clone());
        lola.done(
            "session_wrap",
            json!({ "project": "shop", "identity": "Lola", "summary": era, "next": ["go on"] }),
        );
        let mut donna = Client::web(&server.address, era);
        let picked = donna.done("hd_exec", json!({ "project": "shop", "identity": "Donna" }));
        assert_eq!(picked["baton"]["summary"], era);
        donna.done(
            "session_wrap",
            json!({ "project": "shop", "identity": "Donna", "summary": "done", "done": true }),
        );
        donna.refused("project_unresolved", "session_start", json!({}));
        assert_eq!(donna.fails("tools/call", json!({ "name": "none", "arguments": {} }))["code"], -32602);
    }
    stage.assert_sound();
}

#[test]
fn signals_in_an_answer_over_http_are_delivered() {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    for era in [MODERN, OLDER[0]] {
        stage.terminal("Lola").json(&["signal", "send", "--to", "Donna", era]);
        let mut donna = Client::web(&server.address, era);
        let picked = donna
            .done("hd_exec", json!({ "project": "shop", "identity": "Donna", "force": true, "why": "test" }));
        assert_eq!(picked["pending_signals"].as_array().expect("signals").len(), 1, "{picked:#}");
        let inbox = json!({ "action": "inbox", "project": "shop", "identity": "Donna" });
        assert_eq!(items(&donna.done("mail", inbox)).len(), 0);
    }
}

#[test]
fn a_web_page_and_a_rebound_name_are_kept_out() {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} }).to_string();
    let post = |more: (&'static str, &str)| {
        let headers = [
            ("accept", "application/json, text/event-stream".to_owned()),
            ("content-type", "application/json".to_owned()),
            (more.0, more.1.to_owned()),
        ];
        Reply::to(&server.address, &headers, body.as_bytes()).status
    };
    assert_eq!(post(("origin", "https://evil.example")), 403);
    assert_eq!(post(("origin", "null")), 403);
    assert_eq!(post(("host", "evil.example")), 403);
    assert_eq!(post(("mcp-protocol-version", MODERN)), 400, "headers and body of the newer era agree");
    let big = "x".repeat(3 * 1024 * 1024);
    let headers = [
        ("accept", "application/json, text/event-stream".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    assert_eq!(Reply::to(&server.address, &headers, big.as_bytes()).status, 413);
}

/// A token of one project opens that project through MCP, and no other; without one nothing opens.
#[test]
fn a_token_reaches_its_own_project_only() {
    let stage = Stage::ready();
    let other = stage.repo("other");
    stage.terminal("Setup").within(&other).json(&["init"]);
    let made = stage.terminal("Setup").json(&["token", "create", "--scope", "write", "--only", "shop"]);
    let secret = crate::stage::text(&made, "token");
    let server = Server::start(&stage.terminal("Server"));
    let call = |project: &str, bearer: Option<&str>| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let arguments = json!({ "project": project, "identity": "Lola" });
        let params = json!({ "name": "session_start", "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let mut headers = vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("content-type", "application/json".to_owned()),
            ("mcp-protocol-version", MODERN.to_owned()),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", "session_start".to_owned()),
        ];
        headers.extend(bearer.map(|secret| ("authorization", format!("Bearer {secret}"))));
        let reply = Reply::to(&server.address, &headers, body.as_bytes());
        let code =
            reply.messages().first().map(|m| m["result"]["structuredContent"]["error"]["code"].clone());
        (reply.status, code)
    };
    assert_eq!(call("shop", None).0, 401);
    assert_eq!(call("shop", Some("wrong")).0, 401);
    assert_eq!(call("shop", Some(&secret)), (200, Some(json!(null))));
    assert_eq!(call("other", Some(&secret)), (200, Some(json!("project_unknown"))));
}

/// What a connection remembers is for the token that opened it: to another one its session is unknown.
#[test]
fn a_session_of_the_protocol_is_of_the_token_that_opened_it() {
    let stage = Stage::ready();
    let setup = stage.terminal("Setup");
    let token = |who: &str| {
        let made = setup.json(&["token", "create", "--scope", "write", "--identity", who]);
        crate::stage::text(&made, "token")
    };
    let (lola, donna) = (token("Lola"), token("Donna"));
    let server = Server::start(&stage.terminal("Server"));
    let send = |bearer: Option<&str>, session: Option<&str>, message: &serde_json::Value| {
        let mut headers = vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("content-type", "application/json".to_owned()),
        ];
        headers.extend(bearer.map(|secret| ("authorization", format!("Bearer {secret}"))));
        headers.extend(session.map(|id| ("mcp-session-id", id.to_owned())));
        Reply::to(&server.address, &headers, message.to_string().as_bytes())
    };
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": OLDER[0], "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let greeted = send(Some(&lola), None, &hello);
    let session = greeted.header("mcp-session-id").expect("a session");
    let call = |name: &str, arguments: serde_json::Value| json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": name, "arguments": arguments } });
    let start = call("session_start", json!({ "project": "shop" }));
    assert_eq!(send(Some(&lola), Some(&session), &start).status, 200);
    let checkpoint = call("session_checkpoint", json!({ "project": "shop", "summary": "of another" }));
    let before = stage.ledger("shop").len();
    let unknown = send(Some(&lola), Some("00000000-0000-4000-8000-000000000000"), &checkpoint);
    let other = send(Some(&donna), Some(&session), &checkpoint);
    assert_eq!((other.status, unknown.status), (404, 404), "as one that never was");
    assert_eq!(send(None, Some(&session), &checkpoint).status, 401);
    assert_eq!(stage.ledger("shop").len(), before, "nothing was written");
    let own = send(Some(&lola), Some(&session), &checkpoint);
    assert_eq!(own.status, 200);
    assert_eq!(own.messages()[0]["result"]["structuredContent"]["identity"], "Lola");
}
