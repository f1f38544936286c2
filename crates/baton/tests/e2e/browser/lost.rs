//! An answer that is lost on its way: what was asked for is done once, however often the button is pressed.

use super::browser;
use super::tab::Tab;
use crate::http::Server;
use crate::stage::{Stage, items, text};

const AWAY: &str = "The server does not answer.";

#[test]
fn a_message_and_a_task_are_there_once_where_the_answer_was_lost() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    ann.json(&["agent", "register"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Vera", "project/shop");
    let inbox = || items(&ann.json(&["mail", "inbox"])).len();
    tab.click("Write…");
    tab.fill("To: names, or role:NAME", "Ann");
    tab.fill("About", "lunch");
    tab.fill("Text", "at noon?");
    tab.lose_answers(2);
    for _ in 0..2 {
        tab.submit();
        tab.is_told(AWAY);
        tab.is_told("it is done once");
        assert_eq!(inbox(), 1);
        tab.until("!document.querySelector('dialog[open] button[type=submit]').disabled");
        tab.eval("document.querySelector('dialog[open] .trouble').remove()");
    }
    tab.submit();
    tab.reads("Sent to Ann.");
    assert_eq!(inbox(), 1, "sent once");
    let tasks = || items(&ann.json(&["task", "list"])).len();
    tab.click("New task");
    tab.fill("Title", "Paint the shed");
    tab.lose_answers(1);
    tab.submit();
    tab.is_told(AWAY);
    assert_eq!(tasks(), 1);
    // Another title is another task: the key is that of what was asked for.
    tab.fill("Title", "Paint the fence");
    tab.submit();
    tab.reads("was created.");
    assert_eq!(tasks(), 2);
}

#[test]
fn a_task_that_was_taken_back_unheard_is_not_taken_back_twice() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let (jim, eli) = (stage.terminal("Jim"), stage.terminal("Eli"));
    jim.json(&["start"]);
    eli.json(&["start"]);
    let task = text(&jim.json(&["task", "create", "Flaky test"]), "id");
    jim.json(&["task", "claim", &task]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open_as(&browser, &server.address, "Vera", &format!("task/shop/{task}"));
    tab.click("Take back from Jim…");
    tab.fill("Give it to (empty: anybody, or the router)", "Eli");
    tab.fill("Why", "it hangs");
    tab.lose_answers(1);
    tab.submit();
    tab.is_told(AWAY);
    tab.eval("document.querySelector('dialog[open] .trouble').remove()");
    tab.submit();
    tab.reads("The task is for Eli.");
    let now = eli.json(&["task", "show", &task]);
    assert_eq!((text(&now, "status"), text(&now, "assignee")), ("open".into(), "Eli".into()), "{now:#}");
    let letters = |who: &crate::stage::Terminal<'_>, words: &str| {
        let inbox = who.json(&["mail", "inbox", "--bodies"]);
        items(&inbox).iter().filter(|one| one.to_string().contains(words)).count()
    };
    assert_eq!(letters(&jim, "it hangs"), 1, "its agent is told once");
    assert_eq!(letters(&eli, "Vera gave you task"), 1, "and so is who has it now");
}
