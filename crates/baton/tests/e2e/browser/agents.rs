//! The list of agents, and the sections of the inbox: what is at work, what it did and used, what stopped it, and the rest of
//! each section.

use serde_json::json;

use super::browser;
use super::chromium::eventually;
use super::tab::{NARROW, Tab, WIDE};
use crate::http::Server;
use crate::stage::{Stage, Terminal, text};

/// A transcript of Claude Code that tells what it used; with words of its provider, it was stopped.
fn capture(stage: &Stage, terminal: &Terminal<'_>, stop: Option<&str>) {
    let id = "55555555-aaaa-4000-8000-00000000aaab";
    let path = stage.root().join(format!("{id}.jsonl"));
    let at = text(stage.ledger("shop").last().expect("an entry"), "created_at");
    let line = |uuid: &str, role: &str, message: serde_json::Value| json!({ "type": role, "uuid": uuid, "sessionId": id, "cwd": stage.shop(), "timestamp": at, "message": message });
    let words = |text: &str| json!([{ "type": "text", "text": text }]);
    let usage = json!({ "input_tokens": 1200, "output_tokens": 340 });
    let mut first = line("u1", "user", json!({ "role": "user", "content": words("Round the tax") }));
    first["parentUuid"] = json!(null);
    let reply =
        json!({ "id": "m1", "role": "assistant", "model": "m", "content": words("Fine."), "usage": usage });
    let mut second = line("a1", "assistant", reply);
    second["parentUuid"] = json!("u1");
    let mut lines = vec![first, second];
    if let Some(stop) = stop {
        let message = json!({ "role": "assistant", "model": "<synthetic>", "content": words(stop) });
        let mut stopped = line("a2", "assistant", message);
        (stopped["parentUuid"], stopped["isApiErrorMessage"]) = (json!("a1"), json!(true));
        lines.push(stopped);
    }
    let lines: Vec<String> = lines.iter().map(serde_json::Value::to_string).collect();
    std::fs::write(&path, lines.join("\n") + "\n").expect("written");
    let event = if stop.is_some() { "failure" } else { "before-compaction" };
    let payload = json!({ "session_id": id, "transcript_path": path, "cwd": stage.shop() });
    let answer = terminal.feed(payload.to_string().as_bytes(), &["hook", event, "--agent", "claude"]).done();
    assert_eq!(answer.err, "", "{answer:#?}");
    // It is kept behind the back of the agent, which does not wait.
    let is_kept = || stage.ledger("shop").iter().any(|delta| delta.to_string().contains(id));
    eventually(|| format!("{:#?}", stage.ledger("shop")), || is_kept().then_some(()));
}

#[test]
fn an_agent_has_a_spark_line_with_words_and_tells_what_it_holds_and_used() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let (lola, donna) = (stage.terminal("Lola"), stage.terminal("Donna"));
    lola.json(&["start"]);
    lola.json(&["wrap", "--summary", "Prices are rounded"]);
    donna.json(&["pickup"]);
    capture(&stage, &donna, None);
    donna.json(&["checkpoint", "--summary", "Reads the law"]);
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "agents", WIDE);
    tab.reads("Donna");
    let label = tab.eval("document.querySelector('main td svg.spark').getAttribute('aria-label')");
    let label = label.as_str().unwrap_or_default().to_owned();
    assert!(
        label.ends_with(" in the last one") && label.contains(" entries in the last 12 hours"),
        "{label}"
    );
    let points = tab.eval(
        "document.querySelector('main td svg.spark polyline').getAttribute('points').split(' ').length",
    );
    assert_eq!(points, 12);
    let row = tab.text("main tbody tr");
    assert!(row.contains("1.5k") && row.contains("a baton"), "{row}");
    tab.click("a baton");
    tab.until("document.querySelector('main h1').textContent === 'Prices are rounded'");
    tab.go("agents");
    tab.look(NARROW);
    tab.reads("1.5k tokens");
    tab.assert_fits();
    tab.assert_clean();
}

#[test]
fn silent_agents_come_first_over_all_pages() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    // A session keeps the limit that it was promised.
    stage.terminal("Silent").with("BATON_STALE_AFTER", "1s").json(&["start"]);
    for n in 0..105 {
        stage.terminal(&format!("agent-{n}")).json(&["start"]);
    }
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let server = Server::start(&stage.terminal("Server").with("BATON_STALE_AFTER", "1s"));
    let tab = Tab::open(&browser, &server.address, "agents", WIDE);
    tab.reads("Silent");
    assert!(tab.text("main tbody tr").starts_with("Silent"), "{}", tab.text("main tbody tr"));
    assert_eq!(tab.eval("document.querySelectorAll('main tbody tr').length"), 100);
    tab.click("Show more");
    tab.until("document.querySelectorAll('main tbody tr').length === 106");
    tab.assert_clean();
}

#[test]
fn each_section_of_the_inbox_has_a_button_of_its_own() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let server = Server::start(&stage.terminal("Server"));
    let leave = |count: usize, name: &str, to: Option<&str>| {
        for n in 0..count {
            let who = format!("{name}-{n}");
            server.ok("session_start", &json!({ "project": "shop", "identity": who }));
            let wrap =
                json!({ "project": "shop", "identity": who, "summary": format!("{name} {n}"), "to": to });
            server.ok("session_wrap", &wrap);
        }
    };
    leave(52, "mine", Some("Iris"));
    server.ok("agent_register", &json!({ "project": "shop", "identity": "Omar" }));
    for n in 0..42 {
        let late = json!({ "project": "shop", "identity": "Lola", "to": "Omar", "subject": format!("Late {n}"), "body": "?", "ack_by_s": 1 });
        server.ok("mail_send", &late);
    }
    leave(41, "other", None);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let tab = Tab::open(&browser, &server.address, "agents", WIDE);
    tab.act_as("Iris");
    tab.go("");
    let rows = || {
        let script = "[...document.querySelectorAll('main h2')].map((one) => { const list = one.nextElementSibling; \
            return `${one.innerText}: ${list?.matches('ul') ? list.children.length : 0}`; }).slice(0, 3).join('; ')";
        tab.eval(script).as_str().unwrap_or_default().to_owned()
    };
    let buttons = || {
        tab.eval("[...document.querySelectorAll('main button.more')].map((one) => one.getAttribute('aria-label')).filter(Boolean)")
    };
    tab.reads("For you (52)");
    // What is worse comes before what has only waited longer.
    assert_eq!(rows(), "For you (52): 50; Needs attention (42): 40; Waiting for somebody (41): 0");
    let all = [
        "Show more (2 more): For you",
        "Show more (2 more): Needs attention",
        "Show more (41 more): Waiting for somebody",
    ];
    assert_eq!(buttons(), json!(all));
    tab.click("Show more (41 more)");
    tab.until("[...document.querySelectorAll('main .matter')].length === 130");
    assert_eq!(rows(), "For you (52): 50; Needs attention (42): 40; Waiting for somebody (41): 40");
    tab.click("Show more (2 more)");
    // The rows that come move the buttons below them.
    tab.until("[...document.querySelectorAll('main .matter')].length === 132");
    tab.click("Show more (2 more)");
    tab.until("[...document.querySelectorAll('main .matter')].length === 134");
    tab.click("Show more (1 more)");
    tab.until("[...document.querySelectorAll('main .matter')].length === 135");
    // With the last page the button is gone: the first row that it brought has the focus.
    tab.until("document.activeElement.closest('main .matter') === [...document.querySelectorAll('main .matter')].at(-1)");
    assert_eq!(rows(), "For you (52): 52; Needs attention (42): 42; Waiting for somebody (41): 41");
    assert_eq!(buttons(), json!([]));
    tab.assert_clean();
}

#[test]
fn a_baton_that_a_limit_left_says_until_when() {
    let Some(browser) = browser() else { return };
    let stage = Stage::ready();
    let donna = stage.terminal("Donna");
    donna.json(&["start"]);
    capture(&stage, &donna, Some("You've hit your limit · resets 3am (Europe/Berlin)"));
    let server = Server::start(&stage.terminal("Server"));
    let tab = Tab::open(&browser, &server.address, "", NARROW);
    tab.reads("stopped at its limit, again at 3am (Europe/Berlin)");
    tab.assert_clean();
}
