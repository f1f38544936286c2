//! Rows of the inbox: which one is meant, how many there are, and what is offered in them.

use serde_json::json;

use super::browser;
use super::chromium::eventually;
use super::tab::{NARROW, Tab, WIDE};
use crate::cross::beside;
use crate::http::{Server, request};
use crate::stage::{Stage, text};

/// The row that has the focus.
const ROW: &str = "[...document.querySelectorAll('main [data-row]')].findIndex((row) => row.contains(document.activeElement))";

#[test]
fn back_leads_to_the_row_that_was_left() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    for n in 0..25 {
        let who = format!("agent-{n}");
        server.ok("session_start", &json!({ "project": "shop", "identity": who }));
        let wrap = json!({ "project": "shop", "identity": who, "summary": format!("Part {n}") });
        server.ok("session_wrap", &wrap);
    }
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    for _ in 0..20 {
        tab.press("j");
    }
    tab.until(&format!("{ROW} === 19"));
    tab.press("Enter");
    tab.reads("Its way so far");
    tab.eval("history.back()");
    tab.until(&format!("{ROW} === 19"));
    tab.press("j");
    tab.until(&format!("{ROW} === 20"));
    // An address that is gone to anew begins at its top.
    tab.press("g");
    tab.press("a");
    tab.until("document.querySelector('main h1')?.innerText === 'Agents'");
    tab.press("g");
    tab.press("i");
    tab.until("document.querySelector('main h1')?.innerText === 'Inbox'");
    tab.until("document.activeElement.id === 'main' && scrollY === 0");
    tab.assert_clean();
}

/// Each heading with a number, and how many rows stand below it.
fn sections(tab: &Tab<'_>) -> String {
    let script = "[...document.querySelectorAll('main h2')].filter((one) => !one.innerText.startsWith('At work')).map((one) => \
        { const list = one.nextElementSibling; const more = list?.nextElementSibling; \
        return `${one.innerText}: ${list?.matches('ul') ? list.children.length : 0}${more?.matches('p') ? ` ${more.innerText}` : ''}`; }).join('; ')";
    tab.eval(script).as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_heading_counts_the_rows_of_its_own_section() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    for name in ["Iris", "Omar"] {
        server.ok("agent_register", &json!({ "project": "shop", "identity": name }));
    }
    let write = |to: &str, subject: &str| {
        let late = json!({ "project": "shop", "identity": "Lola", "to": to, "subject": subject, "body": "?", "ack_by_s": 1 });
        server.ok("mail_send", &late)
    };
    write("Iris", "For Iris");
    for n in 0..47 {
        write("Omar", &format!("For Omar {n}"));
    }
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.until("document.querySelectorAll('main h2').length");
    assert_eq!(sections(&tab), "Needs attention (48): 40 Show more (8 more)");
    tab.act_as("Iris");
    tab.go("agents");
    tab.go("");
    tab.reads("For you (1)");
    assert_eq!(sections(&tab), "For you (1): 1; Needs attention (47): 39 Show more (8 more)");
    tab.click("Show more (8 more)");
    tab.until("document.querySelectorAll('main .matter').length === 48");
    assert_eq!(sections(&tab), "For you (1): 1; Needs attention (47): 47");
    tab.assert_clean();
}

/// Two projects; of `shop` the hand-offs of these subjects to `lib`, of which Ben of `lib` has accepted the first and declined the second.
fn answered(stage: &Stage) -> [String; 2] {
    beside(stage);
    let iris = stage.terminal("Iris");
    ["Discount lines", "Merchant guide"].map(|subject| {
        let made = iris.json(&["handoff", "create", "--to", "lib", "--subject", subject]);
        let id = text(&made, "handoff_id");
        let ben = stage.terminal("Ben");
        match subject {
            "Merchant guide" => {
                ben.json(&["handoff", "decline", &id, "--why", "send it again after the 7th"])
            }
            _ => ben.json(&["handoff", "accept", &id]),
        };
        id
    })
}

#[test]
fn what_would_be_refused_is_not_offered_and_how_a_hand_off_ended_is_read() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let [accepted, declined] = answered(&stage);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    // The inbox of its sender has what came back, until they open it.
    tab.act_as("Iris");
    tab.go("agents");
    tab.go("");
    tab.reads("For you (1)");
    tab.reads("declined: send it again after the 7th");
    tab.go("handoffs");
    let buttons = || {
        tab.eval("[...document.querySelectorAll('main button:not(.filters *)')].map((one) => one.textContent).filter((one) => one !== 'Copy')")
    };
    // What ends another's work is in the menu of the row, and not its first button.
    assert_eq!(buttons(), json!(["Leave anew…", "Cancel…", "Complete in Ben’s place…"]));
    tab.until("document.querySelector('main .acts:not([open]) .menu button')");
    tab.press("j");
    tab.press("j");
    tab.press("x");
    tab.until("document.querySelector('main .acts[open]') && document.activeElement.innerText === 'Cancel…'");
    // The row and the page say why it came back, from whom and when.
    tab.reads("“send it again after the 7th”");
    tab.reads("declined by Ben");
    tab.go(&format!("handoff/{declined}"));
    let facts = tab.text("main .facts");
    assert!(facts.contains("Reason") && !facts.contains("Result"), "{facts}");
    assert!(facts.contains("Declined by\nBen") && facts.contains("send it again after the 7th"), "{facts}");
    let left = || server.ok("attention_list", &json!({ "identity": "Iris" }))["total"].clone();
    eventually(|| "it was opened".to_owned(), || (left() == 0).then_some(()));
    tab.go("");
    tab.reads("Waiting for somebody (0)");
    assert!(!tab.text("main").contains("came back"), "{}", tab.text("main"));
    tab.go(&format!("handoff/{accepted}"));
    assert_eq!(buttons(), json!(["Cancel…", "Complete in Ben’s place…"]));
    tab.act_as("ben");
    tab.go("handoffs");
    assert_eq!(
        buttons(),
        json!(["Complete…", "Decline…", "Cancel in Iris’s place…"]),
        "who accepted it completes it"
    );
    tab.go(&format!("handoff/{accepted}"));
    assert_eq!(buttons(), json!(["Complete…", "Decline…", "Cancel in Iris’s place…"]));
    // An operator completes what is another's with a reason.
    tab.act_as("Boss");
    tab.go("");
    tab.go(&format!("handoff/{accepted}"));
    tab.click("Complete in Ben’s place…");
    tab.fill("What to tell the other side", "It is in main");
    tab.fill("Why", "Ben is on holiday");
    tab.submit();
    tab.reads("The hand-off is completed.");
    tab.reads("Ben is on holiday");
    tab.assert_clean();
}

#[test]
fn a_late_acknowledgement_is_given_from_its_row_and_a_question_answered_there() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let (omar, iris) = (stage.terminal("Omar"), stage.terminal("Iris"));
    omar.json(&["start"]);
    iris.json(&["start"]);
    omar.json(&[
        "mail",
        "send",
        "--to",
        "Iris",
        "--subject",
        "May I?",
        "--text",
        "yes or no",
        "--ack-by",
        "1s",
    ]);
    omar.json(&["signal", "send", "--to", "Iris", "--type", "Blocker", "No access to the bank"]);
    std::thread::sleep(std::time::Duration::from_millis(1200));
    omar.json(&["end"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("Iris has not acknowledged Omar");
    tab.act_as("Iris");
    tab.go("agents");
    tab.go("");
    tab.reads("For you (2)");
    tab.reads("Omar waits for your acknowledgement");
    tab.reads("Omar tells you of a blocker");
    tab.reads("Blocker: No access to the bank");
    // By its keys: the first action of the row with the late one acknowledges.
    tab.click_on("[...document.querySelectorAll('main .matter')].find((one) => one.innerText.includes('acknowledgement')).querySelector('button')");
    tab.until("document.querySelector('dialog[open] h2')?.innerText.startsWith('Acknowledge')");
    tab.submit();
    tab.reads("For you (1)");
    tab.click("Reply…");
    tab.fill("Text", "Take mine");
    tab.submit();
    tab.until("!document.body.innerText.includes('For you')");
    assert!(omar.json(&["mail", "inbox", "--bodies"]).to_string().contains("Take mine"));
    // Who wrote last itself goes on writing to the other one.
    tab.go("project/shop");
    tab.click("May I?");
    tab.reads("acknowledged");
    tab.assert_clean();
}

#[test]
fn attempts_and_paths_are_read_where_the_row_leads() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let (omar, iris, cem) = (stage.terminal("Omar"), stage.terminal("Iris"), stage.terminal("Cem"));
    for one in [&omar, &iris, &cem] {
        one.json(&["start"]);
    }
    let task = text(&iris.json(&["task", "create", "Pay out"]), "id");
    for n in 1..=3 {
        omar.json(&["task", "claim", &task]);
        omar.json(&["task", "release", &task, "--why", &format!("reason number {n}")]);
    }
    iris.json(&["lease", "take", "src/checkout/**", "--why", "guest orders"]);
    cem.json(&["lease", "take", "src/checkout/cart.py", "--why", "coupon field", "--advisory"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.click("Cem and Iris work on the same files");
    tab.reads("Paths (2)");
    tab.until("document.activeElement.id === 'paths'");
    for words in ["src/checkout/**", "src/checkout/cart.py", "guest orders", "coupon field", "since "] {
        tab.reads(words);
    }
    tab.go(&format!("task/shop/{task}"));
    for n in 1..=3 {
        tab.reads(&format!("reason number {n}"));
    }
    tab.assert_clean();
}

#[test]
fn a_document_is_set_in_italics_and_an_unknown_address_leads_to_the_inbox() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["checkpoint", "--summary", "Half of the tax"]);
    let session = text(&lola.json(&["sessions"])["items"][0], "session_id");
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, &format!("session/shop/{session}"), WIDE);
    tab.until("document.querySelector('main .document em')?.innerText.startsWith('What is quoted')");
    tab.reads("Lola is at work; saved last: Half of the tax");
    assert_eq!(tab.eval("document.querySelector('main .document > p').innerText.includes('*')"), false);
    tab.visit(&format!("http://{}/inbox", server.address));
    tab.reads("There is nothing at this address");
    tab.click("Go to the inbox");
    tab.until("document.querySelector('main h1')?.innerText === 'Inbox'");
    // A program gets the problem as before.
    let answer = request(&server.address, "GET", "/inbox", b"", &[("accept", "*/*")]).expect("an answer");
    assert_eq!((answer.status, &answer.json()["code"]), (404, &json!("route_unknown")));
}

#[test]
fn on_a_phone_the_columns_that_matter_are_read_without_scrolling_sideways() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    for (name, tool) in [("Lola", "claude_code"), ("Donna", "claude-code"), ("Eve", "claude")] {
        let one = stage.terminal(name);
        one.json(&["start", "--surface", tool]);
        one.json(&[
            "checkpoint",
            "--summary",
            &format!("{name} reads a long chapter of the law of the land"),
        ]);
    }
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "agents", NARROW);
    tab.reads("Donna reads a long chapter of the law of the land");
    let outside = tab.eval(
        "[...document.querySelectorAll('.agents td')].filter((one) => one.getClientRects().length && one.getBoundingClientRect().right > innerWidth).length",
    );
    assert_eq!(outside, 0);
    let tools =
        tab.eval("[...document.querySelectorAll('.agents tr td:nth-child(4)')].map((one) => one.innerText)");
    assert_eq!(tools, json!(["claude", "claude", "claude"]));
    // Who saved longest ago comes first.
    assert_eq!(tab.eval("document.querySelector('.agents tbody a').innerText"), "Lola");
    tab.assert_fits();
    tab.assert_clean();
}
