//! What happens elsewhere is shown while one looks: every kind of event, in every view that shows it. The page is loaded without its
//! minute, so that what appears came with an event.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use baton_model::delta::Kind;
use serde_json::{Value, json};

use super::browser;
use super::tab::{Tab, WIDE};
use crate::cross::beside;
use crate::http::Server;
use crate::stage::{Stage, text};

/// A ledger, its server, and the ids of what was made.
struct Scene {
    stage: Stage,
    server: Server,
    ids: RefCell<BTreeMap<&'static str, String>>,
}

/// Something that happens while a view is looked at.
struct Step {
    /// The kind of the event, as the stream names it.
    kind: &'static str,
    /// Where one looks; `{name}` stands for the id of what was made before.
    view: &'static str,
    act: fn(&Scene),
    /// What is true then: words that are read, or with `!` words that are gone.
    sees: &'static str,
}

const fn step(kind: &'static str, view: &'static str, act: fn(&Scene), sees: &'static str) -> Step {
    Step { kind, view, act, sees }
}

impl Scene {
    fn id(&self, name: &str) -> String {
        self.ids.borrow().get(name).cloned().unwrap_or_default()
    }

    /// Does it through the server, as this identity.
    fn served(&self, who: &str, operation: &str, mut input: Value) -> Value {
        input["identity"] = who.into();
        self.server.ok(operation, &input)
    }

    /// Does it in a process of its own, which the server hears of by looking.
    fn typed(&self, who: &str, words: &[&str]) -> Value {
        self.stage.terminal(who).json(words)
    }

    fn keep(&self, name: &'static str, answer: &Value, field: &str) {
        self.ids.borrow_mut().insert(name, text(answer, field));
    }
}

fn shop(mut input: Value) -> Value {
    input["project"] = "shop".into();
    input
}

fn mail(scene: &Scene, kind: &str, subject: &str) -> Value {
    scene.typed("Ned", &["mail", "send", "--to", "Vera", "--type", kind, "--subject", subject, "--text", "t"])
}

fn note(scene: &Scene, kind: &str, text: &str) {
    scene.served("Ned", "ledger_note", shop(json!({ "kind": kind, "text": text })));
}

/// Everything that happens, in an order in which each thing has what it needs.
const STEPS: &[Step] = &[
    step("start", "agents", |s| drop(s.served("Zed", "session_start", shop(json!({})))), "Zed"),
    step(
        "checkpoint",
        "agents",
        |s| drop(s.served("Zed", "session_checkpoint", shop(json!({ "summary": "half way" })))),
        "half way",
    ),
    step(
        "checkpoint",
        "",
        |s| drop(s.served("Zed", "session_checkpoint", shop(json!({ "summary": "nearly there" })))),
        "nearly there",
    ),
    step(
        "wrap",
        "",
        |s| {
            let left =
                s.served("Zed", "session_wrap", shop(json!({ "summary": "BATON one", "next": ["y"] })));
            s.keep("baton", &left, "delta_id");
        },
        "BATON one",
    ),
    step(
        "pickup",
        "baton/shop/{baton}",
        |s| {
            let id = s.id("baton");
            let taken = s.served("Ada", "hd_exec", shop(json!({ "handoff_id": id })));
            s.keep("session", &taken, "session_id");
        },
        "Ada",
    ),
    step(
        "checkpoint",
        "session/shop/{session}",
        |s| drop(s.served("Ada", "session_checkpoint", shop(json!({ "summary": "saved by Ada" })))),
        "saved by Ada",
    ),
    step("decision", "project/shop", |s| note(s, "decision", "Round half up"), "Round half up"),
    step("note", "project/shop", |s| note(s, "note", "a remark"), "2 new"),
    step("remember", "ledger/shop", |s| note(s, "remember", "a fact"), "1 new"),
    step("research", "ledger/shop", |s| note(s, "research", "a finding"), "2 new"),
    step("methodology", "ledger/shop", |s| note(s, "methodology", "a way"), "3 new"),
    step(
        "other",
        "tasks/shop",
        |s| {
            let made = s.typed("Ned", &["task", "create", "Paint the roof", "-p", "0"]);
            s.keep("task", &made, "id");
        },
        "Paint the roof",
    ),
    step(
        "other",
        "",
        |s| drop(s.typed("Ned", &["task", "update", &s.id("task"), "--status", "blocked"])),
        "cannot go on",
    ),
    step(
        "other",
        "task/shop/{task}",
        |s| drop(s.typed("Ned", &["task", "comment", &s.id("task"), "waits for paint"])),
        "waits for paint",
    ),
    step(
        "other",
        "projects",
        |s| drop(s.typed("Ned", &["task", "create", "Sweep the floor"])),
        "2 open tasks",
    ),
    step(
        "handoff",
        "handoffs",
        |s| {
            let made = s.typed("Vera", &["handoff", "create", "--to", "lib", "--subject", "HANDY"]);
            s.keep("handoff", &made, "handoff_id");
        },
        "HANDY",
    ),
    step(
        "handoff",
        "handoff/{handoff}",
        |s| {
            let lib = s.stage.repo("lib");
            s.stage.terminal("Ben").within(&lib).json(&["handoff", "accept", &s.id("handoff")]);
        },
        "accepted",
    ),
    step(
        "handoff",
        "project/shop",
        |s| {
            let lib = s.stage.repo("lib");
            s.stage.terminal("Ben").within(&lib).json(&[
                "handoff",
                "decline",
                &s.id("handoff"),
                "--why",
                "NO TIME",
            ]);
        },
        "NO TIME",
    ),
    step("change", "", |s| s.keep("question", &mail(s, "Question", "Drop it?"), "message_id"), "Drop it?"),
    step("change", "project/shop", |s| drop(mail(s, "Blocker", "No access")), "No access"),
    step("change", "project/shop", |s| drop(mail(s, "message", "A letter")), "A letter"),
    step(
        "change",
        "mail/shop/{question}",
        |s| drop(s.typed("Vera", &["mail", "inbox", "--bodies"])),
        "!not read yet",
    ),
    step(
        "change",
        "mail/shop/{question}",
        |s| drop(s.typed("Vera", &["mail", "send", "--reply-to", &s.id("question"), "--text", "ANSWERED"])),
        "ANSWERED",
    ),
    step("change", "", |s| s.keep("blocker", &mail(s, "Blocker", "Urgent"), "message_id"), "Urgent"),
    step(
        "change",
        "mail/shop/{blocker}",
        |s| drop(s.typed("Vera", &["mail", "ack", &s.id("blocker")])),
        "acknowledged ",
    ),
    step("change", "", |s| s.keep("second", &mail(s, "Question", "Recalled?"), "message_id"), "Recalled?"),
    step("change", "", |s| drop(s.typed("Ned", &["signal", "recall", &s.id("second")])), "!Recalled?"),
    step("change", "project/shop", |s| drop(s.typed("Ned", &["lease", "take", "src/tax/**"])), "Paths (1)"),
    step(
        "change",
        "project/shop",
        |s| drop(s.typed("Ned", &["lease", "release", "src/tax/**"])),
        "!Paths (1)",
    ),
    step(
        "change",
        "shares/shop",
        |s| {
            let id = s.id("baton");
            let made = s.served("Ned", "share_create", shop(json!({ "id": id, "kind": "baton" })));
            s.keep("share", &made, "share_id");
        },
        "valid",
    ),
    step(
        "change",
        "shares/shop",
        |s| drop(s.server.ok("share_revoke", &json!({ "id": s.id("share") }))),
        "taken back",
    ),
    step(
        "wrap",
        "batons",
        |s| drop(s.typed("Ned", &["wrap", "--summary", "BATON two", "--next", "z"])),
        "BATON two",
    ),
    step(
        "checkpoint",
        "thread/shop/{session}/minutes",
        |s| drop(s.served("Ada", "session_checkpoint", shop(json!({ "summary": "once more" })))),
        "once more",
    ),
    step(
        "release",
        "session/shop/{session}",
        |s| {
            let id = s.id("session");
            drop(s.served("Ada", "session_end", shop(json!({ "session": id }))));
        },
        "ended",
    ),
    step("start", "sessions/shop", |s| drop(s.served("Yan", "session_start", shop(json!({})))), "Yan"),
    step("release", "agents", |s| drop(s.typed("Vera", &["end"])), "!Vera"),
];

#[test]
fn every_kind_of_event_reaches_every_view_that_shows_it() {
    let Some(browser) = browser() else { return };
    let kinds: BTreeSet<&str> = STEPS.iter().map(|one| one.kind).collect();
    let known = Kind::ALL.iter().map(|kind| kind.as_str()).chain(["change"]).collect();
    assert_eq!(kinds, known, "a kind of event is not tried");
    let stage = Stage::ready();
    beside(&stage);
    for who in ["Vera", "Ned"] {
        stage.terminal(who).json(&["start"]);
    }
    let server = Server::start(&stage.terminal("Server"));
    let scene = Scene { stage, server, ids: RefCell::default() };
    let tab = Tab::open_as(&browser, &scene.server.address, "Vera", "");
    tab.without_clock();
    tab.until("document.querySelector('#live').textContent === 'live'");
    for one in STEPS {
        let mut view = one.view.to_owned();
        for (name, id) in scene.ids.borrow().iter() {
            view = view.replace(&format!("{{{name}}}"), id);
        }
        tab.go(&view);
        let sees = match one.sees.strip_prefix('!') {
            Some(gone) => format!("!document.querySelector('main').innerText.includes({})", json!(gone)),
            None => format!("document.querySelector('main').innerText.includes({})", json!(one.sees)),
        };
        tab.until(&format!("!({sees})"));
        (one.act)(&scene);
        tab.until(&sees);
    }
    tab.assert_clean();
}

#[test]
fn a_server_that_was_busy_once_is_asked_again() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.without_clock();
    tab.until("document.querySelector('#live').textContent === 'live'");
    tab.eval(
        "{ const real = window.fetch; let left = 2; window.fetch = async (url, options) => (left > 0 && String(url).includes('/attention') \
         ? (left -= 1, new Response('{\"message\":\"busy\"}', { status: 503, headers: { 'content-type': 'application/json' } })) \
         : real(url, options)); }",
    );
    server.ok("session_start", &json!({ "project": "shop", "identity": "Zed" }));
    server.ok("session_wrap", &json!({ "project": "shop", "identity": "Zed", "summary": "BATON one" }));
    tab.reads("BATON one");
    tab.assert_clean();
}

/// A drawing that begins while an answer is on its way shows the earlier one.
#[test]
fn an_answer_that_comes_after_the_drawing_that_asked_for_it_was_overtaken_is_shown() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    tab.without_clock();
    tab.reads("Waiting for somebody (0)");
    tab.go("batons");
    stage.terminal("Ned").json(&["start"]);
    stage.terminal("Ned").json(&["wrap", "--summary", "half of it", "--next", "n"]);
    tab.reads("half of it");
    tab.eval(
        "(() => { const real = window.fetch; window.fetch = async (...asked) => { \
         if (String(asked[0]).includes('/attention')) await new Promise((go) => setTimeout(go, 800)); \
         return real(...asked); }; return true; })()",
    );
    tab.eval(
        "location.hash = '#/', setTimeout(() => window.dispatchEvent(new Event('hashchange')), 200), true",
    );
    tab.reads("Waiting for somebody (1)");
}
