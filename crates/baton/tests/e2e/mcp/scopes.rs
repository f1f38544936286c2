//! What a token of each scope gets over MCP: a resource is read by whoever may read.

use serde_json::{Value, json};

use super::client::{MODERN, Reply};
use crate::door::token;
use crate::http::Server;
use crate::stage::{Stage, text};

fn ask(server: &Server, bearer: &str, method: &str, name: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let heads = [
        ("authorization", bearer.to_owned()),
        ("content-type", "application/json".to_owned()),
        ("accept", "application/json, text/event-stream".to_owned()),
        ("mcp-protocol-version", MODERN.to_owned()),
        ("mcp-method", method.to_owned()),
        ("mcp-name", name.to_owned()),
    ];
    Reply::to(&server.address, &heads, message.as_bytes()).messages().pop().expect("an answer")
}

#[test]
fn a_token_that_reads_gets_every_resource_and_takes_nothing() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    let task = text(&ann.json(&["task", "create", "the cart"]), "id");
    ann.json(&["wrap", "--summary", "half of the cart", "--next", "the rest"]);
    let left = ann.json(&["batons"])["items"][0].clone();
    let (baton, session) = (text(&left, "baton_id"), text(&left, "session_id"));
    let server = Server::start(&stage.terminal("Server"));
    let (_, reader) = token(&stage, &["--scope", "read", "--only", "shop"]);
    let lib = stage.repo("lib");
    stage.terminal("Setup").within(&lib).json(&["init"]);
    let (_, elsewhere) = token(&stage, &["--scope", "read", "--only", "lib", "--name", "elsewhere"]);
    std::thread::sleep(std::time::Duration::from_millis(600));
    let before = stage.ledger("shop").len();
    for path in [
        "status".to_owned(),
        format!("handoffs/{baton}"),
        format!("tasks/{task}"),
        format!("sessions/{session}"),
        "mail/Ann".to_owned(),
    ] {
        let uri = format!("baton://projects/shop/{path}");
        let params = json!({ "uri": uri });
        let read = ask(&server, &reader, "resources/read", &uri, params.clone());
        assert!(read["result"]["contents"][0]["text"].is_string(), "{uri}: {read:#}");
        let refused = ask(&server, &elsewhere, "resources/read", &uri, params);
        assert!(refused["error"].is_object() && !refused.to_string().contains("cart"), "{uri}: {refused:#}");
    }
    for (tool, arguments) in [
        ("inbox", json!({ "action": "get", "id": baton, "project": "shop" })),
        ("inbox", json!({ "action": "preview", "project": "shop" })),
    ] {
        let answer =
            ask(&server, &reader, "tools/call", tool, json!({ "name": tool, "arguments": arguments }));
        assert!(answer["result"].to_string().contains("half of the cart"), "{tool}: {answer:#}");
    }
    let taken = json!({ "name": "hd_exec", "arguments": { "project": "shop" } });
    let refused = ask(&server, &reader, "tools/call", "hd_exec", taken);
    assert_eq!(refused["result"]["structuredContent"]["error"]["code"], "scope_missing", "{refused:#}");
    assert_eq!(stage.ledger("shop").len(), before, "nothing is claimed or written");
}
