//! What is made of a transcript while somebody is at work on what its session had in hand: whose work it is does not change, and who it
//! is is said.

use serde_json::{Value, json};

use crate::conversations::{Talk, donna, import, offered, person};
use crate::world::{Agent, World, agent, list, text};

fn ben() -> Agent {
    agent("Ben").process("ben")
}

/// Donna has picked up Zed's baton in this conversation; her process has ended, and Ben went on.
fn taken_over(w: &mut World) -> (Talk, Value, Value) {
    let left = w.leave_baton(&agent("Zed"), "half of it");
    let mut talk = Talk::new();
    let picked = w.ok(&donna(), "hd_exec", json!({ "handoff_id": left["baton_id"] }));
    talk.called("hd_exec", &picked);
    w.kill(&donna());
    w.ok(&ben(), "hd_exec", json!({ "handoff_id": left["baton_id"] }));
    (talk, left, picked)
}

on_every_backend! {
    fn an_import_offers_no_work_that_another_has_taken_over_and_names_who_holds_it(w) {
        let (talk, left, picked) = taken_over(w);
        for _ in 0..2 {
            let imported = import(w, &talk);
            assert_eq!((&imported["baton_id"], &imported["imported_before"]), (&left["baton_id"], &json!(false)));
            assert_eq!((&imported["holder"]["identity"], &imported["existing_baton"]["state"]), (&json!("Ben"), &json!("held")));
            assert_eq!(imported["existing_baton"]["holder"], "Ben");
            assert!(imported["existing_baton"]["kept_delta_id"].is_string(), "{imported:#}");
        }
        assert_eq!(offered(w), [""; 0], "nobody else is offered it");
        assert_eq!(w.baton_state(&text(&left, "baton_id")).as_deref(), Some("held"));
        let notes = w.deltas("note");
        assert_eq!(notes.len(), 1, "once: {notes:#?}");
        assert_eq!(notes[0]["session_id"], picked["session_id"], "of her own session: {notes:#?}");
        let signals = w.pending(&ben());
        assert!(signals.len() == 1 && signals[0].to_string().contains(&text(&notes[0], "delta_id")), "{signals:#?}");
        let mut again = talk.input();
        again["again"] = json!(true);
        w.ok(&person(), "transcript_import", again);
        assert_eq!(offered(w).len(), 1, "who insists makes another");
    }

    fn an_import_is_refused_where_another_went_on_without_a_baton(w) {
        let mut talk = Talk::new();
        let begun = w.start(&donna());
        talk.called("session_start", &begun);
        w.checkpoint(&donna(), "so far");
        w.kill(&donna());
        w.ok(&ben(), "hd_exec", json!({ "from_session": begun["session_id"] }));
        let refusal = w.no_trace(&person(), "transcript_import", talk.input(), "work_taken_over");
        assert_eq!(refusal["holder"], "Ben");
        w.end(&ben());
        import(w, &talk);
        assert_eq!(offered(w).len(), 1, "once nobody is at work on it");
    }

    fn an_agent_that_came_back_in_another_process_is_nobody_else(w) {
        let mut talk = Talk::new();
        let begun = w.start(&donna());
        talk.called("session_start", &begun);
        w.kill(&donna());
        w.start(&agent("Donna").process("later"));
        import(w, &talk);
        assert_eq!(offered(w).len(), 1);
    }

    fn an_import_names_the_agent_that_may_still_be_at_work(w) {
        let mut talk = Talk::new();
        let begun = w.start(&donna());
        talk.called("session_start", &begun);
        let imported = import(w, &talk);
        assert_eq!(imported["holder"], json!({ "identity": "Donna", "session_id": begun["session_id"] }));
        let roster = w.roster();
        assert!(roster.iter().any(|row| row["session_id"] == begun["session_id"]), "it stays hers: {roster:#?}");
    }

    fn what_goes_on_in_another_tool_is_refused_where_another_holds_its_work(w) {
        let (talk, _, _) = taken_over(w);
        for hold in [false, true] {
            let input = json!({ "id": talk.input()["id"], "to": "codex", "hold": hold });
            let refusal = w.no_trace(&agent("Gil").process("g"), "transcript_continue", input, "baton_claimed");
            assert!(text(&refusal, "message").contains("Ben"), "{refusal:#}");
        }
    }

    fn who_goes_on_hears_whose_baton_it_is(w) {
        let talk = Talk::new();
        let (mal, gil) = (agent("Mal").process("mal"), agent("Gil").process("g"));
        let mut input = talk.input();
        input["identity"] = json!("Mal");
        let left = w.ok(&mal, "transcript_import", input);
        let going = |hold: bool| json!({ "id": talk.input()["id"], "to": "codex", "hold": hold });
        let shown = w.ok(&gil, "transcript_continue", going(false));
        assert_eq!((&shown["handoff_id"], &shown["left_by"]), (&left["baton_id"], &json!("Mal")));
        w.ok(&mal, "hd_exec", json!({ "handoff_id": left["baton_id"] }));
        w.no_trace(&gil, "transcript_continue", going(false), "baton_claimed");
        w.kill(&mal);
        let taken = w.ok(&gil, "transcript_continue", going(true));
        assert_eq!((&taken["left_by"], &taken["taken_from"]), (&json!("Mal"), &json!("Mal")), "{taken:#}");
        w.ok(&gil, "session_wrap", json!({ "summary": "done" }));
        w.no_trace(&agent("Ida").process("i"), "transcript_continue", going(false), "baton_spent");
        assert!(list(&w.ok(&person(), "session_status", json!({}))["handoffs"]).len() <= 1);
    }
}
