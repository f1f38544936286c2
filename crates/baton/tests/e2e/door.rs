//! Who is let in, for how long, how often; what is told of it; and requests that are wrong in every way.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::{Events, ask, served};
use crate::http::{Response, Server, post, request};
use crate::mcp::client::{Client, OLDER};
use crate::stage::{Stage, text};

/// A token of this scope, and what a request shows of it.
pub(crate) fn token(stage: &Stage, args: &[&str]) -> (String, String) {
    let args: Vec<&str> = ["token", "create"].iter().chain(args).copied().collect();
    let made = stage.terminal("Owner").json(&args);
    (text(&made, "token_id"), format!("Bearer {}", text(&made, "token")))
}

/// Waits until something is so.
pub(crate) fn soon(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_first_token_closes_the_door_at_once() {
    let (stage, server) = served();
    let note = json!({ "project": "shop", "identity": "Nobody", "text": "open" });
    assert_eq!(ask(&server, "POST", "/api/v1/ops/ledger_note", &note, &[]).status, 200, "the local user");
    token(&stage, &["--scope", "read"]);
    assert_eq!(ask(&server, "POST", "/api/v1/ops/ledger_note", &note, &[]).status, 401);
    let made = json!({ "name": "evil", "scope": "operator" });
    assert_eq!(ask(&server, "POST", "/api/v1/ops/token_create", &made, &[]).status, 401);
}

#[test]
fn a_stream_ends_with_the_token_that_opened_it() {
    let (stage, server) = served();
    let (id, bearer) = token(&stage, &["--scope", "read"]);
    let (_, other) = token(&stage, &["--scope", "read"]);
    let (_, short) = token(&stage, &["--scope", "read", "--expires-in", "2s"]);
    std::thread::sleep(Duration::from_millis(600));
    let mut revoked = Events::open(&server, "", &[("authorization", &bearer)]);
    let mut stream = Events::open(&server, "", &[("authorization", &other)]);
    let mut expired = Events::open(&server, "", &[("authorization", &short)]);
    stage.terminal("Owner").json(&["token", "revoke", &id]);
    revoked.until_it_ends();
    expired.until_it_ends();
    stage.terminal("Owner").json(&["note", "hello"]);
    assert_eq!(stream.next().1["summary"], "hello", "another token's stream goes on");
}

#[test]
fn a_watch_over_mcp_ends_with_its_token() {
    let (stage, server) = served();
    let (id, bearer) = token(&stage, &["--scope", "write"]);
    std::thread::sleep(Duration::from_millis(600));
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": OLDER[1], "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let heads = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ];
    let greeted =
        request(&server.address, "POST", "/mcp", hello.to_string().as_bytes(), &heads).expect("an answer");
    let session = greeted.header("mcp-session-id").expect("a session");
    let mut stream = TcpStream::connect(&server.address).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("timeout");
    let head = format!(
        "GET /mcp HTTP/1.1\r\nhost: {}\r\nauthorization: {bearer}\r\naccept: text/event-stream\r\nmcp-session-id: {session}\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("an answer");
    assert!(line.contains(" 200 "), "{line}");
    stage.terminal("Owner").json(&["token", "revoke", &id]);
    let begin = Instant::now();
    let mut rest = Vec::new();
    // The last chunk says that the stream is over; a connection that is kept open would run into the timeout.
    while !rest.ends_with(b"0\r\n\r\n") {
        let mut byte = [0];
        match reader.read(&mut byte) {
            Ok(1) => rest.push(byte[0]),
            _ => break,
        }
    }
    assert!(begin.elapsed() < Duration::from_secs(15), "the stream goes on");
}

/// Many requests in as short a time as can be.
fn all_at_once(ask: &(dyn Fn() -> Response + Sync)) -> Vec<Response> {
    std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..16).map(|_| scope.spawn(|| (0..12).map(|_| ask()).collect::<Vec<_>>())).collect();
        clients.into_iter().flat_map(|client| client.join().expect("no panic")).collect()
    })
}

#[test]
fn a_token_that_asks_too_often_is_told_when_to_come_back() {
    let stage = Stage::ready();
    let server = Server::start_with(&stage.terminal("Server"), &["--rate", "1"]);
    let local = || ask(&server, "GET", "/projects/shop", &Value::Null, &[]);
    assert!((0..40).all(|_| local().status == 200), "the local user is not counted");
    let (_, one) = token(&stage, &["--scope", "read"]);
    let (_, other) = token(&stage, &["--scope", "read"]);
    std::thread::sleep(Duration::from_millis(600));
    let status =
        |bearer: &str| ask(&server, "GET", "/projects/shop", &Value::Null, &[("authorization", bearer)]);
    let refused = all_at_once(&|| status(&one));
    let refused = refused.iter().find(|answer| answer.status == 429).expect("too often");
    assert_eq!(refused.json()["code"], "rate_limited");
    assert!(
        refused.header("retry-after").is_some_and(|seconds| seconds.parse::<u64>().is_ok_and(|s| s >= 1))
    );
    assert_eq!(status(&other).status, 200, "another token is not concerned");
    // The command line waits and comes back.
    let lola = stage.terminal("Lola").with("BATON_SERVER", format!("http://{}", server.address));
    let lola = lola.with("BATON_TOKEN", one.trim_start_matches("Bearer "));
    for _ in 0..3 {
        lola.json(&["status"]);
    }
    // Whoever guesses tokens is held up, too.
    let wrong =
        || ask(&server, "GET", "/projects/shop", &Value::Null, &[("authorization", "Bearer baton_x")]);
    let answers: Vec<u16> = all_at_once(&wrong).iter().map(|answer| answer.status).collect();
    assert!(answers.contains(&401) && answers.contains(&429), "{answers:?}");
    assert_eq!(ask(&server, "GET", "/healthz", &Value::Null, &[]).status, 200);
}

#[test]
fn one_token_does_not_take_the_place_of_the_others() {
    let stage = Stage::ready();
    let server = Server::start_with(&stage.terminal("Server"), &["--rate", "0"]);
    let (_, watcher) = token(&stage, &["--scope", "read"]);
    let (_, other) = token(&stage, &["--scope", "write"]);
    std::thread::sleep(Duration::from_millis(600));
    let head = format!(
        "GET /api/v1/events HTTP/1.1\r\nhost: {}\r\nauthorization: {watcher}\r\n\r\n",
        server.address
    );
    let open = || {
        let mut stream = TcpStream::connect(&server.address).expect("connected");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("timeout");
        stream.write_all(head.as_bytes()).expect("sent");
        let mut status = [0; 12];
        stream.read_exact(&mut status).expect("a status");
        (String::from_utf8_lossy(&status).into_owned(), stream)
    };
    let mut streams: Vec<_> = (0..256).map(|_| open()).collect();
    assert!(streams.iter().all(|(status, _)| status == "HTTP/1.1 200"), "as many as a team needs");
    assert_eq!(open().0, "HTTP/1.1 429");
    let status = |bearer: &str| {
        let answer = ask(&server, "GET", "/projects/shop", &Value::Null, &[("authorization", bearer)]);
        (answer.status, answer.json()["code"].clone())
    };
    assert_eq!(status(&watcher), (429, "open_requests_limited".into()));
    assert_eq!(status(&other).0, 200, "another token is not concerned");
    streams.truncate(10);
    let begin = Instant::now();
    while status(&watcher).0 != 200 {
        assert!(begin.elapsed() < Duration::from_secs(40), "what was closed no longer counts");
        std::thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_key_counts_for_what_belongs_to_no_project() {
    let (_stage, server) = served();
    let lola = json!({ "identity": "Lola", "machine": "m", "folders": ["/srv/bank"] }).to_string();
    let key = [("idempotency-key", "k-1"), ("baton-caller", lola.as_str())];
    let bank = json!({ "id": "bank" });
    let first = ask(&server, "POST", "/api/v1/projects", &bank, &key);
    assert_eq!((first.status, &first.json()["created"]), (201, &json!(true)), "{first:#?}");
    let again = ask(&server, "POST", "/api/v1/projects", &bank, &key);
    assert_eq!((again.status, again.json()), (201, first.json()));
    let tokens = |more: &[(&str, &str)]| {
        let heads = [&[("idempotency-key", "k-2")][..], more].concat();
        ask(&server, "POST", "/api/v1/tokens", &json!({ "scope": "operator" }), &heads)
    };
    let made = tokens(&[]);
    assert_eq!(made.status, 201, "{made:#?}");
    std::thread::sleep(Duration::from_millis(600));
    let bearer = format!("Bearer {}", text(&made.json(), "token"));
    let with = [("authorization", bearer.as_str())];
    let other = tokens(&with);
    assert_eq!(other.status, 201, "who comes with a token is another caller: {other:#?}");
    let again = tokens(&with);
    assert_eq!((again.status, &again.json()["code"]), (409, &"secret_shown_once".into()), "{again:#?}");
}

#[test]
fn a_token_takes_nobodys_place_by_saying_their_name() {
    let (stage, server) = served();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["wrap", "--summary", "half done"]);
    let donna = stage.terminal("Donna");
    let held = donna.json(&["pickup"]);
    let session = text(&held, "session_id");
    let (_, eve) = token(&stage, &["--scope", "write", "--name", "eve"]);
    let (_, own) = token(&stage, &["--scope", "write", "--identity", "Donna", "--name", "donna"]);
    let (_, boss) = token(&stage, &["--scope", "operator", "--name", "boss"]);
    std::thread::sleep(Duration::from_millis(600));
    let post = |bearer: &str, path: &str, body: Value| {
        let answer = ask(&server, "POST", path, &body, &[("authorization", bearer)]);
        (answer.status, answer.json())
    };
    let end = format!("/sessions/{session}/end");
    let named = json!({ "project": "shop", "identity": "Donna" });
    for bearer in [&eve, &boss] {
        let (status, refusal) = post(bearer, &end, named.clone());
        assert_eq!((status, &refusal["code"]), (409, &json!("session_not_yours")), "{refusal:#}");
        let (status, refusal) = post(bearer, "/projects/shop/pickup", json!({ "identity": "Donna" }));
        assert_eq!((status, &refusal["code"]), (403, &json!("identity_not_yours")), "{refusal:#}");
    }
    let forced = json!({ "project": "shop", "force": true, "why": "it hangs" });
    assert_eq!(post(&eve, &end, forced.clone()).0, 403);
    let beat = format!("/sessions/{session}/heartbeat");
    assert_eq!(post(&own, &beat, json!({ "project": "shop" })).0, 200, "its own token");
    assert_eq!(post(&own, "/projects/shop/notes", json!({ "text": "t", "identity": "Lola" })).0, 403);
    let (status, ended) = post(&boss, &end, forced);
    assert_eq!((status, &ended["identity"]), (200, &json!("token:boss")), "{ended:#}");
    let listed = stage.terminal("Owner").text(&["token", "list"]);
    assert!(listed.contains("as Donna") && listed.contains("as token:eve"), "{listed}");
    let release =
        stage.ledger("shop").into_iter().rev().find(|delta| delta["kind"] == "release").expect("released");
    assert_eq!(
        (&release["body"]["released_by"], &release["body"]["why"]),
        (&json!("token:boss"), &json!("it hangs"))
    );
}

/// Takes what a server sends to a collector.
struct Collector {
    address: String,
    spans: Arc<Mutex<Vec<Value>>>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("its address"));
        let spans: Arc<Mutex<Vec<Value>>> = Arc::default();
        let heard = Arc::clone(&spans);
        std::thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let heard = Arc::clone(&heard);
                std::thread::spawn(move || collect(stream, &heard));
            }
        });
        Self { address, spans }
    }

    fn named(&self, name: &str) -> Option<Value> {
        self.spans.lock().expect("no panic").iter().find(|span| span["name"] == name).cloned()
    }
}

fn collect(stream: TcpStream, heard: &Mutex<Vec<Value>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut length, mut line) = (0, String::new());
        let mut first = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
            if first.is_empty() {
                first.clone_from(&line);
            }
            if let Some(text) = line.to_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().expect("a length");
            }
            line.clear();
        }
        let mut body = vec![0; length];
        if length == 0 || reader.read_exact(&mut body).is_err() {
            return;
        }
        assert!(first.starts_with("POST /v1/traces "), "{first}");
        let sent: Value = serde_json::from_slice(&body).expect("JSON");
        let scope = &sent["resourceSpans"][0]["scopeSpans"][0];
        heard.lock().expect("no panic").extend(scope["spans"].as_array().expect("spans").clone());
        let answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
        if reader.get_mut().write_all(answer).is_err() {
            return;
        }
    }
}

#[test]
fn traces_go_to_the_collector_that_the_environment_names() {
    let stage = Stage::ready();
    let collector = Collector::start();
    let terminal = stage.terminal("Server").with("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.address);
    let mut server = Server::start(&terminal);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let parent = format!("00-{trace}-b7ad6b7169203331-01");
    let answer = ask(&server, "GET", "/api/v1/projects/shop", &Value::Null, &[("traceparent", &parent)]);
    assert_eq!(answer.status, 200);
    let unsampled = format!("00-{trace}-b7ad6b7169203331-00");
    ask(&server, "GET", "/api/v1/overview", &Value::Null, &[("traceparent", &unsampled)]);
    ask(&server, "GET", "/healthz", &Value::Null, &[]);
    // What is measured shortly before the end is sent as well.
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0));
    let request = collector.named("GET /api/v1/projects/{project}").expect("the request");
    assert_eq!((&request["traceId"], &request["parentSpanId"]), (&json!(trace), &json!("b7ad6b7169203331")));
    let operation = collector.named("project_show").expect("the operation");
    assert_eq!((&operation["traceId"], &operation["parentSpanId"]), (&json!(trace), &request["spanId"]));
    assert!(collector.named("GET /healthz").is_some_and(|span| span["traceId"] != trace));
    assert_eq!(collector.named("project_overview"), None, "the caller's trace is not sampled");
}

#[test]
fn a_collector_that_is_gone_holds_nobody_up() {
    let stage = Stage::ready();
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address");
    let terminal = stage.terminal("Server").with("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{free}"));
    let mut server = Server::start(&terminal);
    for _ in 0..20 {
        assert_eq!(ask(&server, "GET", "/projects/shop", &Value::Null, &[]).status, 200);
    }
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0));
}

/// One request as bytes, and the status of its answer; none where the connection is closed without one.
fn raw(server: &Server, bytes: &[u8]) -> Option<u16> {
    let mut stream = TcpStream::connect(&server.address).expect("connected");
    stream.set_read_timeout(Some(Duration::from_secs(40))).expect("timeout");
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let line = String::from_utf8_lossy(&answer).lines().next()?.to_owned();
    line.split(' ').nth(1)?.parse().ok()
}

#[test]
fn requests_that_are_wrong_in_themselves_are_refused_and_nothing_is_written() {
    let (stage, server) = served();
    let before = stage.deltas();
    let notes = "/api/v1/projects/shop/notes";
    let large = format!("{{\"text\":\"{}\"}}", "x".repeat(3 * 1024 * 1024));
    let deep = format!("{{\"text\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
    for (body, status, code) in [
        (large.as_str(), 413, "body_too_large"),
        (deep.as_str(), 400, "body_invalid"),
        ("{\"text\":\"a\"", 400, "body_invalid"),
        ("\u{feff}{}", 400, "body_invalid"),
        ("{\"text\":\"a\",\"text\":\"b\"}", 400, "body_invalid"),
        ("{\"text\":12345678901234567890123}", 400, "body_invalid"),
        ("7", 400, "body_invalid"),
        ("null", 400, "body_invalid"),
        ("{\"text\":7}", 400, "input_invalid"),
        ("{\"text\":[\"a\"]}", 400, "input_invalid"),
        ("{\"text\":\"a\",\"text2\":\"b\"}", 400, "input_invalid"),
        ("{\"text\":\"a\\u0000b\"}", 400, "input_invalid"),
    ] {
        let answer = request(&server.address, "POST", notes, body.as_bytes(), &[]).expect("an answer");
        let shown: String = body.chars().take(40).collect();
        assert_eq!((answer.status, &answer.json()["code"]), (status, &code.into()), "{shown}: {answer:#?}");
    }
    let bytes = request(&server.address, "POST", notes, b"{\"text\":\"\xff\xfe\"}", &[]).expect("an answer");
    assert_eq!((bytes.status, &bytes.json()["code"]), (400, &"body_invalid".into()));
    for path in [
        "/projects/../../etc/passwd",
        "/projects/%2e%2e/%2e%2e/etc/passwd",
        "/projects/shop/../bank",
        "/projects//status",
        "/projects/shop%00/status",
        "/projects/%ff%fe/status",
        "/assets/../../secret",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/api/v1/transcripts/%2fetc%2fpasswd",
        "/api/v1/transcripts/..%2f..%2f..%2fetc%2fpasswd/handoff",
    ] {
        let answer = request(&server.address, "GET", path, b"", &[]).expect("an answer");
        assert!(matches!(answer.status, 400 | 404), "{path}: {answer:#?}");
        assert!(!answer.body.contains("root:"), "{path}: {answer:#?}");
    }
    for (bytes, allowed) in [
        (&b"GARBAGE\r\n\r\n"[..], &[400][..]),
        (b"GET / HTTP/9.9\r\n\r\n", &[400, 505]),
        (b"GET http://evil.example/ HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n", &[403]),
        (b"GET / HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n", &[200, 400, 403]),
        (b"POST /api/v1/ops/session_start HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}", &[400]),
        (b"POST /api/v1/ops/session_start HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\nzz\r\n", &[400]),
    ] {
        let status = raw(&server, bytes);
        assert!(status.is_none_or(|status| allowed.contains(&status)), "{status:?}: {}", String::from_utf8_lossy(bytes));
    }
    let mut head = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ".to_vec();
    head.extend(vec![b'a'; 1024 * 1024]);
    assert!(matches!(raw(&server, &head), None | Some(400 | 431)), "a head without an end");
    assert_eq!(stage.deltas(), before);
    assert_eq!(ask(&server, "GET", "/healthz", &Value::Null, &[]).status, 200);
}

#[test]
fn what_was_refused_at_the_door_is_logged_once() {
    let stage = Stage::ready();
    let mut command = stage.terminal("Server").command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::null()).spawn().expect("baton serves");
    let mut lines = BufReader::new(child.stderr.take().expect("stderr")).lines().map_while(Result::ok);
    let address = lines.next().expect("it says where").rsplit_once("://").expect("an address").1.to_owned();
    let evil = [("origin", "https://evil.example")];
    assert_eq!(post(&address, "session_start", &json!({}), &evil).expect("an answer").status, 403);
    assert_eq!(
        post(&address, "session_status", &json!({ "project": "nowhere" }), &[]).expect("an answer").status,
        404
    );
    let pid = child.id().to_string();
    std::process::Command::new("kill").args(["-TERM", &pid]).status().expect("kill runs");
    let log: Vec<String> = lines.collect();
    assert!(child.wait().expect("it ends").success());
    let refused: Vec<&String> = log.iter().filter(|line| line.contains("refused")).collect();
    assert_eq!(refused.len(), 1, "{log:#?}");
    for word in ["/api/v1/ops/session_start", "403", "127.0.0.1"] {
        assert!(refused[0].contains(word), "{word}: {}", refused[0]);
    }
}

#[test]
fn ten_thousand_connections_leave_the_rest_unaffected() {
    let (_stage, server) = served();
    let mut open: Vec<TcpStream> = Vec::new();
    let address = server.address.parse().expect("an address");
    for _ in 0..10_000 {
        // Where the system gives no more, or the server lets no more in, there are as many as there can be.
        let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_secs(2)) else { break };
        let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n");
        open.push(stream);
    }
    assert!(open.len() > 500, "{} connections could be opened", open.len());
    // One that came in before goes on being served; the silent ones are let go of.
    soon("a request is answered", || {
        request(&server.address, "GET", "/readyz", b"", &[]).is_some_and(|answer| answer.status == 200)
    });
    let mut client = Client::web(&server.address, OLDER[0]);
    client.done("session_start", json!({ "project": "shop", "identity": "Lola" }));
}
