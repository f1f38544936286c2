//! Which saved or seeded state a caller goes on with.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn donna() -> Agent {
    agent("Donna")
}

fn save(w: &mut World, task: &str, action: &str) {
    let state = json!({ "next_action": { "description": action } });
    w.ok(&donna(), "session_checkpoint", json!({ "state": state, "task": task }));
    w.advance(1_000);
}

fn resolved(w: &mut World, input: Value) -> Value {
    w.ok(&donna(), "session_resolve", input)
}

on_every_backend! {
    fn an_exact_tuple_is_continued(w) {
        let own = w.start(&donna());
        save(w, "t1", "fix the cart");
        let found = resolved(w, json!({ "task": "t1" }));
        assert_eq!((found["resolution"].clone(), found["task_id"].clone()), (json!("resume"), json!("t1")));
        assert_eq!((found["session_id"].clone(), found["version"].clone()), (own["session_id"].clone(), json!(1)));
        assert_eq!(found["state"]["next_action"]["description"], "fix the cart");
        assert_eq!(resolved(w, json!({ "task": "t2" }))["resolution"], "new");
    }

    fn a_wish_to_resume_finds_the_one_or_offers_a_choice(w) {
        w.start(&donna());
        save(w, "t1", "fix the cart");
        assert_eq!(resolved(w, json!({ "said": "begin the release" }))["resolution"], "new");
        assert_eq!(resolved(w, json!({ "said": "please continue" }))["task_id"], "t1");
        save(w, "t2", "write the docs");
        let choice = resolved(w, json!({ "said": "go on with the cart" }));
        assert_eq!(choice["resolution"], "choice_required");
        assert_eq!(column(&list(&choice["candidates"]), "task_id"), ["t1", "t2"]);
        assert_eq!(column(&list(&resolved(w, json!({ "resume": true }))["candidates"]), "task_id"), ["t2", "t1"]);
    }

    fn resolving_writes_nothing_and_needs_a_project(w) {
        w.start(&donna());
        save(w, "t1", "fix the cart");
        let before = w.everything();
        resolved(w, json!({ "resume": true }));
        assert_eq!(w.everything(), before);
        w.no_trace(&donna().project("none"), "session_resolve", json!({}), "project_unknown");
    }

    fn a_caller_in_no_folder_is_told_so_and_not_of_a_folder_without_a_name(w) {
        let mut nowhere = donna();
        (nowhere.0.project, nowhere.0.folders) = (None, Vec::new());
        let refusal = w.no_trace(&nowhere, "session_resolve", json!({}), "project_unresolved");
        assert_eq!(text(&refusal, "message"), "no project is named, and the caller is in no folder that could belong to one");
        nowhere.0.folders = vec!["/srv/none".to_owned()];
        let refusal = w.no_trace(&nowhere, "session_resolve", json!({}), "project_unresolved");
        assert_eq!(text(&refusal, "message"), "no project is registered for /srv/none");
    }

    fn a_seeded_session_is_the_tuple_of_its_handoff(w) {
        w.register("q");
        let made = w.ok(&donna(), "handoff_create", json!({ "to_project_id": "q", "subject": "s", "to_identity": "Lola" }));
        let task = text(&made["seeded_session"], "task_id");
        let found = w.ok(&agent("Lola").project("q"), "session_resolve", json!({ "task": task }));
        assert_eq!((found["resolution"].clone(), found["session_id"].clone()), (json!("resume"), made["seeded_session"]["session_id"].clone()));
    }
}
