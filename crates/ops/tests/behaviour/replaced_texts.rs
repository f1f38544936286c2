//! What somebody said about a task stays in the ledger when a change replaces it.

use serde_json::{Value, json};

use crate::world::{World, agent, text};

/// All that changes have replaced, with the summaries of the changes.
fn replaced(w: &mut World) -> String {
    let ledger = w.ledger().into_iter();
    ledger
        .filter(|delta| !delta["body"]["replaced"].is_null())
        .map(|delta| delta["body"].to_string())
        .collect()
}

fn close(w: &mut World, id: &Value, result: &str, reason: &str) {
    w.advance(1);
    let context = json!({ "failure_details": format!("{reason} in detail") });
    let input = json!({ "id": id, "result": result, "reason": reason, "context": context });
    w.ok(&agent("Ann"), "task_close", input);
}

on_every_backend! {
    fn the_reason_of_a_closing_stays_when_the_task_is_open_again(w) {
        let reopening = [
            ("task_reopen", json!({})),
            ("task_update", json!({ "status": "open" })),
            ("task_update", json!({ "status": "in_progress" })),
        ];
        for (at, (verb, mut input)) in reopening.into_iter().enumerate() {
            let id = w.ok(&agent("Ann"), "task_create", json!({ "title": verb }))["id"].clone();
            let reason = format!("because of the lexer {at}");
            w.ok(&agent("Ann"), "task_close", json!({ "id": id, "reason": reason }));
            input["id"] = id;
            w.ok(&agent("Bob"), verb, input);
            assert!(replaced(w).contains(&reason), "{verb}: {}", replaced(w));
        }
    }

    fn a_reason_stays_also_where_there_was_nothing_to_reopen_or_to_take(w) {
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t" })), "id");
        w.ok(&agent("Ann"), "task_reopen", json!({ "id": id, "reason": "the build is red" }));
        let shown = w.ok(&agent("Ann"), "task_show", json!({ "id": id, "full": true })).to_string();
        assert!(shown.contains("the build is red"), "{shown}");
        w.ok(&agent("Ann"), "task_claim", json!({ "id": id, "force": true, "why": "nobody was there" }));
        assert!(w.ledger().iter().any(|delta| delta.to_string().contains("nobody was there")));
    }

    fn every_turn_of_an_increment_leaves_its_words(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "rounding" }));
        let [build, test, fix, verify] = ["implementation_id", "test_id", "fix_id", "verify_id"].map(|key| made[key].clone());
        close(w, &build, "pass", "built");
        let turns = [
            (&test, "fail", "two of nine"), (&fix, "pass", "first mend"), (&test, "fail", "one of nine"),
            (&fix, "pass", "second mend"), (&test, "pass", "all nine"), (&verify, "fail", "not in the guide"),
            (&fix, "pass", "third mend"), (&test, "pass", "nine once more"), (&verify, "pass", "as wanted"),
        ];
        for (id, result, reason) in turns {
            close(w, id, result, reason);
        }
        let (ledger, tasks) = (replaced(w), w.ok(&agent("Ann"), "task_list", json!({ "all": true })).to_string());
        for (id, _, reason) in turns {
            let shown = w.ok(&agent("Ann"), "task_show", json!({ "id": id, "full": true })).to_string();
            let details = format!("{reason} in detail");
            for words in [reason, details.as_str()] {
                assert!([&ledger, &tasks, &shown].iter().any(|place| place.contains(words)), "{words} is nowhere: {ledger}");
            }
        }
    }

    fn what_an_update_replaces_stays_and_what_it_encrypts_does_not(w) {
        let ann = agent("Ann");
        w.ok(&ann, "agent_register", json!({}));
        w.ok(&ann, "key_create", json!({}));
        let id = text(&w.ok(&ann, "task_create", json!({ "title": "t", "description": "first", "agent_context": { "k": "canary" } })), "id");
        w.ok(&ann, "task_update", json!({ "id": id, "description": "second", "priority": 0 }));
        assert!(replaced(w).contains("\"description\":\"first\""), "{}", replaced(w));
        w.ok(&ann, "task_update", json!({ "id": id, "sensitive": true, "agent_context": { "k": "other" } }));
        assert!(!replaced(w).contains("canary"), "{}", replaced(w));
    }
}
