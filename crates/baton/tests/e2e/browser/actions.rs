//! What people come for: see what waits, and pick up, accept, reassign, find.

use serde_json::{Value, json};

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, text};
use crate::worktrees::{committed, git, worktree};

/// Two registered projects, a session that was wrapped, and one at work.
fn scene() -> (Stage, Server) {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["wrap", "--summary", "The cart is rounded", "--next", "Round the tax"]);
    stage.terminal("Donna").json(&["start"]);
    let server = Server::start(&stage.terminal("Server"));
    (stage, server)
}

#[test]
fn home_says_first_what_waits_and_hears_of_a_wrap_by_itself() {
    let Some(browser) = browser() else { return };
    let (stage, server) = scene();
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    let page = tab.text("main");
    let place = |words: &str| page.find(words).unwrap_or_else(|| panic!("no {words:?} in {page}"));
    assert!(place("Waiting for somebody (1)") < place("Baton from Lola"));
    assert!(place("Baton from Lola") < place("At work (1)") && place("At work (1)") < place("Donna"));
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.eval("window.same = true");
    stage.terminal("Donna").json(&["wrap", "--summary", "Tax too"]);
    tab.reads("Baton from Donna");
    tab.reads("Waiting for somebody (2)");
    assert_eq!(tab.eval("window.same"), true, "without loading the page again");
    tab.assert_clean();
}

#[test]
fn a_baton_is_picked_up_by_mouse() {
    let Some(browser) = browser() else { return };
    let (stage, server) = scene();
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.click("Baton from Lola");
    tab.reads("Round the tax");
    tab.click("Pick up…");
    tab.fill("Your name", "Ann");
    tab.click("Pick up");
    tab.reads("Ann’s session");
    tab.reads("Ann holds the baton.");
    let status = stage.terminal("X").json(&["status"]);
    assert!(
        status["handoffs"].as_array().is_some_and(|all| all.iter().all(|one| one["state"] == "held")),
        "{status:#}"
    );
    assert!(status["sessions"].to_string().contains("\"Ann\""), "{status:#}");
    // Back and forth through the views, as browsers do.
    tab.eval("history.back()");
    tab.reads("Its way so far");
    tab.eval("history.back()");
    tab.reads("At work (2)");
    tab.assert_clean();
}

#[test]
fn a_demo_beside_the_page_arrives_and_is_picked_up_by_mouse() {
    let Some(browser) = browser() else { return };
    let stage = Stage::local();
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.until("document.querySelector('#live').textContent === 'live'");
    let rooms = stage.repo("rooms");
    let demo = stage.terminal("Ann").with("TMPDIR", rooms.display().to_string()).json(&["demo", "--live"]);
    assert!(text(&demo, "next").contains(&text(&demo, "project_id")));
    tab.reads("Baton from claude");
    tab.click("Baton from claude");
    tab.click("Pick up…");
    tab.fill("Your name", "Ann");
    tab.click("Pick up");
    tab.reads("Ann holds the baton.");
    tab.assert_clean();
}

#[test]
fn a_baton_is_picked_up_by_keyboard_alone() {
    let Some(browser) = browser() else { return };
    let (stage, server) = scene();
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.press("Tab");
    assert_eq!(tab.eval("document.activeElement.className"), "skip", "the first stop leads past the header");
    tab.tab_to("Baton from Lola");
    tab.press("Enter");
    tab.reads("Its way so far");
    tab.tab_to("Pick up…");
    tab.press("Enter");
    tab.until("document.querySelector('dialog[open]')");
    tab.press("Escape");
    tab.until("!document.querySelector('dialog') && document.activeElement.innerText === 'Pick up…'");
    tab.press("Enter");
    tab.until("document.activeElement.name === 'identity'");
    tab.type_in("Ann");
    tab.press("Enter");
    tab.reads("Ann’s session");
    assert!(stage.terminal("X").json(&["status"])["sessions"].to_string().contains("\"Ann\""));
    tab.press("/");
    assert_eq!(tab.eval("document.activeElement.id"), "query");
    tab.assert_clean();
}

/// A hand-off from shop to depot.
fn handed(stage: &Stage) -> Value {
    let depot = stage.repo("depot");
    stage.terminal("Setup").within(&depot).json(&["init"]);
    stage.terminal("Lola").json(&[
        "handoff",
        "create",
        "--to",
        "depot",
        "--subject",
        "Store the carts",
        "--description",
        "They expire after a day",
    ])
}

#[test]
fn a_hand_off_is_accepted_and_completed() {
    let Some(browser) = browser() else { return };
    let (stage, server) = scene();
    let made = handed(&stage);
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.click("Hand-off from shop/Lola");
    tab.reads("Store the carts");
    tab.click("Accept…");
    tab.fill("Your name", "Olga");
    tab.submit();
    tab.reads("The hand-off is accepted.");
    tab.click("Complete…");
    assert_eq!(tab.eval("document.querySelector('dialog [name=identity]').value"), "Olga", "asked once");
    tab.fill("What to tell the other side", "Stored in Redis");
    tab.submit();
    tab.reads("The hand-off is completed.");
    tab.reads("Stored in Redis");
    let now = stage.terminal("X").json(&["handoff", "show", &text(&made, "handoff_id")]);
    assert_eq!((&now["state"], &now["result"]), (&"completed".into(), &"Stored in Redis".into()), "{now:#}");
    tab.assert_clean();
}

#[test]
fn a_no_of_the_server_stays_in_the_dialog_and_says_what_to_do() {
    let Some(browser) = browser() else { return };
    let (stage, server) = scene();
    let made = handed(&stage);
    let tab = Tab::open(&browser, &server.address, &format!("handoff/{}", text(&made, "handoff_id")), WIDE);
    tab.click("Decline…");
    tab.fill("Your name", "   ");
    tab.submit();
    tab.until("document.querySelector('dialog[open] [role=alert] p')");
    tab.fill("Your name", "Olga");
    tab.fill("What to tell the other side", "Not ours");
    tab.submit();
    tab.reads("The hand-off is declined.");
}

#[test]
fn a_session_is_reassigned_after_the_document_was_shown() {
    let Some(browser) = browser() else { return };
    let (stage, server) = scene();
    let donna = stage.terminal("Donna");
    donna.json(&["checkpoint", "--summary", "Half of the tax is done"]);
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.click_on("[...document.querySelectorAll('svg a')].find((one) => one.getAttribute('aria-label').startsWith('Donna with'))");
    tab.click("Reassign…");
    tab.until(
        "document.querySelector('dialog[open] .document')?.innerText.includes('Half of the tax is done')",
    );
    tab.until("document.querySelector('dialog[open] .document').getBoundingClientRect().height > 40");
    let before = stage.deltas();
    tab.fill("Your name", "Boss");
    tab.fill("To: a name or a tool", "Ann");
    assert_eq!(stage.deltas(), before, "nothing is sent before the button");
    tab.submit();
    // No agent of that name has worked here: a misspelt name is confirmed before the baton waits for it.
    tab.is_told("nobody called Ann has registered or worked in project shop");
    assert_eq!(stage.deltas(), before, "nothing was sent");
    tab.submit();
    tab.reads("The baton waits for Ann.");
    tab.reads("for Ann");
    let taken = stage.terminal("Ann").json(&["pickup"]);
    assert!(taken["baton"].to_string().contains("Half of the tax is done"), "{taken:#}");
}

#[test]
fn a_task_is_made_closed_and_opened_again() {
    let Some(browser) = browser() else { return };
    let (stage, server) = scene();
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.click("New task");
    tab.fill("Your name", "Ann");
    tab.fill("Title", "Round the tax");
    tab.fill("Description", "To the cent, half up");
    tab.click("Create");
    tab.reads("To the cent, half up");
    tab.click("Close…");
    tab.click("Close the task");
    tab.reads("The task is closed.");
    tab.click("Reopen");
    tab.reads("The task is open again.");
    tab.go("project/shop");
    tab.reads("Round the tax");
    let tasks = stage.terminal("X").json(&["task", "list"]);
    assert!(tasks.to_string().contains("Round the tax"), "{tasks:#}");
    tab.assert_clean();
}

#[test]
fn the_search_finds_batons_tasks_notes_and_says_when_there_is_nothing() {
    let Some(browser) = browser() else { return };
    let (stage, server) = scene();
    stage.terminal("Donna").json(&["decide", "Round half up everywhere"]);
    stage.terminal("Donna").json(&["task", "create", "Round the tax"]);
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.press("/");
    tab.type_in("round");
    tab.press("Enter");
    for hit in ["The cart is rounded", "Round half up everywhere", "Round the tax"] {
        tab.reads(hit);
    }
    tab.click("Round the tax");
    tab.until("document.querySelector('h1').textContent === 'Round the tax'");
    tab.go("search/zebra");
    tab.reads("Nothing was found.");
    tab.assert_clean();
}

#[test]
fn a_drawing_by_itself_leaves_the_focus_and_the_place_alone() {
    let Some(browser) = browser() else { return };
    let (stage, server) = scene();
    for n in 0..60 {
        server.ok(
            "ledger_note",
            &json!({ "project": "shop", "identity": "Donna", "text": format!("Step {n}") }),
        );
    }
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.reads("Step 59");
    tab.until("document.documentElement.scrollHeight > 1500");
    tab.eval("document.querySelector('main .push button').focus(), window.scrollTo(0, 333)");
    stage.terminal("Donna").json(&["note", "Something new"]);
    tab.reads("1 new");
    assert_eq!(tab.eval("document.activeElement.innerText"), "New task");
    assert_eq!(tab.eval("Math.round(window.scrollY)"), 333);
    tab.press("n");
    tab.reads("Something new");
    assert_eq!(tab.eval("document.activeElement.innerText"), "New task");
    tab.eval("document.querySelector('#query').focus()");
    tab.type_in("half a wo");
    stage.terminal("Donna").json(&["note", "Something newer"]);
    tab.reads("1 new");
    assert_eq!(tab.eval("document.activeElement.value"), "half a wo");
}

#[test]
fn a_thread_is_read_and_answered() {
    let Some(browser) = browser() else { return };
    let (stage, server) = scene();
    let donna = stage.terminal("Donna");
    donna.json(&["agent", "register"]);
    stage.terminal("Lola").json(&["agent", "register"]);
    let letter = json!({ "project": "shop", "identity": "Donna", "to": "Lola", "type": "question", "subject": "Which cents?", "body": "Up or down?" });
    server.ok("mail_send", &letter);
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.click("Which cents?");
    tab.reads("Up or down?");
    tab.reads("not read yet");
    tab.click("Reply…");
    tab.fill("Your name", "Lola");
    tab.fill("Text", "Half up");
    tab.click("Send");
    tab.reads("Half up");
    let inbox = donna.json(&["mail", "inbox"]);
    assert!(inbox.to_string().contains("Re: Which cents?"), "{inbox:#}");
    tab.assert_clean();
}

#[test]
fn where_each_agent_works_is_seen_on_every_view_of_it() {
    let Some(browser) = browser() else { return };
    let stage = committed();
    let beside = worktree(&stage, "beside", "fix");
    let branch = git(&stage, stage.shop(), &["branch", "--show-current"]);
    stage.terminal("Donna").json(&["start"]);
    let lola = stage.terminal("Lola").within(&beside);
    lola.json(&["start"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    let at = [("Donna", format!("{branch} in shop")), ("Lola", "fix in beside".to_owned())];
    let both = |rows: &str| {
        for (who, place) in &at {
            let row = format!(
                "[...document.querySelectorAll('{rows}')].some((one) => one.textContent.includes('{who}') && one.textContent.includes('{place}'))"
            );
            tab.until(&row);
        }
    };
    both("li.card");
    tab.go("project/shop");
    both("li.card");
    tab.go("agents");
    both("tr");
    // An agent that goes on elsewhere is shown there without loading the page again.
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.eval("window.same = true");
    git(&stage, &beside, &["switch", "-qc", "tax"]);
    lola.json(&["checkpoint", "--summary", "on another branch"]);
    tab.reads("tax in beside");
    assert_eq!(tab.eval("window.same"), true);
    tab.click("Lola");
    tab.reads("Lola’s session");
    tab.reads("tax in beside");
    tab.assert_clean();
}
