//! What a session accepted from another project goes with its baton; what waits is named to whoever would find nothing.

use serde_json::{Value, json};

use crate::world::{Agent, STALE, World, agent, list, text};

fn at_q(name: &str) -> Agent {
    agent(name).project("q")
}

fn offer(w: &mut World, subject: &str) -> String {
    let sent = json!({ "to_project_id": "q", "subject": subject, "description": "GET /x" });
    text(&w.ok(&agent("Lola"), "handoff_create", sent), "handoff_id")
}

#[track_caller]
fn complete(w: &mut World, who: &Agent, id: &str) -> Value {
    w.ok(who, "handoff_advance", json!({ "id": id, "action": "complete", "result": "both halves" }))
}

#[track_caller]
fn not_complete(w: &mut World, who: &Agent, id: &str) -> Value {
    w.no(
        who,
        "handoff_advance",
        json!({ "id": id, "action": "complete", "result": "x" }),
        "handoff_not_yours",
    )
}

fn says(value: &Value, words: &str) -> bool {
    value.to_string().contains(words)
}

on_every_backend! {
    fn a_silent_agent_is_named_with_the_hand_off_that_it_accepted_by_its_name_alone(w) {
        w.register("q");
        let id = offer(w, "an endpoint");
        let (zed, ben) = (at_q("Zed"), at_q("Ben"));
        w.start(&zed);
        w.ok(&zed, "handoff_advance", json!({ "id": id, "action": "accept" }));
        w.checkpoint(&zed, "api half");
        w.no(&ben, "hd_exec", json!({ "handoff_id": id }), "handoff_claimed");
        w.advance(STALE + 1);
        let silent = w.ok(&ben, "attention_list", json!({ "project": "q", "reason": "session_silent" }));
        let item = &silent["items"][0];
        assert!(text(item, "help").starts_with(&format!("baton pickup --handoff {}", &id[..13])), "{silent:#}");
        assert!(text(item, "detail").contains("had accepted"), "{silent:#}");
        let status = w.ok(&ben, "session_status", json!({}));
        assert!(says(&status["reminders"], "which Zed accepted, has nobody at work on it"), "{status:#}");
        let taken = w.ok(&ben, "hd_exec", json!({ "handoff_id": id }));
        assert!(says(&taken["recovered"], "api half"), "what is named helps: {taken:#}");
        assert_eq!(complete(w, &ben, &id)["state"], "completed");
    }

    fn a_hand_off_that_a_name_accepted_after_its_last_session_is_left_to_it(w) {
        w.register("q");
        let id = offer(w, "an endpoint");
        let zed = at_q("Zed");
        w.start(&zed);
        w.end(&zed);
        w.advance(1_000);
        w.ok(&zed.process("shell"), "handoff_advance", json!({ "id": id, "action": "accept" }));
        w.advance(STALE + 1);
        w.no(&at_q("Ben"), "hd_exec", json!({ "handoff_id": id }), "handoff_claimed");
        let status = w.ok(&at_q("Ben"), "session_status", json!({}));
        assert!(!says(&status["reminders"], "has nobody at work on it"), "{status:#}");
    }

    fn an_accepted_hand_off_goes_with_the_baton_through_several_hands(w) {
        w.register("q");
        let id = offer(w, "an endpoint");
        w.ok(&at_q("Dora"), "hd_exec", json!({ "handoff_id": id }));
        let wrapped = w.ok(&at_q("Dora"), "session_wrap", json!({ "summary": "half of it", "next": ["the rest"] }));
        assert!(says(&wrapped["warnings"], "goes with this baton"), "{wrapped:#}");
        let baton = text(&wrapped, "baton_id");
        // While the baton waits, both ways lead to it.
        for refused in [
            not_complete(w, &at_q("Emil"), &id),
            w.no(&at_q("Fritz"), "hd_exec", json!({ "handoff_id": id }), "handoff_claimed"),
        ] {
            assert!(text(&refused, "hint").contains(&format!("baton pickup --handoff {}", &baton[..13])), "{refused:#}");
        }
        let picked = w.ok(&at_q("Emil"), "hd_exec", json!({}));
        assert!(says(&picked["rules_reminders"], "you answer for hand-off"), "{picked:#}");
        w.no(&at_q("Fritz"), "hd_exec", json!({ "handoff_id": id }), "handoff_claimed");
        not_complete(w, &at_q("Dora"), &id);
        let shown = w.ok(&at_q("Emil"), "handoff_show", json!({ "id": id }));
        assert_eq!(shown["accepted_by"], "Emil");
        let task = w.ok(&at_q("Emil"), "task_show", json!({ "id": shown["task"]["id"] }));
        assert_ne!(task["assignee"], "Dora", "{task:#}");
        w.ok(&at_q("Emil"), "session_wrap", json!({ "summary": "nearly all" }));
        w.ok(&at_q("Gus"), "hd_exec", json!({}));
        assert_eq!(complete(w, &at_q("Gus"), &id)["state"], "completed");
    }

    fn who_is_done_is_told_of_the_hand_off_that_waits_for_its_result(w) {
        w.register("q");
        let id = offer(w, "an endpoint");
        let taken = w.ok(&at_q("Dora"), "hd_exec", json!({ "handoff_id": id }));
        assert!(says(&taken["rules_reminders"], &format!("baton handoff complete {}", &id[..13])), "{taken:#}");
        let wrapped = w.ok(&at_q("Dora"), "session_wrap", json!({ "summary": "all of it", "done": true }));
        assert!(says(&wrapped["warnings"], "waits for its result"), "{wrapped:#}");
        // No baton waits of it, so another one may take it over.
        w.ok(&at_q("Fritz"), "hd_exec", json!({ "handoff_id": id }));
        assert_eq!(complete(w, &at_q("Fritz"), &id)["state"], "completed");
    }

    fn a_hand_off_whose_acceptor_ended_its_session_is_named_and_taken_over(w) {
        w.register("q");
        let id = offer(w, "an endpoint");
        w.ok(&at_q("Dora"), "hd_exec", json!({ "handoff_id": id }));
        let ended = w.ok(&at_q("Dora"), "session_end", json!({}));
        let command = format!("`baton pickup --handoff {}`", &id[..13]);
        assert!(says(&ended["reminders"], &command), "{ended:#}");
        // Dora is at work again, on something else.
        let started = w.ok(&at_q("Dora"), "session_start", json!({}));
        assert!(says(&started, "which you accepted, has nobody at work on it"), "{started:#}");
        let picked = w.ok(&at_q("Emil"), "hd_exec", json!({}));
        assert!(says(&picked["rules_reminders"], &command), "{picked:#}");
        let taken = w.ok(&at_q("Fritz"), "hd_exec", json!({ "handoff_id": id }));
        assert!(!says(&taken, "nobody at work"), "{taken:#}");
        let refused = w.no(&at_q("Gus"), "hd_exec", json!({ "handoff_id": id }), "handoff_claimed");
        assert!(text(&refused, "message").contains("Fritz"), "{refused:#}");
        assert_eq!(complete(w, &at_q("Fritz"), &id)["state"], "completed");
    }

    fn who_accepted_in_a_session_that_was_killed_is_told_so_in_the_next_one(w) {
        w.register("q");
        let id = offer(w, "an endpoint");
        let (killed, zed) = (at_q("Zed"), at_q("Zed").process("Zed 2"));
        w.ok(&killed, "hd_exec", json!({ "handoff_id": id }));
        w.checkpoint(&killed, "api half");
        w.kill(&killed);
        w.advance(1_000);
        let row = |w: &mut World, who: &Agent| list(&w.ok(who, "session_status", json!({}))["handoffs"])[0].clone();
        assert_eq!(row(w, &zed)["nobody_at_work"], true, "the announcement names it");
        let picked = w.ok(&zed, "hd_exec", json!({}));
        assert!(says(&picked["recovered"], "api half"), "{picked:#}");
        let command = format!("`baton pickup --handoff {}`", &id[..13]);
        assert!(says(&picked["rules_reminders"], &command), "{picked:#}");
        // It stays Zed's to go on with, and no other one is offered it.
        let status = w.ok(&zed, "session_status", json!({}));
        assert!(says(&status["reminders"], &command), "{status:#}");
        assert_eq!(row(w, &zed)["nobody_at_work"], true);
        let others = w.ok(&at_q("Ben"), "session_status", json!({}));
        assert!(!says(&others["reminders"], &command), "{others:#}");
        assert_eq!(row(w, &at_q("Ben"))["nobody_at_work"], Value::Null);
        w.no(&at_q("Ben"), "hd_exec", json!({ "handoff_id": id }), "handoff_claimed");
        let taken = w.ok(&zed, "hd_exec", json!({ "handoff_id": id }));
        assert!(!says(&taken["rules_reminders"], &command) && says(&taken["rules_reminders"], "you answer for"), "{taken:#}");
        assert!(!says(&w.ok(&zed, "session_status", json!({}))["reminders"], &command));
        assert_eq!(row(w, &zed)["nobody_at_work"], Value::Null);
    }

    fn who_is_done_is_told_of_the_hand_off_of_its_killed_session(w) {
        w.register("q");
        let id = offer(w, "an endpoint");
        let (killed, zed) = (at_q("Zed"), at_q("Zed").process("Zed 2"));
        w.ok(&killed, "hd_exec", json!({ "handoff_id": id }));
        w.checkpoint(&killed, "api half");
        w.kill(&killed);
        w.ok(&zed, "hd_exec", json!({}));
        let wrapped = w.ok(&zed, "session_wrap", json!({ "summary": "the rest", "done": true }));
        assert!(says(&wrapped["warnings"], &format!("baton handoff complete {}", &id[..13])), "{wrapped:#}");
        assert_eq!(complete(w, &zed, &id)["state"], "completed");
    }

    fn a_forced_end_names_the_acceptor_of_what_it_leaves(w) {
        w.register("q");
        let id = offer(w, "an endpoint");
        let taken = w.ok(&at_q("Otto"), "hd_exec", json!({ "handoff_id": id }));
        let forced = json!({ "session": taken["session_id"], "force": true, "why": "gone home" });
        let ended = w.ok(&at_q("Owner"), "session_end", forced);
        let reminders = ended["reminders"].to_string();
        assert!(reminders.contains("which Otto accepted") && !reminders.contains("you accepted"), "{ended:#}");
    }

    fn a_hand_off_past_its_deadline_is_shown_as_expired_at_once(w) {
        w.register("q");
        let sent = json!({ "to_project_id": "q", "subject": "s", "expires_in": "30m" });
        let id = text(&w.ok(&agent("Lola"), "handoff_create", sent), "handoff_id");
        w.advance(30 * 60_000);
        for who in [agent("Lola"), at_q("Dora")] {
            let listed = w.ok(&who, "handoff_list", json!({}));
            assert_eq!((&listed["items"][0]["state"], &listed["items"][0]["result"]), (&json!("expired"), &json!("nobody took it in time")));
            assert!(list(&w.ok(&who, "handoff_list", json!({ "state": "offered" }))["items"]).is_empty());
            assert_eq!(w.ok(&who, "handoff_show", json!({ "id": id }))["state"], "expired");
            assert!(!says(&w.ok(&who, "session_status", json!({})), "offered"));
        }
        // Nothing waits that could be picked up.
        w.ok(&at_q("Dora"), "hd_exec", json!({}));
    }

    fn a_pickup_that_finds_no_baton_names_the_hand_offs_that_wait(w) {
        w.register("q");
        let (one, two) = (offer(w, "one"), offer(w, "two"));
        w.ok(&at_q("Otto"), "hd_exec", json!({ "handoff_id": one }));
        // Otto is at work, which is no reason to say nothing of the other one.
        let refused = w.no_trace(&at_q("Quin"), "hd_exec", json!({}), "handoff_unnamed");
        assert_eq!(refused["handoff_id"], json!(two));
        w.ok(&at_q("Otto"), "handoff_advance", json!({ "id": one, "action": "decline", "result": "not ours" }));
        w.no_trace(&at_q("Otto"), "hd_exec", json!({}), "handoff_unnamed");
        w.end(&at_q("Otto"));
        w.no_trace(&at_q("Quin"), "hd_exec", json!({}), "handoff_unnamed");
        // One that is for somebody else is no reason to refuse.
        w.ok(&agent("Lola"), "handoff_advance", json!({ "id": two, "action": "cancel" }));
        w.ok(&agent("Lola"), "handoff_create", json!({ "to_project_id": "q", "to_identity": "Dora", "subject": "hers" }));
        w.no_trace(&at_q("Dora"), "hd_exec", json!({}), "handoff_unnamed");
        w.ok(&at_q("Quin"), "hd_exec", json!({}));
        w.end(&at_q("Quin"));
        // What a killed agent saved is brought all the same.
        w.start(&at_q("Kim"));
        w.checkpoint(&at_q("Kim"), "the lexer works");
        w.advance(STALE + 1);
        let picked = w.ok(&at_q("Quin"), "hd_exec", json!({}));
        assert!(says(&picked["recovered"], "the lexer works"), "{picked:#}");
    }

    fn work_that_somebody_recovered_is_not_offered_to_others_meanwhile(w) {
        w.start(&agent("Kim"));
        w.checkpoint(&agent("Kim"), "the lexer works");
        w.advance(STALE + 1);
        let offered = |w: &mut World| says(&w.ok(&agent("Reader"), "session_status", json!({}))["reminders"], "left work without a baton");
        assert!(offered(w));
        let picked = w.ok(&agent("Nia"), "hd_exec", json!({}));
        assert!(says(&picked["recovered"], "the lexer works"), "{picked:#}");
        assert!(!offered(w), "Nia has it");
        assert!(!says(&w.ok(&agent("Reader"), "session_status", json!({})), "went silent"), "Kim's session is over");
        let again = w.ok(&agent("Nia"), "hd_exec", json!({}));
        assert!(says(&again["recovered"], "the lexer works"), "who has it gets it again: {again:#}");
        // It is offered again when Nia falls silent, too.
        w.advance(STALE + 1);
        assert!(offered(w));
    }

    fn who_starts_under_a_name_hears_what_waits_for_it(w) {
        w.start(&agent("Donna"));
        w.end(&agent("Donna"));
        w.start(&agent("Lola"));
        w.ok(&agent("Lola"), "mail_send", json!({ "to": "Donna", "subject": "cart", "body": "does it add up?" }));
        let started = w.ok(&agent("Somebody").nameless(), "session_start", json!({ "project": "p", "identity": "Donna" }));
        assert_eq!((started["unread"]["identity"].clone(), started["unread"]["total"].clone()), (json!("Donna"), json!(1)), "{started:#}");
    }

    fn a_wrap_for_a_name_that_nobody_has_says_so(w) {
        w.start(&agent("Lola"));
        w.end(&agent("Lola"));
        w.start(&agent("Ann"));
        let wrapped = w.ok(&agent("Ann"), "session_wrap", json!({ "summary": "x", "to": "Lolla" }));
        let warned = list(&wrapped["warnings"]);
        assert_eq!(warned[0]["kind"], "addressee_unknown", "{wrapped:#}");
        let message = text(&warned[0], "message");
        assert!(message.contains("did you mean Lola?"), "{wrapped:#}");
        let baton = text(&wrapped, "baton_id");
        assert!(message.contains(&format!("`baton pickup {}`", &baton[..13])), "{wrapped:#}");
        let ann = agent("Ann");
        w.ok(&ann, "hd_exec", json!({ "handoff_id": &baton[..13] }));
        w.ok(&ann, "session_wrap", json!({ "summary": "x", "to": "Lola" }));
        assert_eq!(w.pickup(&agent("Lola"))["baton"]["summary"], "x");
        // Whatever the name is, it is told as it was given.
        w.start(&agent("Mia"));
        let wrapped = w.ok(&agent("Mia"), "session_wrap", json!({ "summary": "y", "to": "BATON" }));
        assert!(says(&wrapped["warnings"], "nobody called BATON has worked"), "{wrapped:#}");
        for known in ["lola", "codex"] {
            w.start(&agent("Ann"));
            let wrapped = w.ok(&agent("Ann"), "session_wrap", json!({ "summary": "x", "to": known }));
            assert!(!says(&wrapped["warnings"], "addressee_unknown"), "{wrapped:#}");
        }
    }

    fn a_field_of_a_packet_that_is_nearly_one_is_named(w) {
        w.start(&agent("Ann"));
        let packet = json!({ "summary": "x", "next_step": ["ship"], "mood": "good" });
        let wrapped = w.ok(&agent("Ann"), "session_wrap", json!({ "packet": packet }));
        let warned = list(&wrapped["warnings"]);
        let named: Vec<_> = warned.iter().filter(|warning| warning["kind"] == "field_unknown").collect();
        assert_eq!(named.len(), 1, "{wrapped:#}");
        assert!(text(named[0], "message").contains("did you mean `next_steps`?"), "{wrapped:#}");
    }
}
