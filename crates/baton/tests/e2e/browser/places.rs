//! Where the reader stands: rows keep their places, the focus is never lost, and a dialog belongs to its page.

use serde_json::{Value, json};

use super::browser;
use super::chromium::Chromium;
use super::tab::{Tab, WIDE};
use crate::cross::beside;
use crate::http::Server;
use crate::stage::{Stage, text};

/// The link that has the focus, and how far down its row stands.
const FOCUS: &str = "(() => { const row = document.activeElement.closest('[data-row]'); \
    return row ? `${row.querySelector('a').innerText} at ${Math.round(row.getBoundingClientRect().top)}` : document.activeElement.tagName; })()";
/// The first links of the rows, in their order.
const ORDER: &str = "[...document.querySelectorAll('main [data-row]')].map((row) => row.querySelector('a').innerText).join(' ')";

/// The page of somebody with this name.
fn page_of<'a>(browser: &'a Chromium, server: &Server, name: &str) -> Tab<'a> {
    let tab = Tab::open(browser, &server.address, "projects", WIDE);
    tab.act_as(name);
    tab.go("");
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab
}

/// Sends the dialog that is open.
fn send(tab: &Tab<'_>) {
    tab.submit();
    tab.until("!document.querySelector('dialog')");
}

#[test]
fn rows_stay_where_they_are_read_while_their_agents_save() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let say = |operation: &str, who: &str, fields: Value| {
        let mut input = json!({ "project": "shop", "identity": who });
        input.as_object_mut().expect("fields").extend(fields.as_object().expect("fields").clone());
        server.ok(operation, &input)
    };
    for who in ["Ada", "Ben", "Cem", "Dan"] {
        say("session_start", who, json!({}));
        say("session_checkpoint", who, json!({ "summary": format!("{who} begins") }));
    }
    let tab = page_of(&browser, &server, "Ann");
    // In "At work" as in the list of the agents.
    for place in ["", "agents"] {
        tab.go(place);
        tab.reads("Cem");
        let order = tab.eval(ORDER);
        let names: Vec<&str> =
            order.as_str().expect("names").split(' ').filter(|name| name.len() == 3).collect();
        let (names, read) = (names.clone(), names[1].to_owned());
        tab.eval(&format!(
            "[...document.querySelectorAll('main [data-row] a')].find((one) => one.innerText === '{read}').focus()"
        ));
        let focus = tab.eval(FOCUS);
        for (n, who) in [&read, names[0], names[3], &read].into_iter().enumerate() {
            let summary = format!("{who} saves {n} in “{place}”");
            say("session_checkpoint", who, json!({ "summary": summary }));
            tab.reads(&summary);
            assert_eq!(
                (tab.eval(FOCUS), tab.eval(ORDER)),
                (focus.clone(), order.clone()),
                "{place}: {summary}"
            );
        }
    }
    // Who wants them sorted says so, and keeps the row.
    let read = tab.eval("document.activeElement.innerText");
    let order = tab.eval(ORDER);
    tab.press("n");
    tab.until(&format!("{ORDER} !== {order}"));
    assert_eq!(tab.eval("document.activeElement.innerText"), read);
    tab.assert_clean();
}

#[test]
fn after_an_action_the_next_row_has_the_focus() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    for who in ["Bob", "Ann"] {
        server.ok("agent_register", &json!({ "project": "shop", "identity": who }));
    }
    for n in 0..4 {
        let letter = json!({ "project": "shop", "identity": "Bob", "to": "Ann", "type": "Question", "subject": format!("Q{n}"), "body": "?" });
        server.ok("mail_send", &letter);
    }
    let tab = page_of(&browser, &server, "Ann");
    tab.reads("For you (4)");
    let row = "document.activeElement.closest('[data-row]').querySelector('.words').innerText";
    tab.press("j");
    tab.press("j");
    assert_eq!(tab.eval(row), "Question: Q1");
    tab.press("x");
    tab.fill("Text", "yes");
    send(&tab);
    tab.reads("For you (3)");
    tab.until(&format!("{row} === 'Question: Q2'"));
    tab.press("j");
    assert_eq!(tab.eval(row), "Question: Q3");
    // Of the last row the one before has it, of the only one the view.
    for (left, next) in [(2, "Question: Q2"), (1, "Question: Q0")] {
        tab.press("x");
        tab.fill("Text", "no");
        send(&tab);
        tab.reads(&format!("For you ({left})"));
        tab.until(&format!("{row} === '{next}'"));
    }
    tab.press("x");
    tab.fill("Text", "no");
    send(&tab);
    tab.until("!document.body.innerText.includes('For you') && document.activeElement.id === 'main'");
    tab.assert_clean();
}

#[test]
fn a_dialog_goes_with_its_page_and_a_row_without_an_action_says_so() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let lola = json!({ "project": "shop", "identity": "Lola" });
    server.ok("session_start", &lola);
    server.ok("session_wrap", &json!({ "project": "shop", "identity": "Lola", "summary": "Half" }));
    let tab = page_of(&browser, &server, "Ann");
    tab.go("agents");
    tab.go("");
    tab.click("Pick up…");
    tab.until("document.querySelector('dialog[open]')");
    tab.eval("history.back()");
    tab.until(
        "document.querySelector('main h1').innerText === 'Agents' && !document.querySelector('dialog')",
    );
    // The ledger is gone through by keys as every list is.
    tab.go("ledger/shop");
    tab.press("j");
    tab.press("j");
    tab.until("document.activeElement.getAttribute('aria-label') === 'start of Lola'");
    tab.press("x");
    tab.reads("This row has no action");
    tab.press("k");
    tab.press("Enter");
    tab.until("location.hash.startsWith('#/baton/')");
    tab.assert_clean();
}

#[test]
fn what_came_back_is_left_anew_and_what_is_blocked_is_opened_again_in_the_row() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let (iris, ben, rob) = (stage.terminal("Iris"), stage.terminal("Ben"), stage.terminal("Rob"));
    let made = iris.json(&["handoff", "create", "--to", "lib", "--subject", "Discount lines"]);
    ben.json(&["handoff", "decline", &text(&made, "handoff_id"), "--why", "after the 7th"]);
    rob.json(&["start"]);
    let task = text(&rob.json(&["task", "create", "Flaky test"]), "id");
    for _ in 0..3 {
        rob.json(&["task", "claim", &task]);
        rob.json(&["task", "release", &task, "--why", "it hangs"]);
    }
    rob.json(&["task", "update", &task, "--status", "blocked"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = page_of(&browser, &server, "Iris");
    tab.reads("Hand-off to lib came back");
    tab.press("j");
    tab.press("x");
    tab.reads("Declined by Ben: after the 7th");
    tab.fill("Description", "The 8th will do");
    send(&tab);
    tab.until("!document.querySelector('main').innerText.includes('came back')");
    let all = server.ok("handoff_list", &json!({ "project": "lib" }));
    assert!(all.to_string().contains("The 8th will do") || all["total"] == 2, "{all:#}");
    // What one sent is taken back, not accepted.
    tab.go("handoffs/offered");
    tab.reads("Discount lines");
    assert_eq!(
        tab.eval(
            "[...document.querySelectorAll('main button:not(.copy, .filters *)')].map((one) => one.innerText).join()"
        ),
        "Cancel…"
    );
    tab.go("");
    tab.reads(&format!("Task {task} failed again and again, and is blocked"));
    tab.reads("tried 3 times, now blocked");
    let help = format!("baton task update {task} --status open --project shop");
    tab.until(&format!("document.querySelector('main').textContent.includes('{help}')"));
    tab.go(&format!("task/shop/{task}"));
    tab.reads("Open again…");
    tab.go("");
    tab.click("Open again…");
    send(&tab);
    tab.reads("The task is open again.");
    // It begins its attempts anew.
    tab.until(&format!("!document.querySelector('main').innerText.includes('{task}')"));
    assert_eq!(text(&rob.json(&["task", "show", &task]), "status"), "open");
    tab.assert_clean();
}

#[test]
fn a_baton_that_was_given_back_names_nobody_as_its_holder() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let as_whom = |who: &str| json!({ "project": "shop", "identity": who });
    server.ok("session_start", &as_whom("Bob"));
    let left =
        server.ok("session_wrap", &json!({ "project": "shop", "identity": "Bob", "summary": "Half done" }));
    server.ok("hd_exec", &as_whom("Ann"));
    let place = format!("baton/shop/{}", text(&left, "delta_id"));
    let tab = Tab::open(&browser, &server.address, &place, WIDE);
    tab.until("document.querySelector('main .facts').innerText.includes('Taken by\\nAnn')");
    server.ok("session_end", &json!({ "project": "shop", "identity": "Ann", "reason": "by mistake" }));
    tab.until("document.querySelector('main .facts').innerText.includes('Given back by\\nAnn')");
    assert!(!tab.text("main .facts").contains("Taken by"), "{}", tab.text("main .facts"));
    tab.assert_clean();
}
