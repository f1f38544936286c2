//! What people do less often: cancel a hand-off, try one again that failed, assign a session of another tool.

use std::fs;
use std::path::Path;

use baton_emulator::{Emulator, Fault, Options};
use serde_json::json;

use super::browser;
use super::tab::{Tab, WIDE};
use crate::cross::{beside, with_github};
use crate::http::Server;
use crate::stage::{Stage, text};

#[test]
fn a_hand_off_is_cancelled() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let made =
        stage.terminal("Lola").json(&["handoff", "create", "--to", "lib", "--subject", "Round half up"]);
    let id = text(&made, "handoff_id");
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, &format!("handoff/{id}"), WIDE);
    tab.click("Cancel…");
    tab.fill("Your name", "Lola");
    tab.fill("What to tell the other side", "Not needed any more");
    tab.submit();
    tab.reads("The hand-off is cancelled.");
    tab.until("![...document.querySelectorAll('main button')].some((one) => one.innerText === 'Cancel…')");
    assert_eq!(stage.terminal("X").json(&["handoff", "show", &id])["state"], "cancelled");
    tab.assert_clean();
}

#[test]
fn a_hand_off_that_failed_is_tried_again() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let hub =
        Emulator::start(Options { token: Some("t0k".into()), ..Options::default() }).expect("an emulator");
    // A no that is final: the repository has no issues.
    hub.script(Some(Box::new(|_| Fault::Refuse(410, None))));
    let lola = with_github(&stage.terminal("Lola"), &hub);
    let made =
        lola.run(&["handoff", "create", "--to", "lib", "--subject", "Round", "--repo", "o/lib", "--json"]);
    let made = made.json();
    let id = text(&made, "handoff_id");
    assert_eq!(made["state"], "failed", "{made:#}");
    let server = Server::start(&with_github(&stage.terminal("Server"), &hub));
    // The list shows beside itself what a row is about, and the deed that helps is in the row.
    let list = Tab::open(&browser, &server.address, "handoffs/failed", WIDE);
    list.reads("The row that you go to");
    list.press("j");
    list.until("document.querySelector('.preview h2')?.textContent === 'Round'");
    list.until("document.querySelector('.preview .facts')");
    list.press("x");
    list.until("document.querySelector('dialog[open] h2')?.textContent.startsWith('Try now')");
    // A try that fails again says what stands in the way.
    list.fill("Your name", "Lola");
    list.submit();
    list.is_told("Still not through: o/lib: ");
    // What was typed is still there, and the repository that was tried is named.
    list.reads("Tried last: o/lib");
    assert_eq!(list.eval("document.querySelector('dialog[open] [name=identity]').value"), "Lola");
    assert!(!list.text("dialog[open]").contains("baton handoff retry"), "{}", list.text("dialog[open]"));
    list.press("Escape");
    list.until("document.querySelector('main .matter button')?.innerText === 'Try now…'");
    hub.script(None);
    list.press("x");
    list.until("document.querySelector('dialog[open] h2')?.textContent.startsWith('Try now')");
    list.press("Escape");
    list.assert_clean();
    let overview = Tab::open(&browser, &server.address, "project/shop", WIDE);
    overview.reads("Sent hand-offs (1)");
    overview.reads("GitHub answered 410");
    let tab = Tab::open(&browser, &server.address, &format!("handoff/{id}"), WIDE);
    tab.reads("failed");
    tab.click("Try now…");
    tab.fill("Your name", "Lola");
    tab.submit();
    tab.until("!document.querySelector('dialog[open]')");
    // The server drives it on, and the page hears of that by itself.
    tab.until("document.querySelector('main .row .chip')?.innerText === 'offered'");
    assert_eq!(stage.terminal("X").json(&["handoff", "show", &id])["state"], "offered");
    tab.assert_clean();
    // What the sender's project shows changes with it.
    overview
        .until("![...document.querySelectorAll('main .error')].some((one) => one.innerText.includes('410'))");
    overview.reads("offered");
    overview.assert_clean();
}

#[test]
fn a_session_of_another_tool_is_assigned_after_its_document_was_shown() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples/claude/normal.jsonl");
    let session = "11111111-aaaa-4000-8000-00000000abcd";
    let content = fs::read_to_string(sample).expect("a sample");
    stage.file(&format!("home/.claude/projects/-shop/{session}.jsonl"), content);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "transcripts", WIDE);
    // Words that no title has are looked for in what was said, as they are typed.
    tab.fill("Words", "migrat*");
    tab.reads("Said in (1)");
    tab.fill("Words", "\"open");
    tab.until("!document.querySelector('main li a')");
    tab.fill("Words", "round");
    tab.until("document.querySelector('main li a')?.textContent === 'Round prices'");
    tab.eval("{ const one = document.querySelector('#by-agents'); one.value = 'claude'; one.dispatchEvent(new Event('change')); }");
    tab.until("location.hash === '#/transcripts/claude'");
    tab.click_on("document.querySelector('main li a')");
    tab.reads("What the next agent would get");
    // The conversation stands beside the document.
    tab.until("document.querySelector('.talk .user')?.textContent.includes('Never touch the migrations')");
    tab.until("document.querySelector('.talk .result details')");
    assert_eq!(
        tab.eval("document.querySelector('.talk').getBoundingClientRect().left > document.querySelector('.beside .document').getBoundingClientRect().right - 1"),
        true
    );
    tab.eval("{ const one = document.querySelector('#go-on-in'); one.value = 'codex'; one.dispatchEvent(new Event('change')); }");
    tab.reads("--in codex");
    let before = stage.deltas();
    tab.click("Assign…");
    tab.until("document.querySelector('dialog[open] pre')?.getBoundingClientRect().height > 40");
    tab.fill("Your name", "Boss");
    tab.fill("For: a name or a tool", "Ann");
    assert_eq!(stage.deltas(), before, "nothing is sent before the button");
    tab.click("Assign");
    tab.reads("The baton waits for Ann.");
    tab.reads("Its way so far");
    assert_eq!(
        stage.terminal("Bob").json(&["pickup", "--dry-run"])["baton"],
        json!(null),
        "it is not for Bob"
    );
    let taken = stage.terminal("Ann").json(&["pickup"]);
    assert_eq!(taken["baton"]["kind"], "wrap", "{taken:#}");
    tab.assert_clean();
}
