//! Nothing there, no server, no right, very much there; narrow and wide.

use serde_json::{Value, json};

use super::browser;
use super::tab::{Look, NARROW, Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, text};

#[test]
fn without_a_project_the_page_says_how_to_begin() {
    let Some(browser) = browser() else { return };
    let stage = Stage::new();
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", NARROW);
    tab.reads("No project yet");
    tab.reads("baton init");
    stage.terminal("Setup").json(&["init"]);
    tab.reads("Nothing waits.");
    tab.reads("Nobody is at work.");
    tab.go("project/shop");
    for empty in ["No session yet.", "Nothing waits.", "No tasks."] {
        tab.reads(empty);
    }
    tab.go("project/nowhere");
    tab.reads("There is no such project");
    tab.until("document.querySelector('main [role=alert] p')");
    tab.assert_fits();
}

#[test]
fn a_server_that_is_gone_is_said_and_its_return_is_noticed() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let mut server = Server::start(&stage.terminal("Server"));
    let address = server.address.clone();
    let tab = Tab::open(&browser, &address, "", WIDE);
    tab.until("document.querySelector('#live').textContent === 'live'");
    server.signal("-TERM");
    server.ended();
    tab.until("document.querySelector('#live').textContent === 'no connection'");
    tab.reads("Nobody is at work.");
    tab.go("project/shop");
    tab.reads("The server does not answer.");
    stage.terminal("Lola").json(&["start"]);
    let _again = Server::start_at(&stage.terminal("Server"), &address, &[]);
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.reads("The way of the baton");
    tab.until("document.querySelector('svg .stint')");
}

#[test]
fn a_server_with_tokens_asks_for_one_and_remembers_it() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let token = stage.terminal("Setup").json(&["token", "create", "--scope", "read"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("This server asks for a token");
    tab.fill("Token", "not-one");
    tab.click("Use it");
    tab.is_told("This token opens nothing here");
    tab.fill("Token", &text(&token, "token"));
    tab.click("Use it");
    tab.reads("Nobody is at work.");
    tab.until("document.querySelector('#live').textContent === 'live'");
    stage.terminal("Lola").json(&["start"]);
    tab.reads("At work (1)");
    // A token that may only read is offered nothing to write.
    tab.go("project/shop");
    tab.reads("Ledger");
    tab.until("![...document.querySelectorAll('main button')].some((one) => one.innerText === 'New task')");
}

/// Calls that fill a project, by several clients at once.
fn fill(server: &Server, each: &(dyn Fn(usize) -> Vec<(&'static str, Value)> + Sync), count: usize) {
    std::thread::scope(|scope| {
        for part in 0..8 {
            scope.spawn(move || {
                for n in (part..count).step_by(8) {
                    for (operation, input) in each(n) {
                        server.ok(operation, &input);
                    }
                }
            });
        }
    });
}

#[test]
fn two_thousand_sessions_and_five_thousand_tasks_are_still_a_page() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let session = |n: usize| {
        let who = format!("agent-{}-with-a-rather-long-name", n % 40);
        let start = json!({ "project": "shop", "identity": who });
        let wrap = json!({ "project": "shop", "identity": who, "summary": format!("Stint {n}: {}", "word ".repeat(n % 50)) });
        vec![("session_start", start), ("session_wrap", wrap)]
    };
    // One after the other for each identity: eight clients divide forty names without sharing one.
    fill(&server, &session, 2000);
    let task = |n: usize| {
        let role = ["fixing", "implementation", "testing", "verification"][n % 4];
        vec![(
            "task_create",
            json!({ "project": "shop", "identity": "Ann", "title": format!("Task {n} {}", "x".repeat(n % 90)), "agent_role": role }),
        )]
    };
    fill(&server, &task, 5000);
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.click_on("document.querySelector('main button[aria-expanded=false]')");
    tab.until("document.querySelectorAll('svg .stint').length >= 60");
    for look in [WIDE, NARROW, Look { width: 2560, dark: true }] {
        tab.look(look);
        for place in ["", "project/shop", "search/stint", "search/Task"] {
            tab.go(place);
            tab.assert_fits();
            let elements = tab.eval("document.querySelectorAll('*').length").as_i64().unwrap_or_default();
            assert!(elements < 6_000, "{place}: {elements} elements");
        }
    }
    tab.assert_clean();
}

#[test]
fn no_view_is_wider_than_a_phone() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    for place in super::axe::views(&stage, &server) {
        let tab = Tab::open(&browser, &server.address, &place, NARROW);
        tab.assert_fits();
        tab.look(Look { width: 2000, dark: true });
        tab.assert_fits();
        // What is not there is a 404, which browsers write down as an error.
        if place != "project/nowhere" {
            tab.assert_clean();
        }
    }
}
