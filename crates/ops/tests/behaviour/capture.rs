//! What a hook keeps of an agent's transcript: in the agent's session, or in one of its own; once; and never against the
//! agent's own word.

use std::path::Path;

use serde_json::{Value, json};

use crate::world::{Agent, World, agent};

fn sample(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../transcripts/samples/claude")
        .join(name)
        .display()
        .to_string()
}

#[track_caller]
fn capture(w: &mut World, who: &Agent, name: &str, event: &str, wrap: bool) -> Value {
    let input = json!({
        "id": sample(name), "agent": "claude", "event": event, "wrap": wrap, "over": event == "session-end",
    });
    w.ok(who, "transcript_capture", input)
}

/// The input for the end of a conversation in which this was asked, one after the other.
fn talk(dir: &Path, prompts: &[&str]) -> Value {
    let id = "55555555-aaaa-4000-8000-00000000abcd";
    let path = dir.join(format!("{id}.jsonl"));
    let mut text = String::new();
    for (n, prompt) in prompts.iter().enumerate() {
        let line = |uuid: String, parent: Value, role: &str, message: &str| {
            json!({ "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": "/w",
                "timestamp": format!("2026-11-24T10:0{n}:00.000Z"),
                "message": { "role": role, "content": [{ "type": "text", "text": message }] } })
        };
        let before = n.checked_sub(1).map_or(Value::Null, |before| json!(format!("a{before}")));
        text += &format!("{}\n", line(format!("u{n}"), before, "user", prompt));
        text += &format!("{}\n", line(format!("a{n}"), json!(format!("u{n}")), "assistant", "Fine."));
    }
    std::fs::write(&path, text).expect("written");
    json!({ "id": path, "agent": "claude", "event": "session-end", "wrap": true, "over": true })
}

/// The end of a conversation in which the agent wanted to pick up and got this answer, and then did more, or nothing.
fn pickup_talk(dir: &Path, prompt: &str, answer: &str, then: Option<(&str, Value)>) -> Value {
    // Not every tool says that an answer was a refusal.
    let is_error = then.is_none();
    let id = "55555555-aaaa-4000-8000-00000000abce";
    let mut messages = vec![
        ("user", json!([{ "type": "text", "text": prompt }])),
        (
            "assistant",
            json!([{ "type": "tool_use", "id": "t1", "name": "mcp__baton__hd_exec", "input": {} }]),
        ),
        (
            "user",
            json!([{ "type": "tool_result", "tool_use_id": "t1", "content": answer, "is_error": is_error }]),
        ),
    ];
    if let Some((name, input)) = then {
        messages
            .push(("assistant", json!([{ "type": "tool_use", "id": "t2", "name": name, "input": input }])));
        messages.push(("user", json!([{ "type": "tool_result", "tool_use_id": "t2", "content": "done" }])));
    }
    messages.push(("assistant", json!([{ "type": "text", "text": "Holder is at work on it." }])));
    let line = |(n, (role, content)): (usize, (&str, Value))| {
        json!({ "type": role, "uuid": format!("u{n}"), "parentUuid": n.checked_sub(1).map(|n| format!("u{n}")), "sessionId": id,
            "cwd": "/w", "timestamp": format!("2026-11-24T10:0{n}:00.000Z"), "message": { "role": role, "content": content } })
    };
    let lines: Vec<String> = messages.into_iter().enumerate().map(|one| line(one).to_string()).collect();
    let path = dir.join(format!("{id}.jsonl"));
    std::fs::write(&path, lines.join("\n")).expect("written");
    json!({ "id": path, "agent": "claude", "event": "session-end", "wrap": true, "over": true })
}

/// What a pickup is answered while another agent holds the baton, as MCP shows it.
fn refused_pickup(w: &mut World) -> String {
    let refusal = w.no(&agent("Donna"), "hd_exec", json!({}), "baton_claimed");
    json!({ "next_step": "Refused (baton_claimed): somebody works on it", "error": refusal }).to_string()
}

on_every_backend! {
    fn a_refused_pickup_takes_nothing_from_the_holder_and_leaves_no_baton(w) {
        let dir = tempfile::tempdir().expect("a folder");
        w.leave_baton(&agent("Ann"), "the cart is half done");
        let held = w.pickup(&agent("Holder").process("elsewhere"));
        let answer = refused_pickup(w);
        assert!(answer.contains(held["session_id"].as_str().expect("an id")), "the refusal names the holder: {answer}");
        let end = pickup_talk(dir.path(), "Pick up the work that waits", &answer, None);
        w.no(&agent("Donna"), "transcript_capture", end, "transcript_empty");
        assert_eq!(w.roster()[0]["session_id"], held["session_id"], "the holder is at work still");
        assert_eq!(w.deltas("wrap").len(), 1, "Ann's");
        let edit = json!({ "file_path": "/w/a.rs", "old_string": "a", "new_string": "b" });
        let end = pickup_talk(dir.path(), "Pick up the work that waits", &answer, Some(("Edit", edit)));
        let captured = w.ok(&agent("Donna"), "transcript_capture", end);
        assert_eq!(captured["identity"], "Donna", "what was done otherwise is its own: {captured:#}");
        assert_eq!(w.roster()[0]["session_id"], held["session_id"]);
    }

    fn an_agent_that_never_began_gets_a_session_which_ends_with_it(w) {
        let captured = capture(w, &agent("Donna"), "normal.jsonl", "before-compaction", false);
        assert_eq!((&captured["identity"], w.roster().len()), (&json!("Donna"), 1));
        let checkpoint = &w.deltas("checkpoint")[0];
        assert_eq!(checkpoint["body"]["transcript"]["agent"], "claude", "{checkpoint:#}");
        assert!(checkpoint["body"]["packet"]["files_modified"].is_array(), "{checkpoint:#}");
        let later = capture(w, &agent("Donna"), "compacted.jsonl", "session-end", false);
        assert_eq!(later["session_id"], captured["session_id"]);
        assert_eq!((w.deltas("checkpoint").len(), w.roster().len()), (2, 0));
        assert_eq!(w.deltas("release")[0]["body"]["reason"], "ended");
    }

    fn a_session_out_of_a_transcript_has_the_surface_that_its_agent_has_otherwise(w) {
        let mut hook = agent("Donna");
        hook.0.surface.clear();
        capture(w, &hook, "normal.jsonl", "before-compaction", false);
        assert_eq!(w.newest("start")["body"]["surface"], "claude_code");
        let input = json!({ "id": sample("rewound.jsonl"), "agent": "claude" });
        w.ok(&agent("Owner"), "transcript_import", input);
        assert_eq!(w.newest("start")["body"]["surface"], "claude_code");
        assert_eq!(w.deltas("start").len(), 2);
    }

    fn an_agents_own_session_is_checkpointed_and_ends_with_the_agent(w) {
        let started = w.start(&agent("Donna"));
        let captured = capture(w, &agent("Donna"), "normal.jsonl", "session-end", false);
        assert_eq!(captured["session_id"], started["session_id"]);
        assert_eq!((w.deltas("start").len(), w.deltas("checkpoint").len(), w.roster().len()), (1, 1, 0));
    }

    fn an_agents_own_session_is_checkpointed_and_goes_on(w) {
        let started = w.start(&agent("Donna"));
        let captured = capture(w, &agent("Donna"), "normal.jsonl", "before-compaction", false);
        assert_eq!(captured["session_id"], started["session_id"]);
        assert_eq!((w.deltas("start").len(), w.roster().len()), (1, 1));
        w.ok(&agent("Donna"), "session_checkpoint", json!({ "state": { "mine": 1 }, "expected_version": 0 }));
    }

    fn what_an_agent_did_after_another_wrapped_its_session_is_kept_as_a_note(w) {
        w.advance(86_400_000);
        let own = w.start(&agent("Donna"));
        let forced = json!({ "session": own["session_id"], "summary": "enough", "force": true, "why": "stuck" });
        w.ok(&agent("Chief"), "session_wrap", forced);
        let captured = capture(w, &agent("Donna"), "normal.jsonl", "session-end", true);
        assert_eq!(captured["session_id"], own["session_id"]);
        assert!(w.newest("note").to_string().contains("transcript"), "{:#}", w.newest("note"));
    }

    fn what_does_not_fit_into_one_packet_is_handed_on_past_a_hook_and_not_dropped(w) {
        let packet = json!({ "summary": "the cart rounds", "metadata": { "a": "x".repeat(240_000) } });
        for event in ["session-end", "failure"] {
            w.start(&agent("Lola"));
            let left = w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet }));
            let held = w.pickup(&agent("Donna"));
            w.ok(&agent("Donna"), "session_checkpoint", json!({ "state": { "b": "y".repeat(60_000) } }));
            let captured = capture(w, &agent("Donna"), "normal.jsonl", event, true);
            assert_eq!(captured["baton_id"], Value::Null, "{event}");
            let next = w.pickup(&agent("Mina"));
            assert_eq!(next["baton"]["delta_id"], left["delta_id"], "{event}");
            assert_eq!(next["recovered"]["sessions"], json!([held["session_id"]]), "{event}");
            let recovered = next["recovered"].to_string();
            assert!(recovered.contains(&"y".repeat(60_000)) && recovered.contains("\"transcript\""), "{event}");
            w.ok(&agent("Mina"), "session_wrap", json!({ "summary": "done" }));
            w.start(&agent("Ann"));
            w.pickup(&agent("Ann"));
            w.ok(&agent("Ann"), "session_wrap", json!({ "summary": "nothing waits" }));
        }
    }

    fn a_baton_that_a_hook_leaves_has_what_the_agent_took_over_and_saved(w) {
        let packet = json!({ "summary": "the cart rounds", "next_steps": ["test the refund"], "constraints": ["no floats"], "odd": "kept" });
        w.start(&agent("Lola"));
        let left = w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet }));
        w.pickup(&agent("Donna"));
        w.ok(&agent("Donna"), "session_checkpoint", json!({ "summary": "half of it", "state": { "step": 7 } }));
        w.ok(&agent("Donna"), "ledger_note", json!({ "text": "the tax is separate" }));
        capture(w, &agent("Donna"), "normal.jsonl", "before-compaction", false);
        capture(w, &agent("Donna"), "normal.jsonl", "session-end", true);
        let next = w.pickup(&agent("Mina"));
        assert_ne!(next["baton"]["delta_id"], left["delta_id"]);
        let body = next["baton"]["body"].as_str().expect("a packet");
        for text in ["the cart rounds", "test the refund", "no floats", "\"odd\":\"kept\"", "half of it", "\"step\":7", "the tax is separate"] {
            assert!(body.contains(text), "{text} is gone: {body}");
        }
        let packet: Value = serde_json::from_str(body).expect("a packet");
        assert!(packet["files_modified"].is_array(), "{packet:#}");
        assert_eq!(packet["metadata"]["previous_baton_id"], left["delta_id"]);
    }

    fn once_the_agent_began_a_session_that_one_counts_and_both_end_with_it(w) {
        let first = capture(w, &agent("Bot").process("agent"), "normal.jsonl", "before-compaction", false);
        w.advance(400_000);
        let started = w.start(&agent("Worker").process("agent"));
        let captured = capture(w, &agent("Bot").process("agent"), "compacted.jsonl", "session-end", false);
        assert_eq!(captured["session_id"], started["session_id"]);
        assert_ne!(captured["session_id"], first["session_id"]);
        assert_eq!(w.roster(), Vec::<Value>::new());
    }

    fn a_tool_that_announces_a_compaction_at_every_round_leaves_one_checkpoint(w) {
        for name in ["normal.jsonl", "compacted.jsonl", "rewound.jsonl"] {
            capture(w, &agent("Donna"), name, "before-compaction", false);
        }
        assert_eq!(w.deltas("checkpoint").len(), 1);
        w.advance(300_000);
        capture(w, &agent("Donna"), "rewound.jsonl", "before-compaction", false);
        capture(w, &agent("Donna"), "compacted.jsonl", "session-end", false);
        assert_eq!(w.deltas("checkpoint").len(), 3);
    }

    fn the_same_state_is_kept_once(w) {
        let first = capture(w, &agent("Donna"), "normal.jsonl", "before-compaction", false);
        for event in ["after-compaction", "session-end", "session-end"] {
            let again = capture(w, &agent("Donna"), "normal.jsonl", event, false);
            assert_eq!((&again["session_id"], &again["delta_id"]), (&first["session_id"], &Value::Null));
        }
        assert_eq!((w.deltas("checkpoint").len(), w.roster().len()), (1, 0));
    }

    fn a_compaction_whose_hook_comes_after_that_of_the_end_leaves_no_work_behind(w) {
        let left = capture(w, &agent("Bot").process("one"), "normal.jsonl", "session-end", true);
        let late = capture(w, &agent("Bot").process("two"), "normal.jsonl", "before-compaction", false);
        assert_eq!((&late["session_id"], &late["delta_id"]), (&left["session_id"], &Value::Null));
        assert_eq!((w.deltas("checkpoint").len(), w.roster().len()), (0, 0));
    }

    fn what_a_hook_saved_goes_with_the_baton_that_the_conversation_left_later(w) {
        let dir = tempfile::tempdir().expect("a folder");
        let mut input = talk(dir.path(), &["Count the cart"]);
        (input["event"], input["wrap"], input["over"]) = (json!("before-compaction"), json!(false), json!(false));
        let saved = w.ok(&agent("Bot").process("one"), "transcript_capture", input);
        w.advance(2 * 3_600_000);
        let status = w.ok(&agent("Hal"), "session_status", json!({}));
        assert!(status["reminders"].to_string().contains("left work without a baton"), "{status:#}");
        let input = talk(dir.path(), &["Count the cart", "Now the taxes"]);
        let left = w.ok(&agent("Bot").process("two"), "transcript_capture", input);
        assert_ne!(left["session_id"], saved["session_id"]);
        let status = w.ok(&agent("Hal"), "session_status", json!({}));
        assert!(!status["reminders"].to_string().contains("left work without a baton"), "{status:#}");
    }

    fn a_card_tells_with_what_a_provider_stopped_an_agent_and_until_when(w) {
        let dir = tempfile::tempdir().expect("a folder");
        let mut input = talk(dir.path(), &["Count the cart", "Now the taxes"]);
        let path = input["id"].as_str().expect("a path").to_owned();
        let error = json!({ "type": "assistant", "uuid": "e", "parentUuid": "a1", "sessionId": "55555555-aaaa-4000-8000-00000000abcd",
            "cwd": "/w", "timestamp": "2026-11-24T10:01:30.000Z", "isApiErrorMessage": true, "message": { "role": "assistant",
            "model": "<synthetic>", "content": [{ "type": "text", "text": "You've hit your limit · try again in 2 hours" }] } });
        let text = std::fs::read_to_string(&path).expect("the transcript");
        std::fs::write(&path, format!("{text}{error}\n")).expect("written");
        (input["event"], input["over"]) = (json!("failure"), json!(false));
        w.ok(&agent("Donna"), "transcript_capture", input.clone());
        let waiting = |w: &mut World| w.ok(&agent("Hal"), "session_status", json!({}))["handoffs"][0].clone();
        let stopped = json!({ "text": "You've hit your limit · try again in 2 hours", "again": "again at 2026-11-24 12:01 UTC" });
        assert_eq!(waiting(w)["stopped"], stopped);
        // It went on.
        let prompts = ["Count the cart", "Now the taxes", "And the refunds"];
        w.ok(&agent("Donna"), "transcript_capture", talk(dir.path(), &prompts));
        assert_eq!((&waiting(w)["stopped"], w.deltas("wrap").len()), (&Value::Null, 2));
    }

    fn a_failure_whose_work_another_hook_kept_first_is_still_told_once(w) {
        for (name, wrap) in [("normal.jsonl", false), ("compacted.jsonl", true)] {
            let captured = capture(w, &agent("Donna"), name, "session-end", wrap);
            let before = w.deltas("note").len();
            for _ in 0..2 {
                let failure = capture(w, &agent("Donna"), name, "failure", wrap);
                assert_eq!(failure["session_id"], captured["session_id"]);
            }
            let notes = w.deltas("note");
            let note = notes.last().expect("a note");
            assert_eq!((notes.len(), &note["body"]["event"]), (before + 1, &json!("failure")));
            assert_eq!(note["session_id"], captured["session_id"]);
        }
        assert_eq!((w.deltas("checkpoint").len(), w.deltas("wrap").len(), w.roster().len()), (1, 1, 0));
    }

    fn a_failure_that_came_first_says_so_itself(w) {
        capture(w, &agent("Donna"), "normal.jsonl", "failure", false);
        for event in ["session-end", "failure"] {
            capture(w, &agent("Donna"), "normal.jsonl", event, false);
        }
        assert_eq!(w.deltas("checkpoint")[0]["body"]["event"], "failure");
        assert_eq!((w.deltas("checkpoint").len(), w.deltas("note").len()), (1, 0));
    }

    fn with_the_setting_it_leaves_a_baton_that_another_picks_up(w) {
        let captured = capture(w, &agent("Donna"), "normal.jsonl", "failure", true);
        assert_eq!(w.roster().len(), 0);
        let picked = w.pickup(&agent("Lola"));
        assert_eq!(picked["baton"]["delta_id"], captured["baton_id"]);
        let again = capture(w, &agent("Donna"), "normal.jsonl", "session-end", true);
        assert_eq!((&again["delta_id"], w.deltas("wrap").len()), (&Value::Null, 1));
        // What was done since is kept in a baton of its own.
        capture(w, &agent("Donna"), "compacted.jsonl", "session-end", true);
        assert_eq!(w.deltas("wrap").len(), 2);
    }

    fn a_baton_that_the_agent_held_is_spent_by_the_wrap(w) {
        w.leave_baton(&agent("Lola"), "half");
        let picked = w.pickup(&agent("Donna"));
        let captured = capture(w, &agent("Donna"), "normal.jsonl", "session-end", true);
        assert_eq!(captured["session_id"], picked["session_id"]);
        let baton = json!({ "handoff_id": picked["baton"]["delta_id"] });
        w.no(&agent("Bert"), "hd_exec", baton, "baton_spent");
    }

    fn what_the_agent_wrapped_itself_is_not_said_again(w) {
        w.start(&agent("Donna"));
        w.advance(60_000);
        w.wrap(&agent("Donna"), "all said");
        let before = w.ledger();
        let captured = capture(w, &agent("Donna"), "normal.jsonl", "session-end", true);
        assert_eq!(captured["delta_id"], Value::Null);
        assert_eq!(w.ledger(), before);
    }

    fn a_conversation_that_began_after_the_wrap_is_another(w) {
        w.leave_baton(&agent("Donna"), "the one before");
        let captured = capture(w, &agent("Donna"), "normal.jsonl", "session-end", true);
        assert_eq!(w.deltas("wrap").len(), 2, "{captured:#}");
    }

    fn a_session_that_was_taken_over_stays_over_and_its_work_is_a_note(w) {
        let started = w.start(&agent("Donna"));
        w.advance(60_000);
        w.ok(&agent("Lola"), "hd_exec", json!({ "from_session": started["session_id"], "force": true, "why": "urgent" }));
        let captured = capture(w, &agent("Donna"), "normal.jsonl", "session-end", true);
        assert_eq!((&captured["session_id"], w.deltas("wrap").len()), (&started["session_id"], 0));
        let note = &w.deltas("note")[0];
        assert_eq!(note["body"]["late_checkpoint"]["packet"]["source"]["agent"], "claude", "{note:#}");
        capture(w, &agent("Donna"), "normal.jsonl", "session-end", true);
        assert_eq!(w.deltas("note").len(), 1);
    }

    fn a_name_that_is_at_work_elsewhere_is_not_disturbed(w) {
        let started = w.start(&agent("Donna").process("elsewhere"));
        let captured = capture(w, &agent("Donna"), "normal.jsonl", "session-end", false);
        assert_eq!(captured["identity"], "Bot");
        assert_eq!(w.roster()[0]["session_id"], started["session_id"]);
    }

    fn a_greeting_that_ends_leaves_no_trace_and_a_question_a_baton(w) {
        let dir = tempfile::tempdir().expect("a folder");
        for prompt in ["hi", "Go on", "ok, thanks"] {
            let input = talk(dir.path(), &[prompt]);
            w.no(&agent("Donna"), "transcript_capture", input, "transcript_empty");
            assert!(w.deltas("start").is_empty(), "{prompt}: no session is made of it");
        }
        w.ok(&agent("Donna"), "transcript_capture", talk(dir.path(), &["Why does the cart round down?"]));
        assert_eq!(w.deltas("wrap").len(), 1);
    }

    fn what_a_session_saved_is_said_once_however_often_its_conversation_goes_on(w) {
        let dir = tempfile::tempdir().expect("a folder");
        let mut prompts = vec!["Why does the cart round down?"];
        w.start(&agent("Donna"));
        w.ok(&agent("Donna"), "ledger_note", json!({ "kind": "decision", "text": "half up" }));
        for next in ["Mend it", "And the taxes", "And the rest"] {
            w.ok(&agent("Donna"), "transcript_capture", talk(dir.path(), &prompts));
            prompts.push(next);
        }
        let newest = w.deltas("wrap").pop().expect("a wrap")["body"].to_string();
        assert!(newest.contains("And the taxes"), "{newest}");
        assert_eq!(newest.matches("did not wrap").count(), 1, "{newest}");
    }

    fn what_a_pickup_brought_without_a_baton_is_in_the_baton_that_its_end_leaves(w) {
        let dir = tempfile::tempdir().expect("a folder");
        w.start(&agent("Ann"));
        w.ok(&agent("Ann"), "session_checkpoint", json!({ "summary": "half of the taxes" }));
        w.ok(&agent("Ann"), "ledger_note", json!({ "text": "books are exempt" }));
        w.advance(7_200_000);
        let picked = w.ok(&agent("Ben"), "hd_exec", json!({}));
        assert!(picked["recovered"].to_string().contains("books are exempt"), "{picked:#}");
        w.ok(&agent("Ben"), "transcript_capture", talk(dir.path(), &["Look at the taxes, please"]));
        let third = w.ok(&agent("Cid"), "hd_exec", json!({})).to_string();
        assert!(third.contains("half of the taxes") && third.contains("books are exempt"), "{third}");
    }

    fn who_was_told_only_to_go_on_is_told_by_what_it_went_on_with(w) {
        let dir = tempfile::tempdir().expect("a folder");
        w.leave_baton(&agent("Ann"), "Prices are rounded in the cart");
        for (name, prompt) in [("Ben", "continue"), ("Cid", "Pick up the baton and go on from there, please.")] {
            w.pickup(&agent(name));
            w.ok(&agent(name), "session_checkpoint", json!({ "summary": format!("by {name}") }));
            let end = pickup_talk(dir.path(), prompt, "{}", Some(("Write", json!({ "file_path": "/w/a.rs", "content": "a" }))));
            w.ok(&agent(name), "transcript_capture", end);
            let subject = w.ok(&agent("Reader"), "session_status", json!({}))["handoffs"][0]["subject"].to_string();
            assert!(subject.starts_with("\"Went on with 'Prices are rounded in the cart'"), "{subject}");
        }
    }

    fn a_transcript_with_nothing_in_it_leaves_no_trace(w) {
        let input = json!({ "id": sample("empty.jsonl"), "agent": "claude", "event": "session-end" });
        w.no_trace(&agent("Donna"), "transcript_capture", input, "transcript_empty");
    }
}
