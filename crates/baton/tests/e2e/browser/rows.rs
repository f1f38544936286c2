//! Rows of the inbox: which one is meant, how many there are, and what is offered in them.

use serde_json::json;

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::Stage;

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
    tab.eval("localStorage.setItem('baton.name', 'Iris')");
    tab.go("agents");
    tab.go("");
    tab.reads("For you (1)");
    assert_eq!(sections(&tab), "For you (1): 1; Needs attention (47): 39 Show more (8 more)");
    tab.click("Show more (8 more)");
    tab.until("document.querySelectorAll('main .matter').length === 48");
    assert_eq!(sections(&tab), "For you (1): 1; Needs attention (47): 47");
    tab.assert_clean();
}
