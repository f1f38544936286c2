//! Work that was left without a baton is named with a command that brings it, and not where nothing is left.

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

fn reminders(w: &mut World) -> String {
    w.ok(&agent("Reader").process("reader"), "session_status", json!({}))["reminders"].to_string()
}

/// Ann saves something, and her process ends.
fn killed(w: &mut World) -> Value {
    let ann = agent("Ann").process("ann");
    let begun = w.start(&ann);
    w.checkpoint(&ann, "Ann's half");
    w.kill(&ann);
    begun
}

/// A worker saves something, closes its task so, and ends its session.
fn worked(w: &mut World, result: &str) {
    let id = text(&w.ok(&agent("Setup"), "task_create", json!({ "title": "job" })), "id");
    let worker = agent("Fix").process(result);
    w.start(&worker);
    w.ok(&worker, "task_claim", json!({ "id": id }));
    w.checkpoint(&worker, "half of the job");
    w.ok(&worker, "task_close", json!({ "id": id, "result": result, "reason": "so it went" }));
    w.end(&worker);
}

/// A worker saves something and ends its session, or an operator does. Gives the answer.
fn saved_and_ended(w: &mut World, by: Option<&str>) -> Value {
    w.advance(1_000);
    let worker = agent("Worker").process("worker");
    let begun = w.start(&worker);
    w.checkpoint(&worker, "the lexer works");
    w.advance(1_000);
    match by {
        None => w.end(&worker),
        Some(other) => {
            let input = json!({ "session": begun["session_id"], "force": true, "why": "it was killed" });
            w.ok(&agent(other), "session_end", input)
        }
    }
}

fn from_session(answer: &Value) -> String {
    format!(
        "Worker left work without a baton: `baton pickup --from-session {}`",
        &text(answer, "session_id")[..13]
    )
}

on_every_backend! {
    fn what_a_session_saved_before_it_was_ended_is_named_until_it_is_picked_up(w) {
        for by in [None, Some("Ops")] {
            w.leave_baton(&agent("Anna"), "half of it");
            let ended = saved_and_ended(w, by);
            let named = from_session(&ended);
            assert!(ended["reminders"].to_string().contains(&named), "the answer of `end`: {ended:#}");
            assert!(reminders(w).contains(&named), "a baton waits");
            let picked = w.pickup(&agent("Ben"));
            assert!(picked["baton"]["delta_id"].is_string(), "{picked:#}");
            assert!(picked["rules_reminders"].to_string().contains(&named), "beside another baton: {picked:#}");
            w.advance(1_000);
            w.ok(&agent("Ben"), "session_wrap", json!({ "summary": "t", "done": true }));
            assert!(reminders(w).contains(&named), "another agent is done");
            w.leave_baton(&agent("Cid"), "another thing");
            w.ok(&agent("Dan"), "hd_exec", json!({}));
            w.ok(&agent("Dan"), "session_wrap", json!({ "summary": "t", "done": true }));
            let begun = w.start(&agent("Eve").process("eve"));
            assert!(begun["reminders"].to_string().contains(&named), "{begun:#}");
            w.end(&agent("Eve").process("eve"));
            let taken = w.ok(&agent("Ben"), "hd_exec", json!({ "from_session": ended["session_id"] }));
            assert!(taken["recovered"].to_string().contains("the lexer works"), "{taken:#}");
            assert!(!reminders(w).contains("Worker left"), "it was picked up");
            w.ok(&agent("Ben"), "session_wrap", json!({ "summary": "t", "done": true }));
            assert!(!reminders(w).contains("Worker left"), "it was picked up");
        }
    }

    fn what_a_picker_brought_who_left_nothing_is_named_again(w) {
        for by in [None, Some("Ops")] {
            w.leave_baton(&agent("Anna"), "half of it");
            let ended = saved_and_ended(w, by);
            let named = from_session(&ended);
            let from = json!({ "from_session": ended["session_id"] });
            let picker = agent("Pat").process("pat");
            assert!(w.ok(&picker, "hd_exec", from.clone())["recovered"].to_string().contains("the lexer works"));
            assert!(!reminders(w).contains("Worker left"), "Pat is at work on it");
            w.advance(1_000);
            let over = w.end(&picker);
            assert!(over["reminders"].to_string().contains(&named), "Pat is told: {over:#}");
            assert!(reminders(w).contains(&named), "a baton waits: {}", reminders(w));
            w.pickup(&agent("Ben"));
            w.advance(1_000);
            w.ok(&agent("Ben"), "session_wrap", json!({ "summary": "t", "done": true }));
            assert!(reminders(w).contains(&named), "another agent is done");
            let killed = agent("Kim").process(if by.is_some() { "kim-2" } else { "kim-1" });
            w.ok(&killed, "hd_exec", from.clone());
            assert!(!reminders(w).contains("Worker left"), "Kim is at work on it");
            w.kill(&killed);
            assert!(reminders(w).contains("Worker left work"), "Kim is gone: {}", reminders(w));
            w.ok(&agent("Cid"), "hd_exec", from);
            w.advance(1_000);
            w.ok(&agent("Cid"), "session_wrap", json!({ "summary": "t", "done": true }));
            assert!(!reminders(w).contains("Worker left"), "Cid has wrapped: {}", reminders(w));
        }
    }

    fn what_a_picker_brought_is_brought_with_what_it_saved_itself(w) {
        let id = text(&saved_and_ended(w, None), "session_id");
        w.leave_baton(&agent("Anna"), "half of it");
        let picker = agent("Pat").process("pat");
        w.ok(&picker, "hd_exec", json!({ "from_session": id }));
        w.checkpoint(&picker, "the parser works, too");
        let over = w.end(&picker);
        let pats = text(&over, "session_id");
        assert!(reminders(w).contains("Worker left work") && reminders(w).contains("Pat left work"), "{}", reminders(w));
        let taken = w.ok(&agent("Cid"), "hd_exec", json!({ "from_session": pats }));
        let words = taken["recovered"].to_string();
        assert!(words.contains("the lexer works") && words.contains("the parser works, too"), "{taken:#}");
        assert!(!reminders(w).contains("left work"), "Cid has both: {}", reminders(w));
        w.advance(1_000);
        w.ok(&agent("Cid"), "session_wrap", json!({ "summary": "t", "done": true }));
        assert!(!reminders(w).contains("left work"), "{}", reminders(w));
    }

    fn what_a_picker_brought_goes_on_with_the_session_that_came_in_its_place(w) {
        let id = text(&saved_and_ended(w, None), "session_id");
        w.leave_baton(&agent("Anna"), "half of it");
        let first = agent("Pat").process("pat-1");
        w.ok(&first, "hd_exec", json!({ "from_session": id }));
        w.kill(&first);
        w.start(&agent("Pat").process("pat-2"));
        assert!(!reminders(w).contains("Worker left"), "Pat is back: {}", reminders(w));
        w.advance(1_000);
        w.end(&agent("Pat").process("pat-2"));
        assert!(reminders(w).contains("Worker left"), "{}", reminders(w));
    }

    fn a_note_or_a_decision_of_an_ended_session_is_named_like_a_checkpoint(w) {
        for (kind, text_of) in [("note", "the lexer needs a table"), ("decision", "the lexer goes by a table")] {
            w.advance(1_000);
            let worker = agent("Worker").process(kind);
            w.start(&worker);
            w.ok(&worker, "ledger_note", json!({ "kind": kind, "text": text_of }));
            w.advance(1_000);
            let named = from_session(&w.end(&worker));
            w.leave_baton(&agent("Anna"), "another thing");
            assert!(reminders(w).contains(&named), "{kind}: {}", reminders(w));
        }
    }

    fn what_an_ended_session_saved_is_over_once_its_own_agent_has_wrapped(w) {
        w.leave_baton(&agent("Anna"), "half of it");
        let named = from_session(&saved_and_ended(w, None));
        w.advance(1_000);
        let worker = agent("Worker").process("again");
        w.start(&worker);
        assert!(reminders(w).contains(&named), "it has not wrapped yet");
        w.advance(1_000);
        w.ok(&worker, "session_wrap", json!({ "summary": "done", "done": true }));
        assert!(!reminders(w).contains("Worker left"));
    }

    fn a_session_that_saved_nothing_ends_without_a_word(w) {
        w.start(&agent("Worker"));
        assert_eq!(w.end(&agent("Worker")).get("reminders"), None);
        assert!(!reminders(w).contains("left work"));
    }

    fn what_a_killed_session_saved_is_named_with_its_id_where_another_holds_the_baton(w) {
        w.leave_baton(&agent("Dan"), "the cart");
        w.pickup(&agent("Max"));
        let id = text(&killed(w), "session_id");
        let words = reminders(w);
        assert!(words.contains(&format!("Ann left work without a baton: `baton pickup --from-session {}`", &id[..13])), "{words}");
        assert!(!words.contains("`baton pickup` (over"), "it is refused: {words}");
        let begun = w.start(&agent("Bo").process("bo"));
        assert!(begun["reminders"].to_string().contains("--from-session"), "{begun:#}");
        w.no_trace(&agent("Ben"), "hd_exec", json!({}), "baton_claimed");
        let taken = w.ok(&agent("Ben"), "hd_exec", json!({ "from_session": id }));
        assert!(taken["recovered"].to_string().contains("Ann's half"), "{taken:#}");
    }

    fn a_pickup_from_a_session_says_of_that_that_it_left_no_baton(w) {
        let id = text(&killed(w), "session_id");
        w.leave_baton(&agent("Cid"), "for Ben");
        let taken = w.ok(&agent("Ben"), "hd_exec", json!({ "from_session": id }));
        let words = text(&taken["warnings"][0], "message");
        assert!(words.contains("left no baton") && !words.contains("no baton waits"), "{words}");
    }

    fn what_a_worker_saved_on_the_way_to_a_pass_is_not_left(w) {
        worked(w, "pass");
        let words = reminders(w);
        assert!(!words.contains("left work"), "{words}");
        assert_eq!(w.pickup(&agent("Ben"))["recovered"], Value::Null);
        worked(w, "fail");
        let words = reminders(w);
        assert!(words.contains("Fix left work without a baton"), "{words}");
    }

    fn a_session_whose_process_was_killed_is_silent_in_every_list(w) {
        let id = text(&killed(w), "session_id");
        let reader = agent("Reader").process("reader");
        let listed = w.ok(&reader, "session_history", json!({}));
        assert_eq!((&listed["items"][0]["live"], &listed["items"][0]["fresh"]), (&json!(false), &json!(false)), "{listed:#}");
        let shown = w.ok(&reader, "session_show", json!({ "session": id }));
        assert_eq!((&shown["live"], &shown["fresh"]), (&json!(false), &json!(false)), "{shown:#}");
    }

    fn the_document_of_an_agent_that_ended_says_that_it_did_not_wrap(w) {
        let ann = agent("Ann").process("ann");
        let begun = w.start(&ann);
        w.checkpoint(&ann, "half of the parser");
        let input = json!({ "session": begun["session_id"] });
        let at_work = w.ok(&ann, "session_handoff", input.clone());
        assert!(text(&at_work["packet"], "summary").contains("is at work"), "{at_work:#}");
        let ended = w.ok(&ann, "session_handoff", json!({ "session": input["session"], "ended": true }));
        assert_eq!(text(&ended["packet"], "summary"), "Ann did not wrap. Saved last: half of the parser");
    }

    fn a_caller_whose_process_has_a_session_sees_what_is_for_it(w) {
        w.start(&agent("Ben").process("ben"));
        w.ok(&agent("Ann"), "signal_send", json!({ "to": "Ben", "type": "Question", "subject": "tabs?" }));
        let caller = |process: &str| agent("x").process(process).nameless();
        let shown = w.ok(&caller("ben"), "attention_list", json!({}));
        assert_eq!(column(&list(&shown["mine"]), "subject"), ["Question: tabs?"], "{shown:#}");
        let shown = w.ok(&caller("another"), "attention_list", json!({}));
        assert_eq!(shown["mine"], json!([]));
    }
}
