//! What a dialog shows before a deed, how it is undone, and what happens behind it.

use serde_json::json;

use super::browser;
use super::chromium::eventually;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, text};

#[test]
fn a_baton_is_picked_up_from_its_row_after_its_document_was_read_and_given_back() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    let left = lola.json(&["wrap", "--summary", "The cart is rounded", "--next", "Round the tax"]);
    let baton = text(&left, "delta_id");
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Ann", "batons");
    tab.click("Pick up…");
    tab.until("document.querySelector('dialog[open] .document').innerText.includes('Round the tax')");
    tab.submit();
    tab.reads("Ann holds the baton.");
    let state = || server.ok("baton_show", &json!({ "project": "shop", "id": baton }))["state"].clone();
    assert_eq!(state(), "held");
    tab.click("Undo");
    tab.reads("The baton waits again.");
    tab.until(&format!("location.hash === {}", json!(format!("#/baton/shop/{baton}"))));
    assert_eq!(state(), "open");
    tab.assert_clean();
}

#[test]
fn a_baton_that_another_takes_behind_an_open_dialog_is_gone_and_refused() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    let left = lola.json(&["wrap", "--summary", "The cart is rounded", "--next", "Round the tax"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Ann", "");
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.click("Pick up…");
    tab.until("document.querySelector('dialog[open]')");
    let take = json!({ "project": "shop", "identity": "Bob", "handoff_id": left["delta_id"] });
    server.ok("hd_exec", &take);
    // The row goes while the dialog stands, and the dialog says what has become of it.
    tab.until("!document.querySelector('main .matter')");
    tab.submit();
    tab.until("document.querySelector('dialog[open] .trouble')");
    let refusal = tab.text("dialog[open] .trouble");
    assert!(refusal.contains("Bob"), "{refusal}");
    tab.press("Escape");
    tab.until("!document.querySelector('dialog')");
    assert!(!tab.text("main").contains("Baton from Lola"), "{}", tab.text("main"));
    let shown = server.ok("baton_show", &json!({ "project": "shop", "id": left["delta_id"] }));
    assert_eq!(shown["holder"], "Bob");
}

#[test]
fn the_palette_goes_anywhere_by_keys_and_gives_the_focus_back() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let depot = stage.repo("depot");
    stage.terminal("Setup").within(&depot).json(&["init"]);
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["wrap", "--summary", "The cart is rounded"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("Baton from Lola");
    tab.press("j");
    tab.press_with_control("k");
    tab.until("document.activeElement.name === 'place'");
    tab.press("Escape");
    tab.until("!document.querySelector('dialog')");
    assert_eq!(tab.eval("document.activeElement.textContent"), "Baton from Lola");
    for (words, place) in [("dep", "#/project/depot"), ("Hand", "#/handoffs"), ("zebra", "#/search/zebra")] {
        tab.press_with_control("k");
        tab.until("document.activeElement.name === 'place'");
        tab.type_in(words);
        tab.press("Enter");
        tab.until(&format!("location.hash === {}", json!(place)));
        tab.until("!document.querySelector('dialog')");
    }
    eventually(|| tab.text("main"), || tab.text("main").contains("Nothing was found").then_some(()));
    // The views that have a letter have it here, too.
    for (key, title) in [("t", "Transcripts"), ("s", "Server")] {
        tab.press("g");
        tab.press(key);
        tab.until(&format!("document.querySelector('main h1').textContent === {}", json!(title)));
    }
    tab.assert_clean();
}
