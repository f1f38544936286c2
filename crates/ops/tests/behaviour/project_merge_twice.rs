//! However projects are merged, parted and merged again, one work is offered once.

use serde_json::{Value, json};

use crate::changes;
use crate::conversations::Talk;
use crate::world::{Agent, World, agent, column, list, text};

fn at(name: &str, project: &str) -> Agent {
    agent(name).project(project).process("")
}

fn merge(w: &mut World) -> Value {
    w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p" }))
}

fn undo(w: &mut World) -> Value {
    w.ok(&agent("Owner"), "project_merge", json!({ "from": "fix", "into": "p", "undo": true }))
}

/// Sil saves something in the project that is merged, and falls silent.
fn saved(w: &mut World) -> Value {
    w.register("fix");
    let own = w.ok(&at("Sil", "fix"), "session_start", json!({}));
    w.ok(&at("Sil", "fix"), "session_checkpoint", json!({ "summary": "half silent" }));
    w.advance(700_000);
    own
}

/// Ids of the batons that wait in a project.
fn waiting(w: &mut World, project: &str) -> Vec<String> {
    let card = w.ok(&at("Reader", project), "session_status", json!({}));
    let rows = list(&card["handoffs"]);
    column(&rows.into_iter().filter(|row| row["state"] != "held").collect::<Vec<_>>(), "id")
}

fn import(w: &mut World, project: &str, talk: &Talk) -> Value {
    w.ok(&at("Owner", project), "transcript_import", talk.input())
}

/// What the end hook of the agent's tool does.
fn end_hook(w: &mut World, project: &str, talk: &Talk) -> Value {
    let mut input = talk.input();
    (input["event"], input["wrap"], input["over"]) = (json!("session-end"), json!(true), json!(true));
    w.ok(&agent("Donna").project(project).process("tool"), "transcript_capture", input)
}

on_every_backend! {
    fn what_a_session_saved_goes_along_once(w) {
        saved(w);
        let merged = merge(w);
        assert_eq!(list(&merged["batons"]).len(), 1, "{merged:#}");
        let held = w.pickup(&agent("Mina"));
        assert!(held["baton"].to_string().contains("half silent"), "{held:#}");
        w.wrap(&agent("Mina"), "done with it");
        let undone = undo(w);
        assert_eq!(list(&undone["batons_left"]).len(), 1, "{undone:#}");
        assert_eq!(w.pickup(&at("Zoe", "fix"))["recovered"], Value::Null, "it goes on in the other project");
        w.ok(&at("Zoe", "fix"), "session_end", json!({}));
        let again = merge(w);
        assert_eq!(list(&again["batons"]).len(), 0, "{again:#}");
        assert_eq!(waiting(w, "p").len(), 1);
    }

    fn what_nobody_continued_goes_along_again(w) {
        saved(w);
        merge(w);
        let undone = undo(w);
        assert_eq!(undone.get("batons_left"), None, "{undone:#}");
        assert_eq!(list(&merge(w)["batons"]).len(), 1);
        assert_eq!(waiting(w, "p").len(), 1);
    }

    fn a_session_that_was_reassigned_goes_along_as_its_baton_alone(w) {
        let own = saved(w);
        w.ok(&at("Owner", "fix"), "session_reassign", json!({ "session": own["session_id"], "to": "Mina" }));
        assert_eq!(list(&merge(w)["batons"]).len(), 1);
        assert_eq!(waiting(w, "p").len(), 1);
        assert!(w.pickup(&agent("Mina"))["baton"].to_string().contains("half silent"));
    }

    fn changes_come_back_as_they_were_left_in_the_other_project(w) {
        w.register("fix");
        let (ann, owner) = (at("Ann", "fix"), at("Ann", "p"));
        let (dropped, replaced) = (changes::wrap(w, &ann, b"one"), changes::wrap(w, &ann, b"two"));
        let merged = merge(w);
        let now = |from: &str| text(list(&merged["batons"]).iter().find(|one| one["from"] == from).expect("carried"), "to");
        w.ok(&owner, "changes_drop", json!({ "baton_id": now(&dropped) }));
        changes::upload(w, &owner, b"three");
        w.ok(&owner, "changes_attach", json!({ "baton_id": now(&replaced), "changes": changes::manifest(b"three"), "replace": true }));
        undo(w);
        w.no(&ann, "changes_show", json!({ "baton_id": dropped }), "changes_none");
        assert_eq!(changes::content(w, &ann, &replaced), b"three");
    }

    fn a_conversation_keeps_its_baton_through_a_merge(w) {
        w.register("fix");
        let mut talk = Talk::new();
        import(w, "fix", &talk);
        merge(w);
        let waits = waiting(w, "p");
        assert_eq!(waits.len(), 1);
        let again = import(w, "p", &talk);
        assert_eq!((&again["imported_before"], &again["baton_id"]), (&json!(true), &json!(waits[0])));
        end_hook(w, "p", &talk);
        assert_eq!(waiting(w, "p"), waits);
        // What it says more takes the place of what waits.
        talk.grow();
        let more = import(w, "p", &talk);
        assert_eq!(more["superseded_baton_id"], json!(waits[0]), "{more:#}");
        assert_eq!(waiting(w, "p").len(), 1);
    }

    fn what_an_agent_saved_before_the_merge_is_the_baton_of_its_conversation(w) {
        w.register("fix");
        let mut talk = Talk::new();
        let mut input = talk.input();
        input["event"] = json!("before-compaction");
        w.ok(&agent("Donna").project("fix").process("tool"), "transcript_capture", input);
        w.machines.ended.insert("tool".into());
        w.advance(700_000);
        assert_eq!(list(&merge(w)["batons"]).len(), 1);
        talk.grow();
        end_hook(w, "p", &talk);
        assert_eq!(waiting(w, "p").len(), 1);
    }

    fn a_conversation_keeps_its_baton_when_the_merge_is_taken_back(w) {
        w.register("fix");
        let talk = Talk::new();
        merge(w);
        let left = import(w, "p", &talk);
        undo(w);
        let again = import(w, "fix", &talk);
        assert_eq!((&again["project_id"], &again["baton_id"]), (&json!("p"), &left["baton_id"]));
        end_hook(w, "fix", &talk);
        assert_eq!((waiting(w, "p").len(), waiting(w, "fix").len()), (1, 0));
        let meant = w.ok(&at("Owner", "fix"), "transcript_import", json!({ "id": text(&talk.input(), "id"), "agent": "claude", "again": true }));
        assert_eq!(meant["project_id"], "fix");
    }

    fn a_conversation_keeps_its_baton_when_its_folder_goes_to_another_project(w) {
        w.register("cart");
        let talk = Talk::new();
        let left = import(w, "p", &talk);
        let again = import(w, "cart", &talk);
        assert_eq!((&again["project_id"], &again["baton_id"]), (&json!("p"), &left["baton_id"]));
        end_hook(w, "cart", &talk);
        assert_eq!((waiting(w, "p").len(), waiting(w, "cart").len()), (1, 0));
    }

    fn an_isolated_project_knows_nothing_of_conversations_elsewhere(w) {
        w.ok(&at("Owner", "lone").at("/repos/lone", Some("/repos/lone")), "project_init", json!({ "id": "lone", "isolated": true }));
        let talk = Talk::new();
        import(w, "p", &talk);
        assert_eq!(import(w, "lone", &talk)["project_id"], "lone");
    }
}
