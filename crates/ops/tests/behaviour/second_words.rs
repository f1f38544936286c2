//! A second party's act never discards the first one's words: who accepted ends it, the other hears of it, and a result that
//! comes too late is kept.

use std::thread;

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn sender() -> Agent {
    agent("Lola")
}

fn receiver() -> Agent {
    agent("Donna").project("q")
}

fn other() -> Agent {
    agent("Bert").project("q")
}

fn create(w: &mut World) -> String {
    w.register("q");
    let input = json!({ "to_project_id": "q", "subject": "add an endpoint", "description": "GET /x" });
    text(&w.ok(&sender(), "handoff_create", input), "handoff_id")
}

fn end(id: &str, action: &str, result: &str) -> Value {
    json!({ "id": id, "action": action, "result": result })
}

fn accepted(w: &mut World) -> String {
    let id = create(w);
    w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "accept" }));
    id
}

fn show(w: &mut World, id: &str) -> Value {
    w.ok(&receiver(), "handoff_show", json!({ "id": id }))
}

fn task_of(w: &mut World, id: &str) -> Value {
    let shown = show(w, id);
    w.ok(&receiver(), "task_show", json!({ "id": shown["task"]["id"] }))
}

/// The late results of a hand-off, as who said what.
fn late(w: &mut World, id: &str) -> Vec<(String, String)> {
    let shown = show(w, id);
    let Some(results) = shown["late_results"].as_array() else { return Vec::new() };
    results.iter().map(|one| (text(one, "by"), text(one, "result"))).collect()
}

fn comments(w: &mut World, task: &Value) -> Vec<String> {
    column(&list(&w.ok(&receiver(), "task_show", json!({ "id": task["id"] }))["comments"]), "text")
}

/// What the sender was told, oldest first.
fn replies(w: &mut World, sent: &Value) -> Vec<(String, String)> {
    let thread = w.ok(&sender(), "mail_thread", json!({ "message_id": sent["message_id"] }));
    let items = list(&thread["items"]);
    let replies = items.iter().filter(|one| one["type"] == "Acknowledgment");
    replies.map(|one| (text(one, "message_id"), text(one, "body"))).collect()
}

on_every_backend! {
    fn the_result_of_an_agent_whose_session_another_ended_is_kept(w) {
        let id = create(w);
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        let own = w.ok(&receiver(), "session_heartbeat", json!({}));
        let end_it = json!({ "session": own["session_id"], "force": true, "why": "looked dead" });
        w.ok(&other(), "session_end", end_it);
        let refusal = w.no(&receiver(), "handoff_advance", end(&id, "complete", "the result"), "session_released");
        assert!(text(&refusal, "message").contains("late result"), "{refusal:#}");
        assert_eq!(late(w, &id), [("Donna".to_owned(), "the result".to_owned())]);
        let task = task_of(w, &id);
        let close = json!({ "id": task["id"], "reason": "it is in main", "result": "pass" });
        let refusal = w.no(&receiver(), "task_close", close, "session_released");
        assert!(text(&refusal, "message").contains("kept as a comment"), "{refusal:#}");
        assert_eq!(comments(w, &task), ["it is in main\nresult: pass"]);
    }

    fn other_words_of_a_second_acknowledgement_go_to_the_sender_too(w) {
        w.register("q");
        for project in ["p", "q"] {
            let donna = agent("Donna").project(project);
            let mail = json!({ "to": "Donna", "to_project": project, "subject": "s", "body": "b", "ack_required": true, "wait": true });
            let sent = w.ok(&sender(), "mail_send", mail);
            let ack = |body: &str| json!({ "message_id": sent["message_id"], "body": body });
            let first = w.ok(&donna, "mail_ack", ack("on it"));
            let second = w.ok(&donna, "mail_ack", ack("stop, I was wrong"));
            assert_eq!((&second["acked_before"], &second["acked_at"]), (&json!(true), &first["acked_at"]));
            let expected = [
                (text(&first, "ack_message_id"), "on it".to_owned()),
                (text(&second, "ack_message_id"), "stop, I was wrong".to_owned()),
            ];
            assert_eq!(replies(w, &sent), expected, "{project}");
            for (verb, body) in [("mail_ack", "on it"), ("mail_ack", "stop, I was wrong"), ("mail_ack", ""), ("signal_ack", "on it")] {
                let again = w.ok(&donna, verb, ack(body));
                assert_eq!((&again["acked_before"], &again["ack_message_id"]), (&json!(true), &Value::Null), "{body}");
            }
            assert_eq!(replies(w, &sent), expected, "a retry adds nothing");
        }
    }

    fn words_after_an_acknowledgement_without_any_go_to_the_sender_too(w) {
        let sent = w.ok(&sender(), "mail_send", json!({ "to": "Donna", "subject": "s", "ack_required": true, "wait": true }));
        w.ok(&agent("Donna"), "signal_ack", json!({ "message_id": sent["message_id"] }));
        let second = w.ok(&agent("Donna"), "signal_ack", json!({ "message_id": sent["message_id"], "body": "done" }));
        let pending = replies(w, &sent);
        assert_eq!(pending[1], (text(&second, "ack_message_id"), "done".to_owned()));
        assert_eq!(pending.len(), 2);
    }

    fn what_another_accepted_is_not_completed_or_declined(w) {
        let id = accepted(w);
        for action in ["complete", "decline"] {
            w.no_trace(&other(), "handoff_advance", json!({ "id": id, "action": action }), "handoff_not_yours");
            w.no_trace(&sender(), "handoff_advance", json!({ "id": id, "action": action }), "handoff_not_yours");
        }
        let refusal = w.no(&other(), "handoff_advance", end(&id, "complete", "I did it, too"), "handoff_not_yours");
        assert_eq!(refusal["holder"], "Donna");
        assert!(text(&refusal, "message").contains("kept"), "{refusal:#}");
        assert_eq!(late(w, &id), [("Bert".to_owned(), "I did it, too".to_owned())]);
        let done = w.ok(&receiver(), "handoff_advance", end(&id, "complete", "merged as 12"));
        assert_eq!((&done["state"], &done["result"]), (&json!("completed"), &json!("merged as 12")));
        assert_eq!(done["accepted_by"], "Donna");
        assert_eq!(late(w, &id).len(), 1);
    }

    fn what_another_says_of_an_accepted_hand_off_is_a_remark_of_theirs(w) {
        let id = accepted(w);
        let refusal = w.no(&other(), "handoff_advance", end(&id, "decline", "not needed"), "handoff_not_yours");
        assert!(text(&refusal, "message").contains("kept with it as a remark"), "{refusal:#}");
        assert!(text(&refusal, "hint").contains("`baton handoff decline"), "{refusal:#}");
        let shown = show(w, &id);
        let remark = &shown["late_results"][0];
        assert_eq!((&shown["state"], &remark["kind"], &remark["by"]), (&json!("accepted"), &json!("remark"), &json!("Bert")));
        let card = w.ok(&sender(), "session_status", json!({}));
        assert_eq!(card["sent"][0]["late"]["kind"], "remark", "{card:#}");
        // What comes when it is over is a result, or a reason.
        w.ok(&receiver(), "handoff_advance", end(&id, "complete", "merged as 12"));
        w.no(&other(), "handoff_advance", end(&id, "decline", "nor later"), "handoff_state");
        w.no(&other(), "handoff_advance", end(&id, "complete", "me, too"), "handoff_state");
        let shown = show(w, &id);
        let kinds: Vec<Value> = list(&shown["late_results"]).iter().map(|one| one["kind"].clone()).collect();
        assert_eq!(kinds, [json!("remark"), json!("reason"), Value::Null], "{shown:#}");
    }

    fn who_took_it_by_a_pickup_is_its_acceptor(w) {
        let id = create(w);
        w.ok(&receiver(), "hd_exec", json!({ "handoff_id": id }));
        w.no_trace(&other(), "handoff_advance", json!({ "id": id, "action": "complete" }), "handoff_not_yours");
        w.ok(&receiver(), "handoff_advance", end(&id, "complete", "done"));
    }

    fn an_operator_completes_it_with_a_reason_and_the_acceptors_result_is_kept(w) {
        let id = accepted(w);
        let mut forced = end(&id, "complete", "finished by hand");
        forced["force"] = json!(true);
        w.no_trace(&other(), "handoff_advance", forced.clone(), "why_missing");
        forced["why"] = json!("Donna is on holiday");
        let done = w.ok(&other(), "handoff_advance", forced);
        assert_eq!((&done["state"], &done["ended"]["by"]), (&json!("completed"), &json!("Bert")));
        assert_eq!(done["ended"]["forced"], "Donna is on holiday");
        let pending = w.pending(&receiver());
        assert_eq!(pending.len(), 1, "{pending:#?}");
        assert!(text(&pending[0], "body").contains("Donna is on holiday"), "{pending:#?}");
        for _ in 0..2 {
            let refusal = w.no(&receiver(), "handoff_advance", end(&id, "complete", "merged as 12"), "handoff_state");
            assert!(refusal["kept_delta_id"].is_string() && refusal["ended"]["by"] == "Bert", "{refusal:#}");
        }
        assert_eq!(late(w, &id), [("Donna".to_owned(), "merged as 12".to_owned())]);
        assert_eq!(show(w, &id)["result"], "finished by hand");
        // A retry of the one whose result stands adds nothing.
        let again = w.ok(&other(), "handoff_advance", end(&id, "complete", "finished by hand"));
        assert_eq!((&again["was_done"], late(w, &id).len()), (&json!(true), 1), "{again:#}");
        let audit = w.ok(&receiver(), "audit_report", json!({})).to_string();
        assert!(audit.contains("Donna is on holiday"), "{audit}");
    }

    fn a_cancel_after_acceptance_reaches_the_holder_once_and_keeps_its_work(w) {
        let id = accepted(w);
        w.ok(&sender(), "handoff_advance", end(&id, "cancel", "the customer left"));
        let shown = show(w, &id);
        assert_eq!((&shown["state"], &shown["ended"]["by"], &shown["ended"]["why"]),
            (&json!("cancelled"), &json!("Lola"), &json!("the customer left")));
        let pending = w.pending(&receiver());
        assert_eq!(pending.len(), 1, "{pending:#?}");
        assert!(text(&pending[0], "subject").contains("cancelled by Lola"), "{pending:#?}");
        assert!(text(&pending[0], "body").contains("the customer left"), "{pending:#?}");
        let refusal = w.no(&receiver(), "handoff_advance", end(&id, "complete", "half of it is on branch x"), "handoff_state");
        assert!(text(&refusal, "message").contains("kept"), "{refusal:#}");
        assert_eq!(late(w, &id), [("Donna".to_owned(), "half of it is on branch x".to_owned())]);
        let note = w.ledger_of("q").into_iter().find(|d| d["body"]["late_result"].is_string()).expect("a note");
        assert_eq!(note["identity"], "Donna");
        // Its task is closed; what its holder closes it with is kept, too.
        let task = task_of(w, &id);
        let refusal = w.no(&receiver(), "task_close", json!({ "id": task["id"], "result": "pass", "reason": "on branch x" }), "task_closed");
        assert!(refusal["kept_comment_id"].is_string() || refusal["kept_comment_id"].is_number(), "{refusal:#}");
        assert_eq!(comments(w, &task), ["on branch x\nresult: pass"]);
    }

    fn a_close_after_a_cancel_says_that_the_hand_off_is_over_and_keeps_all_that_it_says(w) {
        let id = accepted(w);
        let task = task_of(w, &id);
        w.ok(&sender(), "handoff_advance", end(&id, "cancel", "the customer left"));
        let close = json!({ "id": task["id"], "reason": "on branch x", "context": { "files": ["a.rs"], "notes": "half" } });
        let answer = w.ok(&receiver(), "task_close", close.clone());
        assert_eq!((&answer["was_closed"], &answer["close_reason"]), (&json!(true), &json!("the customer left")), "{answer:#}");
        let over = &answer["ended_handoff"];
        assert_eq!((&over["state"], &over["ended_by"]), (&json!("cancelled"), &json!("Lola")), "{answer:#}");
        let message = text(over, "message");
        assert!(message.contains("was cancelled by Lola (the customer left)") && message.contains("late result"), "{message}");
        let result = &late(w, &id)[0];
        for words in ["on branch x", "a.rs", "half"] {
            assert!(result.1.contains(words) && comments(w, &task)[0].contains(words), "{words}: {result:?}");
        }
        // Once: a retry adds nothing.
        w.ok(&receiver(), "task_close", close);
        assert_eq!((late(w, &id).len(), comments(w, &task).len()), (1, 1));
        // With a result of its own it is refused, and says the same.
        let refusal = w.no(&receiver(), "task_close", json!({ "id": task["id"], "result": "pass" }), "task_closed");
        assert!(text(&refusal, "message").contains("was cancelled by Lola"), "{refusal:#}");
        assert!(text(&refusal, "hint").contains("handoff show"), "{refusal:#}");
        assert_eq!(late(w, &id)[1].1, "result: pass");
        let sent = w.ok(&sender(), "session_status", json!({}))["sent"][0].clone();
        assert_eq!(sent["late"]["by"], "Donna", "{sent:#}");
    }

    fn who_completed_it_by_a_close_is_told_of_no_other_end(w) {
        let id = accepted(w);
        let task = task_of(w, &id);
        let close = |reason: &str| json!({ "id": task["id"], "reason": reason });
        w.ok(&receiver(), "task_close", close("merged as 12"));
        show(w, &id);
        let again = w.ok(&receiver(), "task_close", close("and as 13"));
        assert_eq!((&again["ended_handoff"], late(w, &id).len()), (&Value::Null, 0), "{again:#}");
        assert_eq!(comments(w, &task), ["and as 13"]);
    }

    fn what_comes_late_in_an_isolated_project_stays_there(w) {
        let id = accepted(w);
        let owner = agent("Owner").project("q").at("/repos/q", Some("/repos/q"));
        w.ok(&owner, "project_init", json!({ "id": "q", "isolated": true }));
        w.ok(&sender(), "handoff_advance", end(&id, "cancel", "the customer left"));
        w.no(&receiver(), "handoff_advance", end(&id, "complete", "half of it is on branch x"), "handoff_state");
        let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
        assert!(!shown.to_string().contains("branch x") && !shown.to_string().contains("Donna"), "{shown:#}");
        let sent = w.ok(&sender(), "session_status", json!({}))["sent"].to_string();
        assert!(!sent.contains("branch x") && !sent.contains("Donna"), "{sent}");
        assert_eq!(late(w, &id), [("Donna".to_owned(), "half of it is on branch x".to_owned())], "inside it");
    }

    fn an_accepted_handoff_is_cancelled_by_its_sender_alone(w) {
        let id = accepted(w);
        w.register("r");
        let lola_elsewhere = sender().project("r");
        for who in [receiver(), other(), agent("Bert"), agent("Rex").project("r"), sender().nameless().project("p"), receiver().nameless()] {
            let refusal = w.no_trace(&who, "handoff_advance", end(&id, "cancel", "I say so"), "handoff_not_yours");
            assert!(text(&refusal, "message").contains("sent by Lola of project p"), "{refusal:#}");
        }
        let mut forced = end(&id, "cancel", "duplicate");
        forced["force"] = json!(true);
        w.no_trace(&other(), "handoff_advance", forced, "why_missing");
        w.ok(&lola_elsewhere, "handoff_advance", end(&id, "cancel", "the customer left"));
        let second = accepted_again(w);
        let forced = json!({ "id": second, "action": "cancel", "force": true, "why": "Lola is on holiday" });
        let done = w.ok(&agent("Bert"), "handoff_advance", forced);
        assert_eq!((&done["ended"]["by"], &done["ended"]["forced"]), (&json!("Bert"), &json!("Lola is on holiday")));
    }

    fn an_offered_handoff_is_cancelled_in_the_project_that_sent_it(w) {
        let id = create(w);
        for who in [receiver(), receiver().nameless().project("q")] {
            let refusal = w.no_trace(&who, "handoff_advance", end(&id, "cancel", "no"), "handoff_not_yours");
            assert!(text(&refusal, "hint").contains("handoff decline"), "{refusal:#}");
        }
        w.ok(&agent("Bert"), "handoff_advance", end(&id, "cancel", "sent twice"));
    }

    fn nobody_is_told_of_what_it_did_itself(w) {
        let id = accepted(w);
        w.ok(&receiver(), "handoff_advance", end(&id, "decline", "not ours after all"));
        assert_eq!(w.pending(&receiver()).len(), 0);
        let second = accepted_again(w);
        w.ok(&sender(), "handoff_advance", end(&second, "cancel", "x"));
        let pending = w.pending(&sender());
        assert!(pending.iter().all(|news| !text(news, "subject").contains("cancelled")), "{pending:#?}");
        assert_eq!(pending.len(), 3, "what the receiver did: accepted, declined, accepted: {pending:#?}");
    }

    fn the_task_of_an_accepted_handoff_is_closed_by_its_acceptor(w) {
        let id = accepted(w);
        let task = task_of(w, &id);
        let close = |reason: &str| json!({ "id": task["id"], "reason": reason });
        w.no(&other(), "task_close", close("looks done"), "handoff_not_yours");
        w.no(&other(), "task_update", json!({ "id": task["id"], "status": "closed", "close_reason": "so I say" }), "handoff_not_yours");
        assert_eq!(comments(w, &task), ["looks done", "so I say"]);
        assert_eq!(show(w, &id)["state"], "accepted");
        let mut forced = close("it is in production");
        forced["force"] = json!(true);
        w.ok(&other(), "task_close", forced);
        assert!(text(&w.pending(&receiver())[0], "subject").contains("Bert closed task"));
        w.ok(&receiver(), "task_close", close("merged as 12"));
        assert_eq!(comments(w, &task), ["looks done", "so I say", "merged as 12"]);
    }

    fn a_context_for_closing_that_comes_second_is_kept_with_its_reason(w) {
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t" })), "id");
        w.ok(&agent("Ann"), "task_close", json!({ "id": id, "reason": "r1" }));
        let late = json!({ "id": id, "reason": "r2", "context": { "found": "it" } });
        w.ok(&agent("Bert"), "task_close", late);
        w.ok(&agent("Cleo"), "task_close", json!({ "id": id, "context": { "seen": "twice" } }));
        let other = json!({ "id": id, "result": "fail", "context": { "failed": "here" } });
        w.no(&agent("Dora"), "task_close", other, "task_closed");
        let shown = w.ok(&agent("Ann"), "task_show", json!({ "id": id, "full": true }))["comments"].to_string();
        for words in ["r2", "it", "twice", "here"] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
    }

    fn a_refused_update_names_the_reason_as_all_that_is_kept_of_it(w) {
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t" })), "id");
        w.ok(&agent("Ann"), "task_claim", json!({ "id": id }));
        let late = json!({ "id": id, "status": "closed", "close_reason": "was done", "notes": "n", "agent_context": { "a": 1 } });
        let refusal = w.no(&agent("Ben"), "task_update", late, "task_claimed");
        assert!(text(&refusal, "message").contains("of what you gave, the reason is kept"), "{refusal:#}");
    }

    fn a_reason_for_closing_that_comes_second_is_kept_as_a_comment(w) {
        let made = w.ok(&receiver_here(), "task_create", json!({ "title": "t" }));
        let id = json!(text(&made, "id"));
        w.ok(&agent("Ann"), "task_update", json!({ "id": id, "status": "in_progress", "assignee": "Ann" }));
        w.ok(&agent("Ben"), "task_close", json!({ "id": id, "reason": "no longer wanted" }));
        let pending = w.pending(&agent("Ann"));
        assert_eq!((pending.len(), &pending[0]["body"]), (1, &json!("no longer wanted")));
        for _ in 0..2 {
            let late = w.ok(&agent("Ann"), "task_close", json!({ "id": id, "reason": "done on branch y" }));
            assert_eq!(late["close_reason"], "no longer wanted");
            assert!(!late["kept_comment_id"].is_null(), "{late:#}");
        }
        let shown = w.ok(&agent("Ann"), "task_show", json!({ "id": id }));
        assert_eq!(column(&list(&shown["comments"]), "text"), ["done on branch y"]);
    }

    fn who_lost_the_claim_does_not_lose_what_it_says_at_the_end(w) {
        let made = w.ok(&receiver_here(), "task_create", json!({ "title": "t" }));
        let id = json!(text(&made, "id"));
        w.start(&agent("Ann"));
        let claim = w.ok(&agent("Ann"), "task_claim", json!({ "id": id }));
        let token = claim["token"].clone();
        w.end(&agent("Ann"));
        w.start(&agent("Ben"));
        w.ok(&agent("Ben"), "task_claim", json!({ "id": id }));
        w.no(&agent("Ann"), "task_close", json!({ "id": id, "reason": "was done", "token": token }), "lease_lost");
        w.no(&agent("Ann"), "task_close", json!({ "id": id, "reason": "was done" }), "task_claimed");
        w.no(&agent("Ann"), "task_release", json!({ "id": id, "why": "the tests hang" }), "task_claimed");
        let shown = w.ok(&agent("Ben"), "task_show", json!({ "id": id }));
        assert_eq!(column(&list(&shown["comments"]), "text"), ["was done", "the tests hang"]);
    }

    fn a_session_that_another_reassigns_hears_of_it_and_keeps_its_words(w) {
        let started = w.start(&agent("Ann"));
        w.checkpoint(&agent("Ann"), "half of it");
        let moved = w.ok(&agent("Ben"), "session_reassign", json!({ "session": started["session_id"], "to": "Lola", "wait": true, "why": "urgent" }));
        let shown = w.ok(&agent("Lola"), "handoff_show", json!({ "id": moved["baton_id"] }));
        assert!(shown.to_string().contains("half of it"), "{shown:#}");
        assert_eq!(w.pending(&agent("Ann")).len(), 1);
        let refusal = w.no(&agent("Ann"), "session_wrap", json!({ "summary": "the other half" }), "session_released");
        assert!(refusal["kept_delta_id"].is_string(), "{refusal:#}");
    }
}

on_shared_backends! {
    fn a_pickup_that_races_a_cancel_is_refused_or_its_holder_is_told(w) {
        for round in 0..5u64 {
            w.advance(1_000);
            let id = if round == 0 { create(w) } else { again(w, round) };
            let holder = agent("Donna").project("q").process(&format!("d{round}"));
            let (ground, held) = (&w.ground, holder.clone());
            let (picked, cancelled) = thread::scope(|scope| {
                let pick = scope.spawn({
                    let id = id.clone();
                    move || World::beside(ground, 7_000 + round).call(&held, "handoff_advance", json!({ "id": id, "action": "accept" }))
                });
                let cancel = scope.spawn({
                    let id = id.clone();
                    move || World::beside(ground, 8_000 + round).call(&sender(), "handoff_advance", end(&id, "cancel", "no"))
                });
                (pick.join().expect("a picker"), cancel.join().expect("a sender"))
            });
            assert!(cancelled.is_ok(), "{cancelled:#?}");
            let pending = w.pending(&holder).iter().filter(|m| text(m, "body").contains(&id)).count();
            assert_eq!(pending, usize::from(picked.is_ok()), "{picked:#?}");
        }
    }
}

fn again(w: &mut World, round: u64) -> String {
    let input =
        json!({ "to_project_id": "q", "subject": format!("endpoint {round}"), "description": "GET /x" });
    text(&w.ok(&sender(), "handoff_create", input), "handoff_id")
}

fn accepted_again(w: &mut World) -> String {
    let id = again(w, 9);
    w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "accept" }));
    id
}

fn receiver_here() -> Agent {
    agent("Owner")
}
