//! What both ends of a hand-off, and of a question, find in their lists: who ended it, what came late, what is open still.

use baton_model::access::{Grant, Scope};
use baton_model::issue::TrackerOutcome;
use serde_json::{Value, json};

use crate::saga::{begin, driver, lease, tell};
use crate::world::{Agent, STALE, World, agent, column, list, text};

fn sender() -> Agent {
    agent("Lola")
}

fn receiver() -> Agent {
    agent("Donna").project("q")
}

fn create(w: &mut World) -> String {
    w.register("q");
    let input = json!({ "to_project_id": "q", "subject": "add an endpoint", "description": "GET /x" });
    text(&w.ok(&sender(), "handoff_create", input), "handoff_id")
}

#[track_caller]
fn act(w: &mut World, who: &Agent, id: &str, action: &str) {
    w.ok(who, "handoff_advance", json!({ "id": id, "action": action }));
}

fn close(w: &mut World, who: &Agent, id: &str, more: Value) {
    let shown = w.ok(who, "handoff_show", json!({ "id": id }));
    let mut input = json!({ "id": shown["task"]["id"], "reason": "merged as 12", "result": "pass" });
    input.as_object_mut().expect("fields").extend(more.as_object().cloned().unwrap_or_default());
    w.ok(who, "task_close", input);
    begin(w, id, &driver("d")).expect("carried out");
}

fn sent(w: &mut World) -> Vec<Value> {
    rows(w.ok(&sender(), "session_status", json!({})), "sent")
}

fn questions(w: &mut World, who: &Agent) -> Vec<Value> {
    rows(w.ok(who, "session_status", json!({})), "open_questions")
}

/// A list of the card, which leaves out what is empty.
fn rows(mut card: Value, field: &str) -> Vec<Value> {
    match card[field].take() {
        Value::Null => Vec::new(),
        found => list(&found),
    }
}

on_every_backend! {
    fn who_ended_a_hand_off_by_closing_its_task_is_shown_to_both_ends(w) {
        let id = create(w);
        act(w, &receiver(), &id, "accept");
        close(w, &receiver(), &id, json!({}));
        let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
        assert_eq!((shown["state"].clone(), shown["ended"]["by"].clone()), (json!("completed"), json!("Donna")), "{shown:#}");
        assert_eq!(shown["ended"].get("forced"), None, "the acceptor closed it: {shown:#}");
        assert_eq!((sent(w)[0]["ended_by"].clone(), sent(w)[0]["why"].clone()), (json!("Donna"), json!("merged as 12")));
    }

    fn a_close_by_force_names_who_closed_and_not_who_accepted(w) {
        let id = create(w);
        act(w, &receiver(), &id, "accept");
        let mut hugo = agent("Hugo").project("q");
        hugo.0.grant = Grant { scope: Scope::Operator, projects: None, bearer: None, ..Grant::default() };
        close(w, &hugo, &id, json!({ "force": true }));
        let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
        assert_eq!((shown["accepted_by"].clone(), shown["ended"]["by"].clone()), (json!("Donna"), json!("Hugo")), "{shown:#}");
        assert_eq!(shown["ended"]["forced"], "merged as 12", "in the acceptor's place: {shown:#}");
        assert_eq!(sent(w)[0]["ended_by"], "Hugo");
        let subjects = column(&w.pending(&sender()), "subject");
        assert!(subjects.iter().any(|one| one.contains("was completed by Hugo of q")), "{subjects:?}");
        assert_eq!(w.pending(&receiver()).len(), 1, "its acceptor hears of it once");
    }

    fn a_close_of_a_task_that_nobody_accepted_names_who_closed_it(w) {
        let id = create(w);
        close(w, &receiver(), &id, json!({}));
        let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
        assert_eq!((shown["accepted_by"].clone(), shown["ended"]["by"].clone()), (Value::Null, json!("Donna")), "{shown:#}");
    }

    fn an_answer_after_a_cancel_is_on_the_senders_list(w) {
        let id = create(w);
        act(w, &receiver(), &id, "accept");
        act(w, &sender(), &id, "cancel");
        assert_eq!(sent(w), Vec::<Value>::new(), "its sender took it back, and nothing came since");
        let late = json!({ "id": id, "action": "complete", "result": "it is on main" });
        w.no(&receiver(), "handoff_advance", late, "handoff_state");
        let row = sent(w)[0].clone();
        assert_eq!((row["handoff_id"].clone(), row["state"].clone()), (json!(id), json!("cancelled")));
        assert_eq!(row["late"], json!({ "by": "Donna", "result": "it is on main" }), "{row:#}");
        assert!(text(&row, "help").starts_with("baton handoff show "), "{row:#}");
        w.advance(8 * 86_400_000);
        assert_eq!(sent(w), Vec::<Value>::new(), "for a week");
    }

    fn a_late_answer_hides_no_reason(w) {
        let id = create(w);
        w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "decline", "why": "no time" }));
        let late = json!({ "id": id, "action": "decline", "why": "another reason" });
        w.no(&receiver(), "handoff_advance", late, "handoff_state");
        let row = sent(w)[0].clone();
        assert_eq!((&row["why"], &row["late"]["result"]), (&json!("no time"), &json!("another reason")), "{row:#}");
    }

    fn a_forced_decline_that_comes_late_leaves_its_reason(w) {
        let id = create(w);
        w.ok(&sender(), "handoff_advance", json!({ "id": id, "action": "cancel", "why": "mine" }));
        let late = json!({ "id": id, "action": "decline", "force": true, "why": "wrong repository" });
        let refusal = w.no(&agent("Cy").project("q"), "handoff_advance", late, "handoff_state");
        assert!(text(&refusal, "message").contains("is kept with it as a late reason"), "{refusal:#}");
        assert_eq!(w.ok(&sender(), "handoff_show", json!({ "id": id }))["late_results"][0]["result"], "wrong repository");
        let hint = text(&refusal, "hint");
        assert!(!hint.contains("--replaces"), "one that was taken back is not left anew by its id: {hint}");
    }

    fn what_another_answers_while_the_acceptor_works_is_on_the_senders_list(w) {
        let id = create(w);
        act(w, &receiver(), &id, "accept");
        let late = json!({ "id": id, "action": "complete", "result": "done by me" });
        w.no(&agent("Ben").project("q"), "handoff_advance", late, "handoff_not_yours");
        let row = sent(w)[0].clone();
        assert_eq!((row["state"].clone(), row["late"].clone()), (json!("accepted"), json!({ "kind": "remark", "by": "Ben", "result": "done by me" })));
    }

    fn an_offer_that_is_completed_or_retried_is_answered_with_what_helps(w) {
        let id = create(w);
        let brief = &id[..13];
        let complete = json!({ "id": id, "action": "complete", "result": "done" });
        let refusal = w.no(&receiver(), "handoff_advance", complete, "handoff_state");
        assert!(text(&refusal, "hint").contains(&format!("`baton pickup --handoff {brief}`")), "{refusal:#}");
        let refusal = w.no(&sender(), "handoff_retry", json!({ "id": id }), "handoff_state");
        assert!(text(&refusal, "hint").contains(&format!("`baton handoff cancel {brief}`")), "{refusal:#}");
        act(w, &receiver(), &id, "accept");
        let refusal = w.no(&sender(), "handoff_retry", json!({ "id": id }), "handoff_state");
        assert!(text(&refusal, "hint").contains("its receiver works on it"), "{refusal:#}");
    }

    fn a_failure_that_a_retry_runs_into_again_is_one_signal(w) {
        w.machines.github = true;
        w.register("q");
        let input = json!({ "to_project_id": "q", "subject": "add an endpoint", "issues_github_repo": "o/r" });
        let id = text(&w.ok(&sender(), "handoff_create", input), "handoff_id");
        let fail = |w: &mut World, why: &str| {
            let step = lease(w, &id, &driver("d"));
            tell(w, &step, &TrackerOutcome::Final { why: why.to_owned(), unknown: false }).expect("told");
        };
        fail(w, "GitHub answered 404");
        w.ok(&sender(), "handoff_retry", json!({ "id": id }));
        fail(w, "GitHub answered 404");
        let failed = |w: &mut World| {
            let subjects = column(&w.pending(&sender()), "subject");
            subjects.iter().filter(|one| one.contains("has failed")).count()
        };
        assert_eq!(failed(w), 1);
        w.ok(&sender(), "handoff_retry", json!({ "id": id }));
        fail(w, "GitHub answered 403");
        assert_eq!(failed(w), 1, "the one that was mended is no news any more");
        let waiting = json!(w.pending(&sender())).to_string();
        assert!(waiting.contains("403") && !waiting.contains("404"), "{waiting}");
    }

    fn a_hand_off_that_is_over_advises_no_retry_and_refuses_one(w) {
        w.machines.github = true;
        w.register("q");
        let input = json!({ "to_project_id": "q", "subject": "add an endpoint", "issues_github_repo": "o/r" });
        let id = text(&w.ok(&sender(), "handoff_create", input), "handoff_id");
        let step = lease(w, &id, &driver("d"));
        let why = format!("GitHub answered 404: Not Found; {}", baton_model::issue::advice(404));
        tell(w, &step, &TrackerOutcome::Final { why, unknown: false }).expect("told");
        let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
        assert!(text(&shown, "last_error").contains("handoff retry"), "{shown:#}");
        act(w, &sender(), &id, "cancel");
        for (verb, input) in [("handoff_show", json!({ "id": id })), ("handoff_list", json!({})), ("session_status", json!({}))] {
            let answer = w.ok(&sender(), verb, input);
            assert!(!answer.to_string().contains("handoff retry"), "{verb}: {answer:#}");
        }
        let shown = w.ok(&sender(), "handoff_show", json!({ "id": id }));
        assert!(text(&shown, "last_error").ends_with("GitHub answered 404: Not Found"), "{shown:#}");
        for input in [json!({ "id": id }), json!({ "id": id, "repo": "o/other" })] {
            let refusal = w.no_trace(&sender(), "handoff_retry", input, "handoff_state");
            assert!(!refusal.to_string().contains("handoff retry"), "{refusal:#}");
        }
    }

    fn what_happened_to_a_hand_off_already_is_said_so(w) {
        let id = create(w);
        act(w, &receiver(), &id, "accept");
        w.ok(&receiver(), "handoff_advance", json!({ "id": id, "action": "complete", "result": "done" }));
        let again = json!({ "id": id, "action": "complete", "result": "done otherwise" });
        let refusal = w.no(&receiver(), "handoff_advance", again, "handoff_state");
        assert!(text(&refusal, "message").starts_with("the hand-off is completed already"), "{refusal:#}");
        let refusal = w.no(&sender(), "handoff_retry", json!({ "id": id }), "handoff_state");
        assert_eq!(text(&refusal, "message"), "a hand-off that is completed cannot be retried");
    }

    fn the_reason_of_an_operator_reaches_the_sender(w) {
        let mut cy = agent("Cy").project("q");
        cy.0.grant = Grant { scope: Scope::Operator, projects: None, bearer: None, ..Grant::default() };
        for (more, expected) in [(json!({}), "wrong repo"), (json!({ "result": "not ours" }), "not ours")] {
            let id = create(w);
            act(w, &receiver(), &id, "accept");
            let mut input = json!({ "id": id, "action": "decline", "force": true, "why": "wrong repo" });
            input.as_object_mut().expect("fields").extend(more.as_object().cloned().expect("fields"));
            w.ok(&cy, "handoff_advance", input);
            let card = sent(w);
            let row = card.iter().find(|one| one["handoff_id"] == json!(id)).expect("a row");
            assert_eq!((&row["ended_by"], &row["in_place_of"], &row["why"]), (&json!("Cy"), &json!("Donna"), &json!(expected)), "{row:#}");
            let news = w.pending(&sender()).pop().expect("news");
            assert!(text(&news, "subject").ends_with("was declined by Cy of q in Donna's place"), "{news:#}");
            assert!(text(&news, "body").contains(&format!("reason: {expected}\n")), "{news:#}");
            assert!(text(&news, "body").contains("wrong repo"), "{news:#}");
        }
    }

    fn a_forced_cancel_is_one_in_the_senders_place(w) {
        let id = create(w);
        act(w, &receiver(), &id, "accept");
        let mut cy = agent("Cy");
        cy.0.grant = Grant { scope: Scope::Operator, projects: None, bearer: None, ..Grant::default() };
        w.ok(&cy, "handoff_advance", json!({ "id": id, "action": "cancel", "force": true, "why": "not us" }));
        let news = w.pending(&sender()).pop().expect("news");
        assert!(text(&news, "subject").ends_with("was cancelled by Cy in Lola's place"), "{news:#}");
        assert!(text(&news, "body").contains("reason: not us\n"), "{news:#}");
    }

    fn a_hand_off_is_left_anew_once(w) {
        let id = create(w);
        act(w, &receiver(), &id, "decline");
        let second = text(&w.ok(&sender(), "handoff_create", json!({ "replaces": id, "request_id": "r1" })), "handoff_id");
        let again = w.ok(&sender(), "handoff_create", json!({ "replaces": id, "request_id": "r1" }));
        assert_eq!((again["handoff_id"].clone(), again["replayed"].clone()), (json!(second), json!(true)));
        for dry_run in [true, false] {
            let refusal = w.no_trace(&sender(), "handoff_create", json!({ "replaces": id, "dry_run": dry_run }), "handoff_state");
            assert_eq!(refusal["replaced_by"], second.as_str(), "{refusal:#}");
            assert!(text(&refusal, "message").contains("was left anew already"), "{refusal:#}");
        }
        act(w, &receiver(), &second, "decline");
        let refusal = w.no_trace(&sender(), "handoff_create", json!({ "replaces": id }), "handoff_state");
        assert!(text(&refusal, "hint").contains(&format!("--replaces {}", &second[..13])), "{refusal:#}");
        let third = text(&w.ok(&sender(), "handoff_create", json!({ "replaces": second })), "handoff_id");
        act(w, &sender(), &third, "cancel");
        w.ok(&sender(), "handoff_create", json!({ "replaces": second }));
    }

    fn what_came_back_stands_above_offers_until_its_sender_has_seen_it(w) {
        let (seen, anew) = (create(w), create(w));
        for id in [&seen, &anew] {
            w.advance(1);
            act(w, &receiver(), id, "decline");
        }
        w.advance(1);
        let offered = create(w);
        let order = |w: &mut World| column(&sent(w), "handoff_id");
        assert_eq!(order(w), [anew.clone(), seen.clone(), offered.clone()]);
        w.ok(&sender(), "handoff_seen", json!({ "id": seen }));
        assert_eq!(order(w), [anew.clone(), offered.clone(), seen.clone()]);
        w.advance(1);
        let newest = text(&w.ok(&sender(), "handoff_create", json!({ "replaces": anew })), "handoff_id");
        let now = order(w);
        assert_eq!((&now[0], &now[1]), (&newest, &offered), "{now:?}");
        assert!(now[2..].contains(&seen) && now[2..].contains(&anew), "{now:?}");
    }

    fn what_a_killed_agent_had_asked_goes_to_who_takes_the_work_over(w) {
        w.leave_baton(&agent("Ann"), "half done");
        w.pickup(&agent("Ben"));
        let input = json!({ "to": "Dora", "type": "Question", "subject": "which parser?", "body": "the old one?", "wait": true });
        let question = text(&w.ok(&agent("Ben"), "mail_send", input), "message_id");
        let input = json!({ "to": "Dora", "type": "StatusUpdate", "subject": "fyi", "body": "b", "wait": true });
        w.ok(&agent("Ben"), "mail_send", input);
        w.advance(STALE + 1);
        let picked = w.pickup(&agent("Cy"));
        let open = &picked["recovered"]["questions"];
        assert_eq!((open.as_array().map(Vec::len), &open[0]["message_id"], &open[0]["from"]), (Some(1), &json!(question), &json!("Ben")), "{picked:#}");
        assert_eq!((&open[0]["body"], open[0].get("answers")), (&json!("the old one?"), None), "{picked:#}");
        w.ok(&agent("Dora"), "mail_send", json!({ "reply_to": question, "body": "the new one" }));
        // Who has the work by now reads no mail of another's name.
        let signals = w.pending(&agent("Cy"));
        assert_eq!((text(&signals[0], "subject"), text(&signals[0], "from")), ("to Ben, whose work you have: Re: which parser?".to_owned(), "Dora".to_owned()), "{signals:#?}");
        assert_eq!(signals[0]["body"], "the new one", "{signals:#?}");
        w.advance(STALE + 1);
        let picked = w.pickup(&agent("Eve"));
        let answered = &picked["recovered"]["questions"][0];
        assert_eq!((&answered["answers"][0]["from"], &answered["answers"][0]["body"]), (&json!("Dora"), &json!("the new one")), "{picked:#}");
    }

    fn a_question_that_was_read_and_not_answered_is_open_for_both(w) {
        let (ann, ben) = (agent("Ann"), agent("Ben"));
        w.start(&ann);
        w.start(&ben);
        let input = json!({ "to": "Ben", "type": "Question", "subject": "which parser?", "body": "this one?" });
        let id = text(&w.ok(&ann, "mail_send", input), "message_id");
        let own = questions(w, &ann);
        assert_eq!((own[0]["to"].clone(), own[0]["is_own"].clone(), own[0]["is_read"].clone()), (json!("Ben"), json!(true), json!(false)));
        assert_eq!(questions(w, &ben), Vec::<Value>::new(), "it is among the unread messages");
        w.ok(&ben, "mail_read", json!({ "message_id": id }));
        w.ok(&ben, "signal_delivered", json!({ "message_ids": [id] }));
        let open = questions(w, &ben);
        assert_eq!((open[0]["message_id"].clone(), open[0]["from"].clone()), (json!(id), json!("Ann")), "{open:#?}");
        assert_eq!((open[0]["subject"].clone(), open[0].get("is_own")), (json!("which parser?"), None));
        assert_eq!(questions(w, &ann)[0]["is_read"], true);
        assert_eq!(questions(w, &agent("Tom")), Vec::<Value>::new(), "it is no matter of others");
        w.ok(&ben, "mail_send", json!({ "reply_to": id, "body": "the first" }));
        assert_eq!((questions(w, &ann), questions(w, &ben)), (Vec::new(), Vec::new()), "an answer closes it");
    }

    fn what_was_wrapped_as_done_does_not_wait_as_a_baton(w) {
        let hint = |w: &mut World, who: &Agent| text(&w.no(who, "session_end", json!({}), "session_released"), "hint");
        w.start(&agent("Ann"));
        w.ok(&agent("Ann"), "session_wrap", json!({ "summary": "all of it", "done": true }));
        let words = hint(w, &agent("Ann"));
        assert!(words.contains("nothing is left to do") && !words.contains("pickup"), "{words}");
        w.start(&agent("Ben"));
        w.wrap(&agent("Ben"), "half");
        assert!(hint(w, &agent("Ben")).contains("its work waits as a baton"));
        w.pickup(&agent("Tom"));
        let words = hint(w, &agent("Ben"));
        assert!(words.contains("went on from its baton") && !words.contains("waits"), "{words}");
    }

    fn a_note_of_a_silent_holder_comes_once_with_the_pickup(w) {
        w.leave_baton(&agent("Lola"), "half");
        w.pickup(&agent("Donna"));
        w.ok(&agent("Donna"), "ledger_note", json!({ "text": "ask Tom" }));
        w.advance(STALE + 1);
        let picked = w.pickup(&agent("Rex"));
        let recovered = list(&picked["recovered"]["deltas"]);
        assert!(recovered.iter().any(|one| one["body"]["text"] == "ask Tom"), "{picked:#}");
        assert!(!picked["recent_deltas"].to_string().contains("ask Tom"), "{picked:#}");
    }
}
