//! Claims on tasks whose Beads file another ledger writes, too: who has a task by the file has it.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

/// A task that Joe has claimed, as it stands in the file.
fn claimed(w: &mut World) -> (String, Value) {
    w.advance(1);
    let id = text(&w.ok(&agent("Setup"), "task_create", json!({ "title": "t" })), "id");
    let claim = w.ok(&agent("Joe"), "task_claim", json!({ "id": id }));
    publish(w);
    (id, claim["token"].clone())
}

fn line(w: &mut World, id: &str) -> Value {
    let items = list(&w.ok(&agent("Setup"), "beads_export", json!({}))["items"]);
    let own = items.iter().find(|item| item["id"] == id).expect("its line");
    serde_json::from_str(&text(own, "line")).expect("json")
}

fn publish(w: &mut World) {
    let items = list(&w.ok(&agent("Setup"), "beads_export", json!({}))["items"]);
    let lines: Vec<Value> = items.iter().map(|l| json!({ "id": l["id"], "line": l["line"] })).collect();
    w.ok(&agent("Setup"), "beads_published", json!({ "lines": lines }));
}

/// Another ledger writes these fields of a task into the file, later, and this one reads it.
fn written_elsewhere(w: &mut World, id: &str, fields: &Value) {
    let mut row = line(w, id);
    let own = row.as_object_mut().expect("an object");
    own.extend(fields.as_object().cloned().expect("an object"));
    own.retain(|_, value| !value.is_null());
    w.advance(5_000);
    row["updated_at"] = json!(baton_model::time::rfc3339(w.now));
    w.ok(&agent("Setup"), "beads_import", json!({ "lines": [row.to_string()] }));
}

fn writes(id: &str) -> [(&'static str, Value); 4] {
    [
        ("task_update", json!({ "id": id, "notes": "mine" })),
        ("task_update", json!({ "id": id, "status": "open" })),
        ("task_release", json!({ "id": id })),
        ("task_close", json!({ "id": id })),
    ]
}

fn told(w: &mut World, who: &Agent) -> Vec<String> {
    column(&w.pending(who), "subject")
}

on_every_backend! {
    fn a_claim_ends_when_the_file_gives_its_task_to_another(w) {
        let (id, token) = claimed(w);
        written_elsewhere(w, &id, &json!({ "assignee": "Ann" }));
        let now = w.ok(&agent("Joe"), "task_show", json!({ "id": id }));
        assert_eq!((&now["assignee"], now.get("claim")), (&json!("Ann"), None), "{now:#}");
        for (verb, input) in writes(&id) {
            let refusal = w.no_trace(&agent("Joe"), verb, input.clone(), "task_claimed");
            assert!(text(&refusal, "message").contains("Ann") && text(&refusal, "hint").contains("--force --why"), "{refusal:#}");
            let mut with_token = input;
            with_token["token"] = token.clone();
            w.no_trace(&agent("Joe"), verb, with_token, "lease_lost");
        }
        assert_eq!(told(w, &agent("Joe")), [format!("Ann took task {id} over, which you had claimed")]);
        let audit = w.ok(&agent("Setup"), "ledger_list", json!({})).to_string();
        assert!(audit.contains("the Beads file gives it to Ann"), "{audit}");
        // Ann goes on in this ledger as well; and Joe takes it back as from everyone: by force, with a reason.
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "notes": "hers" }));
        w.no_trace(&agent("Joe"), "task_claim", json!({ "id": id }), "task_claimed");
        let again = w.ok(&agent("Joe"), "task_claim", json!({ "id": id, "force": true, "why": "it hangs" }));
        assert_eq!(again["token"].as_i64(), token.as_i64().map(|token| token + 1));
        w.ok(&agent("Joe"), "task_close", json!({ "id": id, "token": again["token"] }));
    }

    fn a_claim_ends_when_the_file_takes_its_task_back(w) {
        let (id, token) = claimed(w);
        written_elsewhere(w, &id, &json!({ "status": "open", "assignee": null }));
        w.no_trace(&agent("Joe"), "task_close", json!({ "id": id, "token": token }), "lease_lost");
        assert_eq!(told(w, &agent("Joe")), [format!("another ledger took task {id} back, which you had claimed")]);
        assert_eq!(w.ok(&agent("Ann"), "task_claim", json!({ "id": id }))["claimed"], true);
    }

    fn what_a_ledger_wrote_itself_ends_none_of_its_claims(w) {
        let (id, token) = claimed(w);
        let own = line(w, &id).to_string();
        w.ok(&agent("Joe"), "task_update", json!({ "id": id, "notes": "n", "assignee": "Sue", "token": token }));
        publish(w);
        let later = line(w, &id).to_string();
        for line in [own, later] {
            w.ok(&agent("Setup"), "beads_import", json!({ "lines": [line] }));
        }
        // Another ledger writes something else: the claim is as it was.
        written_elsewhere(w, &id, &json!({ "priority": 0 }));
        let now = w.ok(&agent("Joe"), "task_show", json!({ "id": id }));
        assert_eq!((&now["priority"], &now["claim"]["token"]), (&json!(0), &token), "{now:#}");
        assert_eq!(told(w, &agent("Joe")), Vec::<String>::new());
        w.ok(&agent("Joe"), "task_close", json!({ "id": id, "token": token }));
    }

    fn a_holder_hears_once_that_another_ledger_closed_or_deleted_its_task(w) {
        for (fields, word, why) in [
            (json!({ "status": "closed", "closed_at": "2026-02-01T00:00:00Z", "close_reason": "done there" }), "closed", "done there"),
            (json!({ "status": "tombstone", "deleted_at": "2026-02-01T00:00:00Z", "delete_reason": "no need" }), "deleted", "no need"),
        ] {
            let (id, token) = claimed(w);
            written_elsewhere(w, &id, &fields);
            let row = line(w, &id).to_string();
            w.ok(&agent("Setup"), "beads_import", json!({ "lines": [row] }));
            let subject = format!("another ledger {word} task {id}, which you had claimed");
            let found = w.pending(&agent("Joe"));
            let own: Vec<&Value> = found.iter().filter(|signal| text(signal, "subject") == subject).collect();
            assert_eq!(own.len(), 1, "{found:#?}");
            assert!(text(own[0], "body").contains(why), "{own:#?}");
            w.no_trace(&agent("Joe"), "task_update", json!({ "id": id, "token": token, "notes": "n" }), if word == "closed" { "lease_lost" } else { "task_deleted" });
        }
    }
}
