//! The server: the same rules over HTTP, many clients at once, and its end.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::http::{Server, caller, post, request};
use crate::stage::{Stage, assert_fields, items, text};

fn served() -> (Stage, Server) {
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    (stage, server)
}

#[test]
fn the_main_job_over_http_and_the_command_line_on_one_store() {
    let (stage, server) = served();
    let health = request(&server.address, "GET", "/healthz", b"", &[]).expect("healthy");
    assert_eq!((health.status, &health.json()["status"]), (200, &"ok".into()));

    let packet = "{ \"summary\" : \"über HTTP\",\n\t\"n\": 1.50 }\n";
    let lola = caller("Lola", "shop");
    let call = |operation: &str, input: Value| {
        post(&server.address, operation, &input, &[("baton-caller", &lola)]).expect("an answer")
    };
    let started = call("session_start", json!({})).json();
    assert_fields(&started, "session_id project_id identity delta_id");
    assert_eq!(started["identity"], "Lola");
    assert_eq!(
        stage.terminal("X").json(&["status"])["sessions"][0]["identity"],
        "Lola",
        "the command line sees it"
    );
    let wrapped = call("session_wrap", json!({ "packet": packet })).json();
    let picked = stage.terminal("Donna").json(&["pickup"]);
    assert_eq!(picked["baton"]["delta_id"], wrapped["delta_id"]);
    assert_eq!(picked["baton"]["body"], packet);

    // And the other way round, with a signal that is delivered once.
    stage.terminal("Donna").json(&["signal", "send", "--to", "Ann", "look"]);
    stage.terminal("Donna").json(&["wrap", "--summary", "from the command line"]);
    let ann = server.ok("hd_exec", &json!({ "project": "shop", "identity": "Ann" }));
    assert_eq!(ann["baton"]["summary"], "from the command line");
    assert_eq!(ann["pending_signals"].as_array().map(Vec::len), Some(1));
    // It is marked once the answer has been written, which is a moment after we have read it.
    let gone = || items(&stage.terminal("Ann").json(&["signal", "pending"])).is_empty();
    assert!(
        (0..100).any(|_| gone() || {
            std::thread::sleep(Duration::from_millis(20));
            false
        }),
        "delivered"
    );
    stage.assert_sound();
}

#[test]
fn a_no_is_a_problem_with_its_status_and_code() {
    let (stage, server) = served();
    let before = stage.deltas();
    for (status, code, operation, body, headers) in [
        (404, "project_unknown", "session_start", r#"{"project":"nowhere"}"#, &[][..]),
        (404, "no_session", "session_wrap", r#"{"project":"shop","identity":"Lola","summary":"x"}"#, &[]),
        (400, "identity_invalid", "session_start", r#"{"project":"shop","identity":"a\nb"}"#, &[]),
        (400, "body_invalid", "session_start", "{", &[]),
        (400, "input_invalid", "session_start", r#"{"project":7}"#, &[]),
        (400, "input_invalid", "session_start", r#"{"project":"shop","surprise":1}"#, &[]),
        (400, "body_invalid", "session_start", "[]", &[]),
        (400, "caller_invalid", "session_start", "{}", &[("baton-caller", "{")]),
        (404, "operation_unknown", "session_strat", "{}", &[]),
        (403, "origin_refused", "session_start", "{}", &[("origin", "https://evil.example")]),
        (403, "origin_refused", "session_start", "{}", &[("origin", "null")]),
        (403, "origin_refused", "session_start", "{}", &[("host", "evil.example")]),
    ] {
        let path = format!("/api/v1/ops/{operation}");
        let response = request(&server.address, "POST", &path, body.as_bytes(), headers).expect("an answer");
        let problem = response.json();
        assert_eq!(
            (response.status, &problem["code"]),
            (status, &code.into()),
            "{operation} {body}: {response:#?}"
        );
        assert_eq!(response.kind, "application/problem+json", "{response:#?}");
        assert_fields(&problem, "type title status code hint");
        assert_eq!(problem["status"], status);
    }
    server.ok("session_start", &json!({ "project": "shop", "identity": "Lola" }));
    let claimed = server.call("session_start", &json!({ "project": "shop", "identity": "lola" }));
    assert!(matches!(claimed.status, 200 | 409), "{claimed:#?}");
    let ok = request(
        &server.address,
        "POST",
        "/api/v1/ops/session_status",
        br#"{"project":"shop"}"#,
        &[("origin", &format!("http://{}", server.address)), ("content-type", "application/json")],
    );
    assert_eq!(ok.expect("an answer").status, 200, "the page of this server may");
    assert_eq!(
        request(&server.address, "GET", "/healthz", b"", &[("host", "evil.example")])
            .expect("an answer")
            .status,
        403
    );
    assert_eq!(
        request(&server.address, "GET", "/api/v1/ops/session_start", b"", &[]).expect("an answer").status,
        405
    );
    assert_eq!(stage.deltas(), before + 1);
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let (stage, server) = served();
    let packet = format!("{{\"summary\":\"{}\"}}", "x".repeat(300 * 1024));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Lola" }));
    let before = stage.deltas();
    let response =
        server.call("session_wrap", &json!({ "project": "shop", "identity": "Lola", "packet": packet }));
    assert_eq!((response.status, &response.json()["code"]), (400, &"packet_too_large".into()));
    let flood = format!("{{\"summary\":\"{}\"}}", "x".repeat(3 * 1024 * 1024));
    let response = server.call("session_wrap", &json!({ "project": "shop", "packet": flood }));
    assert_eq!(response.status, 413, "{response:#?}");
    assert_eq!(response.kind, "application/problem+json");
    assert_fields(&response.json(), "code hint status");
    assert_eq!(stage.deltas(), before);
}

/// What clients under way are told, and how many cycles they have finished.
#[derive(Default)]
struct Load {
    stop: AtomicBool,
    cycles: AtomicUsize,
}

/// Many clients, each in a project of its own, wrap and pick up; returns the packets that were acknowledged by project.
fn clients(
    server: &Server,
    count: usize,
    rounds: usize,
    load: &Load,
) -> Vec<(String, Vec<(String, String)>)> {
    let answers = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for client in 0..count {
            let (answers, address) = (&answers, server.address.as_str());
            scope.spawn(move || {
                let project = format!("client-{client}");
                let mut own = Vec::new();
                for round in 0..rounds {
                    if load.stop.load(Ordering::Relaxed)
                        || cycle(address, &project, round, &mut own).is_none()
                    {
                        break;
                    }
                    load.cycles.fetch_add(1, Ordering::Relaxed);
                }
                answers.lock().expect("no panic").push((project, own));
            });
        }
    });
    answers.into_inner().expect("no panic")
}

/// start → wrap → pickup → end; `None` when the server is gone.
fn cycle(address: &str, project: &str, round: usize, acknowledged: &mut Vec<(String, String)>) -> Option<()> {
    let giver = caller(&format!("Giver{round}"), project);
    let taker = caller(&format!("Taker{round}"), project);
    let call = |who: &str, operation: &str, input: Value| {
        let response = post(address, operation, &input, &[("baton-caller", who)])?;
        assert_eq!(response.status, 200, "{operation}: {response:#?}");
        Some(response.json())
    };
    if round == 0 {
        call(&giver, "project_init", json!({ "id": project }))?;
    }
    call(&giver, "session_start", json!({}))?;
    let packet = format!("{{\"summary\": \"round {round} of {project}\"}}");
    let wrapped = call(&giver, "session_wrap", json!({ "packet": packet }))?;
    acknowledged.push((text(&wrapped, "delta_id"), packet.clone()));
    let picked = call(&taker, "hd_exec", json!({}))?;
    assert_eq!(picked["baton"]["body"], packet.as_str());
    call(&taker, "session_end", json!({}))?;
    Some(())
}

/// Fails unless every acknowledged wrap is in the store.
fn assert_kept(stage: &Stage, acknowledged: &[(String, Vec<(String, String)>)]) {
    for (project, own) in acknowledged.iter().filter(|(_, own)| !own.is_empty()) {
        let ledger = stage.ledger(project);
        for (delta_id, packet) in own {
            let delta = ledger.iter().find(|delta| delta["delta_id"] == delta_id.as_str());
            assert_eq!(delta.map(|d| &d["body"]), Some(&packet.as_str().into()), "{project} lost {delta_id}");
        }
    }
    stage.assert_sound();
}

#[test]
fn thirty_two_clients_wrap_and_pick_up() {
    let (stage, mut server) = served();
    let acknowledged = clients(&server, 32, 3, &Load::default());
    assert!(acknowledged.iter().all(|(_, own)| own.len() == 3), "{acknowledged:#?}");
    assert_kept(&stage, &acknowledged);
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0));
}

#[test]
fn one_of_thirty_two_clients_gets_the_baton() {
    let (stage, server) = served();
    server.ok("session_start", &json!({ "project": "shop", "identity": "Lola" }));
    server.ok("session_wrap", &json!({ "project": "shop", "identity": "Lola", "summary": "one for all" }));
    let answers = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for n in 0..32 {
            let (answers, server) = (&answers, &server);
            scope.spawn(move || {
                let response =
                    server.call("hd_exec", &json!({ "project": "shop", "identity": format!("P{n}") }));
                answers.lock().expect("no panic").push((response.status, response.json()["code"].clone()));
            });
        }
    });
    let answers = answers.into_inner().expect("no panic");
    assert_eq!(answers.iter().filter(|(status, _)| *status == 200).count(), 1, "{answers:?}");
    let refused = answers.iter().filter(|(status, code)| *status == 409 && code == "baton_claimed");
    assert_eq!(refused.count(), 31, "{answers:?}");
    stage.assert_sound();
}

/// Stops a server under load; afterwards everything that it acknowledged is there.
fn stopped_under_load(signal: &str) -> Option<i32> {
    let (stage, mut server) = served();
    let load = Load::default();
    let acknowledged = std::thread::scope(|scope| {
        let work = scope.spawn(|| clients(&server, 8, 1_000, &load));
        let until = Instant::now() + Duration::from_secs(60);
        // How soon the first cycles end depends on what else this machine does.
        while load.cycles.load(Ordering::Relaxed) < 8 && Instant::now() < until && !work.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
        server.signal(signal);
        work.join().expect("the clients end")
    });
    assert!(acknowledged.iter().any(|(_, own)| !own.is_empty()), "there was load");
    let code = server.ended();
    assert_kept(&stage, &acknowledged);
    code
}

#[test]
fn a_server_that_is_told_to_stop_finishes_what_it_accepted() {
    assert_eq!(stopped_under_load("-TERM"), Some(0));
}

#[test]
fn a_killed_server_loses_nothing_that_it_acknowledged() {
    assert_eq!(stopped_under_load("-KILL"), None);
}

#[test]
fn the_command_line_writes_beside_a_busy_server() {
    let (stage, server) = served();
    let load = Load::default();
    std::thread::scope(|scope| {
        let work = scope.spawn(|| clients(&server, 4, 1_000, &load));
        let lola = stage.terminal("Lola");
        lola.json(&["start"]);
        for n in 0..10 {
            lola.json(&["note", &format!("note {n}")]);
        }
        load.stop.store(true, Ordering::Relaxed);
        assert_kept(&stage, &work.join().expect("the clients end"));
    });
    assert_eq!(items(&stage.terminal("Lola").json(&["log", "--kind", "note"])).len(), 10);
}

#[test]
fn a_server_does_not_start_where_it_cannot_serve() {
    let (stage, server) = served();
    let lola = stage.terminal("Lola");
    lola.refused(1, "listen_failed", &["serve", "--listen", &server.address]);
    lola.refused(1, "listen_invalid", &["serve", "--listen", "here"]);
    lola.refused(1, "listen_without_token", &["serve", "--listen", "0.0.0.0:0"]);
    let bad = stage.file("garbage.db", vec![b'x'; 4096]);
    lola.refused(1, "store_corrupt", &["--store", &bad, "serve", "--listen", "127.0.0.1:0"]);
}

#[test]
fn a_client_that_dawdles_does_not_keep_a_server_from_ending() {
    let (_stage, mut server) = served();
    let mut half = TcpStream::connect(&server.address).expect("connected");
    half.write_all(
        b"POST /api/v1/ops/session_start HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{",
    )
    .expect("sent");
    let idle = TcpStream::connect(&server.address).expect("connected");
    std::thread::sleep(Duration::from_millis(100));
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0));
    drop((half, idle));
}
