//! The page under an accessibility checker: every view, light and dark, wide and narrow.

use std::path::Path;

use serde_json::json;

use super::tab::{Look, Tab};
use super::{browser, view_names};
use crate::http::{Server, request};
use crate::stage::{Stage, env, items, skipped, text};

/// A project with something of everything, and the places at which it is seen.
pub(super) fn views(stage: &Stage, server: &Server) -> Vec<String> {
    let long = "a-word-that-nobody-breaks-".repeat(8);
    let lola = stage.terminal("Lola");
    let first = lola.json(&["start"]);
    lola.json(&["wrap", "--summary", &format!("Half of it {long}"), "--next", &long]);
    stage.terminal("Donna").json(&["pickup"]);
    stage.terminal("Donna").json(&["decide", "Round half up", "--why", &long]);
    stage.terminal("Donna").json(&["wrap", "--summary", "All of it"]);
    let open = stage.terminal("Maximiliane-with-a-very-long-name-indeed").json(&["start"]);
    let task = stage.terminal("Ann").json(&["task", "create", &format!("Round the tax {long}")]);
    let depot = stage.repo("depot");
    stage.terminal("Setup").within(&depot).json(&["init"]);
    let made = stage.terminal("Lola").json(&[
        "handoff",
        "create",
        "--to",
        "depot",
        "--subject",
        &format!("Store {long}"),
    ]);
    for name in ["Ann", "Lola"] {
        stage.terminal(name).json(&["agent", "register"]);
    }
    let subject = format!("Which {long}");
    let mail = json!({ "project": "shop", "identity": "Ann", "to": "Lola", "type": "question", "subject": subject, "body": long });
    let mail = server.ok("mail_send", &mail);
    let memory = json!({ "project": "shop", "identity": "Ann", "text": long, "tags": ["tax"] });
    let memory = server.ok("memory_add", &memory);
    let part = json!({ "project": "shop", "identity": "Ann", "title": long, "parent": text(&task, "id") });
    server.ok("task_create", &part);
    let history = server.ok("session_history", &json!({ "project": "shop" }));
    let batons =
        items(&history).into_iter().filter_map(|one| one["left"]["baton_id"].as_str().map(str::to_owned));
    let mut places = vec![
        String::new(),
        "project/shop".into(),
        "project/depot".into(),
        format!("session/shop/{}", text(&first, "session_id")),
        format!("session/shop/{}", text(&open, "session_id")),
        format!("task/shop/{}", text(&task, "id")),
        format!("handoff/{}", text(&made, "handoff_id")),
        format!("mail/shop/{}", text(&mail, "message_id")),
        format!("memory/shop/{}", text(&memory, "memory_id")),
        "search/tax".into(),
        "search/zebra".into(),
        "transcripts".into(),
        "project/nowhere".into(),
        format!("thread/shop/{}/minutes", text(&first, "session_id")),
    ];
    let views = [
        "agents",
        "decisions",
        "decisions/shop",
        "batons",
        "batons/spent",
        "handoffs",
        "projects",
        "fleet",
        "ledger/shop",
        "sessions/shop",
        "shares/shop",
        "tasks/shop",
        "tree/shop",
        "mailbox/shop",
        "memories/shop",
    ];
    places.extend(views.map(str::to_owned));
    places.extend(batons.map(|id| format!("baton/shop/{id}")));
    places
}

/// What the checker finds in what is shown now, of any weight.
fn faults(tab: &Tab<'_>, script: &str) -> Vec<String> {
    tab.eval(&format!("{script}; null"));
    let found = tab.eval(
        "axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations\
         .map((one) => `${one.id}: ${one.help}\\n` + one.nodes.map((node) => `  ${node.html}\\n  ${node.failureSummary}`).join('\\n')))",
    );
    found.as_array().expect("a list").iter().map(|one| one.as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn the_checker_finds_nothing_on_a_desktop() {
    check(1280);
}

#[test]
fn the_checker_finds_nothing_on_a_phone() {
    check(360);
}

/// Every view, what opens over it, and what is shared, by day and by night.
fn check(width: u32) {
    let Some(folder) = env("BATON_TEST_AXE") else {
        skipped("BATON_TEST_AXE names no folder with axe.min.js: accessibility was not checked");
        return;
    };
    let script = std::fs::read_to_string(Path::new(&folder).join("axe.min.js")).expect("axe.min.js");
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../transcripts/samples/claude/normal.jsonl");
    let session = "11111111-aaaa-4000-8000-00000000abcd";
    let content = std::fs::read_to_string(sample).expect("a sample");
    stage.file(&format!("home/.claude/projects/-shop/{session}.jsonl"), content);
    let server = Server::start(&stage.terminal("Server"));
    let mut places = views(&stage, &server);
    let listed = request(&server.address, "GET", "/api/v1/transcripts", b"", &[]).expect("an answer").json();
    places.push(format!("transcript/claude/{}", text(&listed["items"][0], "id")));
    for name in view_names() {
        let is_of = |place: &String| place.split('/').next() == Some(name);
        assert!(places.iter().any(is_of), "no address of the view `{name}` is checked");
    }
    let baton = places.iter().find_map(|place| place.strip_prefix("baton/shop/")).expect("a baton");
    let shared = server.ok("share_create", &json!({ "project": "shop", "identity": "Ann", "id": baton }));
    let shared = format!("http://{}/share/{}", server.address, text(&shared, "secret"));
    let guarded = Stage::ready();
    guarded.terminal("Setup").json(&["token", "create", "--scope", "read"]);
    let closed = Server::start(&guarded.terminal("Server"));
    let mut found = Vec::new();
    for dark in [false, true] {
        let tab = Tab::open(&browser, &server.address, "", Look { width, dark });
        tab.until("document.querySelector('#live').textContent === 'live'");
        let mut look = |what: &str| {
            found.extend(faults(&tab, &script).into_iter().map(|one| format!("{what}, dark {dark}: {one}")));
        };
        for place in &places {
            tab.go(place);
            look(place);
            // What opens over the page is a part of it.
            let button = "[...document.querySelectorAll('main button')].find((one) => one.innerText.endsWith('…') || one.innerText === 'New task')";
            if tab.eval(&format!("Boolean({button})")) == true {
                tab.click_on(button);
                tab.until("document.querySelector('dialog[open]')");
                look(&format!("dialog of {place}"));
                tab.press("Escape");
                tab.until("!document.querySelector('dialog')");
            }
        }
        tab.go("tree/shop");
        tab.click_on("document.querySelector('main .tree button')");
        tab.until("document.querySelectorAll('main .tree li').length > 1");
        look("a branch of the tree");
        tab.go("");
        tab.press("?");
        tab.until("document.querySelector('dialog[open]')");
        look("the keys");
        tab.press("Escape");
        tab.until("!document.querySelector('dialog')");
        tab.press_with_control("k");
        tab.until("document.querySelector('dialog[open]')");
        look("the palette");
        tab.press("Escape");
        tab.until("!document.querySelector('dialog')");
        tab.visit(&shared);
        tab.until("document.querySelector('main h1')");
        look("a share");
        let prompt = Tab::open(&browser, &closed.address, "", Look { width, dark });
        prompt.reads("This server asks for a token");
        found.extend(faults(&prompt, &script).into_iter().map(|one| format!("token, dark {dark}: {one}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
