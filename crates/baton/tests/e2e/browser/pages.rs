//! Lists of many pages: nothing is lost between two of them, and what is shown is not asked for again; what an empty list says.

use serde_json::{Value, json};

use super::browser;
use super::tab::{Tab, WIDE};
use crate::cross::beside;
use crate::http::Server;
use crate::stage::{Stage, text};

fn write(server: &Server, subject: &str, reply_to: Option<&Value>) -> Value {
    server.ok("mail_send", &json!({ "project": "shop", "identity": "Donna", "to": "Lola", "subject": subject, "body": "b", "reply_to": reply_to }))
}

#[test]
fn no_thread_is_lost_between_two_pages_and_none_is_shown_as_it_was() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Donna" }));
    server.ok("agent_register", &json!({ "project": "shop", "identity": "Lola" }));
    let oldest = write(&server, "Letter number 0.", None);
    for n in 1..60 {
        write(&server, &format!("Letter number {n}."), None);
    }
    let tab = Tab::open(&browser, &server.address, "mailbox/shop", WIDE);
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.click("Show more");
    tab.reads("Letter number 0.");
    // These move more threads off the first page than a page has.
    for n in 60..120 {
        write(&server, &format!("Letter number {n}."), None);
    }
    tab.reads("Letter number 119.");
    let cards = "[...document.querySelectorAll('main .grid .card')]";
    tab.until(&format!("{cards}.length === 120"));
    for n in 0..120 {
        let found = format!("{cards}.filter((one) => one.innerText.includes('Letter number {n}.')).length");
        assert_eq!(tab.eval(&found), 1, "letter {n}");
    }
    // One of a later page that was written to stands first, once, as it is now, also where that page is asked for later than the first.
    tab.eval(LATE_PAGES);
    write(&server, "Letter number 0.", Some(&oldest["message_id"]));
    tab.until(&format!("{cards}[0].innerText.includes('2 messages')"));
    tab.until(&format!("{cards}.length === 120"));
    tab.assert_clean();
}

/// Pages after the first are late.
const LATE_PAGES: &str = r"(() => {
    const real = window.fetch;
    window.fetch = async (url, ...rest) => {
        if (/\/threads\?.*before=/.test(url)) await new Promise((go) => setTimeout(go, 1500));
        return real(url, ...rest);
    };
    return null;
})()";

/// A list of threads without end: a thread on each page.
const ENDLESS: &str = r"(() => {
    const real = window.fetch;
    window.asked = 0;
    window.fetch = (url, ...rest) => {
        if (!/\/threads\?/.test(url)) return real(url, ...rest);
        window.asked += 1;
        const n = Number(new URL(url, location).searchParams.get('before') || 1000);
        const row = { thread_id: `t${n}`, message_id: `m${n}`, subject: `Letter ${n}`, people: ['Donna'], messages: 1, waiting: 0, last_at: new Date().toISOString() };
        return Promise.resolve(new Response(JSON.stringify({ items: [row], next: n - 1 }), { headers: { 'content-type': 'application/json' } }));
    };
    return null;
})()";

/// Presses "Show more" until so many pages are shown.
const OPEN_PAGES: &str = r"(async () => {
    const cards = () => document.querySelectorAll('main .grid .card').length;
    while (cards() < 180) {
        const before = cards();
        document.querySelector('main button.more').click();
        while (cards() === before) await new Promise((go) => setTimeout(go, 2));
    }
    window.isOpen = true;
})(), null";

#[test]
fn a_view_of_many_pages_keeps_the_answers_that_it_shows() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "projects", WIDE);
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.eval(ENDLESS);
    tab.go("mailbox/shop");
    tab.reads("Letter 1000");
    tab.eval(OPEN_PAGES);
    tab.until("window.isOpen");
    assert_eq!(tab.eval("window.asked"), 180, "each page is asked for once");
    // So it is for who comes back.
    tab.go("agents");
    tab.go("mailbox/shop");
    tab.reads("Letter 821");
    assert_eq!(tab.eval("document.querySelectorAll('main .grid .card').length"), 180);
    let count = tab.eval("window.asked").as_i64().expect("a number");
    assert!(count <= 360, "{count}: each page is asked for at most once more");
    tab.assert_clean();
}

#[test]
fn an_empty_list_says_what_narrows_it_and_leads_out_of_it() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let server = Server::start(&stage.terminal("Server"));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Donna" }));
    server.ok("session_wrap", &json!({ "project": "shop", "identity": "Donna", "summary": "The tax" }));
    let tab = Tab::open(&browser, &server.address, "batons/open/shop/newest/Ann", WIDE);
    tab.reads("No baton that is open in shop for Ann: the list is narrowed.");
    tab.click("Those of all projects, for anybody");
    tab.until("location.hash === '#/batons/open//newest'");
    tab.reads("The tax");
    tab.go("handoffs///newest/role:tester");
    tab.reads("No hand-off for role:tester: the list is narrowed.");
    tab.assert_clean();
}

#[test]
fn the_memory_of_a_hand_off_comes_and_goes_with_it() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "memories/lib", WIDE);
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.reads("Nothing is remembered yet.");
    let made = json!({ "from_project_id": "shop", "to_project_id": "lib", "identity": "Lola", "subject": "Round half up" });
    let id = text(&server.ok("handoff_create", &made), "handoff_id");
    tab.reads("Round half up");
    server.ok("handoff_advance", &json!({ "id": id, "action": "cancel", "identity": "Lola" }));
    tab.reads("Nothing is remembered yet.");
    tab.assert_clean();
}

#[test]
fn an_answer_that_is_for_everybody_takes_no_name_away() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let setup = stage.terminal("Setup");
    let made = setup.json(&["token", "create", "--scope", "read", "--identity", "Vera", "--name", "t"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.reads("This server asks for a token");
    tab.fill("Token", &text(&made, "token"));
    tab.submit();
    tab.reads("I am Vera");
    // The server's health, which names nobody, is the last answer of its view.
    tab.eval(HEALTH_LAST);
    tab.go("fleet");
    tab.until("window.isWell");
    tab.go("");
    tab.reads("I am Vera");
    // What the view of the server asks for itself has a reason in place of a name.
    let nameless =
        "window.asked.filter((url) => url.includes('/attention') && !/reason=|identity=Vera/.test(url))";
    assert_eq!(tab.eval(nameless), json!([]), "the inbox is still Vera's");
}

/// Lets the server's health come late, and keeps the addresses that are asked for.
const HEALTH_LAST: &str = r"(() => {
    const real = window.fetch;
    window.asked = [];
    window.fetch = async (url, ...rest) => {
        window.asked.push(String(url));
        const answer = await real(url, ...rest);
        if (/healthz/.test(url)) {
            await new Promise((go) => setTimeout(go, 1500));
            setTimeout(() => { window.asked = []; window.isWell = true; }, 100);
        }
        return answer;
    };
    return null;
})()";
