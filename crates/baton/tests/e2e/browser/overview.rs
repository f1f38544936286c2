//! A project's page and its tasks: what needs somebody comes first, cards stay where they are, and every task is reached.

use serde_json::json;

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, text};

#[test]
fn cards_stay_under_the_pointer_and_every_task_is_a_link_away() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let task = |title: &str, role: &str, priority: i64| {
        let made = json!({ "project": "shop", "identity": "Lola", "title": title, "agent_role": role, "priority": priority });
        text(&server.ok("task_create", &made), "id")
    };
    let first = task("Task 1", "testing", 2);
    for n in 2..=9 {
        task(&format!("Task {n}"), "testing", 2);
    }
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.reads("4 more ready");
    let place = || {
        tab.eval(&format!("(() => {{ const at = document.querySelector('[data-task=\"{first}\"]').getBoundingClientRect(); return `${{at.left}} ${{at.top + scrollY}}`; }})()"))
    };
    let before = place();
    tab.until("document.querySelector('#live').textContent === 'live'");
    task("Urgent", "testing", 0);
    task("Elsewhere", "implementation", 2);
    tab.until("document.querySelector('#new-cards')?.textContent === '2 new'");
    assert_eq!(place(), before, "nothing moves while one looks");
    // What becomes of a card is seen in its place.
    server.ok("task_claim", &json!({ "project": "shop", "identity": "Lola", "id": first }));
    tab.until(&format!("document.querySelector('[data-task=\"{first}\"]').innerText.includes('at work')"));
    assert_eq!(place(), before);
    tab.press("n");
    tab.reads("Urgent");
    tab.reads("Elsewhere");
    tab.click("4 more ready");
    tab.until("document.querySelector('main h1')?.innerText === 'Tasks'");
    tab.until("document.querySelectorAll('main li.card').length === 9");
    assert!(!tab.text("main ul").contains("Elsewhere"), "only those of the role: {}", tab.text("main"));
    tab.click("all roles");
    tab.reads("Elsewhere");
    tab.click("at work");
    tab.until("document.querySelectorAll('main li.card').length === 1");
    tab.reads("Task 1");
    tab.assert_clean();
}

#[test]
fn what_needs_somebody_stands_above_the_lanes_and_those_of_ended_agents_are_folded() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    for n in 0..12 {
        let who = format!("agent-{n}");
        server.ok("session_start", &json!({ "project": "shop", "identity": who }));
        server.ok("session_end", &json!({ "project": "shop", "identity": who }));
    }
    server.ok("session_start", &json!({ "project": "shop", "identity": "Lola" }));
    server.ok(
        "session_wrap",
        &json!({ "project": "shop", "identity": "Lola", "summary": "for Ann", "to": "Ann" }),
    );
    server.ok("session_start", &json!({ "project": "shop", "identity": "Max" }));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.act_as("Ann");
    tab.go("project/shop");
    tab.reads("For you (1)");
    let page = tab.text("main");
    let place = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words:?} in {page}"));
    assert!(place("For you (1)") < place("The way of the baton"), "{page}");
    let lanes = "document.querySelectorAll('.way svg.names text').length";
    tab.until(&format!("{lanes} === 4"));
    tab.click("10 more agents, whose sessions ended: show their lanes");
    tab.until(&format!("{lanes} === 14"));
    tab.click("Fold the lanes of agents that ended");
    tab.until(&format!("{lanes} === 4"));
    tab.assert_clean();
}

#[test]
fn a_baton_that_one_left_is_withdrawn() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Lola" }));
    let wrap = json!({ "project": "shop", "identity": "Lola", "summary": "Half of the tax", "to": "Ann" });
    let left = text(&server.ok("session_wrap", &wrap), "baton_id");
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.act_as("Lola");
    tab.go("batons");
    let buttons =
        "[...document.querySelectorAll('main .matter button')].map((one) => one.innerText).join(', ')";
    tab.until(&format!("{buttons} === 'Withdraw…, Pick up…'"));
    tab.go(&format!("baton/shop/{left}"));
    tab.click("Withdraw…");
    tab.fill("Why", "done by hand");
    tab.click("Withdraw");
    tab.reads("The baton is withdrawn.");
    tab.until("document.querySelector('main .facts')?.innerText.includes('done by hand')");
    tab.until("![...document.querySelectorAll('main button')].some((one) => one.innerText === 'Pick up…')");
    tab.reads("Half of the tax");
    assert_eq!(server.ok("baton_list", &json!({ "project": "shop" }))["total"], 0);
    tab.assert_clean();
}
