//! What helps with a matter: a message that one begins, a task that is taken back and given to another; and what is not offered at all.

use std::time::{SystemTime, UNIX_EPOCH};

use baton_model::time::rfc3339;
use serde_json::json;

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, items, text};

/// The page as Vera sees it.
fn page_of_vera<'a>(browser: &'a super::Chromium, server: &Server, place: &str) -> Tab<'a> {
    Tab::open_as(browser, &server.address, "Vera", place)
}

/// Sends what the open dialog asks for.
fn send(tab: &Tab<'_>, about: &str, words: &str) {
    tab.fill("About", about);
    tab.fill("Text", words);
    tab.submit();
    tab.until("!document.querySelector('dialog[open]')");
}

#[test]
fn a_message_is_begun_from_whatever_is_about_an_agent() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    for name in ["Ivy", "Jon"] {
        stage.terminal(name).json(&["start"]);
    }
    let server = Server::start(&stage.terminal("Server"));
    let subjects = |name: &str| -> Vec<String> {
        let inbox = stage.terminal(name).json(&["mail", "inbox"]);
        items(&inbox).iter().map(|one| text(one, "subject")).collect()
    };
    let tab = page_of_vera(&browser, &server, "");
    // Both in one working copy are told at once.
    tab.reads("are at work in one working copy");
    tab.press("j");
    tab.press("m");
    tab.until("document.querySelector('dialog[open] h2')?.textContent.startsWith('Write to ')");
    let to = tab.eval("document.querySelector('dialog [name=to]').value.split(', ').sort().join()");
    assert_eq!(to, "Ivy,Jon");
    // A name that nobody has is refused before anybody is written to, and what was typed stays.
    tab.fill("To: names, or role:NAME", "Ivy, Nemo, Jon");
    tab.fill("About", "one copy");
    tab.fill("Text", "take a worktree");
    tab.submit();
    tab.is_told("Nothing was done: nobody called Nemo");
    assert!(!tab.text("dialog[open] .trouble").contains("baton "), "in the words of the page");
    assert!(subjects("Ivy").is_empty(), "nobody was written to");
    tab.fill("To: names, or role:NAME", "Ivy, Jon");
    tab.submit();
    tab.reads("Sent to Ivy and Jon.");
    assert_eq!((subjects("Ivy"), subjects("Jon")), (vec!["one copy".into()], vec!["one copy".into()]));
    // From the list of agents, a session and a project.
    tab.go("agents");
    tab.click_on("[...document.querySelectorAll('main tr')].find((one) => one.innerText.includes('Ivy')).querySelector('button')");
    send(&tab, "lunch", "at noon?");
    tab.go("agents");
    tab.click("Jon");
    tab.reads("Jon’s session");
    tab.click("Write…");
    send(&tab, "the tests", "do they pass?");
    tab.go("project/shop");
    tab.click("Write…");
    tab.fill("To: names, or role:NAME", "ivy");
    send(&tab, "the plan", "as agreed");
    let sorted = |name: &str| {
        let mut found = subjects(name);
        found.sort();
        found
    };
    assert_eq!(sorted("Ivy"), ["lunch", "one copy", "the plan"]);
    assert_eq!(sorted("Jon"), ["one copy", "the tests"]);
    tab.assert_clean();
}

#[test]
fn a_task_that_was_closed_meanwhile_is_neither_taken_back_nor_given_on() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let ned = stage.terminal("Ned");
    ned.json(&["start"]);
    let task = text(&ned.json(&["task", "create", "Flaky test"]), "id");
    for why in ["seed 1", "seed 2", "seed 3"] {
        ned.json(&["task", "claim", &task]);
        ned.json(&["task", "release", &task, "--why", why]);
    }
    ned.json(&["task", "claim", &task]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = page_of_vera(&browser, &server, "");
    tab.click("Take back from Ned…");
    tab.fill("Give it to (empty: anybody, or the router)", "Ned");
    tab.fill("Why", "it hangs");
    ned.json(&["task", "close", &task, "--reason", "seed pinned"]);
    for _ in 0..2 {
        tab.submit();
        tab.is_told("it was closed meanwhile: seed pinned");
    }
    let now = ned.json(&["task", "show", &task]);
    assert_eq!((text(&now, "status"), text(&now, "close_reason")), ("closed".into(), "seed pinned".into()));
    tab.assert_clean();
}

#[test]
fn a_task_that_fails_again_is_taken_back_and_given_to_another() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let rob = stage.terminal("Rob");
    rob.json(&["start"]);
    let task = text(&rob.json(&["task", "create", "Flaky test"]), "id");
    for why in ["seed 1", "seed 2", "seed 3"] {
        rob.json(&["task", "claim", &task]);
        rob.json(&["task", "release", &task, "--why", why]);
    }
    let ned = stage.terminal("Ned");
    ned.json(&["start"]);
    ned.json(&["task", "claim", &task]);
    let server = Server::start(&stage.terminal("Server"));
    let shown = || rob.json(&["task", "show", &task]);
    let tab = page_of_vera(&browser, &server, "");
    tab.click("Take back from Ned…");
    tab.fill("Give it to (empty: anybody, or the router)", "Nemo");
    tab.fill("Why", "it hangs for an hour");
    tab.submit();
    tab.is_told("nobody called Nemo");
    assert_eq!(text(&shown(), "status"), "in_progress", "nothing was written");
    tab.fill("Give it to (empty: anybody, or the router)", "Rob");
    // Who has the task by now is named before it is taken from them.
    let kim = stage.terminal("Kim");
    kim.json(&["start"]);
    for (from, to, name) in [(&ned, &kim, "Kim"), (&kim, &ned, "Ned")] {
        from.json(&["task", "release", &task]);
        to.json(&["task", "claim", &task]);
        tab.submit();
        tab.is_told(&format!("{name} has it now"));
        assert_eq!(text(&shown(), "assignee"), name, "nothing was written");
    }
    tab.submit();
    tab.reads("The task is for Rob.");
    let now = shown();
    assert_eq!((text(&now, "status"), text(&now, "assignee")), ("open".into(), "Rob".into()), "{now:#}");
    let inbox = ned.json(&["mail", "inbox", "--bodies"]).to_string();
    assert!(inbox.contains("it hangs for an hour"), "its agent is told why: {inbox}");
    // On its page it is given to anybody, and closed.
    tab.go(&format!("task/shop/{task}"));
    tab.click("Give to another…");
    tab.submit();
    tab.reads("The task is free, for anybody or the router.");
    assert_eq!(shown()["assignee"], json!(null));
    tab.click("Close…");
    tab.submit();
    tab.reads("The task is closed.");
    tab.reads("Reopen");
    tab.assert_clean();
}

#[test]
fn what_i_hold_is_given_back_on_its_page() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let bob = stage.terminal("Bob");
    bob.json(&["start"]);
    let baton = text(&bob.json(&["wrap", "--summary", "Half done", "--next", "go"]), "delta_id");
    let server = Server::start(&stage.terminal("Server"));
    server.ok("hd_exec", &json!({ "project": "shop", "identity": "Vera", "handoff_id": baton }));
    let tab = page_of_vera(&browser, &server, &format!("baton/shop/{baton}"));
    tab.click("Give back…");
    tab.submit();
    tab.reads("The session has ended.");
    assert_eq!(bob.json(&["batons", "show", &baton])["state"], "open");
    tab.assert_clean();
}

#[test]
fn who_may_only_look_is_offered_no_act() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let bob = stage.terminal("Bob");
    bob.json(&["start"]);
    let task = text(&bob.json(&["task", "create", "Paint the shed"]), "id");
    let baton = text(&bob.json(&["wrap", "--summary", "Half done", "--next", "go"]), "delta_id");
    let session = text(&stage.terminal("Ann").json(&["start"]), "session_id");
    let secret = stage.terminal("Setup").json(&["token", "create", "--scope", "read"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("This server asks for a token");
    tab.fill("Token", &text(&secret, "token"));
    tab.click("Use it");
    tab.reads("Baton from Bob");
    for place in [
        String::new(),
        "agents".into(),
        "batons".into(),
        "project/shop".into(),
        format!("baton/shop/{baton}"),
        format!("task/shop/{task}"),
        format!("session/shop/{session}"),
    ] {
        tab.go(&place);
        let found = tab.eval(
            "[...document.querySelectorAll('main button:not(.copy, .more, .filters *)')].map((one) => one.innerText)\
             .filter((one) => one && !/^(Open|Raw|Text|Rendered|\\d+ new)/.test(one)).join()",
        );
        assert_eq!(found, "", "at {place}");
    }
}

#[test]
fn every_wrong_address_has_a_way_on() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    ann.json(&["start"]);
    ann.json(&["task", "create", "Paint the shed"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "search/", WIDE);
    tab.reads("Write above what you look for.");
    for (place, heading, way) in [
        ("batons/wrong", "Batons", "to pick up"),
        ("handoffs/wrong", "Hand-offs", "offered"),
        ("tasks/shop//wrong", "Tasks", "at work"),
        ("project/%3Cb%3Ex", "There is no such project", "Projects"),
        ("baton/shop/nothing", "There is no such baton", "Batons"),
        ("task/shop/nothing", "There is no such task", "Projects"),
        ("nowhere", "There is nothing at this address", "Go to the inbox"),
    ] {
        tab.go(place);
        tab.until(&format!("document.querySelector('main h1').textContent === {}", json!(heading)));
        tab.until(&format!(
            "[...document.querySelectorAll('main a')].some((one) => one.textContent === {})",
            json!(way)
        ));
    }
    // A board of one role says that there is no other.
    tab.go("project/shop");
    tab.until("document.querySelector('.board [data-task] a')");
    tab.eval("document.querySelector('.board [data-task] a').focus()");
    tab.press(">");
    tab.reads("The board has one role alone");
}

#[allow(clippy::disallowed_methods, reason = "a test reads the clock that the browser reads")]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    i64::try_from(since.as_millis()).expect("a time")
}

#[test]
fn an_instant_is_said_in_the_readers_clock_and_stays_true() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let (lim, vera) = (stage.terminal("Lim"), stage.terminal("Vera"));
    lim.json(&["start"]);
    vera.json(&["agent", "register"]);
    let again = rfc3339(now() + 131 * 60_000);
    let again = format!("{} UTC", again[..16].replace('T', " "));
    let subject = format!("Lim has hit a limit, again at {again}");
    let body = format!("Is \"x\" on? It tries again at {again}.");
    lim.json(&["mail", "send", "--to", "Vera", "--type", "question", "--subject", &subject, "--text", &body]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = page_of_vera(&browser, &server, "");
    tab.reads("Lim waits for your answer");
    tab.until("/again at [^(]*\\d\\d:\\d\\d[^(]*\\(in 2 h( \\d+ min)?\\)/.test(document.querySelector('main .words').innerText)");
    tab.reads("Is \"x\" on?");
    assert!(!tab.text("main").contains("UTC"), "{}", tab.text("main"));
    // It is not that of the moment in which it was drawn.
    tab.eval("document.querySelector('time.spoken').setAttribute('datetime', new Date(Date.now() - 1000).toISOString())");
    tab.until("/just now|s ago/.test(document.querySelector('time.spoken').innerText)");
    tab.assert_clean();
}
