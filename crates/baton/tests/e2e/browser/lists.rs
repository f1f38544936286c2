//! Lists are read to their end, in an order and for an addressee that stand in the address; a project's memories, and its tasks as a
//! tree.

use serde_json::{Value, json};

use super::browser;
use super::tab::{NARROW, Tab, WIDE};
use crate::cross::beside;
use crate::http::Server;
use crate::stage::{Stage, text};

/// A baton, for somebody or for anybody.
fn leave(server: &Server, who: &str, summary: &str, to: Option<&str>) {
    server.ok("session_start", &json!({ "project": "shop", "identity": who }));
    let wrap = json!({ "project": "shop", "identity": who, "summary": summary, "to": to });
    server.ok("session_wrap", &wrap);
}

/// What the rows of a list read, in their order.
fn rows(tab: &Tab<'_>, selector: &str) -> Value {
    tab.eval(&format!("[...document.querySelectorAll({})].map((one) => one.innerText)", json!(selector)))
}

#[test]
fn batons_are_sorted_and_narrowed_to_an_addressee_by_their_address() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    for (who, to) in [("A1", None), ("A2", Some("Ann")), ("A3", None), ("A4", Some("ann"))] {
        leave(&server, who, &format!("Left by {who}"), to);
    }
    let tab = Tab::open(&browser, &server.address, "batons", WIDE);
    tab.reads("4 in all, the oldest first.");
    let words = "main .matters .words";
    assert_eq!(rows(&tab, words), json!(["Left by A1", "Left by A2", "Left by A3", "Left by A4"]));
    tab.eval("document.querySelector('#by-order').value = 'newest'");
    tab.fill("For: a name, or role:NAME", "Ann");
    tab.click("Narrow");
    tab.reads("2 in all, the newest first. For Ann.");
    assert_eq!(tab.eval("location.hash"), "#/batons///newest/Ann");
    assert_eq!(rows(&tab, words), json!(["Left by A4", "Left by A2"]));
    // Another state, and a bookmark of a project, keep order and addressee.
    tab.click("open");
    tab.until("location.hash === '#/batons/open//newest/Ann'");
    assert_eq!(rows(&tab, words), json!(["Left by A4", "Left by A2"]));
    tab.go("batons//shop/newest");
    tab.reads("4 in all, the newest first. Project shop.");
    assert_eq!(rows(&tab, words), json!(["Left by A4", "Left by A3", "Left by A2", "Left by A1"]));
    tab.go("batons///sideways");
    tab.reads("There is no order “sideways”");
    tab.assert_clean();
}

#[test]
fn hand_offs_are_sorted_and_narrowed_to_an_addressee_by_their_address() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let server = Server::start(&stage.terminal("Server"));
    for (subject, to) in [("The first", Some("Olga")), ("The second", None), ("The third", Some("Olga"))] {
        let made = json!({ "from_project_id": "shop", "to_project_id": "lib", "identity": "Lola", "subject": subject, "to_identity": to });
        server.ok("handoff_create", &made);
    }
    let tab = Tab::open(&browser, &server.address, "handoffs", WIDE);
    tab.reads("3 in all, the newest first.");
    assert_eq!(rows(&tab, "main .matters h3"), json!(["The third", "The second", "The first"]));
    tab.go("handoffs/offered/lib/oldest/olga");
    tab.reads("2 in all, the oldest first. Project lib. For olga.");
    assert_eq!(rows(&tab, "main .matters h3"), json!(["The first", "The third"]));
    assert_eq!(tab.eval("document.querySelector('#by-to').value"), "olga");
    tab.reads("for Olga");
    tab.assert_clean();
}

#[test]
fn a_decision_and_a_thread_behind_the_newest_twenty_are_reached() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Donna" }));
    server.ok("agent_register", &json!({ "project": "shop", "identity": "Lola" }));
    let note = |kind: &str, text: String| {
        let note = json!({ "project": "shop", "identity": "Donna", "kind": kind, "text": text });
        server.ok("ledger_note", &note)
    };
    for n in 0..23 {
        note("decision", format!("Decision number {n}."));
        let letter = json!({ "project": "shop", "identity": "Donna", "to": "Lola", "subject": format!("Letter number {n}."), "body": "b" });
        server.ok("mail_send", &letter);
    }
    // What was written since takes no decision away.
    for n in 0..160 {
        note("note", format!("Note {n}"));
    }
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    for (heading, newest, oldest, way) in [
        ("Decisions", "Decision number 22.", "Decision number 0.", "all decisions"),
        ("Mail", "Letter number 22.", "Letter number 0.", "all threads"),
    ] {
        tab.go("project/shop");
        tab.reads(heading);
        tab.reads(newest);
        assert!(!tab.text("main").contains(oldest), "{heading}: only the newest");
        tab.click(way);
        tab.reads(oldest);
        tab.reads(newest);
    }
    // A list of threads goes on behind its first page.
    for n in 23..60 {
        let letter = json!({ "project": "shop", "identity": "Donna", "to": "Lola", "subject": format!("Letter number {n}."), "body": "b" });
        server.ok("mail_send", &letter);
    }
    tab.go("project/shop");
    tab.go("mailbox/shop");
    tab.reads("Letter number 59.");
    assert!(!tab.text("main").contains("Letter number 3."), "a page of fifty");
    tab.click("Show more");
    tab.reads("Letter number 0.");
    assert_eq!(tab.eval("document.querySelectorAll('main .grid .card').length"), 60);
    tab.assert_clean();
}

#[test]
fn what_is_ones_own_is_counted_up_to_a_number_and_said_to_be_more() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Donna" }));
    server.ok("agent_register", &json!({ "project": "shop", "identity": "Ann" }));
    std::thread::scope(|scope| {
        for part in 0..8 {
            let server = &server;
            scope.spawn(move || {
                for n in (part..503).step_by(8) {
                    let letter = json!({ "project": "shop", "identity": "Donna", "to": "Ann", "type": "Question", "subject": format!("Q{n}"), "body": "b" });
                    server.ok("mail_send", &letter);
                }
            });
        }
    });
    let tab = Tab::open_as(&browser, &server.address, "Ann", "");
    tab.reads("For you (500+)");
    tab.reads("Show more (450+ more)");
    tab.assert_clean();
}

#[test]
fn memories_are_listed_searched_and_read_one_by_one() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let add = |text: &str, tags: Value| {
        let input =
            json!({ "project": "shop", "identity": "Donna", "text": text, "kind": "decision", "tags": tags });
        text_of(&server.ok("memory_add", &input))
    };
    let redis = add("Redis was rejected\n\nNo transactions across **keys**.", json!(["storage"]));
    add("The cart rounds half up", json!([]));
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.click("Memories");
    tab.reads("Redis was rejected");
    tab.reads("The cart rounds half up");
    tab.reads("storage");
    tab.fill("Words or a question", "redis");
    tab.click("Search");
    tab.until("location.hash === '#/memories/shop/redis'");
    tab.until("document.querySelectorAll('main .matters li').length === 1");
    tab.press("j");
    tab.press("Enter");
    tab.until("document.querySelector('main .document strong')?.textContent === 'keys'");
    assert_eq!(tab.eval("location.hash"), format!("#/memory/shop/{redis}"));
    // A withdrawn one is in no list, and says at its address that it is.
    let withdraw = json!({ "project": "shop", "identity": "Donna", "id": redis, "why": "we use it now" });
    server.ok("memory_withdraw", &withdraw);
    tab.reads("we use it now");
    tab.go("memories/shop");
    tab.until("document.querySelectorAll('main .matters li').length === 1");
    // The entry of the ledger leads to it.
    tab.go("ledger/shop/remember");
    tab.until("document.querySelector('#ledger a')");
    tab.eval("[...document.querySelectorAll('#ledger a')].at(-1).click()");
    tab.reads("all memories of the project");
    tab.assert_clean();
    tab.go("memory/shop/ffff-none");
    tab.reads("There is no such memory");
}

fn text_of(added: &Value) -> String {
    text(added, "memory_id")
}

#[test]
fn tasks_stand_as_a_tree_whose_branches_stay_open() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let make = |title: &str, parent: Option<&str>| {
        let input = json!({ "project": "shop", "identity": "Ann", "title": title, "parent": parent });
        text(&server.ok("task_create", &input), "id")
    };
    let house = make("The house", None);
    let roof = make("The roof", Some(&house));
    make("The slates", Some(&roof));
    let door = make("The door", Some(&house));
    make("The fence", None);
    server.ok(
        "task_close",
        &json!({ "project": "shop", "identity": "Ann", "id": door, "reason": "done", "force": true }),
    );
    let tab = Tab::open(&browser, &server.address, "project/shop", WIDE);
    tab.click("Tree of tasks");
    tab.until("document.querySelector('main .tree')");
    tab.reads("The house");
    tab.reads("The fence");
    assert!(!tab.text("main").contains("The roof"), "a branch is closed at first");
    // By keys: the first action of a row that has parts shows them.
    tab.press("j");
    tab.until("document.activeElement.textContent === 'The house'");
    tab.press("x");
    tab.reads("The roof");
    assert!(!tab.text("main").contains("The door"), "a closed part is not among the open ones");
    assert_eq!(tab.eval("document.activeElement.textContent"), "The house", "the focus stays");
    tab.press("j");
    tab.press("x");
    tab.reads("The slates");
    let titles = "main .tree h3";
    assert_eq!(rows(&tab, titles), json!(["The house", "The roof", "The slates", "The fence"]));
    tab.reads("level 3");
    // It is so when one comes back, and what is new appears by itself.
    tab.go("agents");
    tab.go("tree/shop");
    tab.reads("The slates");
    make("The gutter", Some(&roof));
    tab.reads("The gutter");
    tab.click("closed ones, too");
    tab.reads("The door");
    tab.look(NARROW);
    tab.assert_fits();
    // What is open below a task is closed with it.
    tab.click_on("document.querySelector('main .tree button')");
    tab.until("!document.querySelector('main').innerText.includes('The roof')");
    tab.click_on("document.querySelector('main .tree button')");
    tab.reads("The roof");
    assert!(!tab.text("main").contains("The slates"), "{}", tab.text("main"));
    // A task names its whole and its parts.
    tab.go(&format!("task/shop/{roof}"));
    tab.reads("Parts (2)");
    tab.click(&house);
    tab.until("document.querySelector('main h1').textContent === 'The house'");
    tab.reads("The door");
    tab.assert_clean();
}

#[test]
fn an_entry_of_the_ledger_leads_to_what_it_is_about() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    beside(&stage);
    let server = Server::start(&stage.terminal("Server"));
    let task = json!({ "project": "shop", "identity": "Ann", "title": "The roof" });
    let task = text(&server.ok("task_create", &task), "id");
    let made = json!({ "from_project_id": "shop", "to_project_id": "lib", "identity": "Lola", "subject": "Round half up" });
    let made = text(&server.ok("handoff_create", &made), "handoff_id");
    let tab = Tab::open(&browser, &server.address, "ledger/shop", WIDE);
    for (words, place) in
        [("created: The roof", format!("#/task/shop/{task}")), ("Round half up", format!("#/handoff/{made}"))]
    {
        tab.go("ledger/shop");
        tab.reads(words);
        let row = format!(
            "[...document.querySelectorAll('#ledger li')].find((one) => one.innerText.includes({})).querySelector('a')",
            json!(words)
        );
        tab.click_on(&row);
        tab.until(&format!("location.hash === {}", json!(place)));
    }
    // So does one that comes with an event.
    tab.go("ledger/shop");
    server.ok("task_comment", &json!({ "project": "shop", "identity": "Ann", "id": task, "text": "Slate" }));
    tab.reads("1 new");
    tab.click("1 new");
    tab.until(&format!(
        "document.querySelector('#ledger a').getAttribute('href') === {}",
        json!(format!("#/task/shop/{task}"))
    ));
    tab.assert_clean();
}
