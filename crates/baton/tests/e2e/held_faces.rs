//! What an agent holds is moved by no token of another's through any face: HTTP by the name of an operation, the way of a client that has a
//! server in its store's place (the command line), and MCP. The calls are made from the table of operations and the list of tools;
//! `ops::held_acts` has every kind of token, without faces.

use std::collections::BTreeSet;

use baton_ops::all;
use baton_ops::op::{Site, TxMode};
use serde_json::{Map, Value, json};

use crate::api::ask;
use crate::door::token;
use crate::http::Server;
use crate::mcp::client::{MODERN, Reply};
use crate::stage::{Stage, text};

/// A server on whose ledger Ann is at work, and what she holds there.
struct Held {
    stage: Stage,
    server: Server,
    /// A token of an operator who looks.
    reader: String,
    /// Ids of what she holds.
    ids: Vec<String>,
    task: String,
    handoff: String,
    baton: String,
    session: String,
}

impl Held {
    fn new() -> Self {
        let stage = Stage::ready();
        let lib = stage.repo("lib");
        stage.terminal("Setup").within(&lib).json(&["init"]);
        let server = Server::start_with(&stage.terminal("Server"), &["--rate", "0"]);
        let own = |who: &str, mut input: Value| {
            input["project"] = json!("shop");
            input["identity"] = json!(who);
            input
        };
        server.ok("session_start", &own("Zed", json!({})));
        server.ok("session_wrap", &own("Zed", json!({ "summary": "half of it", "next": ["the rest"] })));
        let picked = server.ok("hd_exec", &own("Ann", json!({})));
        let made = server.ok("task_create", &own("Ann", json!({ "title": "hers" })));
        server.ok("task_claim", &own("Ann", json!({ "id": made["id"] })));
        let lease = server.ok("lease_take", &own("Ann", json!({ "patterns": ["src/**"] })));
        server.ok("session_checkpoint", &own("Ann", json!({ "summary": "so far", "state": { "k": 1 } })));
        let work = json!({ "from_project_id": "lib", "identity": "Sue", "to_project_id": "shop", "subject": "work", "local": true });
        let handoff = text(&server.ok("handoff_create", &work), "handoff_id");
        server.ok("handoff_advance", &json!({ "id": handoff, "action": "accept", "identity": "Ann" }));
        let (task, session) = (text(&made, "id"), text(&picked, "session_id"));
        let baton = text(&picked["baton"], "delta_id");
        let lease = lease["items"][0]["lease_id"].as_str().unwrap_or("src/**").to_owned();
        let ids = [&task, &handoff, &baton, &session, &lease, "Ann"].map(|id: &str| id.to_owned()).to_vec();
        let (_, reader) = token(&stage, &["--scope", "operator", "--name", "reader"]);
        std::thread::sleep(std::time::Duration::from_millis(600));
        Self { stage, server, reader, ids, task, handoff, baton, session }
    }

    /// How all of it stands.
    fn holdings(&self) -> Value {
        let look = |operation: &str, input: Value| {
            let heads = [("authorization", self.reader.as_str())];
            let answer = ask(&self.server, "POST", &format!("/api/v1/ops/{operation}"), &input, &heads);
            assert_eq!(answer.status, 200, "{operation}: {answer:#?}");
            answer.json()
        };
        let fields = |answer: Value, names: &[&str]| -> Vec<Value> {
            names.iter().map(|name| answer[*name].clone()).collect()
        };
        let of = |id: &str| json!({ "project": "shop", "id": id });
        let session = look("session_show", json!({ "project": "shop", "session": self.session }));
        json!({
            "task": fields(look("task_show", of(&self.task)), &["status", "assignee", "title", "priority"]),
            "handoff": fields(look("handoff_show", json!({ "id": self.handoff })), &["state", "accepted_by", "result"]),
            "baton": fields(look("baton_show", of(&self.baton)), &["state", "holder", "spent_by"]),
            "leases": look("lease_list", json!({ "project": "shop" }))["items"].as_array().map(Vec::len),
            "session": fields(session, &["identity", "released_at", "release_reason", "baton_id", "last_verb", "last_heartbeat"]),
        })
    }

    fn bearer(&self, args: &[&str]) -> String {
        token(&self.stage, args).1
    }
}

/// Kinds of tokens that move nothing of hers.
fn tokens(held: &Held) -> Vec<(&'static str, String)> {
    let kinds = [
        ("Mal", &["--scope", "read", "--name", "a", "--identity", "Mal"][..]),
        ("Mal", &["--scope", "write", "--name", "b", "--identity", "Mal"]),
        ("Ann", &["--scope", "write", "--name", "c"]),
        ("Mal", &["--scope", "operator", "--name", "d", "--identity", "Mal", "--only", "lib"]),
    ];
    let made = kinds.map(|(name, args)| (name, held.bearer(args))).to_vec();
    std::thread::sleep(std::time::Duration::from_millis(600));
    made
}

/// Inputs of an object with these properties: each text takes each id in turn, and each choice each of its words.
fn inputs(schema: &Value, ids: &[String]) -> Vec<Map<String, Value>> {
    let resolved = |property: &Value| match property["$ref"].as_str() {
        Some(target) => schema["$defs"][target.trim_start_matches("#/$defs/")].clone(),
        None => property.clone(),
    };
    let words = |property: &Value| -> Vec<Value> {
        let property = resolved(property);
        let constants = property["oneOf"].as_array().into_iter().flatten();
        let constants = constants.filter_map(|one| one.get("const").cloned()).collect();
        property["enum"].as_array().cloned().unwrap_or(constants)
    };
    let is = |property: &Value, kind: &str| match &property["type"] {
        Value::String(one) => one == kind,
        Value::Array(several) => several.iter().any(|one| one == kind),
        _ => false,
    };
    let filler = |property: &Value| match words(property).first() {
        Some(word) => word.clone(),
        None if is(property, "array") => json!([]),
        None if is(property, "integer") => json!(1),
        None if is(property, "boolean") => json!(false),
        None if is(property, "object") => json!({}),
        None => json!("x"),
    };
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let base: Map<String, Value> =
        required.map(|name| (name.to_owned(), filler(&properties[name]))).collect();
    let mut bases = vec![base];
    for (name, property) in properties {
        for word in words(property) {
            let mut more = bases[0].clone();
            more.insert(name.clone(), word);
            bases.push(more);
        }
    }
    let mut made = Vec::new();
    for base in bases {
        for (name, property) in properties.iter().filter(|(_, property)| is(property, "string")) {
            if matches!(name.as_str(), "project" | "identity") || !words(property).is_empty() {
                continue;
            }
            for id in ids {
                let mut input = base.clone();
                input.insert(name.clone(), json!(id));
                if properties.contains_key("project") {
                    input.insert("project".into(), json!("shop"));
                }
                made.push(input);
            }
        }
        made.push(base);
    }
    made
}

fn caller(name: &str) -> Value {
    json!({ "identity": name, "project": "shop", "surface": "codex", "machine": "m", "process": "mal" })
}

#[test]
fn no_operation_over_http_moves_what_another_holds() {
    let held = Held::new();
    let before = held.holdings();
    for (name, bearer) in tokens(&held) {
        for entry in all::ALL.iter().filter(|entry| entry.tx_mode == TxMode::Write) {
            let path = format!("/api/v1/ops/{}", entry.name);
            let who = caller(name).to_string();
            let heads = [("authorization", bearer.as_str()), ("baton-caller", who.as_str())];
            for input in inputs(&(entry.input_schema)().to_value(), &held.ids) {
                ask(&held.server, "POST", &path, &Value::Object(input), &heads);
            }
            assert_eq!(held.holdings(), before, "{} as {name}", entry.name);
        }
    }
}

#[test]
fn no_operation_of_a_command_through_a_server_moves_what_another_holds() {
    let held = Held::new();
    let before = held.holdings();
    for (name, bearer) in tokens(&held) {
        for entry in
            all::ALL.iter().filter(|entry| entry.tx_mode == TxMode::Write && entry.site == Site::Ledger)
        {
            let path = format!("/api/v1/remote/{}", entry.name);
            for input in inputs(&(entry.input_schema)().to_value(), &held.ids) {
                let call = json!({ "input": input, "caller": caller(name), "facts": [] });
                ask(&held.server, "POST", &path, &call, &[("authorization", &bearer)]);
            }
            assert_eq!(held.holdings(), before, "{} as {name}", entry.name);
        }
        let terminal =
            held.stage.terminal(name).with("BATON_SERVER", format!("http://{}", held.server.address));
        let terminal = terminal.with("BATON_TOKEN", bearer.trim_start_matches("Bearer "));
        for command in [
            &["task", "close", held.task.as_str(), "--reason", "r"][..],
            &["task", "release", &held.task, "--force", "--why", "r"],
            &["task", "claim", &held.task, "--force", "--why", "r"],
            &["task", "update", &held.task, "--title", "other"],
            &["task", "delete", &held.task, "--force", "--why", "r"],
            &["lease", "release", "src/**"],
            &["end", "--session", &held.session, "--force", "--why", "r"],
            &["wrap", "--session", &held.session, "--summary", "s", "--force", "--why", "r"],
            &["handoff", "complete", &held.handoff, "--result", "r"],
            &["handoff", "decline", &held.handoff, "--why", "r"],
            &["batons", "withdraw", &held.baton],
            &["pickup", "--handoff", &held.baton, "--force", "--why", "r"],
            &["reassign", "--to", "Mal", &held.session],
        ] {
            let answer = terminal.run(command);
            assert_ne!(answer.code, 0, "{command:?} as {name}: {answer:#?}");
            assert_eq!(held.holdings(), before, "{command:?} as {name}");
        }
    }
}

#[test]
fn no_tool_over_mcp_moves_what_another_holds() {
    let held = Held::new();
    let before = held.holdings();
    let mut tried = BTreeSet::new();
    for (name, bearer) in tokens(&held) {
        let who = caller(name).to_string();
        let post = |method: &str, params: Value| {
            let mut params = params;
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            let tool = params["name"].as_str().unwrap_or_default().to_owned();
            let message =
                json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
            let mut heads = vec![
                ("authorization", bearer.clone()),
                ("baton-caller", who.clone()),
                ("content-type", "application/json".to_owned()),
                ("accept", "application/json, text/event-stream".to_owned()),
                ("mcp-protocol-version", MODERN.to_owned()),
                ("mcp-method", method.to_owned()),
            ];
            heads.extend((!tool.is_empty()).then_some(("mcp-name", tool)));
            let reply = Reply::to(&held.server.address, &heads, message.as_bytes());
            (reply.status, reply.messages().pop().unwrap_or_default())
        };
        let listed = post("tools/list", json!({})).1;
        let listed = listed["result"]["tools"].as_array().expect("tools").clone();
        for tool in listed {
            let tool_name = text(&tool, "name");
            for arguments in inputs(&tool["inputSchema"], &held.ids) {
                let (status, answer) =
                    post("tools/call", json!({ "name": tool_name, "arguments": arguments }));
                assert!([200, 400].contains(&status), "{tool_name} {status} {answer:#}");
            }
            assert_eq!(held.holdings(), before, "{tool_name} as {name}");
            tried.insert(tool_name);
        }
    }
    let known: BTreeSet<String> = baton_mcp::table::TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
    assert_eq!(tried, known);
}
