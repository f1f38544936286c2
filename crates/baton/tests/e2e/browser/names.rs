//! Under which name one looks: what is refused is never remembered.

use serde_json::Value;

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::Stage;

#[test]
fn a_refused_name_is_no_name_to_act_under_and_a_filled_one_is_not_asked_for_again() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    stage.terminal("Lola").json(&["start"]);
    stage.terminal("Lola").json(&["wrap", "--summary", "The cart is rounded"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    let name = || tab.eval("localStorage.getItem('baton.name')");
    for (main, cancel) in [("New task", true), ("Pick up…", true)] {
        tab.click(main);
        tab.fill("Your name", "not a name");
        if main == "New task" {
            tab.fill("Title", "Paint the shed");
        }
        tab.submit();
        tab.until("document.querySelector('dialog [role=alert]')?.innerText.includes('is not an identity')");
        assert_eq!(name(), Value::Null, "{main}");
        if cancel {
            tab.press("Escape");
            tab.until("!document.querySelector('dialog[open]')");
        }
    }
    // The dialog that asks whose inbox it is knows no operation that could refuse: it asks for a usable name itself.
    tab.go("");
    tab.click("Say who you are…");
    tab.fill("Your name", "not a name");
    tab.submit();
    tab.until("document.querySelector('dialog [role=alert]')?.innerText.includes('is not an identity')");
    assert_eq!(name(), Value::Null);
    tab.fill("Your name", "Ann ");
    tab.submit();
    tab.reads("I am Ann");
    assert_eq!(name(), "Ann");
    // What an earlier page remembered and no operation takes is asked for anew.
    tab.act_as("not a name");
    tab.go("agents");
    tab.go("");
    tab.reads("Say who you are…");
    // With a name, typing begins in the next field that is empty.
    tab.act_as("Ann");
    tab.go("project/shop");
    tab.click("New task");
    tab.until("document.activeElement.name === 'title'");
    tab.type_in("Paint the shed");
    tab.submit();
    tab.reads("was created");
}
