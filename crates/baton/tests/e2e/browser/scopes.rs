//! With a token: what it may do is offered, and nothing else; and under whose name it acts.

use serde_json::json;

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, text};

/// The buttons of the view that write.
fn offered(tab: &Tab<'_>) -> String {
    let script = "[...document.querySelectorAll('main button:not(.copy, .more)')].map((one) => one.textContent)\
        .filter((one) => one && !/^(Open|Raw|Text|Rendered|I am|\\d+ new)/.test(one)).join()";
    tab.eval(script).as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_token_that_may_write_is_offered_nothing_for_which_an_operator_is_needed() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let bob = stage.terminal("Bob");
    let session = text(&bob.json(&["start"]), "session_id");
    let task = text(&bob.json(&["task", "create", "Paint the shed"]), "id");
    bob.json(&["task", "claim", &task]);
    let setup = stage.terminal("Setup");
    let secret = |scope: &str| {
        let made = setup.json(&["token", "create", "--scope", scope, "--identity", "Vera", "--name", scope]);
        text(&made, "token")
    };
    let (write, operator) = (secret("write"), secret("operator"));
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("This server asks for a token");
    // A wrong one is told as such, and asked for again.
    tab.fill("Token", "baton_wrong");
    tab.submit();
    tab.is_told("This token opens nothing here");
    tab.fill("Token", &write);
    tab.submit();
    // It is bound to a name, for which the page does not ask.
    tab.reads("I am Vera");
    let pages = [format!("session/shop/{session}"), format!("task/shop/{task}"), "agents".to_owned()];
    let all = |tab: &Tab<'_>| {
        pages.each_ref().map(|place| {
            tab.go(place);
            offered(tab)
        })
    };
    assert_eq!(all(&tab), ["Write…", "Write…", "Write…"].map(str::to_owned));
    tab.go("fleet");
    tab.reads("Every hand-off is on its way.");
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("This server asks for a token");
    tab.fill("Token", &operator);
    tab.submit();
    tab.reads("I am Vera");
    assert_eq!(
        all(&tab),
        ["Write…,Reassign…,Share…", "Take back from Bob…,Write…", "Write…,Reassign…"].map(str::to_owned)
    );
    // What is refused all the same says of which scope a token is needed, and who gives it.
    tab.go(&pages[0]);
    tab.click("Reassign…");
    tab.fill("To: a name or a tool", "Bob");
    tab.eval(&format!("localStorage.setItem('baton.token', {})", json!(write)));
    tab.submit();
    tab.is_told("the token has the scope write, and this needs operator");
    tab.is_told("Ask whoever keeps the server for a token of the scope operator.");
}
