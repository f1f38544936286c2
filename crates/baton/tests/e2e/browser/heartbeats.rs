//! A session that is opened on the page lives as long as the page is open.

use serde_json::json;

use super::browser;
use super::chromium::eventually;
use super::tab::Tab;
use crate::http::Server;
use crate::stage::{Stage, text};

#[test]
fn what_was_picked_up_on_the_page_is_kept_while_it_is_open() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["wrap", "--summary", "Half done", "--next", "go"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Ann", "");
    tab.click("Pick up…");
    // The dialog says for how long.
    tab.reads("While this page is open in a tab, you count as at work and the baton stays yours.");
    tab.submit();
    tab.reads("Ann holds the baton.");
    let sessions = server.ok("session_history", &json!({ "project": "shop", "open": true }));
    let session = text(&sessions["items"][0], "session_id");
    let heard = || {
        let shown = server.ok("session_show", &json!({ "project": "shop", "session": session }));
        text(&shown, "last_heartbeat")
    };
    let before = heard();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    // As if a minute had passed.
    let beat = || {
        tab.eval(
            "localStorage.setItem('baton.beat', '0'), document.dispatchEvent(new Event('visibilitychange'))",
        )
    };
    beat();
    eventually(|| format!("{before} is its last sign of life"), || (heard() > before).then_some(()));
    // One that has ended is forgotten, and asked about no more.
    tab.click("End…");
    tab.submit();
    tab.reads("The session has ended.");
    tab.until("JSON.parse(localStorage.getItem('baton.sessions')).length === 1");
    beat();
    tab.until("JSON.parse(localStorage.getItem('baton.sessions')).length === 0");
}
