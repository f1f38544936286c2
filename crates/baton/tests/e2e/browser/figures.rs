//! The page, measured: requests and bytes of the first view, what an event costs, how soon a key is answered.
//!
//! `BATON_TEST_FIGURES` names a file for the table; `BATON_TEST_SESSIONS` says among how many sessions it is measured.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, env, text};

/// How long the page is measured under events, in seconds.
const SECONDS: u32 = 8;
/// Events in a second.
const RATE: u32 = 20;

/// Wraps of as many sessions as are asked for; the first one.
fn fill(server: &Server) -> Value {
    let count: usize = env("BATON_TEST_SESSIONS").and_then(|text| text.parse().ok()).unwrap_or(60);
    let wrap = |n: usize| {
        let who = format!("agent-{n}");
        server.ok("session_start", &json!({ "project": "shop", "identity": who }));
        server.ok(
            "session_wrap",
            &json!({ "project": "shop", "identity": who, "summary": format!("Part {n}") }),
        )
    };
    let first = wrap(0);
    std::thread::scope(|scope| {
        for part in 1..5 {
            scope.spawn(move || (part..count).step_by(4).for_each(|n| drop(wrap(n))));
        }
    });
    first
}

/// Writes notes and checkpoints at the rate, until it is told to stop.
fn storm(server: &Server, project: &str, stop: &AtomicBool) {
    server.ok("session_start", &json!({ "project": project, "identity": "Storm" }));
    let begin = Instant::now();
    for n in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let note = json!({ "project": project, "identity": "Storm", "text": format!("Event {n}") });
        let checkpoint = json!({ "project": project, "identity": "Storm", "summary": format!("Event {n}") });
        match n % 4 {
            0 => server.ok("session_checkpoint", &checkpoint),
            _ => server.ok("ledger_note", &note),
        };
        let next = begin + Duration::from_secs(1) * (n + 1) / RATE;
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    server.ok("session_end", &json!({ "project": project, "identity": "Storm" }));
}

/// What was measured under events: requests a second, share of the main thread, 95th percentile from key to paint.
struct Load {
    requests: f64,
    busy: f64,
    key_ms: f64,
}

fn measure(tab: &Tab<'_>, server: &Server, project: &str) -> Load {
    tab.eval(
        "window.paints = []; addEventListener('keydown', (event) => requestAnimationFrame(() => setTimeout(() => \
         window.paints.push(performance.now() - event.timeStamp))), true); null",
    );
    let stop = AtomicBool::new(false);
    let mut load = Load { requests: 0.0, busy: 0.0, key_ms: 0.0 };
    std::thread::scope(|scope| {
        scope.spawn(|| storm(server, project, &stop));
        std::thread::sleep(Duration::from_secs(1));
        let (before, busy, begin) = (tab.requests(), tab.busy_seconds(), Instant::now());
        while begin.elapsed() < Duration::from_secs(SECONDS.into()) {
            tab.press("j");
            std::thread::sleep(Duration::from_millis(150));
        }
        let seconds = begin.elapsed().as_secs_f64();
        load.busy = (tab.busy_seconds() - busy) / seconds;
        load.requests = f64::from(u32::try_from(tab.requests() - before).unwrap_or(u32::MAX)) / seconds;
        stop.store(true, Ordering::Relaxed);
    });
    let paints = tab.eval("window.paints.sort((a, b) => a - b)[Math.floor(window.paints.length * 0.95)]");
    load.key_ms = paints.as_f64().expect("keys were answered");
    load
}

#[test]
fn the_figures_of_the_page() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let first = fill(&server);
    let depot = stage.repo("depot");
    stage.terminal("Setup").within(&depot).json(&["init"]);
    let mut table = String::from("| measured | value |\n| --- | --- |\n");
    let mut row = |what: &str, value: String| writeln!(table, "| {what} | {value} |").expect("written");

    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.until("document.querySelector('#live').textContent === 'live'");
    let (requests, bytes) = (tab.requests(), tab.received());
    row("first view: requests, bytes", format!("{requests}, {bytes}"));
    assert!(requests <= 4 && bytes <= 60_000, "{requests} requests, {bytes} bytes");

    tab.go("project/shop");
    tab.eval("document.querySelector('main a').focus(), window.scrollTo(0, 200)");
    tab.eval("getSelection().selectAllChildren(document.querySelector('main h1'))");
    let load = measure(&tab, &server, "shop");
    row(
        "20 events a second: requests a second, main thread, key to paint p95",
        format!("{:.1}, {:.1} %, {:.0} ms", load.requests, load.busy * 100.0, load.key_ms),
    );
    assert!(load.requests <= 2.0, "{} requests a second", load.requests);
    assert_eq!(tab.eval("getSelection().toString()"), "shop", "the selection stays");

    tab.go("project/depot");
    let other = measure(&tab, &server, "shop");
    row("events of another project: requests a second", format!("{:.1}", other.requests));
    assert!(other.requests < 0.05, "{} requests a second for nothing", other.requests);

    let place = format!("baton/shop/{}", text(&first, "delta_id"));
    let before = tab.received();
    let begin = Instant::now();
    tab.go(&place);
    tab.until("document.querySelector('main h1').textContent === 'Part 0' && document.querySelector('main .document')");
    let (millis, bytes) = (begin.elapsed().as_millis(), tab.received() - before);
    let nodes = tab.eval("document.querySelectorAll('*').length").as_i64().expect("a number");
    row("a baton by its address: ms, bytes, nodes", format!("{millis}, {bytes}, {nodes}"));
    assert!(bytes < 20_000 && nodes < 1_500, "{bytes} bytes, {nodes} nodes");
    tab.assert_clean();
    if let Some(file) = env("BATON_TEST_FIGURES") {
        std::fs::write(file, table).expect("the table is written");
    }
}
