//! Accounting: heartbeats and sweeps, acknowledgements, reminders, warnings of a wrap, the audit.

use baton_model::time::rfc3339;
use baton_ops::sweep::mark_silent_sessions;
use serde_json::{Value, json};

use crate::backend::Backend;
use crate::world::{Agent, Dice, LIVE, STALE, World, agent, column, list, text};

const DAY: i64 = 86_400_000;

fn beat(w: &mut World, who: &Agent) -> Value {
    w.ok(who, "session_heartbeat", json!({}))
}

/// The identities that a sweep marks now.
fn sweep(w: &mut World) -> Vec<String> {
    let marked = mark_silent_sessions(&mut w.store, w.now, w.limits);
    assert!(marked.is_ok(), "{marked:?}");
    marked.into_iter().flatten().map(|session| session.identity).collect()
}

/// Lola asks Donna something, to be acknowledged within so many seconds.
fn ask(w: &mut World, within: i64) -> String {
    let input = json!({ "to": "Donna", "type": "Question", "subject": "which parser?", "ack_by_s": within });
    text(&w.ok(&agent("Lola"), "signal_send", input), "message_id")
}

fn audit(w: &mut World, input: Value) -> Value {
    w.ok(&agent("Reader"), "audit_report", input)
}

/// The kinds of reminders on the card.
fn reminded(w: &mut World) -> Vec<String> {
    let card = w.ok(&agent("Reader"), "session_status", json!({}));
    column(&list(&card["reminders"]), "kind")
}

fn has_low_rate(w: &mut World) -> bool {
    w.ok(&agent("Reader"), "audit_report", json!({}))["wrap_rate"]["low"] == true
}

on_every_backend! {
    fn a_heartbeat_keeps_a_session_fresh_and_says_nothing_else(w) {
        let started = w.start(&agent("Donna"));
        let before = w.ledger();
        w.advance(STALE);
        let answer = beat(w, &agent("Donna"));
        assert_eq!(answer["session_id"], started["session_id"]);
        w.advance(LIVE);
        let row = w.roster().remove(0);
        assert_eq!((row["live"].clone(), row["last_verb"].clone()), (json!(true), json!("session_start")));
        assert_eq!(w.ledger(), before);
    }

    fn a_heartbeat_revives_a_silent_session(w) {
        w.start(&agent("Donna"));
        w.advance(STALE + 1);
        assert_eq!(w.roster()[0]["fresh"], false);
        beat(w, &agent("Donna"));
        assert_eq!(w.roster()[0]["fresh"], true);
    }

    fn a_process_beats_for_its_own_sessions_and_no_other(w) {
        let here = json!({ "here": true });
        w.start(&agent("Donna"));
        w.start(&agent("Lola").process("Donna 1"));
        w.start(&agent("Rex"));
        w.advance(STALE + 1);
        w.ok(&agent("Donna"), "session_heartbeat", here.clone());
        let fresh: Vec<Value> = w.roster().iter().map(|row| row["fresh"].clone()).collect();
        assert_eq!(fresh, [true, true, false]);
        w.no_trace(&agent("Rex").process("elsewhere"), "session_heartbeat", here.clone(), "no_session");
        w.ok(&agent("Donna"), "session_wrap", json!({ "summary": "done", "done": true }));
        w.ok(&agent("Lola").process("Donna 1"), "session_wrap", json!({ "summary": "done", "done": true }));
        w.no_trace(&agent("Donna"), "session_heartbeat", here, "no_session");
    }

    fn a_released_session_is_told_so_when_it_beats(w) {
        w.leave_baton(&agent("Lola"), "done");
        let refusal = w.no_trace(&agent("Lola"), "session_heartbeat", json!({}), "session_released");
        assert_eq!(refusal["reason"], "wrapped");
        w.no_trace(&agent("Rex"), "session_heartbeat", json!({}), "no_session");
    }

    fn a_sweep_marks_what_is_not_fresh_and_a_verb_takes_the_mark_away(w) {
        w.start(&agent("Donna"));
        w.advance(1);
        w.start(&agent("Lola"));
        w.advance(STALE);
        assert_eq!(sweep(w), ["Donna"], "the edge is fresh");
        assert!(sweep(w).is_empty(), "marked already");
        w.checkpoint(&agent("Donna"), "back");
        w.advance(STALE + 1);
        assert_eq!(sweep(w), ["Donna", "Lola"]);
    }

    fn a_mark_comes_too_late_for_who_was_heard_of_since(w) {
        w.start(&agent("Donna"));
        w.advance(STALE + 1);
        let before = w.limits.silent_before(w.now);
        let seen = w.store.read(|tx| Ok(baton_store::session::unmarked(tx, before, 10)?)).unwrap_or_default();
        assert_eq!(seen.len(), 1);
        beat(w, &agent("Donna"));
        let now = w.now;
        let marked = w.store.write_relaxed(|tx| Ok(baton_store::session::mark_stale(tx, &seen[0], before, now)?));
        assert!(matches!(marked, Ok(false)), "{marked:?}");
    }

    fn a_sweep_writes_no_delta_and_takes_no_number(w) {
        w.start(&agent("Donna"));
        w.advance(STALE + 1);
        let before = w.ledger();
        assert_eq!(sweep(w), ["Donna"]);
        assert_eq!(w.ledger(), before);
        let next = w.checkpoint(&agent("Donna"), "next");
        let seqs: Vec<i64> = w.ledger().iter().filter_map(|d| d["seq"].as_i64()).collect();
        assert_eq!(seqs[1], seqs[0] + 1, "{next}");
    }

    fn every_type_of_signal_lives_as_long_as_it_should(w) {
        let days = [("TaskAssigned", None), ("Blocker", None), ("Question", Some(30)), ("StatusUpdate", Some(7))];
        for (kind, days) in days {
            let sent = w.ok(&agent("Lola"), "signal_send", json!({ "to": "Donna", "type": kind, "subject": "s" }));
            let end = days.map(|days| rfc3339(w.now + days * DAY));
            assert_eq!(sent["expires_at"], json!(end), "{kind}");
        }
        let question = json!({ "to": "Donna", "type": "Question", "subject": "s", "expires_in_s": 1 });
        assert_eq!(w.ok(&agent("Lola"), "signal_send", question)["expires_at"], rfc3339(w.now + 1_000));
    }

    fn an_acknowledgement_goes_back_to_the_sender_once(w) {
        let id = ask(w, 60);
        let first = w.ok(&agent("donna"), "signal_ack", json!({ "message_id": id, "body": "on it" }));
        assert_eq!((first["acked_before"].clone(), first["to"].clone()), (json!(false), json!("Lola")));
        assert!(w.pending(&agent("Donna")).is_empty(), "what was acknowledged was read");
        w.advance(5);
        let again = w.ok(&agent("Donna"), "signal_ack", json!({ "message_id": id }));
        assert_eq!((again["acked_before"].clone(), again["acked_at"].clone()), (json!(true), first["acked_at"].clone()));
        let pending = w.pending(&agent("Lola"));
        assert_eq!(column(&pending, "type"), ["Acknowledgment"]);
        assert_eq!(column(&pending, "subject"), ["acknowledged: which parser?"]);
        assert_eq!((text(&pending[0], "from"), text(&pending[0], "body")), ("Donna".into(), "on it".into()));
    }

    fn only_its_receiver_acknowledges_and_only_what_asks_for_it(w) {
        let id = ask(w, 60);
        w.no_trace(&agent("Rex"), "signal_ack", json!({ "message_id": id }), "message_unknown");
        w.no_trace(&agent("Lola"), "signal_ack", json!({ "message_id": id }), "message_unknown");
        w.no_trace(&agent("Donna"), "signal_ack", json!({ "message_id": "m" }), "message_unknown");
        let update = w.ok(&agent("Lola"), "signal_send", json!({ "to": "Donna", "subject": "s" }));
        let input = json!({ "message_id": update["message_id"] });
        w.no_trace(&agent("Donna"), "signal_ack", input, "ack_not_expected");
        let late = json!({ "to": "Donna", "subject": "s", "ack_by_s": 60 });
        w.no_trace(&agent("Lola"), "signal_send", late, "ack_not_expected");
        let never = json!({ "to": "Donna", "subject": "s", "type": "Blocker", "ack_by_s": 0 });
        w.no_trace(&agent("Lola"), "signal_send", never, "message_invalid");
        w.ok(&agent("Lola"), "signal_recall", json!({ "message_id": id }));
        w.no_trace(&agent("Donna"), "signal_ack", json!({ "message_id": id }), "message_recalled");
    }

    fn a_receiver_who_was_never_here_is_asked_about(w) {
        w.start(&agent("Donna"));
        let send = |w: &mut World, to: &str| {
            let sent = w.ok(&agent("Lola"), "signal_send", json!({ "to": to, "subject": "s" }));
            list(&sent["warnings"])
        };
        assert!(send(w, "DONNA").is_empty());
        assert!(send(w, "Bot").is_empty());
        let slip = send(w, "Dona");
        assert_eq!((text(&slip[0], "kind"), slip[0]["near"].clone()), ("recipient_unknown".into(), json!(["Donna"])));
        assert!(text(&slip[0], "message").contains("did you mean Donna?"));
        assert_eq!(send(w, "Zoe")[0]["near"], json!([]));
        assert_eq!(w.pending(&agent("Dona")).len(), 1, "it waits all the same");
    }

    fn overdue_acknowledgements_are_reminded_of_beyond_their_edge(w) {
        let id = ask(w, 60);
        w.advance(60_000);
        assert_eq!(reminded(w), [""; 0]);
        w.advance(1);
        assert_eq!(reminded(w), ["overdue_acknowledgements"]);
        w.ok(&agent("Donna"), "signal_ack", json!({ "message_id": id }));
        assert_eq!(reminded(w), [""; 0]);
    }

    fn a_low_wrap_rate_is_reported_by_an_audit_below_its_edge_only(w) {
        for _ in 0..3 {
            w.leave_baton(&agent("Lola"), "done");
        }
        for _ in 0..2 {
            w.start(&agent("Rex"));
            w.end(&agent("Rex"));
        }
        w.start(&agent("Donna"));
        assert!(!has_low_rate(w), "3 of 5 is enough, and who is at work may yet wrap");
        w.end(&agent("Donna"));
        assert!(has_low_rate(w));
        assert_eq!(reminded(w), ["last_wrap"], "it is no reminder");
        w.advance(30 * DAY);
        assert!(has_low_rate(w), "the edge still counts");
        w.advance(1);
        assert!(!has_low_rate(w));
    }

    fn sessions_that_never_wrapped_are_reminded_of(w) {
        w.start(&agent("Donna"));
        w.advance(STALE);
        assert_eq!(reminded(w), [""; 0]);
        w.advance(1);
        assert_eq!(reminded(w), ["unwrapped_sessions"]);
        w.start(&agent("Donna").machine("m2"));
        assert_eq!(reminded(w), [""; 0], "it was replaced: nobody is silent any more");
    }

    fn a_task_s_deltas_belong_to_the_session_that_changed_it(w) {
        w.leave_baton(&agent("Lola"), "one");
        let picked = w.pickup(&agent("Donna"));
        let task = w.ok(&agent("Donna"), "task_create", json!({ "title": "t" }));
        let created = w.newest("other");
        assert_eq!(created["session_id"], picked["session_id"]);
        assert_eq!(created["inherited_from"], picked["predecessor_session_id"]);
        w.ok(&agent("Rex"), "task_update", json!({ "id": task["id"], "status": "closed" }));
        assert_eq!(w.newest("other")["session_id"], Value::Null, "Rex has no session");
        let donna = agent("Donna").process("elsewhere").in_session(&picked);
        w.ok(&donna, "task_update", json!({ "id": task["id"], "status": "open" }));
        assert_eq!(w.newest("other")["session_id"], picked["session_id"]);
    }

    fn a_wrap_of_unaccounted_work_is_warned_of_and_done(w) {
        w.start(&agent("Lola"));
        w.ok(&agent("Lola"), "session_checkpoint", json!({ "state": { "n": 1 } }));
        let wrap = w.wrap(&agent("Lola"), "s");
        assert_eq!(column(&list(&wrap["warnings"]), "kind"), ["no_accounting"]);
        assert_eq!(w.deltas("wrap").len(), 1);
        w.start(&agent("Lola"));
        w.ok(&agent("Lola"), "session_checkpoint", json!({ "state": { "n": 1 } }));
        w.ok(&agent("Lola"), "task_create", json!({ "title": "t" }));
        assert_eq!(w.wrap(&agent("Lola"), "s")["warnings"], json!([]));
        w.start(&agent("Lola"));
        w.ok(&agent("Lola"), "session_checkpoint", json!({ "state": { "n": 1 } }));
        let done = w.ok(&agent("Lola"), "session_wrap", json!({ "summary": "s", "done": true }));
        assert_eq!(done["warnings"], json!([]));
    }

    fn a_forgotten_focus_is_warned_of(w) {
        let lola = agent("Lola");
        let task = w.ok(&lola, "task_create", json!({ "title": "t", "labels": ["lexer"] }));
        let leave = |w: &mut World| {
            w.start(&lola);
            w.ok(&lola, "session_wrap", json!({ "summary": "s", "focus": ["lexer"] }));
            w.pickup(&agent("Donna"));
        };
        leave(w);
        let forgot = w.wrap(&agent("Donna"), "something else");
        assert_eq!(column(&list(&forgot["warnings"]), "kind"), ["focus_untouched"]);
        leave(w);
        w.ok(&agent("Donna"), "task_update", json!({ "id": task["id"], "status": "in_progress" }));
        assert_eq!(w.wrap(&agent("Donna"), "something else")["warnings"], json!([]));
        leave(w);
        assert_eq!(w.wrap(&agent("Donna"), "the lexer is fast now")["warnings"], json!([]));
    }

    fn an_audit_counts_per_identity_and_per_thread(w) {
        let packet = json!({ "summary": "s", "next_steps": ["n"], "files_modified": ["a.rs"] });
        w.start(&agent("Lola"));
        w.ok(&agent("Lola"), "ledger_note", json!({ "text": "because" }));
        w.ok(&agent("Lola"), "session_wrap", json!({ "packet": packet }));
        let picked = w.pickup(&agent("Donna"));
        w.wrap(&agent("Donna"), "no word of what is next");
        let report = audit(w, json!({}));
        let rows = list(&report["identities"]);
        assert_eq!(column(&rows, "identity"), ["Donna", "Lola"]);
        assert_eq!((rows[1]["completeness_percent"].clone(), rows[1]["missing"].clone()), (json!(100), json!({})));
        assert_eq!(rows[0]["completeness_percent"], 33, "{rows:?}");
        assert_eq!(rows[0]["missing"], json!({ "progress": 1, "wrap": 1 }));
        let threads = list(&report["threads"]);
        assert_eq!(threads.len(), 1);
        assert_eq!(threads[0]["identities"], json!(["Lola", "Donna"]));
        assert_eq!((threads[0]["sessions"].clone(), threads[0]["completeness_percent"].clone()), (json!(2), json!(66)));
        assert_eq!(report["wrap_rate"], json!({ "wraps": 2, "sessions": 2, "percent": 100, "low": false }));
        let heir = &list(&report["inherited"])[0];
        assert_eq!((heir["session_id"].clone(), heir["unmarked"].clone()), (picked["session_id"].clone(), json!(0)));
        assert_eq!((heir["marked"].clone(), report["found"].clone()), (json!(2), json!(0)));
    }

    fn an_audit_names_who_never_wrapped(w) {
        w.start(&agent("Donna"));
        w.start(&agent("Lola"));
        w.advance(STALE + 1);
        w.start(&agent("Lola").process("new").machine("m2"));
        let rows = list(&audit(w, json!({}))["unwrapped"]);
        assert_eq!(column(&rows, "identity"), ["Donna", "Lola"]);
        assert_eq!(column(&rows, "how"), ["silent", "stale"]);
        w.advance(31 * DAY);
        let rows = list(&audit(w, json!({}))["unwrapped"]);
        assert_eq!(column(&rows, "how"), ["silent", "silent"], "what is open counts at any age");
        assert_eq!(list(&audit(w, json!({ "days": 60 }))["unwrapped"]).len(), 3);
    }

    fn an_audit_says_who_forced_whom_and_why(w) {
        w.leave_baton(&agent("Lola"), "one");
        w.pickup(&agent("Donna"));
        w.force(&agent("Rex"), "Donna is on leave");
        w.ok(&agent("Zoe"), "session_start", json!({ "force": true, "why": "habit" }));
        let rows = list(&audit(w, json!({}))["forced"]);
        assert_eq!(column(&rows, "who"), ["Rex", "Zoe"]);
        assert_eq!(column(&rows, "why"), ["Donna is on leave", "habit"]);
        assert_eq!((rows[0]["whom"].clone(), rows[1]["whom"].clone()), (json!("Donna"), Value::Null));
        assert_eq!(rows[0]["reason"], "preempted_by_pickup");
    }

    fn an_audit_reads_the_documents_that_it_is_given(w) {
        let text = "Call `prism_start`, then `session_wrap`.\n`baton sync` *(PRISM-NYI)*\n`baton wrap --force`";
        let documents = json!([{ "path": "CLAUDE.md", "text": text }]);
        let commands = json!([{ "name": "" }, { "name": "wrap", "flags": ["--summary"] }]);
        let report = audit(w, json!({ "documents": documents, "commands": commands }));
        let rows = list(&report["findings"]);
        let kinds = ["unknown_tool", "unknown_command", "not_implemented", "unknown_flag"];
        assert_eq!(column(&rows, "kind"), kinds);
        assert_eq!(rows.iter().map(|row| row["line"].clone()).collect::<Vec<_>>(), [1, 2, 2, 3]);
        assert_eq!((report["found"].clone(), report["commands_judged"].clone()), (json!(4), json!(true)));
        let report = audit(w, json!({ "documents": documents }));
        assert_eq!((list(&report["findings"]).len(), report["commands_judged"].clone()), (2, json!(false)));
    }

    fn an_audit_writes_nothing(w) {
        w.leave_baton(&agent("Lola"), "one");
        let before = w.everything();
        audit(w, json!({}));
        assert_eq!(w.everything(), before);
        w.no_trace(&agent("Reader"), "audit_report", json!({ "days": 0 }), "days_invalid");
    }

    fn every_operation_is_known_to_the_audit_of_instructions(w) {
        let text: String = baton_ops::all::ALL.iter().map(|entry| format!("call `{}`\n", entry.name)).collect();
        let documents = json!([{ "path": "AGENTS.md", "text": text }]);
        assert_eq!(audit(w, json!({ "documents": documents }))["findings"], json!([]));
    }

    fn with_and_without_sweeps_every_answer_is_the_same(w) {
        let histories = if w.ground.backend == Backend::Memory { 40 } else { 3 };
        for seed in 0..histories {
            same_with_sweeps(w.ground.backend, seed);
        }
    }
}

/// One random history, in two worlds that begin alike: one is swept at random.
fn same_with_sweeps(backend: Backend, seed: u64) {
    let (Some(mut plain), Some(mut swept)) = (World::new(backend, seed), World::new(backend, seed)) else {
        return;
    };
    let mut dice = Dice(seed);
    for step in 0..60 {
        let span = [0, 1_000, LIVE, STALE - 1, STALE, STALE + 1][dice.below(6)];
        plain.advance(span);
        swept.advance(span);
        if dice.below(3) == 0 {
            sweep(&mut swept);
        }
        let name = ["Donna", "Lola", "Rex", "Bot"][dice.below(4)];
        let who = agent(name).process(&format!("{name} {}", dice.below(2)));
        let (verb, input) = random_call(&mut dice);
        let expected = plain.call(&who, verb, input.clone());
        let answer = swept.call(&who, verb, input);
        assert_eq!(answer, expected, "seed {seed}, step {step}: {verb} of {name}");
    }
    assert_eq!(swept.ledger(), plain.ledger(), "seed {seed}");
}

fn random_call(dice: &mut Dice) -> (&'static str, Value) {
    match dice.below(12) {
        0 | 1 => ("session_start", json!({})),
        2 => ("session_start", json!({ "force": true, "why": "test" })),
        3 => ("session_checkpoint", json!({ "summary": "s", "state": { "n": 1 } })),
        4 => ("session_wrap", json!({ "summary": "s", "focus": ["lexer"] })),
        5 => ("hd_exec", json!({})),
        6 => ("hd_exec", json!({ "force": true, "why": "test" })),
        7 => ("hd_exec", json!({ "dry_run": true })),
        8 => ("session_end", json!({})),
        9 => ("session_heartbeat", json!({})),
        10 => ("task_create", json!({ "title": "t", "labels": ["lexer"] })),
        _ => ("session_status", json!({})),
    }
}
