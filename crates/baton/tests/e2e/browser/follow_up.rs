//! What one sent: a question to another project is followed up and taken back, and what came back is done with once it is left anew.

use serde_json::json;

use super::browser;
use super::tab::{NARROW, Tab, WIDE};
use crate::cross::beside;
use crate::http::Server;
use crate::stage::{Stage, items, text};

/// A question of Vera of shop to Ben of lib, under this subject.
fn question(stage: &Stage, subject: &str) {
    let vera = stage.terminal("Vera");
    vera.json(&[
        "mail",
        "send",
        "--to",
        "Ben",
        "--to-project",
        "lib",
        "--type",
        "question",
        "--subject",
        subject,
        "--text",
        "up?",
    ]);
}

#[test]
fn a_question_to_another_project_is_followed_up_and_taken_back() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let lib = stage.repo("lib");
    let ben = stage.terminal("Ben").within(&lib);
    ben.json(&["start"]);
    stage.terminal("Vera").json(&["start"]);
    question(&stage, "Which rounding?");
    question(&stage, "Drop the table?");
    let server = Server::start(&stage.terminal("Server"));
    let listed = server.ok("attention_list", &json!({ "identity": "Vera", "waiting": true }));
    let is_first = |one: &&serde_json::Value| text(one, "subject").contains("Which rounding?");
    let question_id = text(items(&listed).iter().find(is_first).expect("the question"), "id");
    let tab = Tab::open_as(&browser, &server.address, "Vera", "");
    let row = |subject: &str| {
        format!(
            "[...document.querySelectorAll('main .matter')].find((one) => one.innerText.includes('{subject}'))"
        )
    };
    tab.reads("Vera wrote to Ben");
    // It is unread: it is taken back.
    tab.click_on(&format!("{}.querySelector('.acts summary')", row("Drop the table?")));
    tab.click_on("[...document.querySelectorAll('main .acts[open] button')].find((one) => one.innerText === 'Take back unread…')");
    tab.submit();
    tab.reads("The message is taken back.");
    tab.until(&format!("!{}", row("Drop the table?")));
    assert!(!ben.json(&["signal", "pending"]).to_string().contains("Drop the table?"));
    tab.click_on(&format!("{}.querySelector('button')", row("Which rounding?")));
    tab.until("document.querySelector('dialog[open] h2')?.textContent === 'Write to Ben again'");
    tab.fill("Text", "It is urgent");
    tab.submit();
    tab.reads("Sent.");
    // On its page in the project where it lies, too.
    tab.go(&format!("mail/lib/{question_id}"));
    tab.click("Write again…");
    tab.fill("Text", "Never mind the tax");
    tab.submit();
    tab.reads("Never mind the tax");
    let bodies = ben.json(&["mail", "inbox", "--bodies", "--all"]).to_string();
    assert!(bodies.contains("It is urgent") && bodies.contains("Never mind the tax"), "{bodies}");
    tab.assert_clean();
}

#[test]
fn what_came_back_and_was_left_anew_elsewhere_is_done_with() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let bank = stage.repo("bank");
    stage.terminal("Setup").within(&bank).json(&["init"]);
    let lola = stage.terminal("Lola");
    for subject in ["Check the numbers", "Check the names"] {
        let made = lola.json(&["handoff", "create", "--to", "lib", "--subject", subject]);
        stage.terminal("Olga").json(&["handoff", "decline", &text(&made, "handoff_id"), "--why", "ask bank"]);
    }
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Lola", "");
    tab.reads("For you (2)");
    tab.press("j");
    tab.press("x");
    tab.fill("To: a project", "bank");
    tab.submit();
    tab.reads("The hand-off is offered.");
    // The row has gone, and the focus is on the next one.
    tab.reads("For you (1)");
    tab.until("document.activeElement.closest('main [data-row]')?.innerText.includes('Check the names')");
    tab.until("!document.activeElement.closest('main [data-row]').innerText.includes('Check the numbers')");
    // One's own offer says to whom it goes.
    tab.reads("Hand-off to bank");
    tab.assert_clean();
}

#[test]
fn a_task_that_was_given_to_another_leaves_the_inbox_and_the_next_row_has_the_focus() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let (jim, eli) = (stage.terminal("Jim"), stage.terminal("Eli"));
    jim.json(&["start"]);
    eli.json(&["start"]);
    let flaky = |title: &str| {
        let task = text(&jim.json(&["task", "create", title]), "id");
        for why in ["seed 1", "seed 2", "seed 3"] {
            jim.json(&["task", "claim", &task]);
            jim.json(&["task", "release", &task, "--why", why]);
        }
        jim.json(&["task", "claim", &task]);
        task
    };
    let first = flaky("Flaky test");
    flaky("Flaky build");
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Vera", "");
    let row = |title: &str| {
        format!(
            "[...document.querySelectorAll('main .matter')].find((one) => one.innerText.includes('{title}'))"
        )
    };
    tab.until(&row("Flaky build"));
    tab.click_on(&format!("{}.querySelector('button')", row("Flaky test")));
    tab.fill("Give it to (empty: anybody, or the router)", "role:testing");
    tab.fill("Why", "it hangs");
    tab.submit();
    tab.is_told("nobody called role:testing");
    tab.fill("Give it to (empty: anybody, or the router)", "Eli");
    tab.submit();
    tab.reads("The task is for Eli.");
    tab.until(&format!("!{}", row("Flaky test")));
    tab.until("document.activeElement.closest('main [data-row]')");
    // While Eli is at it, it is Eli's; a failure makes it a matter again.
    eli.json(&["task", "claim", &first]);
    let retried = || {
        let listed = server.ok("attention_list", &json!({ "identity": "Vera", "reason": "task_retried" }));
        items(&listed).iter().map(|one| text(one, "subject")).collect::<Vec<_>>()
    };
    assert_eq!(retried(), ["Flaky build"]);
    eli.json(&["task", "release", &first, "--why", "me too"]);
    assert_eq!(retried().len(), 2);
    tab.assert_clean();
}

#[test]
fn a_long_subject_has_two_lines_in_a_row_and_the_button_of_a_dialog_is_seen_on_a_phone() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let (ann, bob) = (stage.terminal("Ann"), stage.terminal("Bob"));
    ann.json(&["start"]);
    bob.json(&["start"]);
    bob.json(&["checkpoint", "--summary", &"half of it ".repeat(60)]);
    let subject = "a long story ".repeat(30);
    ann.json(&[
        "mail",
        "send",
        "--to",
        "Bob",
        "--type",
        "question",
        "--subject",
        subject.trim(),
        "--text",
        "?",
    ]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", NARROW);
    tab.reads("Ann wrote to Bob");
    let lines = "(() => { const one = [...document.querySelectorAll('main .matter .words')].find((one) => one.textContent.includes('long story')); return Math.round(one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight)); })()";
    assert_eq!(tab.eval(lines), 2);
    let whole = "[...document.querySelectorAll('main .matter .words')].some((one) => one.textContent.length > 300 && one.title.length > 300)";
    assert_eq!(tab.eval(whole), true, "nothing of it is lost");
    let session = text(
        &bob.json(&["sessions"])["items"]
            .as_array()
            .and_then(|all| all.iter().find(|one| one["identity"] == "Bob").cloned())
            .expect("a session"),
        "session_id",
    );
    tab.go(&format!("session/shop/{session}"));
    tab.click("Reassign…");
    tab.until("document.querySelector('dialog[open] .document')");
    tab.until("document.querySelector('dialog[open] button[type=submit]').getBoundingClientRect().bottom <= innerHeight");
    tab.press("Escape");
    tab.look(WIDE);
    tab.go("agents");
    let heights = "new Set([...document.querySelectorAll('main tbody .figures button')].map((one) => Math.round(one.getBoundingClientRect().height))).size";
    tab.until("document.querySelector('main tbody .figures button')");
    assert_eq!(tab.eval(heights), 1, "a word of a button is not broken");
    tab.assert_fits();
    tab.assert_clean();
}
