//! What goes on from one holder of a baton to the next, through however many hands: packet, state, words.

use baton_model::packet::MAX_BYTES;
use serde_json::{Value, json};

use crate::conversations::Talk;
use crate::world::{Agent, STALE, World, agent, column, list, text};

/// Donna takes the baton, saves a state, a summary, a decision and a note.
fn work(w: &mut World) -> Value {
    let donna = w.pickup(&agent("Donna"));
    w.ok(&agent("Donna"), "session_checkpoint", json!({ "summary": "half built", "state": { "half": 1 } }));
    w.ok(
        &agent("Donna"),
        "ledger_note",
        json!({ "kind": "decision", "text": "no recursion", "why": "stack" }),
    );
    w.ok(&agent("Donna"), "ledger_note", json!({ "text": "the API wants utf-8" }));
    donna
}

/// How a holder lets go of its baton, and whether the next one has to use force.
fn endings() -> [(&'static str, bool); 3] {
    [("silent", false), ("ended", false), ("forced", true)]
}

fn lose(w: &mut World, who: &Agent, how: &str) {
    match how {
        "silent" => w.advance(STALE + 1),
        "ended" => drop(w.end(who)),
        _ => {}
    }
}

fn take(w: &mut World, who: &Agent, baton: &Value, force: bool) -> Value {
    let why = if force { json!("urgent") } else { Value::Null };
    w.ok(who, "hd_exec", json!({ "handoff_id": baton, "force": force, "why": why }))
}

/// A packet with something in every list, an unknown field, and unknown fields inside items.
fn rich() -> Value {
    json!({
        "summary": "SUMM", "next_steps": ["NEXT"], "constraints": ["CONSTR"], "open_loops": ["LOOP"],
        "decisions": [{ "decision": "DECI", "why": "w", "votes": "VOTES" }], "failed_attempts": [{ "tried": "FAIL" }],
        "pending_tasks": [{ "title": "PEND", "status": "pending", "owner": "OWNER" }],
        "files_modified": [{ "path": "FILE", "change": "modified" }], "commands": [{ "command": "CMD", "exit_code": 2 }],
        "known_issues": ["KNOWN"], "test_command": "TESTC", "test_status": "TESTS", "zzz": { "deep": "UNKNOWN" },
        "metadata": { "k": "META" }, "work_completed": ["DONE"], "refs": ["REF"], "focus": ["FOCUS"],
        "requests": { "first": "ASKED" }, "last_answer": "ANSWER",
    })
}

const RICH: [&str; 21] = [
    "SUMM", "NEXT", "CONSTR", "LOOP", "DECI", "VOTES", "FAIL", "PEND", "OWNER", "FILE", "CMD", "KNOWN",
    "TESTC", "TESTS", "UNKNOWN", "META", "DONE", "REF", "FOCUS", "ASKED", "ANSWER",
];

#[track_caller]
fn holds_all(packet: &str, words: &[&str]) {
    let missing: Vec<&&str> = words.iter().filter(|word| !packet.contains(**word)).collect();
    assert!(missing.is_empty(), "missing {missing:?} in {packet}");
}

/// Lola leaves the rich packet, and Donna holds it.
fn rich_in_hand(w: &mut World) -> Value {
    w.start(&agent("Lola"));
    w.ok(&agent("Lola"), "session_wrap", json!({ "packet": rich().to_string() }));
    w.pickup(&agent("Donna"))
}

fn reassign(w: &mut World, session: &Value, to: &str) -> Value {
    let id = text(session, "session_id");
    w.ok(
        &agent("Chief"),
        "session_reassign",
        json!({ "session": id, "to": to, "wait": true, "why": "stuck" }),
    )
}

on_every_backend! {
    fn who_is_known_to_be_gone_blocks_nobody(w) {
        let left = w.leave_baton(&agent("Lola"), "done");
        let donna = agent("Donna").process("agent 1");
        let held = take(w, &donna, &left["baton_id"], false);
        w.no_trace(&agent("Rex"), "hd_exec", json!({}), "baton_claimed");
        w.kill(&donna);
        assert_eq!(w.ok(&agent("Rex"), "session_status", json!({}))["handoffs"][0]["state"], "abandoned");
        let rex = w.pickup(&agent("Rex"));
        assert_eq!((rex["baton"]["delta_id"].clone(), rex["recovered"]["session"].clone()),
            (left["baton_id"].clone(), held["session_id"].clone()));
        assert_eq!(w.no(&donna, "session_checkpoint", json!({ "summary": "late" }), "session_released")["reason"], "stale");
    }

    fn work_that_held_no_baton_is_handed_on(w) {
        for how in ["killed", "silent", "ended", "forced off"] {
            w.advance(1);
            let ann = agent(&format!("Ann_{how}").replace(' ', "_")).process(how);
            let own = w.start(&ann);
            w.checkpoint(&ann, &format!("{how}: HALF BUILT"));
            w.ok(&ann, "ledger_note", json!({ "kind": "decision", "text": format!("{how}: NO RECURSION") }));
            w.ok(&ann, "ledger_note", json!({ "text": format!("{how}: THE API WANTS UTF-8") }));
            match how {
                "killed" => w.kill(&ann),
                "silent" => w.advance(STALE + 1),
                "ended" => drop(w.end(&ann)),
                _ => {
                    let off = json!({ "session": own["session_id"], "force": true, "why": "urgent" });
                    w.ok(&agent("Chief"), "session_end", off);
                }
            }
            let next = w.ok(&agent("Next"), "hd_exec", json!({}));
            let recovered = next["recovered"].to_string();
            holds_all(&recovered, &["HALF BUILT", "NO RECURSION", "THE API WANTS UTF-8"].map(|word| format!("{how}: {word}")).each_ref().map(String::as_str));
            assert_eq!(next["recovered"]["session"], own["session_id"], "{how}");
            assert!(next["warnings"][0]["message"].to_string().contains("`recovered`"), "{next:#}");
            w.end(&agent("Next"));
        }
        // What was wrapped since is in the baton.
        w.leave_baton(&agent("Lola"), "done");
        assert_eq!(w.pickup(&agent("Rex")).get("recovered"), None);
    }

    fn words_from_before_the_baton_go_on_with_it(w) {
        for how in ["taken", "reassigned"] {
            let donna = agent("Donna");
            let session = w.start(&donna);
            for text in ["EARLY NOTE", "EARLY DECISION"] {
                let kind = if text.ends_with("NOTE") { "note" } else { "decision" };
                w.ok(&donna, "ledger_note", json!({ "kind": kind, "text": text }));
            }
            let left = w.leave_baton(&agent("Lola"), how);
            let held = take(w, &donna, &left["baton_id"], false);
            assert_eq!(held["session_id"], session["session_id"]);
            let next = agent(&format!("Next_{how}"));
            let text = match how {
                "taken" => take(w, &next, &left["baton_id"], true)["recovered"].to_string(),
                _ => {
                    reassign(w, &held, "Rex");
                    w.pickup(&agent("Rex"))["baton"].to_string()
                }
            };
            holds_all(&text, &["EARLY NOTE", "EARLY DECISION"]);
            w.advance(STALE + 1);
        }
    }

    fn the_third_holder_gets_what_the_first_left_although_the_second_saved_nothing(w) {
        for (n, (how, force)) in endings().into_iter().enumerate() {
            let left = w.leave_baton(&agent("Lola"), how);
            let baton = &left["baton_id"];
            let donna = work(w);
            lose(w, &agent("Donna"), how);
            let second = agent(&format!("Second{n}"));
            let rex = take(w, &second, baton, force);
            assert_eq!(rex["recovered"]["sessions"], json!([donna["session_id"]]), "{how}");
            lose(w, &second, how);
            let third = agent(&format!("Third{n}"));
            let preview = w.ok(&third, "hd_exec", json!({ "handoff_id": baton, "force": force, "dry_run": true }));
            let taken = take(w, &third, baton, force);
            let recovered = &taken["recovered"];
            assert_eq!(preview["recovered"]["last_checkpoint"], recovered["last_checkpoint"], "{how}");
            assert_eq!(recovered["session"], rex["session_id"], "{how}");
            assert_eq!(recovered["sessions"], json!([donna["session_id"], rex["session_id"]]), "{how}");
            assert_eq!(recovered["last_checkpoint"]["body"]["summary"], "half built", "{how}");
            assert_eq!(recovered["last_checkpoint"]["body"]["state"], json!({ "half": 1 }), "{how}");
            let kinds = ["pickup", "checkpoint", "decision", "note", "pickup"];
            assert_eq!(column(&list(&recovered["deltas"]), "kind"), kinds, "{how}");
        }
    }

    fn the_newest_checkpoint_of_all_holders_is_the_last_one_and_a_late_word_of_any_of_them_comes_along(w) {
        let left = w.leave_baton(&agent("Lola"), "done");
        let donna = work(w);
        take(w, &agent("Rex"), &left["baton_id"], true);
        w.checkpoint(&agent("Rex"), "three quarters");
        let late = json!({ "text": "too late" });
        w.no(&agent("Donna").in_session(&donna), "ledger_note", late, "session_released");
        let taken = take(w, &agent("Theo"), &left["baton_id"], true);
        assert_eq!(taken["recovered"]["last_checkpoint"]["body"]["summary"], "three quarters");
        let kinds = ["pickup", "checkpoint", "decision", "note", "pickup", "checkpoint", "note"];
        assert_eq!(column(&list(&taken["recovered"]["deltas"]), "kind"), kinds);
        assert_eq!(w.pickup(&agent("Theo"))["recovered"], taken["recovered"], "asked again");
    }

    fn what_was_left_of_an_earlier_baton_is_not_recovered_again(w) {
        let left = w.leave_baton(&agent("Lola"), "first");
        work(w);
        take(w, &agent("Rex"), &left["baton_id"], true);
        w.wrap(&agent("Rex"), "second");
        let theo = w.pickup(&agent("Theo"));
        assert_eq!(theo.get("recovered"), None);
        w.advance(STALE + 1);
        let taken = w.pickup(&agent("Tess"));
        assert_eq!(taken["recovered"]["sessions"], json!([theo["session_id"]]));
    }

    fn a_reassigned_session_hands_on_the_whole_packet_that_it_had_taken_over(w) {
        let donna = rich_in_hand(w);
        reassign(w, &donna, "Tess");
        let tess = w.pickup(&agent("Tess"));
        holds_all(&text(&tess["baton"], "body"), &RICH);
        w.checkpoint(&agent("Tess"), "TESSDID");
        reassign(w, &tess, "Theo");
        let theo = w.pickup(&agent("Theo"));
        let body = text(&theo["baton"], "body");
        holds_all(&body, &RICH);
        holds_all(&body, &["TESSDID", &text(&tess["baton"], "delta_id")]);
        let packet: Value = serde_json::from_str(&body).expect("a packet");
        assert_eq!(packet["zzz"], rich()["zzz"]);
        for name in ["next_steps", "decisions", "files_modified", "pending_tasks"] {
            assert_eq!(list(&packet[name]).len(), 1, "{name}: twice handed on, and there once");
        }
    }

    fn what_the_session_saved_goes_on_top_of_the_packet_that_it_had_taken_over(w) {
        let donna = rich_in_hand(w);
        w.ok(&agent("Donna"), "session_checkpoint", json!({ "summary": "SAVED", "state": { "at": "STATE" } }));
        w.ok(&agent("Donna"), "ledger_note", json!({ "kind": "decision", "text": "DECIDED" }));
        w.ok(&agent("Donna"), "ledger_note", json!({ "text": "NOTED" }));
        let shown = w.ok(&agent("Rex"), "session_handoff", json!({ "session": donna["session_id"] }));
        let given = reassign(w, &donna, "Tess");
        assert_eq!(given["summary"], "Donna did not wrap. Saved last: SAVED. It had taken over: SUMM");
        let body = text(&w.pickup(&agent("Tess"))["baton"], "body");
        for packet in [&body, &shown["packet"].to_string()] {
            holds_all(packet, &["SAVED", "STATE", "DECIDED", "NOTED", "NEXT", "LOOP", "FAIL", "META", "UNKNOWN"]);
        }
    }

    fn a_reassigned_session_hands_on_what_the_holders_before_it_left(w) {
        let left = w.leave_baton(&agent("Lola"), "done");
        work(w);
        let rex = take(w, &agent("Rex"), &left["baton_id"], true);
        reassign(w, &rex, "Tess");
        let body = text(&w.pickup(&agent("Tess"))["baton"], "body");
        holds_all(&body, &["half built", "\"half\":1", "no recursion", "the API wants utf-8", "done"]);
    }

    fn what_is_too_large_for_a_packet_is_refused_and_stays_where_it_is(w) {
        w.start(&agent("Lola"));
        let packet = json!({ "summary": "s", "metadata": { "a": "x".repeat(MAX_BYTES - 100) } });
        w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet.to_string() }));
        let donna = w.pickup(&agent("Donna"));
        // What Baton puts together may have some 32 KiB more.
        for _ in 0..6 {
            w.checkpoint(&agent("Donna"), &"y".repeat(8_000));
        }
        let input = json!({ "session": donna["session_id"], "to": "Tess", "wait": true, "why": "stuck" });
        let refusal = w.no_trace(&agent("Chief"), "session_reassign", input, "packet_too_large");
        let baton = text(&donna["baton"], "delta_id");
        assert!(text(&refusal, "hint").contains(&format!("--handoff {baton} --force")), "{refusal}");
        w.ok(&agent("Chief"), "session_handoff", json!({ "session": donna["session_id"] }));
        let forced = json!({ "session": donna["session_id"], "summary": "enough", "force": true, "why": "stuck" });
        let refusal = w.no_trace(&agent("Chief"), "session_wrap", forced, "packet_too_large");
        assert!(text(&refusal, "hint").contains("baton end --session"), "{refusal}");
        let taken = take(w, &agent("Tess"), &json!(baton), true);
        assert_eq!(taken["recovered"]["sessions"], json!([donna["session_id"]]));
    }

    fn what_came_of_a_conversation_while_its_baton_was_held_reaches_the_next_holder(w) {
        let mut talk = Talk::new();
        for (how, force) in endings() {
            talk.grow();
            let person = agent("Owner").process("terminal");
            let again = json!({ "id": talk.input()["id"], "agent": "claude", "again": true });
            let baton = w.ok(&person, "transcript_import", again)["baton_id"].clone();
            let donna = agent("Donna").process("");
            take(w, &donna, &baton, false);
            talk.grow();
            let late = w.ok(&person, "transcript_import", talk.input());
            let note = text(&late["existing_baton"], "kept_delta_id");
            lose(w, &donna, how);
            let next = take(w, &agent("Rex").process(how), &baton, force);
            let deltas = column(&list(&next["recovered"]["deltas"]), "delta_id");
            assert!(deltas.contains(&note), "{how}: {next:#}");
            w.ok(&agent("Rex").process(how), "session_wrap", json!({ "summary": "done" }));
        }
    }
}
