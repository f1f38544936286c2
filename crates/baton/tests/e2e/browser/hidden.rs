//! Characters that hide or mislead are written out in every text that the page shows.

use baton_model::printable;
use serde_json::{Value, json};

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, text};

/// Reads as `run exe.png` where the override works, with a zero-width space and a tag character behind it.
const NAME: &str = "run \u{202e}gnp.exe\u{200b}\u{e0041}";
const SHOWN: &str = "run \\u{202e}gnp.exe\\u{200b}\\u{e0041}";

/// A project in which every text has such characters; the places where it is shown.
fn planted(stage: &Stage, server: &Server) -> Vec<String> {
    let own = |mut input: Value| {
        input["project"] = "shop".into();
        input["identity"] = "Mallory".into();
        input
    };
    let started = server.ok("session_start", &own(json!({ "surface": NAME })));
    server.ok("session_checkpoint", &own(json!({ "summary": NAME })));
    server.ok("ledger_note", &own(json!({ "kind": "decision", "text": NAME, "why": NAME })));
    let task = server.ok("task_create", &own(json!({ "title": NAME, "description": NAME })));
    server.ok("agent_register", &json!({ "project": "shop", "identity": "Lola" }));
    let letter = own(json!({ "to": "Lola", "type": "question", "subject": NAME, "body": NAME }));
    let letter = server.ok("mail_send", &letter);
    let depot = stage.repo("depot");
    stage.terminal("Setup").within(&depot).json(&["init"]);
    let packet = json!({ "summary": NAME, "next_steps": [NAME] }).to_string();
    let mut create = own(json!({ "from_project_id": "depot", "to_project_id": "shop", "subject": NAME,
        "description": NAME, "packet": packet }));
    create.as_object_mut().expect("object").shift_remove("project");
    let made = server.ok("handoff_create", &create);
    let left = server.ok("session_wrap", &own(json!({ "summary": NAME, "next": [NAME] })));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Donna" }));
    server.ok("session_checkpoint", &json!({ "project": "shop", "identity": "Donna", "summary": NAME }));
    let session = text(&started, "session_id");
    vec![
        String::new(),
        "agents".into(),
        "batons".into(),
        "handoffs".into(),
        "project/shop".into(),
        "ledger/shop".into(),
        format!("session/shop/{session}"),
        format!("thread/shop/{session}/minutes"),
        format!("baton/shop/{}", text(&left, "delta_id")),
        format!("handoff/{}", text(&made, "handoff_id")),
        format!("task/shop/{}", text(&task, "id")),
        format!("mail/shop/{}", text(&letter, "message_id")),
        "search/gnp".into(),
    ]
}

#[test]
fn an_override_in_anybodys_words_is_written_out_in_every_view() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let places = planted(&stage, &server);
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    for place in &places {
        tab.go(place);
        tab.until(&format!("document.querySelector('main').textContent.includes({})", json!(SHOWN)));
        let raw = tab.eval(
            "(() => { const bad = /[\\u202a-\\u202e\\u200b\\u2066-\\u2069\\u{e0000}-\\u{e0fff}]/u; \
             const said = [...document.querySelectorAll('main *')].flatMap((one) => [one.title, one.getAttribute('aria-label')]); \
             return [document.title, document.querySelector('main').textContent, ...said].filter((text) => text && bad.test(text)); })()",
        );
        assert_eq!(raw, json!([]), "{place}");
    }
    tab.assert_clean();
}

#[test]
fn what_the_page_writes_out_is_what_a_terminal_writes_out() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let hidden = |n: u32| char::from_u32(n).filter(|c| printable::is_hidden(*c) && !"\0\r\n".contains(*c));
    // Each among plain letters; then joiners that are of use, and the same where they are not.
    let mut all: String =
        (0..0xe_0080).chain([0xe_01ef, 0xe_0fff]).filter_map(hidden).flat_map(|c| ['a', c]).collect();
    all.push_str(" 👩\u{200d}💻 ❤\u{fe0f} می\u{200c}خواهم a\u{200d}💻 💻\u{200d}\u{200d}👩 \r x");
    let input = json!({ "project": "shop", "identity": "Mallory", "title": "All", "description": all });
    let task = server.ok("task_create", &input);
    let tab = Tab::open(&browser, &server.address, &format!("task/shop/{}", text(&task, "id")), WIDE);
    tab.until("document.querySelector('main details pre')");
    let shown = tab.eval("document.querySelector('main details pre').textContent");
    assert_eq!(shown.as_str().unwrap_or_default(), printable::block(&all));
    tab.assert_clean();
}
