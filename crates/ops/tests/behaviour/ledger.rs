//! The ledger: numbered in order, read from a cursor, one for each project; and whether the store is sound.

use serde_json::{Value, json};

use crate::world::{World, agent, column, list, text};

fn numbers(deltas: &[Value]) -> Vec<i64> {
    deltas.iter().map(|d| d["seq"].as_i64().expect("a number")).collect()
}

/// Something of every kind.
fn live_a_little(w: &mut World) {
    w.leave_baton(&agent("Lola"), "one");
    w.pickup(&agent("Donna"));
    w.ok(&agent("Lola"), "signal_send", json!({ "to": "Donna", "subject": "s" }));
    w.checkpoint(&agent("Donna"), "two");
    w.no(&agent("Rex"), "hd_exec", json!({}), "baton_claimed");
    w.ok(&agent("Donna"), "task_create", json!({ "title": "t" }));
    w.start(&agent("Donna"));
    w.wrap(&agent("Donna"), "three");
}

/// An input that has what it must have and nothing else.
fn required(entry: &baton_ops::op::OperationEntry) -> Value {
    let schema = json!((entry.input_schema)());
    let mut input = json!({});
    for name in schema["required"].as_array().unwrap_or(&Vec::new()).iter().filter_map(Value::as_str) {
        let list = schema["properties"][name]["type"] == "array";
        input[name] = if list { json!(["x"]) } else { json!("x") };
    }
    input
}

/// Harm that no operation does; every fault that is then reported.
fn faults_after(w: &mut World, harm: &[&'static str]) -> Vec<String> {
    w.damaged = true;
    for sql in harm {
        w.store.write_shared(|tx| Ok(tx.execute(sql, &[])?)).expect("harm is done");
    }
    let report = w.ok(&agent("Reader"), "store_check", json!({}));
    let faults = list(&report["faults"]);
    assert_eq!(report["sound"], faults.is_empty());
    faults.iter().map(|fault| fault.as_str().expect("a sentence").to_owned()).collect()
}

on_every_backend! {
    fn numbers_rise_strictly_and_only_at_the_end(w) {
        live_a_little(w);
        let before = w.ledger();
        assert!(numbers(&before).is_sorted_by(|a, b| a < b));
        live_a_little(w);
        let after = w.ledger();
        assert_eq!(after[..before.len()], before);
        assert!(numbers(&after).is_sorted_by(|a, b| a < b));
    }

    fn a_row_has_every_field(w) {
        w.leave_baton(&agent("Lola"), "one");
        w.pickup(&agent("Donna"));
        let row = w.newest("pickup");
        let fields: Vec<&String> = row.as_object().expect("an object").keys().collect();
        assert_eq!(fields, [
            "seq", "delta_id", "kind", "project_id", "session_id", "identity", "created_at", "inherited_from", "thread_id", "body",
        ]);
    }

    fn a_cursor_meets_every_delta_once(w) {
        live_a_little(w);
        let whole = column(&w.ledger(), "delta_id");
        for limit in 1..=whole.len() + 1 {
            let (mut met, mut after) = (Vec::new(), json!(0));
            while !after.is_null() {
                let page = w.ok(&agent("Reader"), "ledger_list", json!({ "after": after, "limit": limit }));
                met.extend(column(&list(&page["items"]), "delta_id"));
                after = page["next"].clone();
            }
            assert_eq!(met, whole, "pages of {limit}");
        }
    }

    fn a_cursor_sees_what_comes_later(w) {
        live_a_little(w);
        let last = numbers(&w.ledger()).pop();
        w.start(&agent("Rex"));
        let page = w.ok(&agent("Reader"), "ledger_list", json!({ "after": last }));
        assert_eq!(column(&list(&page["items"]), "kind"), ["start"]);
    }

    fn a_filter_hides_rows_but_not_the_rest_of_the_pages(w) {
        live_a_little(w);
        let (mut met, mut after) = (0, json!(0));
        while !after.is_null() {
            let input = json!({ "after": after, "limit": 2, "kind": "wrap" });
            let page = w.ok(&agent("Reader"), "ledger_list", input);
            met += list(&page["items"]).len();
            after = page["next"].clone();
        }
        assert_eq!(met, 2);
    }

    fn filters_are_kind_session_and_time(w) {
        live_a_little(w);
        w.advance(1_000);
        let rex = w.start(&agent("Rex"));
        let now = w.now;
        let mut rows = |input: Value| column(&list(&w.ok(&agent("Reader"), "ledger_list", input)["items"]), "identity");
        assert_eq!(rows(json!({ "since_ms": now })), ["Rex"]);
        assert_eq!(rows(json!({ "session": rex["session_id"] })), ["Rex"]);
        assert_eq!(rows(json!({ "kind": "pickup" })), ["Donna"]);
    }

    fn another_projects_ledger_is_not_touched(w) {
        w.register("q");
        let before = w.ledger_of("q");
        live_a_little(w);
        assert_eq!(w.ledger_of("q"), before);
        assert!(w.ledger().iter().all(|d| d["project_id"] == "p"));
    }

    fn notes_have_their_kind(w) {
        w.start(&agent("Donna"));
        for kind in ["note", "decision", "remember", "research", "methodology"] {
            let noted = w.ok(&agent("Donna"), "ledger_note", json!({ "kind": kind, "text": "t", "tags": ["x"] }));
            assert_eq!(w.newest(kind)["delta_id"], noted["delta_id"]);
            assert_eq!(w.newest(kind)["session_id"], noted["session_id"]);
            assert_eq!(w.newest(kind)["body"]["tags"], json!(["x"]));
        }
        w.no_trace(&agent("Donna"), "ledger_note", json!({ "kind": "wrap", "text": "t" }), "input_invalid");
        w.no_trace(&agent("Donna"), "ledger_note", json!({ "text": " \n" }), "text_invalid");
    }

    fn a_note_needs_no_session(w) {
        let noted = w.ok(&agent("Donna"), "ledger_note", json!({ "text": "t" }));
        assert_eq!(noted["session_id"], Value::Null);
        assert_eq!(w.newest("note")["identity"], "Donna");
    }

    fn a_project_that_nobody_knows_is_refused_by_every_verb_that_takes_one(w) {
        let takes_one = |entry: &&baton_ops::op::OperationEntry| {
            let schema = json!((entry.input_schema)());
            ["project", "from_project_id"].iter().any(|field| !schema["properties"][*field].is_null())
        };
        // Among transcripts the project only narrows.
        let narrows = |entry: &&baton_ops::op::OperationEntry| ["transcript_doctor", "transcript_list", "transcript_search"].contains(&entry.name);
        for entry in baton_ops::all::ALL.iter().filter(takes_one).filter(|entry| !narrows(entry)) {
            let mut input = required(entry);
            match entry.name {
                "session_wrap" | "session_checkpoint" => input["summary"] = json!("s"),
                "beads_import" | "beads_published" => input["lines"] = json!([]),
                "transcript_import" => input["id"] = json!("latest"),
                "mail_send" => input = json!({ "to": "Lola", "subject": "s" }),
                "lease_take" => input["patterns"] = json!(["a"]),
                "handoff_create" => input = json!({ "to_project_id": "q", "subject": "s" }),
                "changes_attach" => {
                    input["changes"] = json!({ "files": [], "content_hash": "a".repeat(64), "bytes": 1 });
                }
                "changes_upload" => {
                    input = json!({ "content_hash": "a".repeat(64), "part": 0, "content": "" });
                }
                "changes_part" | "transcript_part" => input["part"] = json!(0),
                "transcript_upload" => {
                    input = json!({ "content_hash": "a".repeat(64), "part": 0, "content": "" });
                }
                "transcript_push" => {
                    input["copy"] = json!({ "agent": "claude", "transcript_id": "t", "events": 1, "content_hash": "a".repeat(64),
                        "bytes": 1 });
                }
                "baton_import" => {
                    let baton = json!({ "baton_id": "b", "project_id": "x", "exported_at": "2026-01-01T00:00:00Z", "exported_by": "A",
                        "identity": "A", "surface": "other", "thread_id": "t", "created_at": "2026-01-01T00:00:00Z", "packet": {} });
                    input["baton"] = baton;
                }
                "transcript_unwrapped" => input["conversations"] = json!([]),
                "agent_limit" => input["tool"] = json!("codex"),
                "key_add" => input["public_key"] = json!("age1x"),
                "task_batch" => input["steps"] = json!([{ "close": { "id": "a", "result": "pass" } }]),
                _ => {}
            }
            w.no_trace(&agent("Donna").project("nowhere"), entry.name, input, "project_unknown");
        }
    }

    fn an_unknown_field_is_refused_not_ignored(w) {
        w.no_trace(&agent("Donna"), "session_start", json!({ "forced": true }), "input_invalid");
        w.no_trace(&agent("Donna"), "session_startle", json!({}), "operation_unknown");
    }

    fn a_sound_store_says_so(w) {
        live_a_little(w);
        let report = w.ok(&agent("Reader"), "store_check", json!({}));
        assert_eq!((report["sound"].clone(), report["projects"].clone()), (json!(true), json!(1)));
    }

    fn a_wrap_that_lost_its_baton_is_found(w) {
        let wrap = w.leave_baton(&agent("Lola"), "one");
        let faults = faults_after(w, &["DELETE FROM baton"]);
        assert_eq!(faults.len(), 1, "{faults:?}");
        assert!(faults[0].contains(&text(&wrap, "delta_id")), "{faults:?}");
    }

    fn a_baton_that_lost_its_wrap_is_found(w) {
        w.leave_baton(&agent("Lola"), "one");
        let faults = faults_after(w, &["DELETE FROM delta WHERE kind = 'wrap'"]);
        assert!(faults.iter().any(|fault| fault.contains("no wrap")), "{faults:?}");
    }

    fn a_baton_held_twice_is_found(w) {
        w.leave_baton(&agent("Lola"), "one");
        w.pickup(&agent("Donna"));
        w.start(&agent("Rex"));
        let sql = "UPDATE session SET baton_id = (SELECT MAX(baton_id) FROM baton) WHERE released_at IS NULL";
        let faults = faults_after(w, &[sql]);
        assert!(faults.iter().any(|fault| fault.contains("two open sessions")), "{faults:?}");
    }

    fn the_newest_of_one_identity_session_or_word_are_found_however_much_came_since(w) {
        let (lola, donna) = (agent("Lola"), agent("Donna"));
        let begun = w.start(&lola);
        for n in 0..5 {
            w.ok(&lola, "ledger_note", json!({ "text": format!("Round the price {n}") }));
        }
        w.start(&donna);
        for n in 0..700 {
            w.ok(&donna, "ledger_note", json!({ "text": format!("noise {n}") }));
        }
        let lines = |w: &mut World, mut input: Value| {
            input["newest"] = true.into();
            input["brief"] = true.into();
            let page = w.ok(&agent("Ann"), "ledger_list", input);
            (column(&list(&page["items"]), "summary"), page["earlier"].clone())
        };
        let own = json!({ "by": "LOLA", "kind": "note", "limit": 2 });
        let (found, earlier) = lines(w, own.clone());
        assert_eq!(found, ["Round the price 3", "Round the price 4"]);
        let mut next = own;
        next["before"] = earlier;
        assert_eq!(lines(w, next).0, ["Round the price 1", "Round the price 2"], "and what is older");
        let session = json!({ "session": text(&begun, "session_id"), "limit": 50 });
        assert_eq!(lines(w, session).0.len(), 6);
        assert_eq!(lines(w, json!({ "text": "PRICE 2" })), (vec!["Round the price 2".to_owned()], Value::Null));
        assert_eq!(lines(w, json!({ "text": "nothing such" })).0, [] as [&str; 0]);
    }

    fn a_holder_that_does_not_know_of_it_is_found(w) {
        w.leave_baton(&agent("Lola"), "one");
        w.pickup(&agent("Donna"));
        let faults = faults_after(w, &["UPDATE session SET baton_id = NULL WHERE released_at IS NULL"]);
        assert!(faults.iter().any(|fault| fault.contains("does not hold it")), "{faults:?}");
    }

    fn a_session_whose_baton_names_another_holder_is_found(w) {
        w.leave_baton(&agent("Lola"), "one");
        w.pickup(&agent("Donna"));
        let faults = faults_after(w, &["UPDATE baton SET holder_session_id = NULL"]);
        assert_eq!(faults.len(), 1, "{faults:?}");
    }

    fn a_last_wrap_that_is_not_the_newest_is_found(w) {
        w.leave_baton(&agent("Lola"), "one");
        let faults = faults_after(w, &["UPDATE project SET last_wrapped_delta_id = 'x'"]);
        assert_eq!(faults.len(), 1, "{faults:?}");
    }

    fn a_counter_behind_its_ledger_is_found(w) {
        w.leave_baton(&agent("Lola"), "one");
        let faults = faults_after(w, &["UPDATE project SET seq = 1"]);
        assert_eq!(faults.len(), 1, "{faults:?}");
    }
}
