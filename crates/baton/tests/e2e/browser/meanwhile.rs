//! What others do while a dialog is open, and what a deed leaves for later.

use serde_json::json;

use super::browser;
use super::tab::{SUBMIT, Tab, WIDE};
use crate::cross::beside;
use crate::http::Server;
use crate::stage::{Stage, text};

/// A question of Lola's to Ann; its id.
fn question(stage: &Stage) -> String {
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    stage.terminal("Ann").json(&["agent", "register"]);
    let sent = lola.json(&[
        "mail",
        "send",
        "--to",
        "Ann",
        "--type",
        "question",
        "--subject",
        "Drop the table?",
        "--text",
        "Yes or no?",
    ]);
    text(&sent, "message_id")
}

/// The inbox as Ann sees it.
fn inbox_of_ann(tab: &Tab<'_>) {
    tab.act_as("Ann");
    tab.go("agents");
    tab.go("");
}

#[test]
fn a_pickup_leaves_a_question_in_the_inbox_that_it_does_not_show() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    question(&stage);
    stage.terminal("Lola").json(&["wrap", "--to", "Ann", "--summary", "Half done", "--next", "go"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    inbox_of_ann(&tab);
    tab.reads("For you (2)");
    tab.click("Pick up…");
    tab.until(&format!("{SUBMIT}?.innerText === 'Pick up'"));
    tab.submit();
    tab.reads("1 message to you waits in the inbox.");
    tab.reads("Ann’s session");
    // One's own session is given back on its page, long after Undo.
    tab.click("End…");
    tab.submit();
    tab.reads("The session has ended.");
    tab.go("");
    tab.reads("For you (2)");
    tab.reads("Lola waits for your answer");
    tab.assert_clean();
}

#[test]
fn a_question_is_answered_under_its_words_and_not_twice_unawares() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let id = question(&stage);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    inbox_of_ann(&tab);
    tab.reads("For you (1)");
    tab.click("Reply…");
    tab.until("document.querySelector('dialog[open]')?.innerText.includes('Yes or no?')");
    tab.fill("Text", "yes");
    stage.terminal("Ann").json(&["mail", "send", "--reply-to", &id, "--text", "no, do not"]);
    tab.eval("document.querySelector('dialog textarea').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true }))");
    tab.is_told("Ann has written meanwhile: “no, do not”");
    let inbox =
        |of: &str| stage.terminal(of).json(&["mail", "inbox"])["items"].as_array().map_or(0, Vec::len);
    assert_eq!(inbox("Lola"), 1, "nothing was sent yet");
    tab.submit();
    tab.until("!document.querySelector('dialog')");
    assert_eq!(inbox("Lola"), 2, "who was told may send it all the same");
    tab.assert_clean();
}

#[test]
fn what_was_left_anew_meanwhile_is_told_before_it_is_sent_twice() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let lola = stage.terminal("Lola");
    let create = || lola.json(&["handoff", "create", "--to", "lib", "--subject", "Round half up"]);
    let id = text(&create(), "handoff_id");
    stage.terminal("Olga").json(&["handoff", "decline", &id, "--why", "no time"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, &format!("handoff/{id}"), WIDE);
    tab.click("Leave anew…");
    tab.fill("Your name", "Lola");
    create();
    tab.submit();
    tab.is_told("Sent already");
    let sent = || lola.json(&["handoff", "list"])["items"].as_array().map_or(0, Vec::len);
    assert_eq!(sent(), 2, "nothing was sent yet");
    tab.submit();
    tab.reads("The hand-off is offered.");
    assert_eq!(sent(), 3);
    tab.assert_clean();
}

#[test]
fn an_agent_that_came_back_is_not_reassigned_unawares() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    // Silent for the dialog, and heard of again before the button.
    let kim = stage.terminal("Kim");
    let session = text(&kim.json(&["start"]), "session_id");
    stage.terminal("Zoe").json(&["agent", "register"]);
    let server = Server::start(&stage.terminal("Server").with("BATON_LIVE_AFTER", "6s"));
    std::thread::sleep(std::time::Duration::from_millis(6200));
    let tab = Tab::open_as(&browser, &server.address, "Boss", &format!("session/shop/{session}"));
    tab.click("Reassign…");
    tab.until("document.querySelector('dialog[open] .document')");
    assert_eq!(tab.text("dialog[open] p.error"), "", "Kim is silent by now");
    tab.fill("To: a name or a tool", "Zoe");
    kim.json(&["checkpoint", "--summary", "BACK"]);
    tab.submit();
    tab.is_told("Kim is at work again");
    assert!(kim.json(&["status"])["sessions"].to_string().contains("Kim"), "nothing was sent");
    tab.submit();
    tab.reads("The baton waits for Zoe.");
}

#[test]
fn what_another_has_by_now_is_completed_in_their_place_only_once_that_was_read() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let made =
        stage.terminal("Iris").json(&["handoff", "create", "--to", "lib", "--subject", "Round half up"]);
    let id = text(&made, "handoff_id");
    let lib = stage.repo("lib");
    stage.terminal("Lou").within(&lib).json(&["pickup", "--handoff", &id]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Boss", &format!("handoff/{id}"));
    tab.click("Complete in Lou’s place…");
    tab.fill("What to tell the other side", "done");
    tab.fill("Why", "Lou is away");
    let bob = stage.terminal("Bob").within(&lib);
    bob.json(&["pickup", "--handoff", &id, "--force", "--why", "takes over"]);
    tab.submit();
    tab.is_told("Bob has it now");
    let state = || text(&stage.terminal("X").json(&["handoff", "show", &id]), "state");
    assert_eq!(state(), "accepted", "nothing was sent");
    tab.submit();
    tab.reads("The hand-off is completed.");
    assert_eq!(state(), "completed");
    tab.assert_clean();
}

#[test]
fn who_is_at_work_is_named_before_a_hand_off_is_cancelled() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let iris = stage.terminal("Iris");
    let id =
        text(&iris.json(&["handoff", "create", "--to", "lib", "--subject", "Round half up"]), "handoff_id");
    let lib = stage.repo("lib");
    let lola = stage.terminal("Lola").within(&lib);
    lola.json(&["handoff", "accept", &id]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Iris", &format!("handoff/{id}"));
    tab.click("Cancel…");
    tab.reads("Lola has accepted it and is at work on it");
    tab.submit();
    // A reason is asked for.
    tab.until("document.activeElement.name === 'result'");
    assert_eq!(iris.json(&["handoff", "show", &id])["state"], "accepted");
    tab.fill("What to tell the other side", "we buy it instead");
    tab.submit();
    tab.reads("The hand-off is cancelled.");
    assert!(lola.json(&["mail", "inbox", "--bodies"]).to_string().contains("we buy it instead"));
    tab.assert_clean();
}

/// Holds back the writes that the page sends from now on: between its look and its request, others go on.
const HOLD_WRITES: &str = "{ const real = window.fetch; window.held = 0; window.fetch = async (url, options) => { \
    if (/POST|PATCH|DELETE/.test(options?.method)) { window.held += 1; await new Promise((go) => { window.letGo = go; }); } \
    return real(url, options); }; }";

#[test]
fn between_the_look_and_the_request_nobody_elses_work_is_ended() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob"));
    ann.json(&["start"]);
    bob.json(&["start"]);
    stage.terminal("Zoe").json(&["agent", "register"]);
    let id = text(&stage.terminal("Boss").json(&["task", "create", "Pay out"]), "id");
    ann.json(&["task", "claim", &id]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Boss", &format!("task/shop/{id}"));
    tab.click("Take back from Ann…");
    tab.fill("Give it to (empty: anybody, or the router)", "Zoe");
    tab.fill("Why", "Ann is silent");
    tab.eval(HOLD_WRITES);
    tab.submit();
    tab.until("window.held === 1");
    ann.json(&["task", "release", &id]);
    bob.json(&["task", "claim", &id]);
    tab.eval("window.letGo()");
    tab.is_told("Bob has it now");
    let now = || bob.json(&["task", "show", &id]);
    assert_eq!((text(&now(), "status"), text(&now(), "assignee")), ("in_progress".into(), "Bob".into()));
    tab.submit();
    tab.until("window.held === 2");
    tab.eval("window.letGo()");
    tab.reads("The task is for Zoe.");
    assert_eq!(text(&now(), "assignee"), "Zoe");
}

#[test]
fn what_another_accepted_between_look_and_request_is_not_completed_in_the_wrong_place() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let lib = stage.repo("lib");
    let made =
        stage.terminal("Iris").json(&["handoff", "create", "--to", "lib", "--subject", "Round half up"]);
    let id = text(&made, "handoff_id");
    stage.terminal("Lou").within(&lib).json(&["pickup", "--handoff", &id]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Boss", &format!("handoff/{id}"));
    tab.click("Complete in Lou’s place…");
    tab.fill("What to tell the other side", "done");
    tab.fill("Why", "Lou is away");
    tab.eval(HOLD_WRITES);
    tab.submit();
    tab.until("window.held === 1");
    stage.terminal("Bob").within(&lib).json(&["pickup", "--handoff", &id, "--force", "--why", "takes over"]);
    tab.eval("window.letGo()");
    tab.is_told("Bob has it now");
    assert_eq!(text(&stage.terminal("X").json(&["handoff", "show", &id]), "state"), "accepted");
}

#[test]
fn an_open_dialog_says_at_once_that_somebody_else_took_what_it_is_about() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    stage.terminal("Lola").json(&["start"]);
    stage.terminal("Lola").json(&["wrap", "--summary", "Half done", "--next", "go"]);
    stage.terminal("Setup").within(stage.repo("depot")).json(&["init"]);
    let made = stage.terminal("Lola").json(&["handoff", "create", "--to", "depot", "--subject", "Store it"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Ann", "batons");
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.click("Pick up…");
    tab.until(&format!("{SUBMIT}?.innerText === 'Pick up'"));
    stage.terminal("Ruth").json(&["pickup"]);
    tab.until("document.querySelector('dialog[open] [role=status]')?.innerText === 'Ruth has picked it up meanwhile.'");
    // Nothing was sent, and the button says the same.
    tab.submit();
    tab.is_told("is held by Ruth");
    tab.press("Escape");
    tab.until("!document.querySelector('dialog[open]')");
    tab.go("");
    tab.click("Accept…");
    tab.until(&format!("{SUBMIT}?.innerText === 'Accept'"));
    let accept = json!({ "identity": "Ben", "id": text(&made, "handoff_id"), "action": "accept" });
    server.ok("handoff_advance", &accept);
    tab.until(
        "document.querySelector('dialog[open] [role=status]')?.innerText === 'It is accepted by Ben by now.'",
    );
    // What one does oneself is no news.
    tab.press("Escape");
    tab.until("!document.querySelector('dialog[open]')");
    stage.terminal("Ruth").json(&["wrap", "--summary", "All done"]);
    tab.go("batons");
    tab.click("Pick up…");
    tab.submit();
    tab.reads("Ann’s session");
    assert_eq!(tab.eval("document.querySelectorAll('dialog[open]').length"), 0);
}

#[test]
fn a_task_that_another_was_given_meanwhile_is_not_given_away_unread() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    for name in ["Lola", "Tess"] {
        stage.terminal(name).json(&["agent", "register"]);
    }
    let ground = text(&ann.json(&["task", "create", "The ground"]), "id");
    ann.json(&["task", "create", "The roof", "-p", "0", "--deps", &ground]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    inbox_of_ann(&tab);
    let assignee = || ann.json(&["task", "show", &ground])["assignee"].clone();
    tab.click(&format!("Give {ground} to…"));
    tab.fill("Give it to (empty: anybody, or the router)", "Tess");
    ann.json(&["task", "update", &ground, "--assignee", "Lola"]);
    tab.reads("Lola was given it meanwhile.");
    tab.submit();
    tab.is_told("Lola has it now");
    assert_eq!(assignee(), "Lola", "nobody is ousted unseen");
    tab.submit();
    tab.reads("The task is for Tess.");
    assert_eq!(assignee(), "Tess");
    // The row says who has it, and that the next act is another one.
    tab.reads("which was given to Tess, who has not begun");
    tab.click(&format!("Give {ground} to another…"));
    tab.reads("Tess has it, and has not begun.");
}
