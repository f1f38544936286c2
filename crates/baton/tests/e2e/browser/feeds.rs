//! What a reader has under his eyes stays there, and what can be done by mouse can be done by key.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, text};

#[test]
fn what_comes_while_a_feed_is_read_waits_behind_its_number() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Donna" }));
    let note = |text: &str| {
        server.ok("ledger_note", &json!({ "project": "shop", "identity": "Donna", "text": text }));
    };
    (0..70).for_each(|n| note(&format!("Step {n}")));
    // The words of the first row; its age goes on.
    let top = "document.querySelector('#ledger li > :last-child').textContent";
    let is_read = "JSON.stringify([document.activeElement.textContent, Math.round(document.activeElement.getBoundingClientRect().top)])";
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    for place in ["project/shop", "ledger/shop/note"] {
        tab.go(place);
        tab.until("document.querySelector('#live').textContent === 'live'");
        tab.until("document.querySelectorAll('#ledger li').length === 60");
        tab.eval("[...document.querySelectorAll('#ledger a')].at(-3).focus()");
        let before = (tab.eval(top), tab.eval(is_read));
        // More than the feed holds: the rows that are read would be gone.
        (0..65).for_each(|n| note(&format!("{place} {n}")));
        tab.reads("60 or more new");
        // The number says so before the last of them is there.
        std::thread::sleep(std::time::Duration::from_millis(1500));
        assert_eq!((tab.eval(top), tab.eval(is_read)), before, "{place}: nothing moved");
        tab.click("60 or more new");
        tab.until(&format!("{top}.includes('{place} 64')"));
        tab.until("document.querySelector('#new-rows').parentElement.hidden");
        assert_eq!(tab.eval("document.querySelector('#ledger li').contains(document.activeElement)"), true);
    }
    // Older rows follow those that are shown, each once.
    tab.go("ledger/shop/note");
    note("after it was drawn");
    tab.reads("1 new");
    tab.click("Show older");
    tab.until("document.querySelectorAll('#ledger li').length === 120");
    assert_eq!(tab.eval(&format!("{top}.includes('64')")), true, "what is new waits on");
    let rows = tab.eval(
        "[...document.querySelectorAll('#ledger li')].map((row) => row.textContent.replace(/.*Donna/, ''))",
    );
    let rows = rows.as_array().expect("rows").clone();
    let distinct: BTreeSet<String> = rows.iter().map(ToString::to_string).collect();
    assert_eq!(distinct.len(), rows.len());
    tab.go("project/shop");
    tab.reads("after it was drawn");
    tab.go("batons");
    tab.until("document.querySelector('main h1').textContent === 'Batons'");
    note("while it was not looked at");
    tab.go("project/shop");
    // Where the event comes after the way back, it waits behind its number.
    tab.until("document.body.innerText.includes('while it was not looked at') || document.querySelector('#new-rows')?.click()");
    tab.assert_clean();
}

#[test]
fn a_task_on_the_board_is_given_to_another_role_by_key_and_by_mouse() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let task = |title: &str, role: Option<&str>| {
        let made = json!({ "project": "shop", "identity": "Lola", "title": title, "agent_role": role });
        text(&server.ok("task_create", &made), "id")
    };
    let tax = task("Round the tax", Some("implementation"));
    task("Try the tax", Some("testing"));
    task("Think", None);
    let role =
        |id: &str| server.ok("task_show", &json!({ "project": "shop", "id": id }))["agent_role"].clone();
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    let column =
        format!("document.querySelector('[data-task=\"{tax}\"]').closest('[data-role]').dataset.role");
    tab.until(&format!("{column} === 'implementation'"));
    tab.eval(&format!("document.querySelector('[data-task=\"{tax}\"] a').focus()"));
    tab.press(">");
    tab.until(&format!("{column} === 'testing'"));
    tab.until("document.activeElement.textContent === 'Round the tax'");
    assert_eq!(role(&tax), "testing");
    tab.click("Undo");
    tab.until(&format!("{column} === 'implementation'"));
    tab.until("document.activeElement.textContent === 'Round the tax'");
    tab.press("<");
    let drag = |to: &str| {
        tab.eval(&format!(
            "(() => {{ const dataTransfer = new DataTransfer(); const fire = (one, kind) => one.dispatchEvent(new DragEvent(kind, {{ dataTransfer, bubbles: true, cancelable: true }})); \
             fire(document.querySelector('[data-task=\"{tax}\"]'), 'dragstart'); fire(document.querySelector('[data-role=\"{to}\"]'), 'drop'); }})()"
        ));
        tab.until(&format!("{column} === '{to}'"));
    };
    drag("testing");
    assert_eq!(role(&tax), "testing");
    drag("");
    assert_eq!(role(&tax), Value::Null);
    tab.assert_clean();
}
