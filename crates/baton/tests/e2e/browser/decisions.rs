//! What was decided: of all projects in one place, with its day once that is not today, and reached from each project.

use serde_json::json;

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::Stage;

#[test]
fn what_was_decided_today_is_one_view_of_all_projects_by_the_day() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    stage.terminal("Setup").within(stage.repo("bank")).json(&["init"]);
    let decide = |project: &str, what: &str| {
        let note = json!({ "project": project, "identity": "Lola", "kind": "decision", "text": what, "why": "the law", "rejected": ["to cut"] });
        server.ok("ledger_note", &note);
    };
    for project in ["shop", "bank"] {
        server.ok("session_start", &json!({ "project": project, "identity": "Lola" }));
        for n in 0..30 {
            decide(project, &format!("{project} rounds {n}"));
        }
    }
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.click("all decisions");
    tab.until("location.hash === '#/decisions/shop'");
    tab.reads("Today (30)");
    tab.reads("shop rounds 0");
    assert!(!tab.text("main").contains("bank rounds"));
    tab.click("those of all projects");
    tab.until("location.hash === '#/decisions'");
    tab.reads("bank rounds 29");
    tab.reads("Today (50 or more)");
    tab.reads("Rejected: to cut");
    tab.click("Show older");
    tab.reads("Today (60)");
    tab.reads("shop rounds 0");
    // What is decided elsewhere meanwhile is here by itself.
    decide("shop", "No cents at all");
    tab.reads("No cents at all");
    // A key and the strip of views lead here, too.
    tab.go("");
    tab.press("g");
    tab.press("d");
    tab.until("location.hash === '#/decisions'");
    tab.until("document.querySelector('nav [aria-current]')?.innerText === 'Decisions'");
    // Of what is older than a day the day is said, and not how many hours ago it was.
    tab.eval(
        "{ const real = window.fetch; window.fetch = async (url, options) => { const answer = await real(url, options); \
         if (!/\\/decisions/.test(url)) return answer; const body = await answer.json(); \
         body.items.forEach((one, at) => { one.created_at = at ? '2026-01-02T10:00:00Z' : one.created_at; }); \
         return new Response(JSON.stringify(body), { headers: answer.headers }); }; }",
    );
    tab.go("decisions/bank");
    tab.reads("Friday, January 2, 2026");
    tab.until(
        "[...document.querySelectorAll('main li time')].slice(1).every((one) => /Jan 2/.test(one.innerText))",
    );
    tab.assert_clean();
}

#[test]
fn a_guessed_address_of_the_server_leads_to_its_view() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "server", WIDE);
    tab.until("location.hash === '#/fleet' && document.querySelector('main h1')?.innerText === 'Server'");
    tab.until("document.querySelector('nav [aria-current]')?.innerText === 'Server'");
}
