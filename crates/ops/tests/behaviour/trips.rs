//! How often each daily operation asks a database server. Each question is a round trip, which is what a network makes slow, so a
//! number that rises here is a decision. Counted when a connection has been used for a while: a statement is prepared the second
//! time it is sent. What travels with another question does not
//! count.

use serde_json::{Value, json};

use crate::backend::Backend;
use crate::world::{World, agent, text};

/// What one more call takes, once the connection knows its statements.
fn trips(w: &mut World, mut call: impl FnMut(&mut World)) -> u64 {
    for _ in 0..3 {
        call(w);
    }
    let before = w.store.trips();
    call(w);
    w.store.trips() - before
}

/// An operation under names that nobody has used yet.
fn each(verb: &'static str, input: impl Fn(usize) -> Value) -> impl FnMut(&mut World) {
    let mut turn = 0;
    move |w| {
        turn += 1;
        w.ok(&agent(&format!("{verb}-{turn}")), verb, input(turn));
    }
}

fn counted(w: &mut World) -> Vec<(&'static str, u64)> {
    let lola = agent("Lola");
    let mut found = Vec::new();
    let mut count = |w: &mut World, name, call: &mut dyn FnMut(&mut World)| {
        found.push((name, trips(w, |w| call(w))));
    };
    w.ok(&lola, "session_start", json!({}));
    w.ok(&agent("Donna"), "session_start", json!({}));
    count(w, "session_start", &mut each("session_start", |_| json!({})));
    count(w, "session_heartbeat", &mut |w| _ = w.ok(&lola, "session_heartbeat", json!({})));
    count(w, "session_checkpoint", &mut |w| _ = w.ok(&lola, "session_checkpoint", json!({ "summary": "x" })));
    count(w, "ledger_note", &mut |w| _ = w.ok(&lola, "ledger_note", json!({ "text": "x" })));
    count(w, "mail_send", &mut |w| {
        _ = w.ok(&lola, "mail_send", json!({ "to": "Donna", "subject": "x", "body": "y" }));
    });
    count(w, "mail_inbox", &mut |w| _ = w.ok(&lola, "mail_inbox", json!({})));
    count(w, "session_status", &mut |w| _ = w.ok(&lola, "session_status", json!({})));
    count(w, "task_create", &mut |w| _ = w.ok(&lola, "task_create", json!({ "title": "x" })));
    count(w, "task_ready", &mut |w| _ = w.ok(&lola, "task_ready", json!({})));
    let mut claimed = Vec::new();
    count(w, "task_claim", &mut |w| claimed.push(text(&w.ok(&lola, "task_claim", json!({}))["task"], "id")));
    count(w, "task_close", &mut |w| {
        let id = claimed.pop().expect("claimed");
        w.ok(&lola, "task_close", json!({ "id": id, "result": "pass" }));
    });
    // A baton goes round: who has it wraps, the next picks it up.
    let (mut wraps, mut pickups) = (0, 0);
    for turn in 0..5 {
        let (holder, next) = (agent(&format!("H{turn}")), agent(&format!("H{}", turn + 1)));
        if turn == 0 {
            w.ok(&holder, "session_start", json!({}));
        }
        let begin = w.store.trips();
        w.ok(&holder, "session_wrap", json!({ "summary": "x" }));
        wraps = w.store.trips() - begin;
        let begin = w.store.trips();
        w.ok(&next, "hd_exec", json!({}));
        pickups = w.store.trips() - begin;
    }
    found.extend([("session_wrap", wraps), ("hd_exec", pickups)]);
    w.stand_beside();
    found.push(("a heartbeat kept beside", trips(w, |w| _ = w.ok(&lola, "session_heartbeat", json!({})))));
    let named = json!({ "session": w.ok(&lola, "session_heartbeat", json!({}))["session_id"] });
    found.push(("of a session by its id", trips(w, |w| _ = w.ok(&lola, "session_heartbeat", named.clone()))));
    found
}

#[test]
fn no_operation_asks_the_database_more_often_than_it_did() {
    let Some(mut w) = World::new(Backend::Postgres, 7) else { return };
    let expected: &[(&str, u64)] = &[
        ("session_start", 7),
        ("session_heartbeat", 5),
        ("session_checkpoint", 4),
        ("ledger_note", 3),
        ("mail_send", 5),
        ("mail_inbox", 4),
        ("session_status", 1),
        ("task_create", 12),
        ("task_ready", 2),
        ("task_claim", 11),
        ("task_close", 13),
        ("session_wrap", 7),
        ("hd_exec", 10),
        ("a heartbeat kept beside", 2),
        ("of a session by its id", 1),
    ];
    w.machines.keeper = None;
    assert_eq!(counted(&mut w), expected);
}
