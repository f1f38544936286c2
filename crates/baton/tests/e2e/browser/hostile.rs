//! Markup and characters that mislead, in every field that an agent can write, in every view, by day and by night, on a desktop and on a
//! phone.

use serde_json::{Value, json};

use super::tab::{Look, Tab};
use super::{browser, view_names};
use crate::http::{Server, request};
use crate::stage::{Stage, text};

/// Would run in a page that takes it for more than text, and reads otherwise than it is.
const BAIT: &str = "<img src=x onerror=window.hit=1><b>run \u{202e}gnp.exe\u{200b}</b>";
/// What is read of it.
const SHOWN: &str = "<b>run \\u{202e}gnp.exe\\u{200b}</b>";

const LOOKS: [Look; 4] = [
    Look { width: 1280, dark: false },
    Look { width: 1280, dark: true },
    Look { width: 360, dark: false },
    Look { width: 360, dark: true },
];

fn own(mut input: Value) -> Value {
    input["project"] = "shop".into();
    input["identity"] = "Mallory".into();
    input
}

/// A conversation of Claude Code in which both sides say it.
fn transcript(stage: &Stage) {
    let line = |kind: &str, uuid: &str, parent: Option<&str>| {
        let record = json!({ "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "aaaa1111", "cwd": stage.shop(),
            "timestamp": "2026-11-20T10:00:00.000Z", "message": { "role": kind, "content": BAIT } });
        format!("{record}\n")
    };
    let content = line("user", "u1", None) + &line("assistant", "a1", Some("u1"));
    stage.file("home/.claude/projects/-shop/aaaa1111.jsonl", content);
}

/// The task in which every text is bait, and a part of it.
fn tasks(server: &Server) -> String {
    let whole = server.ok(
        "task_create",
        &own(json!({ "title": BAIT, "description": BAIT, "design": BAIT, "acceptance_criteria": BAIT, "notes": BAIT,
            "labels": [BAIT], "specialist_tags": [BAIT], "priority": 0,
            "agent_context": { BAIT: BAIT }, "handoff_instructions": { BAIT: [BAIT] } })),
    );
    let whole = text(&whole, "id");
    server.ok("task_create", &own(json!({ "title": BAIT, "parent": whole })));
    server.ok("task_comment", &own(json!({ "id": whole, "text": BAIT })));
    server.ok("task_update", &own(json!({ "id": whole, "status": "blocked" })));
    whole
}

/// A hand-off that was declined with such words, and one that waits.
fn handoffs(stage: &Stage, server: &Server) -> String {
    let depot = stage.repo("depot");
    stage.terminal("Setup").within(&depot).json(&["init"]);
    let packet = json!({ "summary": BAIT, "next_steps": [BAIT] }).to_string();
    let create = || {
        let input = json!({ "from_project_id": "shop", "to_project_id": "depot", "identity": "Mallory", "subject": BAIT,
            "description": BAIT, "packet": packet });
        text(&server.ok("handoff_create", &input), "handoff_id")
    };
    let declined = create();
    server.ok(
        "handoff_advance",
        &json!({ "id": declined, "action": "decline", "identity": "Lola", "result": BAIT }),
    );
    create();
    declined
}

/// A project in which every text is bait; where it is read, and whether it is read there.
fn planted(stage: &Stage, server: &Server) -> Vec<(String, bool)> {
    transcript(stage);
    server.ok("project_set", &json!({ "project": "shop", "phase": BAIT, "focus": [BAIT] }));
    let started = server.ok("session_start", &own(json!({ "surface": BAIT })));
    server.ok("session_checkpoint", &own(json!({ "summary": BAIT })));
    server.ok("ledger_note", &own(json!({ "kind": "decision", "text": BAIT, "why": BAIT })));
    let memory = server.ok("memory_add", &own(json!({ "text": BAIT, "kind": BAIT, "tags": [BAIT] })));
    let task = tasks(server);
    server.ok("agent_register", &json!({ "project": "shop", "identity": "Lola" }));
    let letter = own(json!({ "to": "Lola", "type": "question", "subject": BAIT, "body": BAIT }));
    let letter = server.ok("mail_send", &letter);
    let declined = handoffs(stage, server);
    let left = server.ok("session_wrap", &own(json!({ "summary": BAIT, "next": [BAIT] })));
    let baton = text(&left, "delta_id");
    server.ok("share_create", &own(json!({ "id": baton })));
    server.ok("session_start", &json!({ "project": "shop", "identity": "Donna", "surface": BAIT }));
    server.ok("session_checkpoint", &json!({ "project": "shop", "identity": "Donna", "summary": BAIT }));
    let lease = json!({ "project": "shop", "identity": "Donna", "patterns": ["src/**"], "why": BAIT });
    server.ok("lease_take", &lease);
    let session = text(&started, "session_id");
    let listed = request(&server.address, "GET", "/api/v1/transcripts", b"", &[]).expect("an answer").json();
    let place = |address: &str, id: String| (format!("{address}/{id}"), true);
    let mut places = vec![
        (String::new(), true),
        ("projects".into(), false),
        ("search/gnp".into(), true),
        ("search/%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D1%3E".into(), false),
        ("shares/shop".into(), false),
        place("session/shop", session.clone()),
        place("thread/shop", format!("{session}/minutes")),
        place("baton/shop", baton),
        place("handoff", declined),
        place("task/shop", task),
        place("mail/shop", text(&letter, "message_id")),
        place("memory/shop", text(&memory, "memory_id")),
        place("transcript/claude", text(&listed["items"][0], "id")),
    ];
    let lists = ["agents", "batons", "handoffs", "transcripts", "fleet", "decisions"];
    let of_project = ["project", "tasks", "tree", "mailbox", "memories", "ledger"];
    places.extend(lists.map(|list| (list.into(), true)));
    places.extend(of_project.map(|list| (format!("{list}/shop"), true)));
    places.push(("sessions/shop".into(), true));
    places
}

/// What would run, or misleads, in what is shown now.
const FAULTS: &str = "(() => { const bad = /[\\u202a-\\u202e\\u200b\\u2066-\\u2069]/u; \
    const said = [...document.querySelectorAll('body *')].flatMap((one) => [one.title, one.getAttribute('aria-label')]); \
    const texts = [document.title, document.body.innerText, document.querySelector('main').textContent, ...said]; \
    return [...texts.filter((text) => text && bad.test(text)), \
    ...[...document.querySelectorAll('main img, main script, main b, main i, dialog img, dialog b')].map((one) => one.outerHTML), \
    ...(window.hit ? ['it ran'] : [])]; })()";

#[test]
fn nothing_that_was_written_runs_or_misleads_in_any_view_by_day_or_night_wide_or_narrow() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let places = planted(&stage, &server);
    for name in view_names() {
        let is_of = |place: &String| place.split('/').next() == Some(name);
        assert!(places.iter().any(|(place, _)| is_of(place)), "no address of the view `{name}` is visited");
    }
    let token =
        stage.terminal("Setup").json(&["token", "create", "--scope", "operator", "--name", "<b>token</b>"]);
    let tab = Tab::open(&browser, &server.address, "", LOOKS[0]);
    tab.eval(&format!("localStorage.setItem('baton.token', {})", json!(text(&token, "token"))));
    tab.go("fleet");
    tab.reads("<b>token</b>");
    for look in LOOKS {
        tab.look(look);
        for (place, is_read) in &places {
            tab.go(place);
            if *is_read && place != "fleet" {
                tab.until(&format!("document.querySelector('main').textContent.includes({})", json!(SHOWN)));
            }
            assert_eq!(tab.eval(FAULTS), json!([]), "{place}");
            tab.assert_fits();
            // What opens over the page says it, too.
            let button = "[...document.querySelectorAll('main button')].find((one) => one.innerText.endsWith('…') && one.getClientRects().length)";
            if look.width > 1000 && tab.eval(&format!("Boolean({button})")) == true {
                tab.click_on(button);
                tab.until("document.querySelector('dialog[open]')");
                assert_eq!(tab.eval(FAULTS), json!([]), "dialog of {place}");
                tab.press("Escape");
                tab.until("!document.querySelector('dialog')");
            }
        }
    }
}
