//! A hand-off whose task another home renames, closes or deletes: what the Beads file says of it counts as what a command says.

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::hub::Hub;
use crate::saga::{drive, due};
use crate::world::{Agent, World, agent, column, list, text};

fn sender() -> Agent {
    agent("Lola")
}

fn receiver() -> Agent {
    agent("Donna").project("q")
}

fn lines(w: &mut World) -> Vec<String> {
    column(&list(&w.ok(&receiver(), "beads_export", json!({}))["items"]), "line")
}

fn take(w: &mut World, lines: &[String]) {
    w.ok(&agent("Nora").project("q"), "beads_import", json!({ "lines": lines }));
}

/// A hand-off, its task, and another home of the receiver's project that has the task by the file.
fn handed(w: &mut World, is_accepted: bool) -> (String, String, World) {
    w.register("q");
    let request = json!({ "to_project_id": "q", "subject": "add an endpoint" });
    let made = w.ok(&sender(), "handoff_create", request);
    let (id, task) = (text(&made, "handoff_id"), text(&made["task"], "id"));
    if is_accepted {
        w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "accept" }));
    }
    let mut other = World::new(Backend::Memory, 77).expect("memory");
    other.register("q");
    let file = lines(w);
    take(&mut other, &file);
    other.now += 5_000;
    w.now += 9_000;
    (id, task, other)
}

/// What the other home has in its file comes into this ledger, and what follows from it is done.
fn follow(w: &mut World, other: &mut World, id: &str) -> Value {
    let file = lines(other);
    take(w, &file);
    for due in due(w) {
        drive(w, &mut Hub::default(), &due);
    }
    w.ok(&sender(), "handoff_show", json!({ "id": id }))
}

fn subjects(w: &mut World, who: &Agent) -> Vec<String> {
    column(&w.pending(who), "subject")
}

fn status(w: &mut World, task: &str) -> (Value, Value) {
    let found = w.ok(&receiver(), "task_show", json!({ "id": task }));
    (found["status"].clone(), found["close_reason"].clone())
}

on_every_backend! {
    fn a_handoff_goes_on_with_the_new_id_of_its_task(w) {
        let (id, task, mut other) = handed(w, true);
        other.ok(&agent("Ben").project("q"), "task_rename", json!({ "id": task, "to": "q-first" }));
        other.now += 1_000;
        other.ok(&agent("Ben").project("q"), "task_rename", json!({ "id": "q-first", "to": "q-api" }));
        let shown = follow(w, &mut other, &id);
        assert_eq!((&shown["state"], &shown["task"]["id"]), (&json!("accepted"), &json!("q-api")), "{shown:#}");
        w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "complete", "result": "it is there" }));
        assert_eq!(status(w, "q-api"), (json!("closed"), json!("it is there")));
        w.assert_sound();
    }

    fn a_close_in_another_home_completes_the_handoff_once(w) {
        for is_accepted in [true, false] {
            let (id, task, mut other) = handed(w, is_accepted);
            let ben = agent("Ben").project("q");
            other.ok(&ben, "task_rename", json!({ "id": task, "to": format!("q-api{is_accepted}") }));
            other.ok(&ben, "task_close", json!({ "id": format!("q-api{is_accepted}"), "reason": "it is there" }));
            let shown = follow(w, &mut other, &id);
            assert_eq!((&shown["state"], &shown["result"]), (&json!("completed"), &json!("it is there")), "{shown:#}");
            let before = subjects(w, &sender());
            let messages: Vec<&String> =
                before.iter().filter(|subject| subject.contains(&id[..13]) && subject.contains("completed")).collect();
            assert_eq!(messages.len(), 1, "{before:?}");
            assert!(messages[0].ends_with("was completed by project q"), "no agent is named: {messages:?}");
            assert_eq!(shown["ended"]["by_type"], "project", "{shown:#}");
            let is_heard = |subject: &&String| subject.contains(&id[..13]) && subject.contains("which you accepted");
            let heard = subjects(w, &receiver()).iter().filter(is_heard).count();
            assert_eq!(heard, usize::from(is_accepted), "its acceptor hears it once");
            follow(w, &mut other, &id);
            assert_eq!(subjects(w, &sender()), before, "the sender hears it once");
            w.assert_sound();
        }
    }

    fn a_delete_in_another_home_declines_the_handoff_with_its_reason(w) {
        for is_accepted in [true, false] {
            let (id, task, mut other) = handed(w, is_accepted);
            other.ok(&agent("Ben").project("q"), "task_delete", json!({ "id": task, "reason": "not for us" }));
            let shown = follow(w, &mut other, &id);
            assert_eq!(shown["state"], "declined", "{shown:#}");
            assert!(text(&shown, "result").contains("not for us"), "{shown:#}");
            let before = subjects(w, &sender());
            assert_eq!(before.iter().filter(|subject| subject.contains("declined")).count(), if is_accepted { 1 } else { 2 }, "{before:?}");
            let is_told = subjects(w, &receiver()).iter().any(|subject| subject.contains("declined"));
            assert!(!is_accepted || is_told, "its acceptor hears it");
            follow(w, &mut other, &id);
            assert_eq!(subjects(w, &sender()), before);
            w.assert_sound();
        }
    }

    fn a_handoff_that_ended_names_the_new_id_of_its_task(w) {
        let (id, task, mut other) = handed(w, true);
        let mut third = World::new(Backend::Memory, 78).expect("memory");
        third.register("q");
        take(&mut third, &lines(w));
        third.now += 6_000;
        other.ok(&agent("Ben").project("q"), "task_delete", json!({ "id": task, "reason": "not wanted" }));
        third.ok(&agent("Cas").project("q"), "task_rename", json!({ "id": task, "to": "q-api" }));
        assert_eq!(follow(w, &mut other, &id)["state"], "declined");
        let shown = follow(w, &mut third, &id);
        assert_eq!((&shown["state"], &shown["task"]["id"]), (&json!("declined"), &json!("q-api")), "{shown:#}");
        assert_eq!(status(w, "q-api").0, "in_progress");
        w.assert_sound();
    }

    fn a_token_ends_no_handoff_of_another_by_a_line(w) {
        let (id, task, mut other) = handed(w, true);
        let mut token = agent("Mal").project("q").process("");
        let bearer = Bearer { token_id: "t1".into(), name: "t".into(), identities: Some(vec!["Mal".to_owned()]) };
        token.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer), ..Grant::default() };
        for verb in ["task_close", "task_delete"] {
            other.ok(&agent("Ben").project("q"), verb, json!({ "id": task, "reason": "mine" }));
            let file = lines(&mut other);
            w.ok(&token, "beads_import", json!({ "lines": file }));
            assert_eq!(due(w), Vec::<String>::new(), "{verb}");
            assert_eq!(w.ok(&sender(), "handoff_show", json!({ "id": id }))["state"], "accepted", "{verb}");
            assert_eq!(status(w, &task).0, "in_progress", "{verb}");
            other.now += 1_000;
        }
    }
}

on_every_backend! {
    fn a_close_in_the_file_after_the_hand_off_was_taken_back_is_a_late_result(w) {
        let (id, task, mut other) = handed(w, false);
        other.ok(&agent("Bea").project("q"), "task_claim", json!({ "id": task }));
        w.ok(&sender(), "handoff_advance", json!({ "id": id, "action": "cancel", "why": "not now" }));
        for due in due(w) {
            drive(w, &mut Hub::default(), &due);
        }
        other.now += 60_000;
        w.now += 120_000;
        other.ok(&agent("Bea").project("q"), "task_close", json!({ "id": task, "reason": "done all the same" }));
        let shown = follow(w, &mut other, &id);
        assert_eq!(shown["state"], "cancelled");
        let late = &shown["late_results"][0];
        assert_eq!((&late["by"], &late["result"]), (&json!("Bea"), &json!("done all the same")), "{shown:#}");
        // The same file once more says nothing new.
        let again = follow(w, &mut other, &id);
        assert_eq!(list(&again["late_results"]).len(), 1);
    }
}
