//! A project that is merged leaves nothing behind that somebody waits for.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn at(name: &str, project: &str) -> Agent {
    agent(name).project(project).process("")
}

fn merge(w: &mut World) -> Value {
    w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }))
}

on_every_backend! {
    fn a_baton_goes_along_with_what_its_holder_saved(w) {
        w.register("fix");
        w.start(&at("Ann", "fix"));
        w.ok(&at("Ann", "fix"), "session_wrap", json!({ "summary": "the cart rounds" }));
        let held = w.pickup(&at("Hal", "fix"));
        w.ok(&at("Hal", "fix"), "session_checkpoint", json!({ "summary": "half of it", "state": { "step": 7 } }));
        w.ok(&at("Hal", "fix"), "ledger_note", json!({ "kind": "decision", "text": "round half up" }));
        w.ok(&at("Hal", "fix"), "session_end", json!({ "session": held["session_id"] }));
        merge(w);
        let next = w.pickup(&agent("Mina"));
        let body = text(&next["baton"], "body");
        for text in ["the cart rounds", "half of it", "\"step\":7", "round half up"] {
            assert!(body.contains(text), "{text} is gone: {body}");
        }
    }

    fn mail_and_leases_go_along_and_nothing_more_is_sent_there(w) {
        w.register("fix");
        w.ok(&at("Ann", "fix"), "agent_register", json!({}));
        w.ok(&at("Ann", "p"), "agent_register", json!({}));
        let mail = json!({ "to": "Ann", "to_project": "fix", "subject": "the schema", "body": "b" });
        w.ok(&at("Lola", "p"), "mail_send", mail.clone());
        w.ok(&at("Lea", "fix"), "lease_take", json!({ "patterns": ["x/"] }));
        let merged = merge(w);
        assert_eq!((&merged["messages_moved"], &merged["leases_moved"]), (&json!(1), &json!(1)));
        assert_eq!(column(&w.pending(&at("Ann", "p")), "subject"), ["the schema"]);
        w.no(&at("Bert", "p"), "lease_take", json!({ "patterns": ["x/a"] }), "lease_conflict");
        let refusal = w.no(&at("Lola", "p"), "mail_send", mail, "project_merged");
        assert_eq!(refusal["project_id"], "p");
        w.no(&at("Lola", "p"), "handoff_create", json!({ "to_project_id": "fix", "subject": "s" }), "project_merged");
    }

    fn a_project_to_which_a_hand_off_is_open_is_not_merged(w) {
        w.register("fix");
        let made = w.ok(&at("Lola", "p"), "handoff_create", json!({ "to_project_id": "fix", "subject": "s" }));
        let refusal =
            w.no(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }), "handoffs_open");
        assert_eq!(list(&refusal["handoffs"]).len(), 1);
        w.ok(&at("Lola", "p"), "handoff_advance", json!({ "id": made["handoff_id"], "action": "cancel" }));
        merge(w);
    }

    fn a_merge_is_not_taken_back_under_somebody_who_works_there(w) {
        w.register("fix");
        w.ok(&at("Ann", "fix"), "session_start", json!({}));
        w.ok(&at("Ann", "fix"), "session_wrap", json!({ "summary": "the cart rounds" }));
        merge(w);
        let there = agent("Hal").process("").at("/repos/fix", Some("/repos/fix"));
        let held = w.pickup(&there);
        let undo = json!({ "from": "fix", "into": "p", "undo": true });
        w.no(&agent("Owner"), "project_merge", undo.clone(), "project_busy");
        w.ok(&there.in_session(&held), "session_wrap", json!({ "summary": "it rounds no more" }));
        w.ok(&agent("Owner"), "project_merge", undo);
    }
}
