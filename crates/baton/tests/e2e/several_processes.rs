//! What other processes write while a server runs: its listeners hear it, and the first token closes it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::api::{Events, ask, ok, served};
use crate::http::Server;
use crate::stage::text;

#[test]
fn a_listener_after_a_time_without_any_hears_what_is_new_and_nothing_of_before() {
    let (stage, server) = served();
    drop(Events::open(&server, "", &[]));
    let note = |text: &str| ok(&server, "POST", "/projects/shop/notes", &json!({ "text": text }));
    note("unheard");
    stage.terminal("Lola").json(&["note", "unheard, too"]);
    std::thread::sleep(Duration::from_millis(600));
    let mut events = Events::open(&server, "", &[]);
    let summary = |events: &mut Events| text(&events.next().1, "summary");
    for round in 0..3 {
        let (here, elsewhere) = (format!("here {round}"), format!("elsewhere {round}"));
        note(&here);
        assert_eq!(summary(&mut events), here);
        stage.terminal("Lola").json(&["note", &elsewhere]);
        assert_eq!(summary(&mut events), elsewhere, "what another process writes is found by looking");
    }
    // A project that is new since.
    stage.repo("bank");
    stage.terminal("Owner").within(stage.root().join("bank")).json(&["init"]);
    let (_, registered) = events.next();
    assert_eq!(registered["project_id"], "bank");
}

#[test]
fn a_token_that_another_process_makes_closes_a_server_for_the_very_next_write() {
    let (stage, server) = served();
    let other = Server::start(&stage.terminal("Server"));
    let note = json!({ "text": "hello" });
    ok(&server, "POST", "/projects/shop/notes", &note);
    // What it knows of tokens is as fresh as it can be: a read in this moment still passes.
    assert_eq!(ask(&server, "GET", "/projects/shop", &Value::Null, &[]).status, 200);
    let made = ok(&other, "POST", "/tokens", &json!({ "scope": "write" }));
    let (task, token) = (json!({ "title": "x" }), json!({ "scope": "write" }));
    for (path, body) in
        [("/projects/shop/notes", &note), ("/projects/shop/tasks", &task), ("/tokens", &token)]
    {
        let refused = ask(&server, "POST", path, body, &[]);
        assert_eq!((refused.status, &refused.json()["code"]), (401, &"token_invalid".into()), "{path}");
    }
    let bearer = format!("Bearer {}", text(&made, "token"));
    let with = [("authorization", bearer.as_str())];
    assert_eq!(ask(&server, "POST", "/projects/shop/notes", &note, &with).status, 201);
    stage.assert_sound();
}
