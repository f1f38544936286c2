//! Whatever agents write stays text.

use std::io::{Read, Write};
use std::net::TcpListener;

use serde_json::{Value, json};

use super::browser;
use super::tab::{Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, text};

/// Would run in a page that takes it for more than text. The number says where it was planted.
fn bait(n: u32) -> String {
    format!("<img src=x onerror=window.hit={n}><script>window.hit={n}</script>\"'>{n}")
}

/// Who writes it. Names themselves may have no angle brackets.
const NAME: &str = "Mallory";

/// A project in which every text that can be written is bait; the places at which it is shown, and the bait there.
fn planted(stage: &Stage, server: &Server) -> Vec<(String, Vec<u32>)> {
    let own = |mut input: Value| {
        input["project"] = "shop".into();
        input["identity"] = NAME.into();
        input
    };
    server.ok(
        "project_set",
        &json!({ "project": "shop", "phase": "<img src=x onerror=window.hit=1>", "focus": ["<img src=x onerror=window.hit=2>"] }),
    );
    let started = server.ok("session_start", &own(json!({ "surface": "<b>tool</b>" })));
    server.ok("ledger_note", &own(json!({ "kind": "note", "text": bait(3) })));
    server.ok("ledger_note", &own(json!({ "kind": "decision", "text": bait(4), "why": bait(5) })));
    let task = server.ok(
        "task_create",
        &own(json!({ "title": bait(6), "description": bait(7), "agent_role": "testing" })),
    );
    server.ok("session_wrap", &own(json!({ "summary": bait(8), "next": [bait(9)], "to": NAME })));
    server.ok("agent_register", &json!({ "project": "shop", "identity": "Lola" }));
    let letter = own(json!({ "to": "Lola", "type": "question", "subject": bait(15), "body": bait(16) }));
    let letter = server.ok("mail_send", &letter);
    let depot = stage.repo("depot");
    stage.terminal("Setup").within(&depot).json(&["init"]);
    let packet = json!({ "summary": bait(10), "</pre><script>window.hit=11</script>": bait(11) }).to_string();
    let create = json!({ "from_project_id": "depot", "to_project_id": "shop", "subject": bait(12), "description": bait(13), "packet": packet });
    let mut create = own(create);
    create.as_object_mut().expect("object").shift_remove("project");
    let made = server.ok("handoff_create", &create);
    server.ok("session_start", &own(json!({ "force": true, "why": bait(14) })));
    let history = server.ok("session_history", &json!({ "project": "shop" }));
    let baton = history["items"]
        .as_array()
        .and_then(|all| all.iter().find_map(|one| one["left"]["baton_id"].as_str()));
    vec![
        (String::new(), vec![8]),
        ("project/shop".into(), vec![1, 2, 3, 4, 6]),
        (format!("session/shop/{}", text(&started, "session_id")), vec![8]),
        (format!("baton/shop/{}", baton.expect("a baton")), vec![8, 9]),
        (format!("handoff/{}", text(&made, "handoff_id")), vec![12]),
        (format!("task/shop/{}", text(&task, "id")), vec![6, 7]),
        (format!("mail/shop/{}", text(&letter, "message_id")), vec![15, 16]),
        ("search/onerror".into(), vec![3, 4, 6, 8, 12]),
        (format!("project/{}", "%3Cimg%20src%3Dx%20onerror%3Dwindow.hit%3D77%3E"), vec![]),
        (format!("search/{}", "%3Cscript%3Ewindow.hit%3D78%3C%2Fscript%3E"), vec![]),
    ]
}

#[test]
fn a_script_in_any_text_is_shown_and_never_run() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let places = planted(&stage, &server);
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    for (place, shown) in &places {
        tab.go(place);
        for n in shown {
            // The document of a session quotes; elsewhere it is there to the letter.
            tab.until(&format!("document.body.textContent.includes('onerror=window.hit={n}>')"));
        }
        assert_eq!(
            tab.eval("document.querySelectorAll('main img, main script, main b, main i').length"),
            0,
            "{place}"
        );
        assert_eq!(tab.eval("window.hit ?? null"), Value::Null, "{place}");
    }
    // Dialogs and what is said after a deed show names and subjects too.
    let handoff = &places[4].0;
    tab.go(handoff);
    tab.click("Accept…");
    tab.fill("Your name", "<img src=x onerror=window.hit=99>");
    tab.submit();
    tab.until("document.querySelector('dialog [role=alert]')?.innerText.includes('<img src=x onerror=window.hit=99>')");
    tab.fill("Your name", NAME);
    tab.submit();
    tab.reads("The hand-off is accepted.");
    tab.go(&places[3].0);
    tab.until("document.querySelector('pre')");
    assert_eq!(tab.eval("document.querySelectorAll('dialog img, #notices img').length"), 0);
    assert_eq!(tab.eval("window.hit ?? null"), Value::Null);
}

#[test]
fn a_link_of_an_agent_leads_to_the_web_or_nowhere() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", WIDE);
    // Even if an element of an agent came into the page, the policy would not let it do anything.
    tab.eval("(() => { const one = document.createElement('div'); one.innerHTML = '<img src=x onerror=window.hit=1>'; document.body.append(one); })()");
    tab.eval("(() => { const one = document.createElement('script'); one.textContent = 'window.hit=2'; document.body.append(one); })()");
    tab.until("true");
    assert_eq!(
        tab.eval("new Promise((done) => setTimeout(() => done(window.hit ?? null), 300))"),
        Value::Null
    );
    assert!(
        tab.complaints().iter().any(|one| one.contains("Content Security Policy")),
        "{:?}",
        tab.complaints()
    );
}

/// Serves one page at an address of its own on this machine, as a development server does.
fn other_page() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address").to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            let _ = stream.read(&mut head);
            let page = "<!doctype html><title>other</title><main><h1>Another page</h1></main>";
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{page}",
                page.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn a_page_of_another_origin_writes_nothing_and_reads_nothing() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let before = stage.deltas();
    let tab = Tab::open(&browser, &other_page(), "", WIDE);
    let port = server.address.rsplit_once(':').expect("a port").1;
    let set = json!({ "project": "shop", "webhook": "http://127.0.0.1:9/" }).to_string();
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
    for host in ["127.0.0.1", "localhost"] {
        for (method, path, kind, body) in [
            ("POST", "/api/v1/ops/project_set", "text/plain", &set),
            ("POST", "/api/v1/ops/project_set", "application/x-www-form-urlencoded", &set),
            ("POST", "/api/v1/ops/project_set", "application/json", &set),
            ("PATCH", "/api/v1/projects/shop", "application/json", &set),
            ("POST", "/mcp", "text/plain", &call),
            ("POST", "/mcp", "application/json", &call),
        ] {
            for mode in ["no-cors", "cors"] {
                let send = format!(
                    "fetch('http://{host}:{port}{path}', {{ method: '{method}', mode: '{mode}', headers: {{ 'content-type': '{kind}' }}, \
                     body: {} }}).then((answer) => answer.type, () => 'refused')",
                    json!(body)
                );
                let response = tab.eval(&send);
                assert!(response == "opaque" || response == "refused", "{send}: {response}");
            }
        }
        for path in ["/api/v1/projects", "/api/v1/events", "/metrics", "/"] {
            let read = format!(
                "fetch('http://{host}:{port}{path}').then((answer) => answer.text(), () => 'refused')"
            );
            assert_eq!(tab.eval(&read), "refused", "{path}");
        }
        // A form needs no script and no permission.
        let form = format!(
            "(() => {{ const form = document.createElement('form'); form.method = 'post'; form.enctype = 'text/plain'; \
             form.target = 'frame'; form.action = 'http://{host}:{port}/api/v1/ops/project_set'; \
             const field = document.createElement('input'); field.name = {}; field.value = '}}'; form.append(field); \
             const frame = document.createElement('iframe'); frame.name = 'frame'; document.body.append(frame, form); \
             return new Promise((done) => {{ frame.onload = () => done('loaded'); form.submit(); setTimeout(() => done('waited'), 1500); }}); }})()",
            json!(format!("{},\"x\":\"", set.trim_end_matches('}')))
        );
        tab.eval(&form);
    }
    assert_eq!(stage.deltas(), before, "nothing was written");
    assert_eq!(server.ok("project_show", &json!({ "project": "shop" }))["webhook"], Value::Null);
    // The page of the server itself goes on working, from the same browser.
    let own = Tab::open(&browser, &server.address, "project/shop", WIDE);
    let send = "fetch('/api/v1/ops/ledger_note', { method: 'POST', headers: { 'content-type': 'application/json' }, \
        body: JSON.stringify({ project: 'shop', text: 'from the page' }) }).then((answer) => answer.status)";
    assert_eq!(own.eval(send), 200);
    assert_eq!(stage.deltas(), before + 1);
}
