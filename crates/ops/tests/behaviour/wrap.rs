//! Ending a session with a baton: the packet, what it makes, what it moves.

use serde_json::{Value, json};

use crate::world::{World, agent, list, text};

/// What a picker gets of a packet.
#[track_caller]
fn there_and_back(w: &mut World, packet: &str) -> String {
    w.start(&agent("Lola"));
    let wrap = w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet }));
    let picked = w.ok(&agent("Bot"), "hd_exec", json!({ "handoff_id": wrap["baton_id"] }));
    assert_eq!(w.newest("wrap")["body"], packet, "the ledger keeps the same bytes");
    text(&picked["baton"], "body")
}

const MAX: usize = 256 * 1024;

fn packet_of(bytes: usize) -> String {
    let frame = r#"{"summary":""}"#.len();
    format!(r#"{{"summary":"{}"}}"#, "x".repeat(bytes - frame))
}

on_every_backend! {
    fn a_packet_comes_back_byte_for_byte(w) {
        for packet in [
            "{\"summary\":\"s\"}",
            " \t\r\n{ \"b\" :1 ,\n\n \"summary\":\"s\" , \"a\": [ ] } \n",
            "{\"z\":1,\"a\":2,\"summary\":\"s\",\"m\":{\"y\":0,\"b\":0}}",
            "{\"summary\":\"naïve — 日本語 🏃‍♀️ \\u00e9 \\ud83c\\udfc3 \u{2028}\"}",
            "{\"summary\":\"s\",\"escaped\":\"\\/ \\b \\f \\n \\r \\t \\\" \\\\\"}",
            "{\"summary\":\"s\",\"n\":[1.0,1.50,-0,-0.0,1e2,1E+2,0.1e-7,100000000000000000000]}",
            "{\"summary\":\"s\",\"unknown\":{\"deep\":[{\"er\":null}]}}",
        ] {
            assert_eq!(there_and_back(w, packet), packet);
        }
    }

    fn a_packet_keeps_numbers_that_no_machine_type_holds(w) {
        for packet in [
            r#"{"summary":"s","n":12345678901234567890.1234}"#,
            r#"{"summary":"s","n":123456789012345678901234567890123456789}"#,
            r#"{"summary":"s","n":1e400}"#,
            r#"{"summary":"s","metadata":{"n":-1E+999}}"#,
        ] {
            assert_eq!(there_and_back(w, packet), packet);
        }
    }

    fn a_packet_given_as_an_object_keeps_its_fields_in_order(w) {
        w.start(&agent("Lola"));
        let packet: Value = serde_json::from_str(r#"{"z":1,"summary":"s","a":{"c":1,"b":2}}"#).expect("json");
        w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet }));
        assert_eq!(w.newest("wrap")["body"], r#"{"z":1,"summary":"s","a":{"c":1,"b":2}}"#);
    }

    fn a_packet_at_the_limit_is_taken_and_one_byte_more_is_refused(w) {
        let packet = packet_of(MAX);
        assert_eq!(packet.len(), MAX);
        assert_eq!(there_and_back(w, &packet), packet);
        w.start(&agent("Lola"));
        let larger = json!({ "packet": packet_of(MAX + 1) });
        let refusal = w.no_trace(&agent("Lola"), "session_wrap", larger, "packet_too_large");
        assert_eq!((refusal["bytes"].clone(), refusal["limit"].clone()), (json!(MAX + 1), json!(MAX)));
    }

    fn a_packet_that_is_refused_writes_nothing_and_ends_nothing(w) {
        w.start(&agent("Lola"));
        for packet in [
            json!("not json"), json!("[1]"), json!("{}"), json!("{\"summary\":\"\"}"), json!("{\"summary\":\" \\n\"}"),
            json!({ "summary": 7 }), json!({}), json!("{\"summary\":\"s\"} x"), json!(7), json!([]),
            json!({ "summary": "a\u{0}b" }), json!({ "summary": "s", "decisions": [{ "what": 3 }] }),
        ] {
            let refusal = w.no_trace(&agent("Lola"), "session_wrap", json!({ "packet": packet }), "packet_invalid");
            assert!(!text(&refusal, "hint").is_empty());
        }
        w.no_trace(&agent("Lola"), "session_wrap", json!({}), "packet_invalid");
        let both = json!({ "packet": "{\"summary\":\"s\"}", "summary": "t" });
        w.no_trace(&agent("Lola"), "session_wrap", both, "packet_invalid");
        assert_eq!(w.roster().len(), 1);
    }

    fn a_wrap_makes_one_delta_and_one_baton_of_the_same_id(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        assert_eq!(wrap["baton_id"], wrap["delta_id"]);
        assert_eq!(w.deltas("wrap").len(), 1);
        assert_eq!(w.newest("wrap")["delta_id"], wrap["delta_id"]);
        assert_eq!(w.baton_state(&text(&wrap, "baton_id")).as_deref(), Some("open"));
    }

    fn a_wrap_releases_its_session(w) {
        w.leave_baton(&agent("Lola"), "done");
        assert_eq!(w.roster().len(), 0);
        assert_eq!(w.deltas("release").len(), 0, "the wrap is its own entry");
    }

    fn only_a_wrap_moves_the_last_wrap(w) {
        let (donna, lola) = (agent("Donna"), agent("Lola"));
        let wrap = w.leave_baton(&lola, "first line\nsecond line");
        let project = w.project();
        assert_eq!(project["last_wrapped_at"], "2026-11-20T10:00:00.000Z");
        assert_eq!(project["last_wrapped_by"], "Lola");
        assert_eq!(project["last_wrapped_session_id"], wrap["session_id"]);
        assert_eq!(project["last_wrapped_delta_id"], wrap["delta_id"]);
        assert_eq!(project["last_wrapped_summary"], "first line");
        w.advance(1_000);
        w.start(&agent("Rex"));
        w.end(&agent("Rex"));
        w.pickup(&donna);
        w.checkpoint(&donna, "s");
        w.ok(&donna, "project_set", json!({ "phase": "build" }));
        assert_eq!(w.project()["last_wrapped_delta_id"], wrap["delta_id"]);
        assert_eq!(w.project()["last_wrapped_at"], project["last_wrapped_at"]);
        let next = w.wrap(&donna, "second");
        assert_eq!(w.project()["last_wrapped_delta_id"], next["delta_id"]);
        assert_eq!(w.project()["last_wrapped_by"], "Donna");
        assert_eq!(w.project()["last_wrapped_at"], "2026-11-20T10:00:01.000Z");
    }

    fn wrapping_a_held_baton_spends_it_for_the_next(w) {
        let first = w.leave_baton(&agent("Lola"), "first");
        w.pickup(&agent("Donna"));
        let second = w.wrap(&agent("Donna"), "second");
        assert_eq!(w.baton_state(&text(&first, "baton_id")), None);
        assert_eq!(w.baton_state(&text(&second, "baton_id")).as_deref(), Some("open"));
        let named = json!({ "handoff_id": first["baton_id"] });
        let refusal = w.no_trace(&agent("Rex"), "hd_exec", named.clone(), "baton_spent");
        assert_eq!(refusal["next_baton_id"], second["baton_id"]);
        let mut forced = named;
        forced["force"] = json!(true);
        w.no_trace(&agent("Rex"), "hd_exec", forced, "baton_spent");
        let from = json!({ "from_session": first["session_id"] });
        w.no_trace(&agent("Rex"), "hd_exec", from, "baton_spent");
        assert_eq!(w.pickup(&agent("Rex"))["baton"]["delta_id"], second["baton_id"]);
    }

    fn a_wrap_drains_no_signals(w) {
        w.start(&agent("Lola"));
        w.ok(&agent("Rex"), "signal_send", json!({ "to": "Lola", "subject": "hello" }));
        assert_eq!(w.wrap(&agent("Lola"), "done").get("pending_signals"), None);
        assert_eq!(w.pending(&agent("Lola")).len(), 1);
    }

    fn a_summary_is_a_packet_of_its_own(w) {
        w.start(&agent("Lola"));
        let input = json!({ "summary": "half done", "next": ["test it"], "focus": ["parser"] });
        w.ok(&agent("Lola"), "session_wrap", input);
        let body: Value = serde_json::from_str(&text(&w.newest("wrap"), "body")).expect("json");
        assert_eq!((body["summary"].clone(), body["focus"].clone()), (json!("half done"), json!(["parser"])));
        assert_eq!(body["next_steps"][0]["text"], "test it");
    }

    fn the_short_summary_is_its_first_line_of_at_most_200_characters(w) {
        let wrap = w.leave_baton(&agent("Lola"), &"ä".repeat(300));
        assert_eq!(text(&wrap, "summary").chars().count(), 200);
        let picked = w.pickup(&agent("Donna"));
        assert_eq!(picked["baton"]["summary"], wrap["summary"]);
    }

    fn accounting_warns_and_never_blocks(w) {
        w.start(&agent("Lola"));
        let packet = json!({ "summary": "s", "files_modified": ["a.rs"] });
        let wrap = w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet }));
        assert_eq!(list(&wrap["warnings"])[0]["kind"], "no_accounting");
        w.start(&agent("Lola"));
        let packet = json!({ "summary": "s", "files_modified": ["a.rs"], "next_steps": ["b"] });
        let wrap = w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet }));
        assert_eq!(wrap["warnings"], json!([]));
    }

    fn work_that_is_done_is_offered_to_nobody_and_goes_on_by_its_name(w) {
        w.leave_baton(&agent("Lola"), "half of the cart");
        w.pickup(&agent("Donna"));
        let wrap = w.ok(&agent("Donna"), "session_wrap", json!({ "summary": "the cart adds up", "done": true }));
        assert_eq!(wrap["finished"], true, "{wrap:#}");
        let status = w.ok(&agent("Reader"), "session_status", json!({}));
        assert_eq!(status["handoffs"], json!([]), "{status:#}");
        assert_eq!(w.ok(&agent("Reader"), "baton_list", json!({}))["total"], 0);
        let shown = w.ok(&agent("Reader"), "baton_show", json!({ "id": wrap["baton_id"] }));
        assert_eq!((&shown["state"], &shown["finished"], &shown["spent_by"]), (&json!("spent"), &json!(true), &json!(null)));
        assert_eq!(w.pickup(&agent("Rex"))["baton"], json!(null));
        let from = json!({ "from_session": wrap["session_id"] });
        w.no(&agent("Ann"), "hd_exec", from, "baton_finished");
        let named = w.ok(&agent("Ann"), "hd_exec", json!({ "handoff_id": wrap["baton_id"] }));
        assert_eq!(named["baton"]["delta_id"], wrap["baton_id"]);
        w.end(&agent("Ann"));
        let status = w.ok(&agent("Reader"), "session_status", json!({}));
        assert_eq!(status["handoffs"][0]["id"], wrap["baton_id"], "it goes on, so it waits: {status:#}");
    }

    fn what_somebody_is_to_read_or_is_left_to_do_waits_whatever_else_is_done(w) {
        let packet = json!({ "summary": "s", "done": true, "next_steps": ["merge it"] });
        for input in [json!({ "summary": "s", "done": true, "to": "Rex" }), json!({ "packet": packet })] {
            w.start(&agent("Lola"));
            let wrap = w.ok(&agent("Lola"), "session_wrap", input);
            assert_eq!(wrap["finished"], json!(null));
            w.ok(&agent("Rex"), "hd_exec", json!({ "handoff_id": wrap["baton_id"] }));
            w.ok(&agent("Rex"), "session_wrap", json!({ "summary": "s", "done": true }));
        }
    }

    fn the_same_request_wraps_once(w) {
        w.start(&agent("Lola"));
        let input = json!({ "summary": "done", "request_id": "r1" });
        let first = w.ok(&agent("Lola"), "session_wrap", input.clone());
        let again = w.ok(&agent("Lola"), "session_wrap", input);
        let mut answer = first.clone();
        answer["replayed"] = json!(true);
        assert_eq!((again, first.get("replayed")), (answer.clone(), None), "it says that it is a retry");
        let entry = baton_ops::all::find("session_wrap").expect("an operation");
        w.start(&agent("Ben"));
        let first = w.once(&agent("Ben"), entry, json!({ "summary": "done" }), "k").expect("wrapped");
        let again = w.once(&agent("Ben"), entry, json!({ "summary": "done" }), "k").expect("answered");
        assert_eq!((&again["baton_id"], &again["replayed"]), (&first["baton_id"], &json!(true)));
        assert_eq!(w.deltas("wrap").len(), 2);
    }

    fn nobody_wraps_without_a_session(w) {
        w.no_trace(&agent("Lola"), "session_wrap", json!({ "summary": "s" }), "no_session");
    }

    fn an_end_leaves_no_baton_and_frees_the_one_it_held(w) {
        let wrap = w.leave_baton(&agent("Lola"), "done");
        w.pickup(&agent("Donna"));
        let ended = w.ok(&agent("Donna"), "session_end", json!({ "reason": "out of time" }));
        assert_eq!(ended["freed_baton_id"], wrap["baton_id"]);
        assert_eq!(w.deltas("wrap").len(), 1);
        let release = w.newest("release");
        assert_eq!((release["body"]["reason"].clone(), release["body"]["why"].clone()), (json!("ended"), json!("out of time")));
        let picked = w.pickup(&agent("Rex"));
        assert_eq!(picked["baton"]["delta_id"], wrap["baton_id"]);
        assert_eq!(picked["recovered"]["session"], ended["session_id"]);
    }

    fn a_freed_baton_is_among_the_open_ones_that_a_refusal_names(w) {
        let freed = w.leave_baton(&agent("Lola"), "first");
        w.pickup(&agent("Donna"));
        w.end(&agent("Donna"));
        let held = w.leave_baton(&agent("Lola"), "second");
        w.ok(&agent("Rex"), "hd_exec", json!({ "handoff_id": held["baton_id"] }));
        let refusal = w.no(&agent("Ann"), "hd_exec", json!({}), "baton_claimed");
        assert_eq!(crate::world::column(&list(&refusal["open_batons"]), "baton_id"), [text(&freed, "baton_id")]);
    }
}
