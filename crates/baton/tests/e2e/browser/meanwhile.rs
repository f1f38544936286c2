//! What others do while a dialog is open, and what a deed leaves for later.

use super::browser;
use super::tab::{Tab, WIDE};
use crate::cross::beside;
use crate::http::Server;
use crate::stage::{Stage, text};

const SUBMIT: &str = "document.querySelector('dialog[open] button[type=submit]')";

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
    tab.eval("localStorage.setItem('baton.name', 'Ann')");
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
    tab.click_on(SUBMIT);
    tab.reads("1 message to you waits in the inbox.");
    tab.reads("Ann’s session");
    // One's own session is given back on its page, long after Undo.
    tab.click("End…");
    tab.click_on(SUBMIT);
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
    tab.until("document.querySelector('dialog[open] .trouble')?.innerText.includes('Ann has written meanwhile: “no, do not”')");
    let inbox =
        |of: &str| stage.terminal(of).json(&["mail", "inbox"])["items"].as_array().map_or(0, Vec::len);
    assert_eq!(inbox("Lola"), 1, "nothing was sent yet");
    tab.click_on(SUBMIT);
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
    tab.click_on(SUBMIT);
    tab.until("document.querySelector('dialog[open] .trouble')?.innerText.startsWith('Sent already')");
    let sent = || lola.json(&["handoff", "list"])["items"].as_array().map_or(0, Vec::len);
    assert_eq!(sent(), 2, "nothing was sent yet");
    tab.click_on(SUBMIT);
    tab.reads("The hand-off is offered.");
    assert_eq!(sent(), 3);
    tab.assert_clean();
}
