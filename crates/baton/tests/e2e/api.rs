//! The API: paths, conditions, keys, tokens, events, TLS, and clients that behave badly.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_ops::op::{Site, TxMode};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use serde_json::{Value, json};

use crate::http::{Response, Server, caller, request};
use crate::stage::{Stage, assert_fields, items, text};

pub(crate) fn served() -> (Stage, Server) {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    (stage, server)
}

/// One request with a JSON body, or none for null.
pub(crate) fn ask(
    server: &Server,
    method: &str,
    path: &str,
    body: &Value,
    headers: &[(&str, &str)],
) -> Response {
    let bytes = if body.is_null() { String::new() } else { body.to_string() };
    request(&server.address, method, path, bytes.as_bytes(), headers)
        .unwrap_or_else(|| panic!("no answer to {method} {path}"))
}

pub(crate) fn ok(server: &Server, method: &str, path: &str, body: &Value) -> Value {
    let response = ask(server, method, path, body, &[]);
    assert!(matches!(response.status, 200 | 201), "{method} {path}: {response:#?}");
    response.json()
}

#[test]
fn a_wrap_by_its_session_needs_no_project() {
    let (stage, server) = served();
    let lola = caller("Lola", "shop");
    let as_lola = [("baton-caller", lola.as_str())];
    let started = ask(&server, "POST", "/api/v1/projects/shop/sessions", &Value::Null, &as_lola);
    let session = text(&started.json(), "session_id");
    let wrap = json!({ "summary": "done for today", "identity": "Lola" });
    let wrapped = ask(&server, "POST", &format!("/api/v1/sessions/{session}/wrap"), &wrap, &[]);
    assert!(matches!(wrapped.status, 200 | 201), "{wrapped:#?}");
    assert_eq!(wrapped.json()["project_id"], "shop", "{wrapped:#?}");
    stage.assert_sound();
}

#[test]
fn the_paths_do_what_the_commands_do() {
    let (stage, server) = served();
    let lola = caller("Lola", "shop");
    let as_lola = [("baton-caller", lola.as_str())];
    let started = ask(&server, "POST", "/api/v1/projects/shop/sessions", &Value::Null, &as_lola);
    assert_eq!(started.status, 201, "{started:#?}");
    let session = text(&started.json(), "session_id");
    let saved = ask(
        &server,
        "POST",
        &format!("/sessions/{session}/checkpoint"),
        &json!({ "summary": "half", "state": {} }),
        &as_lola,
    );
    assert_eq!(saved.status, 200, "{saved:#?}");
    let shown = ok(&server, "GET", &format!("/api/v1/sessions/{session}"), &Value::Null);
    assert_eq!(shown["session_state"], json!({ "version": 1, "state": {} }), "{shown:#}");
    let task =
        ok(&server, "POST", "/api/v1/projects/shop/tasks", &json!({ "title": "Refund", "identity": "Lola" }));
    let id = text(&task, "id");
    assert_eq!(ok(&server, "GET", &format!("/projects/shop/tasks/{id}"), &Value::Null)["title"], "Refund");
    let changed =
        ok(&server, "PATCH", &format!("/api/v1/projects/shop/tasks/{id}"), &json!({ "priority": 1 }));
    assert_eq!(changed["priority"], 1);
    assert_eq!(items(&ok(&server, "GET", "/tasks?project=shop&limit=1", &Value::Null)).len(), 1);

    let markdown = ask(
        &server,
        "GET",
        &format!("/sessions/{session}/handoff?project=shop"),
        &Value::Null,
        &[("accept", "text/markdown")],
    );
    assert!(markdown.kind.starts_with("text/markdown") && markdown.body.contains("half"), "{markdown:#?}");
    let packet = ok(&server, "GET", &format!("/sessions/{session}/handoff?project=shop"), &Value::Null);
    assert_fields(&packet, "project_id session_id document packet");

    let handoff = ok(
        &server,
        "POST",
        "/handoffs",
        &json!({ "from_project_id": "shop", "to_project_id": "shop", "subject": "Look" }),
    );
    let id = text(&handoff, "handoff_id");
    assert_eq!(
        ok(&server, "POST", &format!("/handoffs/{id}/accept"), &json!({ "identity": "Ann" }))["state"],
        "accepted"
    );
    assert_eq!(ok(&server, "GET", &format!("/handoffs/{id}"), &Value::Null)["state"], "accepted");
    stage.assert_sound();
}

#[test]
fn what_a_path_cannot_mean_is_refused() {
    let (stage, server) = served();
    let before = stage.deltas();
    for (method, path, body, status, code) in [
        ("GET", "/tasks?project=shop&limit=many", Value::Null, 400, "query_invalid"),
        ("GET", "/tasks?project=shop&colour=red", Value::Null, 400, "query_unknown"),
        ("GET", "/tasks?project=%00", Value::Null, 400, "query_invalid"),
        (
            "POST",
            "/projects/shop/tasks",
            json!({ "project": "other", "title": "x" }),
            400,
            "input_contradictory",
        ),
        ("GET", "/projects/nowhere", Value::Null, 404, "project_unknown"),
        ("GET", "/projects/..%2f..%2fetc%2fpasswd", Value::Null, 400, "project_invalid"),
        ("PUT", "/projects/shop", Value::Null, 405, "method_not_allowed"),
        ("GET", "/projects/shop/nothing", Value::Null, 404, "route_unknown"),
        ("GET", "/api/v1/events?project=nowhere", Value::Null, 404, "project_unknown"),
        ("GET", "/api/v1/events?colour=red", Value::Null, 400, "query_unknown"),
        ("GET", "/api/v1/events?last_event_id=7", Value::Null, 400, "event_id_invalid"),
    ] {
        let response = ask(&server, method, path, &body, &[]);
        assert_eq!(
            (response.status, &response.json()["code"]),
            (status, &code.into()),
            "{method} {path}: {response:#?}"
        );
        assert_eq!(response.kind, "application/problem+json");
    }
    assert_eq!(stage.deltas(), before);
}

#[test]
fn a_tag_spares_an_answer_and_guards_a_state() {
    let (_stage, server) = served();
    let first = ask(&server, "GET", "/projects/shop", &Value::Null, &[]);
    let tag = first.header("etag").expect("a tag");
    let same = ask(&server, "GET", "/projects/shop", &Value::Null, &[("if-none-match", &tag)]);
    assert_eq!((same.status, same.body.as_str()), (304, ""));
    ok(&server, "PATCH", "/projects/shop", &json!({ "phase": "later" }));
    assert_eq!(ask(&server, "GET", "/projects/shop", &Value::Null, &[("if-none-match", &tag)]).status, 200);

    let lola = caller("Lola", "shop");
    let who = ("baton-caller", lola.as_str());
    let session = text(&ask(&server, "POST", "/sessions", &Value::Null, &[who]).json(), "session_id");
    let path = format!("/sessions/{session}/checkpoint");
    let state = |k: i32| json!({ "summary": "s", "state": { "k": k } });
    let saved = ask(&server, "POST", &path, &state(1), &[who]);
    let tag = saved.header("etag").expect("a tag");
    assert_eq!(ask(&server, "POST", &path, &state(2), &[who, ("if-match", &tag)]).status, 200);
    let stale = ask(&server, "POST", &path, &state(3), &[who, ("if-match", &tag)]);
    assert_eq!((stale.status, &stale.json()["code"]), (412, &"version_conflict".into()), "{stale:#?}");
    let odd = ask(&server, "PATCH", "/projects/shop", &json!({ "phase": "x" }), &[("if-match", "\"v1\"")]);
    assert_eq!((odd.status, &odd.json()["code"]), (400, &"condition_unsupported".into()));

    // The same holds of an operation that is called by its name.
    let path = "/api/v1/ops/session_checkpoint";
    let saved = ask(&server, "POST", path, &state(4), &[who]);
    let tag = saved.header("etag").expect("a tag");
    assert_eq!(ask(&server, "POST", path, &state(5), &[who, ("if-match", &tag)]).status, 200);
    let stale = ask(&server, "POST", path, &state(6), &[who, ("if-match", &tag)]);
    assert_eq!((stale.status, &stale.json()["code"]), (412, &"version_conflict".into()), "{stale:#?}");
    let odd =
        ask(&server, "POST", "/api/v1/ops/project_set", &json!({ "phase": "x" }), &[who, ("if-match", &tag)]);
    assert_eq!((odd.status, &odd.json()["code"]), (400, &"condition_unsupported".into()));
    let twice = json!({ "summary": "s", "expected_version": 99 });
    let odd = ask(&server, "POST", path, &twice, &[who, ("if-match", &tag)]);
    assert_eq!((odd.status, &odd.json()["code"]), (400, &"input_contradictory".into()));
}

#[test]
fn a_key_makes_one_task_of_many_tries() {
    let (stage, server) = served();
    let body = json!({ "title": "Refund" });
    let key = [("idempotency-key", "order-7")];
    let first = ask(&server, "POST", "/projects/shop/tasks", &body, &key).json();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let again = ask(&server, "POST", "/projects/shop/tasks", &body, &key);
                assert_eq!((again.status, again.json()), (201, first.clone()));
            });
        }
    });
    assert_eq!(items(&ok(&server, "GET", "/projects/shop/tasks", &Value::Null)).len(), 1);
    let other = ask(&server, "POST", "/projects/shop/tasks", &json!({ "title": "Pay" }), &key);
    assert_eq!((other.status, &other.json()["code"]), (422, &"request_mismatch".into()));
    let second = json!({ "title": "Pay", "request_id": "order-8" });
    let odd = ask(&server, "POST", "/projects/shop/tasks", &second, &key);
    assert_eq!((odd.status, &odd.json()["code"]), (400, &"input_contradictory".into()));
    stage.assert_sound();
}

#[test]
fn a_key_on_a_call_that_reads_is_answered_and_kept_nowhere() {
    let (stage, server) = served();
    let lola = caller("Lola", "shop");
    let call = |operation: &str, input: &Value, more: &[(&str, &str)]| {
        let headers = [&[("baton-caller", lola.as_str())][..], more].concat();
        let path = format!("/api/v1/ops/{operation}");
        ask(&server, "POST", &path, input, &headers)
    };
    let made = |operation: &str, input: Value| {
        let response = call(operation, &input, &[]);
        assert_eq!(response.status, 200, "{operation}: {response:#?}");
        response.json()
    };
    let session = text(&made("session_start", json!({})), "session_id");
    made("agent_register", json!({ "roles": ["testing"] }));
    let task = text(&made("task_create", json!({ "title": "Refund" })), "id");
    let mail = made("mail_send", json!({ "to": "Donna", "subject": "s", "body": "b", "wait": true }));
    let message = text(&mail, "message_id");
    let handoff = made("handoff_create", json!({ "to_project_id": "lib", "subject": "s" }));
    let handoff = text(&handoff, "handoff_id");
    let hash = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    made("changes_upload", json!({ "content_hash": hash, "part": 0, "content": "eA==" }));
    let changes = json!({ "files": ["a"], "content_hash": hash, "bytes": 1 });
    made("project_set", json!({ "takes_transcripts": true }));
    made("transcript_upload", json!({ "content_hash": hash, "part": 0, "content": "eA==" }));
    let copy =
        json!({ "agent": "claude", "transcript_id": "t1", "events": 1, "content_hash": hash, "bytes": 1 });
    made("transcript_push", json!({ "copy": copy }));
    let wrapped = made("session_wrap", json!({ "summary": "all there is", "changes": changes }));
    let baton = text(&wrapped, "baton_id");
    let shared = text(&made("share_create", json!({ "id": baton })), "secret");

    let everything = || {
        let file = stage.root().join("all.jsonl");
        stage.terminal("Reader").run(&["log", "export", "--overwrite", &file.display().to_string()]).done();
        let rows = std::fs::read_to_string(file).expect("an export");
        rows.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let before = everything();
    let reads =
        |entry: &&baton_ops::op::OperationEntry| entry.tx_mode == TxMode::Read && entry.site == Site::Ledger;
    let key = [("idempotency-key", "one-for-all")];
    let mut count = 0;
    for entry in baton_ops::all::ALL.iter().filter(reads) {
        let input = match entry.name {
            "task_show" | "task_tree" => json!({ "id": task }),
            "mail_read" | "mail_thread" => json!({ "message_id": message }),
            "handoff_show" => json!({ "id": handoff }),
            "baton_show" => json!({ "id": baton }),
            "share_preview" | "thread_show" => json!({ "id": baton }),
            "share_show" => json!({ "secret": shared }),
            "session_show" => json!({ "session": session }),
            "commit_origin" => json!({ "commits": ["a".repeat(40)] }),
            "session_handoff" => json!({ "session": session }),
            "changes_part" => json!({ "baton_id": baton, "part": 0 }),
            "transcript_part" => json!({ "id": "t1", "part": 0 }),
            "agent_show" => json!({ "name": "Lola" }),
            "transcript_unwrapped" => json!({ "conversations": [] }),
            "mail_search" | "project_search" => json!({ "query": "s" }),
            _ => json!({}),
        };
        let (plain, keyed) = (call(entry.name, &input, &[]), call(entry.name, &input, &key));
        assert_eq!((plain.status, keyed.status), (200, 200), "{}: {plain:#?} {keyed:#?}", entry.name);
        let keys = |response: &Response| -> Vec<String> {
            response.json().as_object().into_iter().flat_map(|all| all.keys().cloned()).collect()
        };
        assert_eq!(keys(&plain), keys(&keyed), "{}", entry.name);
        count += 1;
    }
    assert!(count > 30, "all of them: {count}");
    let mut after = everything();
    after.retain(|row| !before.contains(row));
    assert_eq!(after, Vec::<String>::new(), "reading has written");
    // Had one of them been kept, this would be another request under its key.
    let task = call("task_create", &json!({ "title": "Pay" }), &key);
    assert_eq!(task.status, 200, "{task:#?}");
    stage.assert_sound();
}

/// Reads a stream of events.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    pub(crate) fn open(server: &Server, query: &str, headers: &[(&str, &str)]) -> Self {
        let mut stream = TcpStream::connect(&server.address).expect("connected");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("timeout");
        let mut head = format!("GET /api/v1/events{query} HTTP/1.1\r\nhost: {}\r\n", server.address);
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).expect("sent");
        let mut events = Self(BufReader::new(stream));
        let status = events.line();
        assert!(status.contains(" 200 "), "{status}");
        while !events.line().starts_with(": here") {}
        events
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).expect("a line in time") > 0, "the stream ended");
        line.trim_end().to_owned()
    }

    /// Reads until the stream is over.
    pub(crate) fn until_it_ends(&mut self) {
        let begin = Instant::now();
        loop {
            assert!(begin.elapsed() < Duration::from_secs(15), "the stream goes on");
            let mut line = String::new();
            // The last chunk has no bytes.
            if self.0.read_line(&mut line).expect("a line in time") == 0 || line == "0\r\n" {
                return;
            }
        }
    }

    /// The next event: its id and its delta.
    pub(crate) fn next(&mut self) -> (String, Value) {
        let (mut id, mut data) = (None, None);
        let begin = Instant::now();
        loop {
            // A quiet stream shows that it lives, so reading alone does not end.
            assert!(begin.elapsed() < Duration::from_secs(20), "no event came");
            let line = self.line();
            if let Some(text) = line.strip_prefix("id: ") {
                id = Some(text.to_owned());
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = Some(serde_json::from_str(text).expect("JSON"));
            } else if line.is_empty()
                && let (Some(id), Some(data)) = (id.take(), data.take())
            {
                return (id, data);
            }
        }
    }
}

#[test]
fn listeners_hear_every_delta_and_miss_none_while_away() {
    let stage = Stage::ready();
    stage.repo("bank");
    stage.terminal("Owner").within(stage.root().join("bank")).json(&["init"]);
    let server = Server::start(&stage.terminal("Server"));
    let mut events = Events::open(&server, "", &[]);
    let mut shop_only = Events::open(&server, "?project=shop", &[]);
    // What this server writes, and what another process writes.
    ok(&server, "POST", "/projects/bank/notes", &json!({ "text": "one" }));
    stage.terminal("Lola").json(&["note", "two"]);
    let mut heard: Vec<(String, Value)> = (0..2).map(|_| events.next()).collect();
    heard.sort_by_key(|(_, delta)| text(delta, "project_id"));
    let summaries: Vec<String> = heard.iter().map(|(_, delta)| text(delta, "summary")).collect();
    assert_eq!(summaries, ["one", "two"]);
    let (last, delta) = shop_only.next();
    assert_eq!(delta["summary"], "two");
    drop(shop_only);
    for n in 3..6 {
        ok(&server, "POST", "/projects/shop/notes", &json!({ "text": n.to_string() }));
    }
    let mut back = Events::open(&server, "?project=shop", &[("last-event-id", &last)]);
    let missed: Vec<String> = (0..3).map(|_| text(&back.next().1, "summary")).collect();
    assert_eq!(missed, ["3", "4", "5"]);
    // Of all projects: what was written in the meantime comes, even if some of it comes twice.
    let mut all = Events::open(&server, "", &[("last-event-id", &heard[0].0)]);
    let mut wanted = vec!["3", "4", "5"];
    while !wanted.is_empty() {
        let (_, delta) = all.next();
        wanted.retain(|text| delta["summary"] != *text);
    }
}

#[test]
fn from_the_first_token_on_everybody_needs_one() {
    let (stage, server) = served();
    stage.repo("bank");
    stage.terminal("Owner").within(stage.root().join("bank")).json(&["init"]);
    assert_eq!(ask(&server, "GET", "/projects/shop", &Value::Null, &[]).status, 200);
    let made = stage.terminal("Owner").json(&["token", "create", "--scope", "write", "--only", "shop"]);
    let bearer = format!("Bearer {}", text(&made, "token"));
    let reader = stage.terminal("Owner").json(&["token", "create", "--scope", "read"]);
    let reading = format!("Bearer {}", text(&reader, "token"));
    std::thread::sleep(Duration::from_millis(600));
    for path in ["/projects/shop", "/api/v1/events", "/metrics", "/api/v1/projects"] {
        let none = ask(&server, "GET", path, &Value::Null, &[]);
        assert_eq!((none.status, &none.json()["code"]), (401, &"token_invalid".into()), "{path}");
        assert!(none.header("www-authenticate").is_some());
        let wrong = ask(&server, "GET", path, &Value::Null, &[("authorization", "Bearer baton_0")]);
        assert_eq!(wrong.status, 401, "{path}");
    }
    for open in ["/healthz", "/readyz", "/openapi.json"] {
        assert_eq!(ask(&server, "GET", open, &Value::Null, &[]).status, 200, "{open}");
    }
    let with = [("authorization", bearer.as_str())];
    assert_eq!(ask(&server, "GET", "/projects/shop", &Value::Null, &with).status, 200);
    assert_eq!(ask(&server, "GET", "/projects/bank", &Value::Null, &with).status, 404);
    let known = ask(&server, "GET", "/projects", &Value::Null, &with).json();
    assert_eq!(items(&known).iter().map(|p| text(p, "project_id")).collect::<Vec<_>>(), ["shop"]);
    assert_eq!(ask(&server, "GET", "/tokens", &Value::Null, &with).status, 403);
    let note = json!({ "text": "hello" });
    assert_eq!(ask(&server, "POST", "/projects/shop/notes", &note, &with).status, 201);
    assert_eq!(ask(&server, "POST", "/projects/bank/notes", &note, &with).status, 404);
    let read_only = [("authorization", reading.as_str())];
    let refused = ask(&server, "POST", "/projects/shop/notes", &note, &read_only);
    assert_eq!((refused.status, &refused.json()["code"]), (403, &"scope_missing".into()));

    stage.terminal("Owner").json(&["token", "revoke", &text(&made, "token_id")]);
    std::thread::sleep(Duration::from_millis(600));
    assert_eq!(ask(&server, "GET", "/projects/shop", &Value::Null, &with).status, 401, "taken back");
}

#[test]
fn a_token_hears_only_its_own_projects() {
    let (stage, server) = served();
    stage.repo("bank");
    stage.terminal("Owner").within(stage.root().join("bank")).json(&["init"]);
    let made = stage.terminal("Owner").json(&["token", "create", "--scope", "read", "--only", "shop"]);
    let bearer = format!("Bearer {}", text(&made, "token"));
    std::thread::sleep(Duration::from_millis(600));
    let mut events = Events::open(&server, "", &[("authorization", &bearer)]);
    stage.terminal("Owner").json(&["--project", "bank", "note", "secret"]);
    stage.terminal("Owner").json(&["note", "public"]);
    assert_eq!(events.next().1["summary"], "public");
}

#[test]
fn slow_and_silent_clients_do_not_keep_others_waiting() {
    let (_stage, server) = served();
    let mut silent: Vec<TcpStream> =
        (0..200).map(|_| TcpStream::connect(&server.address).expect("connected")).collect();
    for stream in silent.iter_mut().take(100) {
        stream
            .write_all(b"POST /api/v1/ops/session_status HTTP/1.1\r\nhost: localhost\r\ncontent-le")
            .expect("sent");
    }
    let begin = Instant::now();
    assert_eq!(ask(&server, "GET", "/healthz", &Value::Null, &[]).status, 200);
    assert!(begin.elapsed() < Duration::from_secs(5), "others wait");
    // A head that does not come to its end is not waited for forever.
    let stream = &mut silent[0];
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("timeout");
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(begin.elapsed() < Duration::from_secs(29), "the connection stays open");
}

#[test]
fn over_tls_with_a_certificate_of_ones_own() {
    let stage = Stage::ready();
    let made = crate::pem::signed(&["localhost"]);
    let certificate = stage.file("cert.pem", &made.certificate);
    let key = stage.file("key.pem", &made.key);
    let terminal = stage.terminal("Server");
    terminal.refused(
        1,
        "tls_unusable",
        &["serve", "--listen", "127.0.0.1:0", "--tls-cert", &key, "--tls-key", &certificate],
    );
    let server = Server::start_with(&terminal, &["--tls-cert", &certificate, "--tls-key", &key]);
    let mut roots = rustls::RootCertStore::empty();
    let authority = CertificateDer::from_pem_slice(made.authority.as_bytes()).expect("a certificate");
    roots.add(authority).expect("added");
    let config =
        rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
    let name = rustls::pki_types::ServerName::try_from("localhost").expect("a name");
    let connection = rustls::ClientConnection::new(Arc::new(config), name).expect("a client");
    let socket = TcpStream::connect(&server.address).expect("connected");
    let mut stream = rustls::StreamOwned::new(connection, socket);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").expect("sent");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&answer));
}

#[test]
fn what_the_server_did_is_counted() {
    let (_stage, server) = served();
    ok(&server, "GET", "/projects/shop", &Value::Null);
    ask(&server, "GET", "/projects/nowhere", &Value::Null, &[]);
    let text = ask(&server, "GET", "/metrics", &Value::Null, &[]).body;
    for line in [
        "baton_http_requests_total{method=\"GET\",status=\"2xx\"} 1",
        "baton_http_requests_total{method=\"GET\",status=\"4xx\"} 1",
        "baton_event_listeners 0",
    ] {
        assert!(text.lines().any(|l| l == line), "{line} is missing in\n{text}");
    }
}
