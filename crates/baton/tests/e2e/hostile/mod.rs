//! What a token of one project gets of another by calls that nobody should make: nothing, whatever is called, and however.
//!
//! The calls are made up from `/openapi.json`: every path and operation, with values that are wrong, that climb, that are too
//! large or too deep, and with the other project's ids in every place where an id can stand. `BATON_TEST_HOSTILE=5000` makes so
//! many of them, `BATON_TEST_HOSTILE_SEED` other ones; both are printed.

mod make;

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::api::{Events, ask};
use crate::http::{Response, Server, request};
use crate::mcp::client::OLDER;
use crate::stage::{Stage, env, items, text};
use make::{Call, Maker};

/// Stands in everything that the other project holds, and in no call.
const CANARY: &str = "canary7x9";
/// The server's machine.
const MACHINE: &str = "the-server";
/// The most memory that the server may take while it is called so, in KiB.
const MEMORY: u64 = 400 * 1024;

/// A stage with the project `shop`, whose tokens call, and `vault`, of which they may learn nothing.
struct Two {
    stage: Stage,
    server: Server,
    /// What `shop` has, and what `vault` has.
    own: BTreeSet<String>,
    foreign: BTreeSet<String>,
}

impl Two {
    fn new() -> Self {
        let stage = Stage::ready();
        let vault = stage.repo("vault");
        stage.terminal("Setup").within(&vault).json(&["init"]);
        // The folders are also those of the server's machine, under the name that a token may call itself by.
        stage.terminal("Setup").with("BATON_MACHINE", MACHINE).json(&["init", "--join", "shop"]);
        for folder in [stage.shop(), vault] {
            std::fs::write(folder.join(".env"), CANARY).expect("written");
            std::fs::write(folder.join("plan.md"), CANARY).expect("written");
        }
        let session =
            json!({ "type": "user", "cwd": stage.shop(), "message": { "role": "user", "content": CANARY } });
        stage.file(
            "home/.claude/projects/-shop/01900000-0000-7000-8000-00000000abcd.jsonl",
            session.to_string(),
        );
        let terminal = stage.terminal("Server").with("BATON_MACHINE", MACHINE);
        let server = Server::start_with(&terminal, &["--rate", "0"]);
        let own = furnish(&server, "shop", "plain");
        let foreign = furnish(&server, "vault", CANARY);
        Self { stage, server, own, foreign }
    }

    fn token(&self, scope: &str) -> String {
        let made =
            self.stage.terminal("Owner").json(&["token", "create", "--scope", scope, "--only", "shop"]);
        // Until then the server may believe that no token is needed.
        std::thread::sleep(Duration::from_millis(600));
        text(&made, "token")
    }

    /// Everything that there is of the other project.
    fn dump(&self) -> String {
        self.stage.terminal("Owner").text(&["--project", "vault", "log", "export", "-"])
    }
}

/// Something of every kind in a project, with this word in all of it; the ids that were given.
fn furnish(server: &Server, project: &str, word: &str) -> BTreeSet<String> {
    let own = |mut input: Value| {
        input["project"] = project.into();
        input["identity"] = "Dora".into();
        input
    };
    let mut ids = BTreeSet::from([project.to_owned()]);
    let mut make = |operation: &str, input: Value| {
        let answer = server.ok(operation, &input);
        gather(&answer, &mut ids);
        answer
    };
    make("project_set", json!({ "project": project, "phase": word, "focus": [word] }));
    make("agent_register", own(json!({ "roles": ["testing"] })));
    make("session_start", own(json!({})));
    make("session_checkpoint", own(json!({ "summary": word, "state": { "k": word } })));
    make("ledger_note", own(json!({ "kind": "decision", "text": word, "why": word })));
    let first = make("task_create", own(json!({ "title": word, "description": word, "labels": [word] })));
    let second = make("task_create", own(json!({ "title": word, "agent_role": "testing" })));
    make("task_depend", own(json!({ "id": second["id"], "on": first["id"] })));
    make("task_comment", own(json!({ "id": first["id"], "text": word })));
    make("memory_add", own(json!({ "text": format!("{word} {word}") })));
    make("lease_take", own(json!({ "patterns": [format!("{word}/**")], "why": word })));
    make("mail_send", own(json!({ "to": "Dora", "type": "question", "subject": word, "body": word })));
    make("signal_send", own(json!({ "to": "Dora", "subject": word, "body": word })));
    let inside = json!({
        "from_project_id": project, "identity": "Dora", "to_project_id": project, "subject": word, "description": word,
        "links": { "docs": ["plan.md", ".env"] },
    });
    make("handoff_create", inside);
    make("session_wrap", own(json!({ "summary": word, "next": [word] })));
    ids
}

fn gather(value: &Value, ids: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(id) if key == "id" || key.ends_with("_id") => _ = ids.insert(id.to_owned()),
                    _ => gather(value, ids),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, ids)),
        _ => {}
    }
}

/// Sends a call; none where the connection ended before the answer.
fn send(server: &Server, call: &Call) -> Option<Response> {
    let headers: Vec<(&str, &str)> =
        call.headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    request(&server.address, &call.method, &call.path, &call.body, &headers)
}

/// Fails where an answer is a fault of ours or tells anything of the other project.
fn judge(call: &Call, answer: &Response) {
    let shown = || format!("{call:?}\n{answer:#?}");
    assert!(answer.status < 500 || answer.status == 503, "a fault of ours: {}", shown());
    assert!(!answer.body.contains(CANARY), "it tells of another project: {}", shown());
    assert!(
        !answer.body.contains("panicked") && !answer.body.contains("SELECT "),
        "it tells too much: {}",
        shown()
    );
}

/// A refusal with the ids of either call taken out, so that two may be compared.
fn plain(answer: &Response, twins: &[(String, String)]) -> (u16, String) {
    let mut body = answer.body.clone();
    for (real, made_up) in twins {
        for id in [real, made_up] {
            body = body.replace(id, "«id»");
            // An echo of the input may be cut within the id.
            for end in (8..id.len()).rev().filter(|end| id.is_char_boundary(*end)) {
                body = body.replace(&format!("{} …", &id[..end]), "«id» …");
                body = body.replace(&format!("{}…", &id[..end]), "«id»…");
            }
        }
    }
    (answer.status, body)
}

/// Sends a call again for as long as callers without a valid token are told to wait, which is so in a fast build.
fn patient(server: &Server, call: &Call) -> Option<Response> {
    loop {
        match send(server, call) {
            Some(answer) if answer.status == 429 => std::thread::sleep(std::time::Duration::from_millis(200)),
            answer => return answer,
        }
    }
}

#[test]
fn hostile_calls() {
    let count: usize = env("BATON_TEST_HOSTILE").map_or(400, |text| text.parse().expect("a number"));
    let seed: u64 = env("BATON_TEST_HOSTILE_SEED").map_or(20_261_122, |text| text.parse().expect("a number"));
    eprintln!("{count} hostile calls, seed {seed}");
    let two = Two::new();
    let openapi = ask(&two.server, "GET", "/openapi.json", &Value::Null, &[]).json();
    let tokens = [two.token("read"), two.token("write")];
    let mut maker = Maker::new(seed, &openapi, &two.own, &two.foreign, &tokens);
    let before = two.dump();
    let (mut compared, mut statuses) = (0, BTreeSet::new());
    for _ in 0..count {
        let call = maker.call();
        let Some(answer) = patient(&two.server, &call) else {
            // A server that refuses early closes before all of it was sent.
            assert!(call.body.len() > 64 * 1024 || call.is_malformed, "no answer: {call:?}");
            continue;
        };
        judge(&call, &answer);
        statuses.insert(answer.status);
        // What another project has is refused in the same words as what nobody has.
        let twin = maker.twin(&call);
        if let Some(twin) = twin
            && let Some(other) = patient(&two.server, &twin)
        {
            judge(&twin, &other);
            // What was done under the one name is done under the other, too, or a later call would tell them apart by that.
            if answer.status < 400 {
                continue;
            }
            let (real, made_up) = (plain(&answer, &maker.twins), plain(&other, &maker.twins));
            assert_eq!(real, made_up, "it can be told that this is there: {call:?}\n{twin:?}");
            compared += 1;
        }
    }
    assert_eq!(two.dump(), before, "the other project was changed");
    assert!(compared > count / 10, "only {compared} calls named what another project has");
    assert!(statuses.contains(&200) && statuses.contains(&400) && statuses.contains(&404), "{statuses:?}");
    assert_eq!(ask(&two.server, "GET", "/readyz", &Value::Null, &[]).status, 200);
    let memory = two.server.memory();
    assert!(memory < MEMORY, "the server takes {memory} KiB");
    two.stage.assert_sound();
}

#[test]
fn no_answer_tells_a_token_of_projects_that_it_does_not_reach() {
    let two = Two::new();
    let tokens = [two.token("read"), two.token("write")];
    for token in &tokens {
        let bearer = format!("Bearer {token}");
        let heads = [("authorization", bearer.as_str())];
        for path in [
            "/projects",
            "/overview",
            "/heads",
            "/search?query=a",
            "/search?query=dora",
            "/projects/shop",
            "/projects/shop/status",
            "/projects/shop/audit",
            "/projects/shop/ledger",
            "/projects/shop/export",
            "/projects/shop/sessions",
            "/projects/shop/tasks",
            "/projects/shop/ready",
            "/projects/shop/board",
            "/projects/shop/handoffs",
            "/projects/shop/agents",
            "/projects/shop/messages?identity=Dora",
            "/projects/shop/messages/search?query=a&identity=Dora",
            "/projects/shop/leases",
            "/projects/shop/threads?identity=Dora",
            "/tasks?project=shop",
            "/handoffs?project=shop",
            "/memories?query=plain&project=shop",
            "/healthz",
            "/readyz",
            "/metrics",
            "/check",
            "/tokens",
            "/transcripts",
            "/transcripts/search?query=a",
            "/transcripts/latest",
            "/projects/vaul",
            "/nowhere",
        ] {
            let answer = ask(&two.server, "GET", path, &Value::Null, &heads);
            assert!(answer.status < 500, "{path}: {answer:#?}");
            for word in ["vault", CANARY] {
                assert!(!answer.body.contains(word), "{path} tells of {word}: {answer:#?}");
            }
        }
        let counted = ask(&two.server, "GET", "/overview", &Value::Null, &heads).json();
        assert_eq!((&counted["total"], items(&counted).len()), (&json!(1), 1), "{counted:#}");
        let metrics = ask(&two.server, "GET", "/metrics", &Value::Null, &heads);
        assert_eq!((metrics.status, &metrics.json()["code"]), (403, &json!("token_of_project")));
        // A name that nearly is one of theirs is no reason to name it.
        let letter = json!({ "project": "shop", "identity": "Dora", "to": "Dora", "to_project": "vaul", "subject": "s" });
        let near = ask(&two.server, "POST", "/api/v1/ops/mail_send", &letter, &heads);
        assert!(matches!(near.status, 403 | 404) && !near.body.contains("vault"), "{near:#?}");
        // A folder is no way to ask either: where another project lies, nothing lies.
        let at = |folder: &str| {
            let caller =
                json!({ "machine": MACHINE, "folders": [two.stage.root().join(folder)] }).to_string();
            let heads = [heads[0], ("baton-caller", caller.as_str())];
            let answer = ask(&two.server, "POST", "/api/v1/ops/session_status", &json!({}), &heads);
            (answer.status, answer.body.replace(folder, "«folder»"))
        };
        assert_eq!(at("vault"), at("nowhere"));
        assert_eq!(at("shop").0, 200);
        // Only its own events come, live and missed.
        let mut events = Events::open(&two.server, "?last_event_id=vault/1/1", &heads);
        two.server_note("vault");
        two.server_note("shop");
        for _ in 0..200 {
            let (id, delta) = events.next();
            assert!(id.starts_with("shop/") && !delta.to_string().contains(CANARY), "{id}: {delta}");
            if delta["body"].to_string().contains("told last") || delta["summary"] == "told last" {
                break;
            }
        }
    }
}

/// What `shop` itself wrote down of another project, such as a relation, stands in its ledger; the list of its relations names
/// only those that a token reaches.
#[test]
fn a_relation_is_named_to_those_who_reach_both() {
    let two = Two::new();
    two.stage.terminal("Owner").json(&["project", "relate", "vault"]);
    let bearer = format!("Bearer {}", two.token("write"));
    let heads = [("authorization", bearer.as_str())];
    let shown = ask(&two.server, "GET", "/projects/shop", &Value::Null, &heads);
    assert_eq!((shown.status, &shown.json()["related"]), (200, &json!([])), "{shown:#?}");
    let everything =
        text(&two.stage.terminal("Owner").json(&["token", "create", "--scope", "read"]), "token");
    let bearer = format!("Bearer {everything}");
    let shown =
        ask(&two.server, "GET", "/projects/shop", &Value::Null, &[("authorization", bearer.as_str())]);
    assert_eq!(shown.json()["related"][0]["project_id"], "vault", "{shown:#?}");
}

impl Two {
    /// A note in a project, written past the server.
    fn server_note(&self, project: &str) {
        let word = if project == "shop" { "told last" } else { CANARY };
        self.stage.terminal("Owner").json(&["--project", project, "note", word]);
    }
}

#[test]
fn a_token_of_one_project_reads_nothing_of_the_servers_disk() {
    let two = Two::new();
    let tokens = [two.token("read"), two.token("write")];
    let bearer = format!("Bearer {}", tokens[1]);
    // The caller says that it is the server's own machine, in the project's folder.
    let caller = json!({
        "identity": "Spy", "project": "shop", "machine": MACHINE, "process": "1:1",
        "folders": [two.stage.shop()], "git_root": two.stage.shop(),
    })
    .to_string();
    let heads = [("authorization", bearer.as_str()), ("baton-caller", caller.as_str())];
    let docs = ["plan.md", ".env", ".git/config", "docs/PROJECT.md", "../vault/plan.md", "/etc/passwd"];
    let create = json!({ "from_project_id": "shop", "to_project_id": "shop", "subject": "s", "links": { "docs": docs } });
    let made = ask(&two.server, "POST", "/api/v1/handoffs", &create, &heads).json();
    let take = json!({ "project": "shop", "handoff_id": made["handoff_id"] });
    let taken = ask(&two.server, "POST", "/api/v1/ops/hd_exec", &take, &heads);
    assert_eq!(taken.status, 200, "{taken:#?}");
    assert!(
        !taken.body.contains(CANARY) && !taken.body.contains("[core]") && !taken.body.contains("root:"),
        "{taken:#?}"
    );
    let handoff = &taken.json()["handoff"];
    assert_eq!((&handoff["documents"], &handoff["project_document"]), (&json!([]), &Value::Null));
    let named = handoff["documents_named"].as_array().expect("what was named");
    assert_eq!(named.len(), docs.len());
    assert!(
        named.iter().all(|row| row["left_out"] == "a server reads no documents for its callers"),
        "{named:#?}"
    );
    // The same over MCP, whose client says where it works.
    let again =
        json!({ "project": "shop", "identity": "Spy2", "handoff_id": made["handoff_id"], "dry_run": true });
    let shown = over_mcp(&two.server, &heads, &again);
    assert!(
        shown.contains("documents_named") && !shown.contains(CANARY) && !shown.contains("[core]"),
        "{shown}"
    );
    // What a wrap says of git is read where the caller is, or not at all.
    let begun =
        ask(&two.server, "POST", "/api/v1/ops/session_start", &json!({ "identity": "Gita" }), &heads).json();
    let wrap = json!({ "identity": "Gita", "session": begun["session_id"], "summary": "done" });
    let wrapped = ask(&two.server, "POST", "/api/v1/ops/session_wrap", &wrap, &heads);
    assert_eq!(wrapped.status, 200, "{wrapped:#?}");
    let last = two.stage.ledger("shop").pop().expect("a delta").to_string();
    assert!(!last.contains("\\\"branch\\\"") && !last.contains("\"branch\""), "{last}");
    // A path to a transcript is not opened, not even for somebody who reaches everything.
    let everything =
        text(&two.stage.terminal("Owner").json(&["token", "create", "--scope", "read"]), "token");
    let bearer = format!("Bearer {everything}");
    let stray = two.stage.file(
        "stray.jsonl",
        json!({ "type": "user", "message": { "role": "user", "content": CANARY } }).to_string(),
    );
    let show = json!({ "id": stray, "agent": "claude" });
    let read = ask(&two.server, "POST", "/api/v1/ops/transcript_show", &show, &[("authorization", &bearer)]);
    assert!(!read.body.contains(CANARY) && read.status >= 400, "{read:#?}");
}

/// A pickup over MCP: what comes back, as it comes.
fn over_mcp(server: &Server, heads: &[(&str, &str)], arguments: &Value) -> String {
    let kind = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let mut heads: Vec<(&str, &str)> = heads.iter().chain(&kind).copied().collect();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": OLDER[1], "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let greeted = ask(server, "POST", "/mcp", &hello, &heads);
    let session = greeted.header("mcp-session-id").expect("a session");
    heads.push(("mcp-session-id", &session));
    let params = json!({ "name": "hd_exec", "arguments": arguments });
    ask(
        server,
        "POST",
        "/mcp",
        &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }),
        &heads,
    )
    .body
}
