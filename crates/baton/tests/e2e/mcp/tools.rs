//! The tools on a pipe: what a client sees, what it can call, how the process begins and ends.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::client::{Client, ERAS, MODERN};
use crate::stage::{Stage, items, text};

fn names(list: &Value) -> Vec<String> {
    list["tools"].as_array().expect("tools").iter().map(|tool| text(tool, "name")).collect()
}

#[test]
fn a_baton_passes_through_tools_in_every_era() {
    for era in ERAS {
        let stage = Stage::ready();
        let mut lola = Client::pipe(&stage.terminal("Lola"), era);
        let began = lola.done("session_start", json!({}));
        assert_eq!((&began["project_id"], &began["identity"]), (&json!("shop"), &json!("Lola")));
        lola.done("session_checkpoint", json!({ "summary": "half way", "state": { "step": 1 } }));
        let decision =
            json!({ "action": "note", "kind": "decision", "text": "use SQLite", "why": "one file" });
        lola.done("session_checkpoint", decision);
        let packet = r#"{"summary":"did it",  "next_steps":["test"]}"#;
        let wrapped = lola.done("session_wrap", json!({ "packet": packet }));
        let mut donna = Client::pipe(&stage.terminal("Donna"), era);
        let picked = donna.done("hd_exec", json!({}));
        assert_eq!(picked["baton"]["delta_id"], wrapped["delta_id"]);
        assert_eq!(picked["baton"]["body"], packet, "byte for byte");
        assert_eq!(picked["adrs"][0]["body"]["what"], "use SQLite");
        let late = lola.refused("session_released", "session_checkpoint", json!({ "summary": "more" }));
        assert_eq!(late["identity"], "Lola");
        stage.assert_sound();
    }
}

#[test]
fn the_same_tools_are_listed_in_every_era_and_order() {
    let stage = Stage::ready();
    let mut lists = BTreeSet::new();
    for era in ERAS {
        let mut client = Client::pipe(&stage.terminal("Lola"), era);
        let before = names(&client.ok("tools/list", json!({})));
        client.done("session_start", json!({}));
        assert_eq!(names(&client.ok("tools/list", json!({}))), before, "a call changes no list");
        lists.insert(before);
    }
    let listed = lists.pop_first().expect("a list");
    assert_eq!((lists.len(), listed.len()), (0, 11));
    assert_eq!(listed[..4], ["session_start", "session_checkpoint", "session_wrap", "hd_exec"]);
}

#[test]
fn the_seed_s_name_is_understood_and_not_listed() {
    let stage = Stage::ready();
    let mut client = Client::pipe(&stage.terminal("Lola"), MODERN);
    assert!(!names(&client.ok("tools/list", json!({}))).iter().any(|name| name.contains('.')));
    let plan = json!({ "to_project_id": "other", "subject": "paint it", "dry_run": true });
    assert_eq!(client.done("ims.handoff.create", plan)["dry_run"], true);
    let error = client.fails("tools/call", json!({ "name": "ims.handoff.destroy", "arguments": {} }));
    assert_eq!(error["code"], -32602);
}

#[test]
fn greeting_and_lists_are_answered_without_a_store() {
    let stage = Stage::new();
    let broken = stage.root().join("folder");
    std::fs::create_dir(&broken).expect("folder");
    for era in ERAS {
        let mut client = Client::pipe(&stage.terminal("Lola").with("BATON_STORE", &broken), era);
        assert_eq!(names(&client.ok("tools/list", json!({}))).len(), 11);
        client.ok("prompts/list", json!({}));
        client.ok("resources/templates/list", json!({}));
        let result = client.tool("session_start", json!({}));
        assert_eq!(result["isError"], true);
        assert!(result["structuredContent"]["error"]["hint"].is_string(), "{result:#}");
        let (code, stderr) = client.end();
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
    }
    // A mistyped path is no new store: an agent would see a project without work.
    let missing = stage.root().join("mistyped.db");
    let mut client = Client::pipe(&stage.terminal("Lola").with("BATON_STORE", &missing), MODERN);
    for (tool, input) in [("inbox", json!({ "action": "projects" })), ("session_start", json!({}))] {
        let refused = client.tool(tool, input);
        assert_eq!(refused["structuredContent"]["error"]["code"], "store_missing", "{refused:#}");
        assert!(!missing.exists(), "{tool}");
    }
    let mut client = Client::pipe(&stage.terminal("Lola"), MODERN);
    client.ok("tools/list", json!({}));
    assert!(!stage.has_store(), "nothing was opened");
}

#[test]
fn a_client_that_closes_its_end_is_answered_first() {
    let stage = Stage::ready();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let call = |id: i64, method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
    };
    let lines = [
        call(1, "server/discover", json!({})),
        call(2, "tools/call", json!({ "name": "session_start", "arguments": {} })),
        call(3, "tools/call", json!({ "name": "handoff", "arguments": { "action": "status" } })),
    ];
    let answer = stage.terminal("Lola").feed((lines.join("\n") + "\n").as_bytes(), &["mcp"]).done();
    let mut ids: Vec<i64> = answer.lines().iter().filter_map(|line| line["id"].as_i64()).collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3], "nothing but the protocol, and all of it");
    assert_eq!(stage.terminal("Lola").feed(b"", &["mcp"]).done().out, "");
}

#[test]
fn what_is_not_offered_cannot_be_called() {
    let stage = Stage::ready();
    let mut client = Client::pipe_with(&stage.terminal("Lola"), MODERN, &["--read-only"], json!({}));
    assert_eq!(names(&client.ok("tools/list", json!({}))), ["inbox", "task_read", "recall"]);
    let before = stage.deltas();
    let error = client.fails("tools/call", json!({ "name": "session_start", "arguments": {} }));
    assert_eq!(error["code"], -32602);
    client.refused("action_unknown", "handoff", json!({ "action": "accept", "id": "01" }));
    client.refused("action_unknown", "mail", json!({ "action": "send", "to": "Donna", "subject": "hi" }));
    client.done("inbox", json!({ "action": "mail" }));
    // As calls of earlier versions have it.
    client.done("mail", json!({ "action": "inbox" }));
    client.done("handoff", json!({ "action": "list" }));
    assert_eq!(stage.deltas(), before);
    // What it shows of the mail waits for its receiver as before.
    let letter = ["mail", "send", "--to", "Lola", "--wait", "--subject", "s", "--text", "b"];
    stage.terminal("Donna").json(&letter);
    client.done("inbox", json!({ "action": "mail", "identity": "Lola", "bodies": true }));
    client.done("inbox", json!({ "action": "mail" }));
    assert_eq!(items(&stage.terminal("Lola").json(&["signal", "pending"])).len(), 1);
    let mut two =
        Client::pipe_with(&stage.terminal("Lola"), MODERN, &["--tools", "recall,hd_exec"], json!({}));
    assert_eq!(names(&two.ok("tools/list", json!({}))), ["hd_exec", "recall"]);
    stage.terminal("Lola").refused(1, "tool_unknown", &["mcp", "--tools", "hd_exe"]);
}

#[test]
fn many_servers_work_on_one_store_at_once() {
    let stage = Stage::ready();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let stage = &stage;
            scope.spawn(move || {
                let mut client = Client::pipe(&stage.terminal(&format!("Agent{n}")), ERAS[n % ERAS.len()]);
                client.done("session_start", json!({}));
                for step in 0..10 {
                    client.done("session_checkpoint", json!({ "summary": format!("step {step}") }));
                    client.done("handoff", json!({ "action": "status" }));
                }
                client.done("session_wrap", json!({ "summary": "done", "next": ["go on"] }));
            });
        }
    });
    let checkpoints = stage.ledger("shop").iter().filter(|delta| delta["kind"] == "checkpoint").count();
    assert_eq!(checkpoints, 80);
    stage.assert_sound();
}
