//! The token that this browser keeps: it is exchanged or forgotten on every page.

use super::browser;
use super::tab::{NARROW, Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, text};

#[test]
fn a_token_is_exchanged_and_forgotten_on_every_page_and_a_reader_is_not_asked_to_act() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    stage.terminal("Lola").json(&["start"]);
    let setup = stage.terminal("Setup");
    let secret =
        |scope: &str| text(&setup.json(&["token", "create", "--scope", scope, "--name", scope]), "token");
    let (read, write) = (secret("read"), secret("write"));
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("This server asks for a token");
    assert_eq!(tab.eval("document.querySelector('#account').hidden"), true, "there is none yet");
    tab.fill("Token", &read);
    tab.submit();
    // Who may do nothing is not asked under which name to do it, and may say whose matters come first.
    tab.reads("Whose come first…");
    assert!(!tab.text("main").contains("Say who you are"));
    for place in ["agents", "project/shop", "fleet", "nowhere/at/all"] {
        tab.go(place);
        tab.until("document.querySelector('#account').getClientRects().length");
    }
    tab.look(NARROW);
    tab.assert_fits();
    tab.click("Token…");
    tab.reads("It may look and change nothing.");
    tab.fill("Token", "baton_wrong");
    tab.submit();
    tab.is_told("This token opens nothing here");
    tab.fill("Token", &write);
    tab.submit();
    tab.until("!document.querySelector('dialog[open]')");
    tab.go("");
    tab.reads("Say who you are…");
    tab.click("Token…");
    tab.reads("It may look and write.");
    tab.click("Forget it");
    tab.reads("This server asks for a token");
    assert_eq!(tab.eval("localStorage.getItem('baton.token') || ''"), "");
}

#[test]
fn what_was_typed_is_sent_with_another_token_where_the_one_before_is_gone() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    let secret = text(&stage.terminal("Setup").json(&["token", "create", "--scope", "write"]), "token");
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("This server asks for a token");
    tab.reads("no valid token");
    tab.fill("Token", &secret);
    tab.submit();
    tab.until("!document.querySelector('dialog[open]')");
    tab.act_as("Ann");
    tab.go("agents");
    tab.click("Write…");
    tab.fill("About", "lunch");
    tab.fill("Text", "at noon?");
    // Another tab forgets it.
    tab.eval("localStorage.removeItem('baton.token')");
    tab.submit();
    tab.reads("This server asks for a token");
    assert_eq!(lola.json(&["mail", "inbox"])["items"].as_array().map_or(0, Vec::len), 0);
    tab.fill("Token", &secret);
    tab.click("Use it");
    tab.reads("Sent to Lola.");
    tab.until("!document.querySelector('dialog[open]')");
    assert!(lola.json(&["mail", "inbox", "--bodies"]).to_string().contains("at noon?"));
}
