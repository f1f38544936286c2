//! The answer to a notice of a hand-off reaches who sent the notice, in the project in which that one works.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn ann() -> Agent {
    agent("Ann")
}

fn ben() -> Agent {
    agent("Ben").project("q")
}

/// A hand-off from Ann in `p` to `q`, where it waits.
fn offered(w: &mut World) -> String {
    w.register("q");
    let sent = json!({ "to_project_id": "q", "subject": "an endpoint", "description": "GET /x" });
    text(&w.ok(&ann(), "handoff_create", sent), "handoff_id")
}

fn cancel(w: &mut World, who: &Agent, id: &str, more: &Value) -> Value {
    let mut input = json!({ "id": id, "action": "cancel" });
    input.as_object_mut().expect("fields").extend(more.as_object().cloned().unwrap_or_default());
    w.ok(who, "handoff_advance", input)
}

/// The newest waiting notice whose subject has these words.
#[track_caller]
fn notice(w: &mut World, who: &Agent, words: &str) -> Value {
    let mut heard = w.pending(who);
    heard.retain(|one| text(one, "subject").contains(words));
    heard.pop().unwrap_or_else(|| panic!("nothing is heard of {words}"))
}

/// Answers as the printed command does.
fn answer(w: &mut World, who: &Agent, to: &Value) -> Value {
    w.ok(who, "mail_send", json!({ "reply_to": to["message_id"], "body": "half of it is done" }))
}

fn answers(w: &mut World, who: &Agent) -> Vec<String> {
    let inbox = w.ok(who, "mail_inbox", json!({}));
    column(&list(&inbox["items"]), "subject").into_iter().filter(|one| one.starts_with("Re: ")).collect()
}

on_every_backend! {
    fn the_answer_to_a_cancellation_reaches_the_sender_where_it_works(w) {
        let id = offered(w);
        w.ok(&ben(), "hd_exec", json!({ "handoff_id": id }));
        cancel(w, &ann(), &id, &json!({ "why": "not needed" }));
        let heard = notice(w, &ben(), "which you accepted");
        assert_eq!(heard["from_project_id"], "p", "{heard:#}");
        answer(w, &ben(), &heard);
        assert_eq!(answers(w, &ann()).len(), 1);
        assert_eq!(answers(w, &ann().project("q")), Vec::<String>::new(), "Ann does not work there");
        w.assert_sound();
    }

    fn the_answer_of_who_had_claimed_the_task_reaches_the_sender_where_it_works(w) {
        let id = offered(w);
        let shown = w.ok(&ben(), "handoff_show", json!({ "id": id }));
        w.ok(&ben(), "task_claim", json!({ "id": shown["task"]["id"] }));
        cancel(w, &ann(), &id, &json!({}));
        let heard = notice(w, &ben(), "you had claimed");
        assert_eq!(heard["from_project_id"], "p", "{heard:#}");
        answer(w, &ben(), &heard);
        assert_eq!(answers(w, &ann()).len(), 1);
    }

    fn who_declines_by_force_from_the_senders_project_gets_the_answer_there(w) {
        let id = offered(w);
        w.ok(&ben(), "hd_exec", json!({ "handoff_id": id }));
        let forced = json!({ "id": id, "action": "decline", "force": true, "why": "Ben is away" });
        w.ok(&ann(), "handoff_advance", forced);
        let heard = notice(w, &ben(), "which you accepted");
        assert_eq!(heard["from_project_id"], "p", "{heard:#}");
        answer(w, &ben(), &heard);
        assert_eq!(answers(w, &ann()).len(), 1);
    }

    fn who_cancels_by_force_from_the_receivers_project_gets_both_answers_there(w) {
        let id = offered(w);
        w.ok(&ben(), "hd_exec", json!({ "handoff_id": id }));
        let mia = agent("Mia").project("q");
        cancel(w, &mia, &id, &json!({ "force": true, "why": "Ann left" }));
        let near = notice(w, &ben(), "which you accepted");
        assert_eq!(near["from_project_id"], Value::Null, "{near:#}");
        answer(w, &ben(), &near);
        let far = notice(w, &ann(), "was cancelled by Mia");
        assert_eq!(far["from_project_id"], "q", "{far:#}");
        answer(w, &ann(), &far);
        assert_eq!(answers(w, &mia).len(), 2);
    }

    fn the_answer_goes_where_the_mail_of_a_merged_sender_is_read(w) {
        w.register("web");
        w.register("q");
        let sent = json!({ "to_project_id": "q", "subject": "an endpoint", "description": "GET /x" });
        let id = text(&w.ok(&ann().project("web"), "handoff_create", sent), "handoff_id");
        w.ok(&ben(), "hd_exec", json!({ "handoff_id": id }));
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "web", "into": "p" }));
        cancel(w, &ann(), &id, &json!({}));
        let heard = notice(w, &ben(), "which you accepted");
        answer(w, &ben(), &heard);
        assert_eq!(answers(w, &ann()).len(), 1, "{heard:#}");
    }

    fn the_answer_to_a_signal_to_a_live_session_reaches_the_sender_where_it_works(w) {
        w.register("q");
        w.start(&ben());
        let state = json!({ "state": { "next_action": { "description": "mine" } }, "task": "release" });
        w.ok(&ben(), "session_checkpoint", state);
        let seed = json!({ "agent_id": "Ben", "task_id": "release" });
        w.ok(&ann(), "handoff_create", json!({ "to_project_id": "q", "subject": "s", "seed_session": seed }));
        let heard = notice(w, &ben(), "waits for this session");
        assert_eq!(heard["from_project_id"], "p", "{heard:#}");
        answer(w, &ben(), &heard);
        assert_eq!(answers(w, &ann()).len(), 1);
        w.ok(&ben(), "mail_ack", json!({ "message_id": heard["message_id"] }));
        w.assert_sound();
    }

    fn the_notice_of_a_project_that_is_kept_apart_names_nobody(w) {
        let id = offered(w);
        w.ok(&ben(), "hd_exec", json!({ "handoff_id": id }));
        let owner = agent("Owner").at("/repos/p", None);
        w.ok(&owner, "project_init", json!({ "id": "p", "isolated": true }));
        cancel(w, &ann(), &id, &json!({}));
        let heard = notice(w, &ben(), "which you accepted");
        assert_eq!((&heard["from"], &heard["from_type"]), (&json!("p"), &json!("project")), "{heard:#}");
        assert!(!heard.to_string().contains("Ann"), "{heard:#}");
    }
}

on_every_backend! {
    fn what_was_refused_is_not_what_a_session_did_last(w) {
        let id = offered(w);
        let taken = w.ok(&ben(), "hd_exec", json!({ "handoff_id": id }));
        cancel(w, &ann(), &id, &json!({}));
        let last = |w: &mut World| {
            let status = w.ok(&ben(), "session_status", json!({}));
            let own = list(&status["sessions"]).into_iter().find(|one| one["session_id"] == taken["session_id"]);
            own.map(|one| (text(&one, "last_verb"), text(&one, "last_heartbeat"))).expect("Ben is at work")
        };
        let before = last(w);
        w.advance(5_000);
        let late = json!({ "id": id, "action": "complete", "result": "half of it" });
        let refusal = w.no(&ben(), "handoff_advance", late, "handoff_state");
        assert!(refusal["kept_delta_id"].is_string(), "{refusal:#}");
        let after = last(w);
        assert_eq!(after.0, before.0, "nothing was completed");
        assert_ne!(after.1, before.1, "the call shows that Ben is at work");
    }

    fn what_was_done_is_what_a_session_did_last(w) {
        let id = offered(w);
        w.ok(&ben(), "hd_exec", json!({ "handoff_id": id }));
        w.ok(&ben(), "handoff_advance", json!({ "id": id, "action": "complete", "result": "all of it" }));
        let status = w.ok(&ben(), "session_status", json!({}));
        assert_eq!(status["sessions"][0]["last_verb"], "handoff_complete", "{status:#}");
    }
}
