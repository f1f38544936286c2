//! Several servers on one database: who does what, what each shows of the others' work, and a database that goes away.

mod clocks;
mod copying;
mod faults;
mod history;
#[path = "../../../../store/tests/engine/proxy.rs"]
mod proxy;
mod redis;

use std::net::ToSocketAddrs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::Events;
use crate::http::{Server, caller, post, request};
use crate::stage::{Stage, items, text};
use crate::webhook::receiver;
use proxy::Proxy;

/// A registered project in a database, and so many servers on it.
fn fleet(count: usize) -> Option<(Stage, Vec<Server>)> {
    let stage = Stage::on_postgres()?;
    stage.terminal("Setup").json(&["init"]);
    let servers = (0..count).map(|n| Server::start(&stage.terminal(&format!("Server{n}")))).collect();
    Some((stage, servers))
}

/// Waits for something that happens by itself.
fn in_time(what: &str, mut f: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !f() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// What a server shows under a name.
fn metric(server: &Server, name: &str) -> Option<u64> {
    let shown = request(&server.address, "GET", "/metrics", b"", &[])?;
    let line =
        shown.body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned))?;
    line.trim().parse().ok()
}

fn duties(server: &Server) -> u64 {
    metric(server, "baton_duties").expect("shown")
}

/// How many duties there are.
const DUTIES: u64 = 7;

#[test]
fn servers_that_start_together_on_an_empty_database_make_its_tables_once() {
    let Some(stage) = Stage::on_postgres() else { return };
    let terminal = stage.terminal("Server");
    let servers: Vec<Server> = std::thread::scope(|scope| {
        let starts: Vec<_> = (0..4).map(|_| scope.spawn(|| Server::start(&terminal))).collect();
        starts.into_iter().map(|start| start.join().expect("it starts")).collect()
    });
    let owner = caller("Owner", "shop");
    let made =
        post(&servers[0].address, "project_init", &json!({ "id": "shop" }), &[("baton-caller", &owner)]);
    assert_eq!(made.expect("an answer").status, 200);
    for server in &servers {
        assert_eq!(items(&server.ok("project_list", &json!({}))).len(), 1);
    }
    stage.assert_sound();
}

#[test]
fn each_duty_is_done_by_one_server_and_taken_over_from_one_that_is_killed() {
    let (url, posts) = receiver(&[200]);
    let Some((stage, mut servers)) = fleet(3) else { return };
    stage.terminal("Lola").json(&["project", "set", "--webhook", &url]);
    let known = stage.deltas();
    let has: Vec<u64> = servers.iter().map(duties).collect();
    assert_eq!(has, [DUTIES, 0, 0], "the first has all, the others stand by");
    servers[1].ok("ledger_note", &json!({ "project": "shop", "identity": "Lola", "text": "before" }));
    while !posts.recv_timeout(Duration::from_secs(30)).expect("posted").body.contains("before") {}
    servers[0].signal("-KILL");
    servers.remove(0);
    for n in 0..5 {
        let note = json!({ "project": "shop", "identity": "Lola", "text": format!("after {n}") });
        servers[n % 2].ok("ledger_note", &note);
    }
    in_time("the duties are taken over", || servers.iter().map(duties).sum::<u64>() == DUTIES);
    let mut ids: Vec<String> = (0..5)
        .map(|_| {
            posts.recv_timeout(Duration::from_secs(30)).expect("posted").headers["baton-effect-id"].clone()
        })
        .collect();
    assert!(posts.recv_timeout(Duration::from_millis(700)).is_err(), "none is posted twice");
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), stage.deltas()), (5, known + 6));
    // One that ends in good order leaves its duties to the other at once.
    let leader = usize::from(duties(&servers[1]) == DUTIES);
    servers[leader].signal("-TERM");
    servers[leader].ended();
    servers.remove(leader);
    in_time("what was laid down is taken up", || duties(&servers[0]) == DUTIES);
}

#[test]
fn work_is_given_out_once_however_many_servers_there_are() {
    let Some((stage, servers)) = fleet(3) else { return };
    stage.terminal("Lola").json(&["agent", "register", "--role", "implementation"]);
    let made: Vec<String> = (0..6)
        .map(|n| {
            let input = json!({ "project": "shop", "identity": "Boss", "title": format!("task {n}"), "agent_role": "implementation" });
            text(&servers[n % 3].ok("task_create", &input), "id")
        })
        .collect();
    let given = |task: &String| {
        let shown = servers[1].ok("task_show", &json!({ "project": "shop", "id": task }));
        shown["task"]["assignee"] == "Lola" || shown["assignee"] == "Lola"
    };
    in_time("a task is given out", || made.iter().any(given));
    std::thread::sleep(Duration::from_secs(3));
    let events = stage
        .ledger("shop")
        .into_iter()
        .filter(|delta| delta.to_string().contains("is given to Lola"))
        .count();
    let mail = items(&stage.terminal("Lola").json(&["mail", "inbox"]));
    let assigned = made.iter().filter(|task| given(task)).count();
    assert!(
        events <= assigned && mail.len() <= assigned,
        "{events} told, {} letters, {assigned} given",
        mail.len()
    );
    stage.assert_sound();
}

#[test]
fn a_listener_hears_what_another_server_wrote_and_goes_on_at_a_third() {
    let Some((_stage, servers)) = fleet(3) else { return };
    let note = |server: &Server, text: &str| {
        server.ok("ledger_note", &json!({ "project": "shop", "identity": "Lola", "text": text }));
    };
    let mut events = Events::open(&servers[1], "?project=shop", &[]);
    note(&servers[0], "one");
    note(&servers[2], "two");
    let (_, first) = events.next();
    let (last, second) = events.next();
    assert_eq!((&first["summary"], &second["summary"]), (&"one".into(), &"two".into()));
    drop(events);
    note(&servers[0], "three");
    note(&servers[1], "four");
    let mut back = Events::open(&servers[2], "?project=shop", &[("last-event-id", &last)]);
    note(&servers[0], "five");
    let missed: Vec<String> = (0..3).map(|_| text(&back.next().1, "summary")).collect();
    assert_eq!(missed, ["three", "four", "five"], "each once, in order");
}

#[test]
fn the_same_request_to_two_servers_at_once_is_done_once() {
    let Some((stage, servers)) = fleet(2) else { return };
    for n in 0..10 {
        let key = format!("key-{n}");
        let who = caller("Lola", "shop");
        let input = json!({ "text": format!("note {n}") });
        let answers: Vec<Value> = std::thread::scope(|scope| {
            let ask = |server: &Server| {
                let headers = [("baton-caller", who.as_str()), ("idempotency-key", key.as_str())];
                let answer = post(&server.address, "ledger_note", &input, &headers).expect("an answer");
                assert_eq!(answer.status, 200, "{answer:#?}");
                answer.json()
            };
            let requests: Vec<_> = servers.iter().map(|server| scope.spawn(move || ask(server))).collect();
            requests.into_iter().map(|one| one.join().expect("answered")).collect()
        });
        assert_eq!(answers[0]["delta_id"], answers[1]["delta_id"]);
    }
    assert_eq!(items(&stage.terminal("Lola").json(&["log", "--kind", "note"])).len(), 10);
}

/// A server behind a proxy to its database.
fn behind_a_proxy(stage: &Stage) -> (Proxy, Server) {
    let proxy = proxy_of(stage.database());
    let url = through(&proxy, stage.database());
    let server = Server::start(&stage.terminal("Proxied").with("BATON_STORE", url));
    (proxy, server)
}

fn place(url: &str) -> &str {
    let rest = url.split_once("://").expect("a URL").1;
    rest.rsplit_once('@').map_or(rest, |(_, rest)| rest).split(['/', '?']).next().expect("a host")
}

fn proxy_of(url: &str) -> Proxy {
    Proxy::before(place(url).to_socket_addrs().expect("an address").next().expect("one"))
}

fn through(proxy: &Proxy, url: &str) -> String {
    url.replacen(place(url), &proxy.address.to_string(), 1)
}

#[test]
fn a_server_outlives_its_database_and_says_when_it_is_back() {
    let Some((stage, _)) = fleet(0) else { return };
    let (proxy, server) = behind_a_proxy(&stage);
    let ready = || request(&server.address, "GET", "/readyz", b"", &[]).expect("an answer").status;
    let note = json!({ "project": "shop", "identity": "Lola", "text": "x" });
    assert_eq!(ready(), 200);
    server.ok("ledger_note", &note);
    let before = stage.deltas();
    for _ in 0..2 {
        proxy.close(true);
        in_time("it says that it is not ready", || ready() == 503);
        let refusal = server.call("ledger_note", &note);
        assert_eq!(
            (refusal.status, &refusal.json()["code"]),
            (503, &"store_unreachable".into()),
            "{refusal:#?}"
        );
        assert_eq!(request(&server.address, "GET", "/healthz", b"", &[]).expect("alive").status, 200);
        proxy.close(false);
        in_time("it is ready again", || ready() == 200);
        server.ok("ledger_note", &note);
    }
    assert_eq!(stage.deltas(), before + 2, "what was refused was not written");
    in_time("it does its duties again", || duties(&server) == DUTIES);
}

/// Writes a note. One whose every try met a cut is refused, and then has not happened: it is asked for again.
fn insist(server: &Server, note: &Value) {
    loop {
        let answer = server.call("ledger_note", note);
        if answer.status == 200 {
            return;
        }
        let refusal = answer.json();
        assert_eq!((answer.status, &refusal["code"]), (503, &"store_unreachable".into()), "{answer:#?}");
        assert!(text(&refusal, "message").ends_with("nothing was saved"), "{answer:#?}");
    }
}

#[test]
fn connections_that_are_cut_all_the_time_lose_and_double_nothing() {
    let Some((stage, _)) = fleet(0) else { return };
    let (proxy, server) = behind_a_proxy(&stage);
    let before = stage.deltas();
    std::thread::scope(|scope| {
        let cutter = scope.spawn(|| {
            for n in 0..20 {
                std::thread::sleep(Duration::from_millis(60));
                let cut = if n % 2 == 0 { proxy::Cut::AfterCommit } else { proxy::Cut::BeforeCommit };
                proxy.cut(cut, 1 + n % 3, false);
            }
        });
        for client in 0..4 {
            let server = &server;
            scope.spawn(move || {
                for n in 0..25 {
                    let note = json!({ "project": "shop", "identity": format!("C{client}"), "text": format!("{client}/{n}") });
                    insist(server, &note);
                }
            });
        }
        cutter.join().expect("no panic");
    });
    let mut texts: Vec<String> =
        stage.ledger("shop").iter().skip(before).map(|delta| delta["body"]["text"].to_string()).collect();
    assert_eq!(texts.len(), 100);
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 100, "each note once");
    proxy.delay(Duration::from_millis(30));
    server.ok("ledger_note", &json!({ "project": "shop", "identity": "Slow", "text": "late" }));
}
