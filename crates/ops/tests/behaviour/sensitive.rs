//! Sensitive tasks: what they hand over is encrypted where it is kept, and only who can read it gets them.

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

const SECRET: &str = "swordfish";

/// Ann and Tess have keys, Theo has none; all but Ann test.
fn people(w: &mut World) {
    for name in ["Tess", "Theo"] {
        w.ok(&agent(name), "agent_register", json!({ "roles": ["testing"] }));
    }
    for name in ["Ann", "Tess"] {
        w.ok(&agent(name), "key_create", json!({}));
    }
}

fn context() -> Value {
    json!({ "work_completed": format!("the password is {SECRET}") })
}

fn secret(w: &mut World) -> String {
    let input = json!({
        "title": "log in", "agent_role": "testing", "sensitive": true, "agent_context": context(),
        "handoff_instructions": { "test_command": format!("./login {SECRET}") },
    });
    let made = w.ok(&agent("Ann"), "task_create", input);
    assert!(!made.to_string().contains(SECRET), "{made:#}");
    text(&made, "id")
}

/// The same call of Tess under a key.
fn once(w: &mut World, verb: &str, input: Value, key: &str) -> Value {
    let entry = baton_ops::all::find(verb).expect("an operation");
    w.once(&agent("Tess"), entry, input, key).expect("done")
}

/// Nothing of the secret stands in any row, export or line of a file.
fn assert_nowhere(w: &mut World) {
    assert!(!w.everything().join("\n").contains(SECRET));
    for verb in ["ledger_export", "beads_export"] {
        assert!(!w.ok(&agent("Ann"), verb, json!({})).to_string().contains(SECRET), "{verb}");
    }
}

on_every_backend! {
    fn what_is_sensitive_is_kept_encrypted_and_shown_to_its_readers_only(w) {
        people(w);
        let id = secret(w);
        assert_nowhere(w);
        for full in [true, false] {
            let input = json!({ "id": id, "full": full });
            let seen = w.ok(&agent("Tess"), "task_show", input.clone());
            assert_eq!((&seen["agent_context"], &seen["sensitive"]), (&context(), &json!(true)));
            let other = w.ok(&agent("Theo"), "task_show", input);
            assert_eq!(other["agent_context"], json!({ "sealed_for": ["Ann", "Tess"] }));
        }
        let listed = w.ok(&agent("Tess"), "task_list", json!({}));
        assert!(!listed.to_string().contains("BEGIN AGE"), "{listed:#}");
    }

    fn the_context_of_a_close_that_comes_too_late_is_kept_encrypted(w) {
        people(w);
        let id = secret(w);
        let token = w.ok(&agent("Ann"), "task_claim", json!({ "id": id }))["token"].clone();
        w.advance(3 * 3_600_000);
        w.ok(&agent("Tess"), "task_claim", json!({ "id": id }));
        let late = json!({ "id": id, "reason": "it is done", "context": { "new_password": SECRET }, "token": token });
        let refusal = w.no(&agent("Ann"), "task_close", late, "lease_lost");
        assert!(text(&refusal, "message").contains("what you gave is kept") && !refusal["kept_comment_id"].is_null(), "{refusal:#}");
        w.ok(&agent("Tess"), "task_close", json!({ "id": id, "reason": "so it is" }));
        let second = w.ok(&agent("Ann"), "task_close", json!({ "id": id, "context": { "second": SECRET } }));
        assert!(!second["kept_comment_id"].is_null(), "{second:#}");
        assert_nowhere(w);
        let comments = |w: &mut World, who: &str| {
            let shown = w.ok(&agent(who), "task_show", json!({ "id": id, "full": true }));
            column(&list(&shown["comments"]), "text")
        };
        let open = [json!({ "new_password": SECRET }), json!({ "second": SECRET })].map(|context| context.to_string());
        let [first, second] = open;
        assert_eq!(comments(w, "Tess"), ["it is done".to_owned(), first, second]);
        let closed = comments(w, "Theo").join("\n");
        assert!(closed.contains("it is done") && !closed.contains(SECRET) && !closed.contains("BEGIN AGE"), "{closed}");
    }

    fn the_text_of_an_acknowledgement_is_encrypted_when_that_is_said(w) {
        people(w);
        let sent = w.ok(&agent("Ann"), "mail_send", json!({ "to": "Tess", "subject": "s", "body": SECRET, "sensitive": true }));
        let ack = json!({ "message_id": sent["message_id"], "body": format!("changed to {SECRET}"), "sensitive": true });
        let acked = w.ok(&agent("Tess"), "mail_ack", ack);
        assert_eq!(acked["readers"], json!(["Ann", "Tess"]));
        assert_nowhere(w);
        let got = w.ok(&agent("Ann"), "mail_read", json!({ "message_id": acked["ack_message_id"] }));
        assert_eq!(got["body"], format!("changed to {SECRET}"));
        let plain = w.ok(&agent("Theo"), "mail_send", json!({ "to": "Ann", "subject": "s", "wait": true }));
        let ack = json!({ "message_id": plain["message_id"], "body": SECRET, "sensitive": true });
        w.no_trace(&agent("Ann"), "mail_ack", ack, "key_missing");
    }

    fn only_who_can_read_it_takes_it(w) {
        people(w);
        let id = secret(w);
        w.no_trace(&agent("Theo"), "task_claim", json!({ "id": id }), "not_a_reader");
        assert_eq!(w.ok(&agent("Theo"), "task_claim", json!({}))["claimed"], false, "it is not offered to him");
        let claimed = w.ok(&agent("Tess"), "task_claim", json!({}));
        assert_eq!((&claimed["task"]["id"], &claimed["packet"]["agent_context"]), (&json!(id), &context()));
        assert_eq!(claimed["task"]["agent_context"], json!({ "sealed_for": ["Ann", "Tess"] }));
        assert_nowhere(w);
    }

    fn a_key_that_is_listed_but_not_here_takes_nothing(w) {
        people(w);
        w.ok(&agent("Ann"), "key_add", json!({ "name": "Theo", "public_key": "age1p/theo" }));
        let id = secret(w);
        w.no_trace(&agent("Theo"), "task_claim", json!({ "id": id }), "key_missing");
    }

    fn the_router_gives_it_to_a_reader_and_its_message_tells_nothing(w) {
        people(w);
        let id = secret(w);
        let routed = w.ok(&agent("Owner"), "task_route", json!({ "explain": true }));
        assert_eq!(routed["items"][0]["agent"], "Tess");
        let theo = list(&routed["items"][0]["candidates"]).into_iter().find(|c| c["agent"] == "Theo").expect("judged");
        assert_eq!(theo["no"], "has no key to read it with");
        let inbox = w.ok(&agent("Tess"), "mail_inbox", json!({ "bodies": true }));
        assert!(inbox.to_string().contains(&id) && !inbox.to_string().contains(SECRET), "{inbox:#}");
        assert_nowhere(w);
    }

    fn what_is_written_later_is_encrypted_too_and_goes_along(w) {
        people(w);
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "log in", "sensitive": true, "handoff_instructions": context() }));
        w.ok(&agent("Tess"), "task_claim", json!({ "id": made["implementation_id"] }));
        w.ok(&agent("Tess"), "task_close", json!({ "id": made["implementation_id"], "context": { "test_command": format!("./login {SECRET}") } }));
        assert_nowhere(w);
        let test = json!({ "id": made["test_id"], "full": true });
        assert_eq!(w.ok(&agent("Ann"), "task_show", test.clone())["agent_context"]["test_command"], format!("./login {SECRET}"));
        w.ok(&agent("Tess"), "task_update", json!({ "id": made["test_id"], "agent_context": { "log": SECRET }, "merge": true }));
        assert_nowhere(w);
        let both = w.ok(&agent("Ann"), "task_show", test)["agent_context"].clone();
        assert_eq!((&both["log"], both["test_command"].is_string()), (&json!(SECRET), true));
        w.no_trace(&agent("Theo"), "task_update", json!({ "id": made["test_id"], "agent_context": { "x": 1 } }), "not_a_reader");
        w.no_trace(&agent("Theo"), "task_close", json!({ "id": made["test_id"], "context": { "x": 1 } }), "not_a_reader");
        w.ok(&agent("Theo"), "task_update", json!({ "id": made["test_id"], "priority": 1 }));
    }

    fn a_task_becomes_sensitive_and_a_key_that_comes_later_is_let_in(w) {
        w.no_trace(&agent("Ann"), "task_create", json!({ "title": "t", "sensitive": true }), "key_missing");
        people(w);
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "agent_context": { "notes": "harmless" } })), "id");
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "sensitive": true }));
        w.no_trace(&agent("Theo"), "task_claim", json!({ "id": id }), "not_a_reader");
        w.ok(&agent("Theo"), "key_create", json!({}));
        w.no_trace(&agent("Theo"), "task_update", json!({ "id": id, "sensitive": true }), "not_a_reader");
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "sensitive": true }));
        let claimed = w.ok(&agent("Theo"), "task_claim", json!({ "id": id }));
        assert_eq!(claimed["packet"]["agent_context"]["notes"], "harmless");
        let too_large = json!({ "id": id, "agent_context": { "log": "x".repeat(17_000) } });
        w.no_trace(&agent("Ann"), "task_update", too_large, "context_too_large");
        w.ok(&agent("Theo"), "task_update", json!({ "id": id, "agent_context": { "log": "x".repeat(16_000) } }));
    }

    fn a_kept_answer_holds_no_secret(w) {
        people(w);
        let id = secret(w);
        let first = once(w, "task_claim", json!({ "id": id }), "k");
        assert_eq!(first["packet"]["agent_context"], context());
        assert_nowhere(w);
        let again = once(w, "task_claim", json!({ "id": id }), "k");
        assert_eq!(again["token"], first["token"]);
        let sent = w.ok(&agent("Ann"), "mail_send", json!({ "to": "Tess", "subject": "s", "body": SECRET, "sensitive": true }));
        assert_eq!(once(w, "mail_read", json!({ "message_id": sent["message_id"] }), "m")["body"], SECRET);
        assert_nowhere(w);
    }

    fn an_exported_task_comes_in_again_and_is_still_sealed(w) {
        people(w);
        let id = secret(w);
        let lines = column(&list(&w.ok(&agent("Ann"), "beads_export", json!({}))["items"]), "line");
        w.register("q");
        w.ok(&agent("Ann").project("q"), "beads_import", json!({ "lines": lines }));
        let copy = w.ok(&agent("Ann").project("q"), "task_show", json!({ "id": id, "full": true }));
        assert_eq!(copy["agent_context"], json!({ "sealed_for": ["Ann", "Tess"] }), "its keys are another project's");
    }
}
