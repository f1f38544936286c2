//! What agents wrote is rendered: documents with tables, code, differences in colours and headings, packets as fields.

use serde_json::json;

use super::browser;
use super::tab::{Tab, WIDE};
use crate::cross::beside;
use crate::http::Server;
use crate::stage::{Stage, text};

const DOCUMENT: &str = "## The plan\n\n| file | why |\n| --- | --- |\n| cart.rs | it *rounds* |\n\n```rust\nlet a = 1 < 2;\n```\n\n\
    ```diff\n@@ -1 +1 @@\n-floor(x)\n+round(x)\n```\n\n1. first\n2. second\n\n> as the law has it\n";

#[test]
fn tables_code_differences_headings_and_quotations_of_a_document_are_rendered() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let task =
        json!({ "project": "shop", "identity": "Ann", "title": "Round the tax", "description": DOCUMENT });
    let task = text(&server.ok("task_create", &task), "id");
    let tab = Tab::open(&browser, &server.address, &format!("task/shop/{task}"), WIDE);
    tab.until("document.querySelector('main .document table')");
    let read = |selector: &str| {
        tab.eval(&format!(
            "[...document.querySelectorAll({})].map((one) => one.textContent)",
            json!(format!("main .document {selector}"))
        ))
    };
    assert_eq!(read("h4"), json!(["The plan"]), "below the headings of the page");
    assert_eq!(read("th"), json!(["file", "why"]));
    assert_eq!(read("td"), json!(["cart.rs", "it rounds"]));
    assert_eq!(read("td em"), json!(["rounds"]));
    assert_eq!(read("[aria-label=Code]"), json!(["let a = 1 < 2;"]));
    assert_eq!(read(".line.at"), json!(["@@ -1 +1 @@\n"]));
    assert_eq!(read(".line.minus"), json!(["-floor(x)\n"]));
    assert_eq!(read(".line.plus"), json!(["+round(x)\n"]));
    assert_eq!(read("ol li"), json!(["first", "second"]));
    assert_eq!(read("blockquote"), json!(["as the law has it"]));
    // What is taken out and what comes in differ by colour, too.
    let color = |class: &str| {
        tab.eval(&format!("getComputedStyle(document.querySelector('main .line.{class}')).color"))
    };
    assert_ne!(color("minus"), color("plus"));
    // The text as it came is behind a switch.
    assert_eq!(read("details.raw pre"), json!([DOCUMENT]));
    tab.assert_clean();
}

#[test]
fn a_packet_is_read_as_fields_and_a_message_as_a_document() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let server = Server::start(&stage.terminal("Server"));
    let packet = json!({ "summary": "Half of it", "next_steps": ["Round the tax"], "open_questions": [] });
    let made = json!({ "from_project_id": "shop", "to_project_id": "lib", "identity": "Lola", "subject": "Round", "packet": packet.to_string() });
    let made = text(&server.ok("handoff_create", &made), "handoff_id");
    server.ok("agent_register", &json!({ "project": "shop", "identity": "Ann" }));
    let letter = json!({ "project": "shop", "identity": "Lola", "to": "Ann", "subject": "Which?", "body": "The **net** price" });
    let letter = text(&server.ok("mail_send", &letter), "message_id");
    let tab = Tab::open(&browser, &server.address, &format!("handoff/{made}"), WIDE);
    tab.until("document.querySelector('main .document dl.facts')");
    let names = tab
        .eval("[...document.querySelectorAll('main .document dl.facts dt')].map((one) => one.textContent)");
    assert!(names.to_string().contains("\"next steps\""), "{names}");
    tab.until("[...document.querySelectorAll('main .document dd li')].some((one) => one.textContent === 'Round the tax')");
    tab.until("document.querySelector('main .document details.raw pre').textContent.includes('next_steps')");
    tab.go(&format!("mail/shop/{letter}"));
    tab.until("document.querySelector('main .letters .document strong').textContent === 'net'");
    tab.assert_clean();
}

#[test]
fn nothing_moves_for_who_asked_for_less_motion() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["wrap", "--summary", "The cart is rounded"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.until("document.querySelector('main svg .hand.free')");
    let name = "getComputedStyle(document.querySelector('main svg .hand.free')).animationName";
    assert_eq!(tab.eval(name), "wait");
    tab.without_motion();
    assert_eq!(tab.eval(name), "none");
    tab.assert_clean();
}
