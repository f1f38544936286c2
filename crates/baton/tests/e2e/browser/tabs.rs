//! Many tabs of one browser: it gives a host six connections, and each tab shows its view and acts all the same.

use serde_json::{Value, json};

use super::browser;
use super::chromium::eventually;
use super::tab::{Tab, WIDE};
use crate::http::{Server, request};
use crate::stage::Stage;

/// How many streams of events the server sends.
fn listeners(server: &Server) -> String {
    let answer = request(&server.address, "GET", "/metrics", b"", &[]).expect("an answer");
    let text = answer.body;
    let line = text.lines().find(|line| line.starts_with("baton_event_listeners "));
    line.map(|line| line.rsplit(' ').next().unwrap_or_default().to_owned()).unwrap_or_default()
}

/// Waits until the server sends so many streams.
fn until_listened(server: &Server, count: &str) {
    eventually(
        || format!("{} streams, and not {count}", listeners(server)),
        || (listeners(server) == count).then_some(()),
    );
}

#[test]
fn eight_tabs_share_one_stream_and_each_shows_its_view_and_acts() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Donna" }));
    server.ok("agent_register", &json!({ "project": "shop", "identity": "Ann" }));
    let letter = json!({ "project": "shop", "identity": "Donna", "to": "Ann", "type": "Question", "subject": "Which?", "body": "20 or 22" });
    server.ok("mail_send", &letter);
    let first = Tab::open(&browser, &server.address, "agents", WIDE);
    first.act_as("Ann");
    let others: Vec<Tab<'_>> = (0..7).map(|_| first.beside("agents")).collect();
    for tab in &others {
        tab.until("document.querySelector('main h1').innerText === 'Agents'");
        tab.reads("Donna");
    }
    first.front();
    first.until("document.querySelector('#live').textContent === 'live'");
    until_listened(&server, "1");
    first.go("");
    first.click("Acknowledge…");
    first.submit();
    first.reads("Acknowledged.");
    // What happened while a tab was hidden is read once it is looked at, and it follows from then on.
    let save = |summary: &str| {
        let input = json!({ "project": "shop", "identity": "Donna", "summary": summary });
        server.ok("session_checkpoint", &input);
    };
    let mut last = "Meanwhile".to_owned();
    save(&last);
    for (n, tab) in others.iter().enumerate() {
        tab.front();
        tab.reads(&last);
        tab.until("document.querySelector('#live').textContent === 'live'");
        if n > 4 {
            last = format!("Then {n}");
            save(&last);
            tab.reads(&last);
        }
    }
    // The stream goes on in another tab when the one that has it is closed.
    for tab in others {
        tab.close();
    }
    first.front();
    first.go("agents");
    save("After all");
    first.reads("After all");
    until_listened(&server, "1");
    first.assert_clean();
}

#[test]
fn a_tab_that_is_left_and_come_back_to_holds_no_connection_meanwhile() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    let page = format!("http://{}/#/agents", server.address);
    for _ in 0..8 {
        tab.visit("about:blank");
        tab.visit(&page);
        tab.until("document.querySelector('main h1').innerText === 'Agents'");
        tab.until("document.querySelector('#live').textContent === 'live'");
    }
    tab.visit("about:blank");
    until_listened(&server, "0");
    // Going back shows what happened meanwhile, whether the browser has kept the page or loads it.
    let start: Value = json!({ "project": "shop", "identity": "Donna" });
    server.ok("session_start", &start);
    tab.eval("history.back()");
    tab.until("document.querySelector('main h1').innerText === 'Agents'");
    tab.reads("Donna");
}
