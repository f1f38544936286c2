//! What is seen at a glance: exact totals, what is stuck with the action that helps, every object by its address, and a page
//! that does not move under its reader.

use serde_json::{Value, json};

use super::browser;
use super::tab::{NARROW, Tab, WIDE};
use crate::cross::beside;
use crate::http::Server;
use crate::stage::{Stage, text};

/// Sessions that wrapped, one after the other, each under a name of its own.
fn leave(server: &Server, count: usize) -> Vec<Value> {
    let leave_one = |n: usize| {
        let who = format!("agent-{n}");
        server.ok("session_start", &json!({ "project": "shop", "identity": who }));
        let wrap = json!({ "project": "shop", "identity": who, "summary": format!("Part {n}") });
        server.ok("session_wrap", &wrap)
    };
    (0..count).map(leave_one).collect()
}

#[test]
fn totals_are_exact_and_the_oldest_comes_first_and_the_newest_is_reached() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    leave(&server, 95);
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("Waiting for somebody (95)");
    assert_eq!(tab.text("main .matter h3"), "Baton from agent-0", "the oldest first");
    tab.click("Show more (55 more)");
    tab.click("Show more (15 more)");
    tab.reads("Baton from agent-94");
    assert_eq!(tab.eval("document.querySelectorAll('main .matter').length"), 95);
    tab.go("project/shop");
    tab.reads("Waiting for somebody (95)");
    tab.go("batons");
    tab.reads("95 in all");
    tab.go("batons/spent");
    tab.reads("No baton is in this state.");
    // What is for the one who looks comes first, however young it is.
    server.ok("session_start", &json!({ "project": "shop", "identity": "Donna" }));
    server.ok(
        "session_wrap",
        &json!({ "project": "shop", "identity": "Donna", "summary": "The tax", "to": "Ann" }),
    );
    tab.act_as("Ann");
    tab.go("");
    tab.reads("For you (1)");
    assert_eq!(tab.text("main .matter .words"), "The tax");
    tab.assert_clean();
}

#[test]
fn a_stuck_hand_off_stands_in_the_inbox_with_its_error_and_the_action_that_helps() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let refuses = "http://127.0.0.1:9";
    let lola = stage.terminal("Lola").with("BATON_GITHUB_API", refuses).with("BATON_GITHUB_TOKEN", "t0k");
    lola.run(&[
        "handoff",
        "create",
        "--to",
        "lib",
        "--subject",
        "Round half up",
        "--repo",
        "o/lib",
        "--json",
    ]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", NARROW);
    tab.reads("Needs attention (1)");
    tab.reads("Round half up");
    assert!(!tab.text("main .matter .error").is_empty(), "why it is stuck is said");
    let top = tab.eval("document.querySelector('main .matter').getBoundingClientRect().bottom");
    assert!(top.as_f64().is_some_and(|top| top < 800.0), "above the fold of a phone: {top}");
    // Two keys lead to the action, the third does it: without a name in this browser under that of the server's settings.
    tab.press("j");
    tab.press("x");
    tab.until("document.querySelector('dialog[open] h2').textContent === 'Try now: Round half up'");
    assert_eq!(tab.eval("document.activeElement.value"), "Server");
    tab.press("Enter");
    tab.is_told("Still not through:");
    tab.press("Escape");
    tab.until("!document.querySelector('dialog')");
    // Nothing was done under the name: it is asked for again, and typing replaces it.
    assert_eq!(tab.eval("localStorage.getItem('baton.name')"), Value::Null);
    tab.press("x");
    tab.until("document.activeElement.name === 'identity'");
    tab.type_in("Lola");
    assert_eq!(tab.eval("document.activeElement.value"), "Lola");
    tab.press("Enter");
    tab.is_told("Still not through:");
    tab.assert_clean();
}

#[test]
fn a_hand_off_with_a_description_and_no_packet_says_its_description() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let words = ["--subject", "Round", "--description", "To the **cent**, half up"];
    let made =
        stage.terminal("Lola").json(&[["handoff", "create", "--to", "lib"].as_slice(), &words].concat());
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, &format!("handoff/{}", text(&made, "handoff_id")), WIDE);
    tab.reads("half up");
    assert_eq!(tab.text("main .document strong"), "cent", "a document is rendered");
    assert!(!tab.text("main").contains("carries no"), "{}", tab.text("main"));
    tab.assert_clean();
}

#[test]
fn every_object_is_found_by_its_address_however_many_came_after_it() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let first = leave(&server, 520).swap_remove(0);
    let tab = Tab::open(&browser, &server.address, "search/Part", WIDE);
    tab.go(&format!("session/shop/{}", text(&first, "session_id")));
    tab.reads("agent-0’s session");
    tab.go(&format!("baton/shop/{}", text(&first, "delta_id")));
    tab.reads("The document, as its receiver gets it");
    tab.until("document.querySelector('main h1').textContent === 'Part 0'");
    tab.go("no-such-view/at-all");
    tab.reads("There is nothing at this address");
    tab.assert_clean();
}

#[test]
fn what_happens_behind_a_dialog_is_shown_and_nothing_moves_under_the_reader() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    leave(&server, 30);
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.eval("[...document.querySelectorAll('main .matter a')].find((one) => one.textContent === 'Baton from agent-9').focus()");
    tab.eval("window.scrollTo(0, 700)");
    tab.eval("getSelection().selectAllChildren([...document.querySelectorAll('main .words')].find((one) => one.textContent === 'Part 12'))");
    let take = json!({ "project": "shop", "identity": "Bob", "from_session": text(&leave(&server, 1)[0], "session_id") });
    tab.reads("Waiting for somebody (31)");
    server.ok("hd_exec", &take);
    tab.reads("Waiting for somebody (30)");
    assert_eq!(tab.eval("document.activeElement.textContent"), "Baton from agent-9");
    assert_eq!(tab.eval("getSelection().toString()"), "Part 12");
    assert_eq!(tab.eval("Math.round(scrollY)"), 700);
    // Back leads to where one was.
    tab.until("history.state?.top === 700");
    tab.go("agents");
    tab.eval("history.back()");
    tab.until("document.querySelector('main .matter') && Math.round(scrollY) === 700");
    // What another agent takes while a dialog is open is gone when it closes.
    tab.click_on("document.querySelector('main .matter button')");
    tab.until("document.querySelector('dialog[open]')");
    server.ok("session_start", &json!({ "project": "shop", "identity": "Zoe" }));
    tab.until("document.querySelector('main').innerText.includes('Zoe')");
    tab.press("Escape");
    tab.assert_clean();
}

#[test]
fn a_task_says_what_it_waits_for_and_what_is_asked_of_it() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let make = |fields: Value| {
        let mut input = json!({ "project": "shop", "identity": "Ann" });
        for (key, value) in fields.as_object().expect("fields") {
            input[key] = value.clone();
        }
        text(&server.ok("task_create", &input), "id")
    };
    let ground = make(json!({ "title": "The ground" }));
    let roof = make(
        json!({ "title": "The roof", "deps": [ground], "labels": ["house"], "notes": "Slate", "acceptance_criteria": "No drop inside" }),
    );
    let tab = Tab::open(&browser, &server.address, &format!("task/shop/{roof}"), WIDE);
    for words in ["blocked", "It waits for", "house", "Slate", "No drop inside", "Depends on"] {
        tab.reads(words);
    }
    tab.click(&ground);
    tab.reads("Others depend on it");
    tab.assert_clean();
}

#[test]
fn the_keyboard_reaches_every_view_and_row() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    leave(&server, 3);
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("Baton from agent-2");
    tab.press("j");
    tab.press("j");
    assert_eq!(tab.eval("document.activeElement.textContent"), "Baton from agent-1");
    tab.press("k");
    tab.press("Enter");
    tab.until("document.querySelector('main h1').textContent === 'Part 0'");
    for (key, title) in
        [("a", "Agents"), ("b", "Batons"), ("h", "Hand-offs"), ("p", "Projects"), ("i", "Inbox")]
    {
        tab.press("g");
        tab.press(key);
        tab.until(&format!("document.querySelector('main h1').textContent === {}", json!(title)));
    }
    tab.press("?");
    tab.reads("next and previous row");
    tab.press("Escape");
    tab.until("!document.querySelector('dialog')");
    tab.assert_clean();
}
