//! What somebody entrusted is neither dropped as known, nor taken away without a word, nor changed by another.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, list, text};

fn at_q(name: &str) -> Agent {
    agent(name).project("q").process("")
}

fn export(w: &mut World, more: Value) -> Value {
    w.ok(&agent("Ann"), "baton_export", more)["baton"].clone()
}

fn task(w: &mut World, who: &str, input: Value) -> String {
    text(&w.ok(&agent(who), "task_create", input), "id")
}

fn line(w: &mut World, id: &str) -> Value {
    let items = list(&w.ok(&agent("Setup"), "beads_export", json!({}))["items"]);
    let own = items.iter().find(|item| item["id"] == id).expect("its line");
    serde_json::from_str(&text(own, "line")).expect("json")
}

on_every_backend! {
    fn another_file_of_the_same_baton_is_not_dropped_as_known(w) {
        w.register("q");
        let left = w.leave_baton(&agent("Ann"), "first");
        let one = export(w, json!({}));
        let import = |w: &mut World, baton: &Value, again: bool| {
            w.call(&at_q("Ben"), "baton_import", json!({ "project": "q", "baton": baton, "again": again }))
        };
        let first = import(w, &one, false).expect("imported");
        w.ok(&agent("Ann"), "baton_reclaim", json!({ "baton_id": left["baton_id"], "force": true, "why": "the file is late" }));
        let held = w.pickup(&agent("Hal"));
        w.ok(&agent("Hal"), "session_checkpoint", json!({ "summary": "worked on since" }));
        w.ok(&agent("Hal"), "session_end", json!({ "session": held["session_id"] }));
        let two = export(w, json!({}));
        let refused = import(w, &two, false).expect_err("it says something else");
        assert_eq!((&refused["code"], &refused["baton_id"]), (&json!("baton_file_differs"), &first["baton_id"]));
        let second = import(w, &two, true).expect("beside the first");
        assert_eq!((&second["imported_before"], second["baton_id"] == first["baton_id"]), (&json!(false), false));
        let shown = w.ok(&at_q("Ben"), "handoff_show", json!({ "id": second["baton_id"] }));
        assert!(shown.to_string().contains("worked on since"), "{shown:#}");
        // Each of the two is imported once.
        for (file, here) in [(&one, &first), (&two, &second)] {
            let known = import(w, file, true).expect("known");
            assert_eq!((&known["imported_before"], &known["baton_id"]), (&json!(true), &here["baton_id"]));
        }
        // A copy that somebody edited does not pass for the file either.
        let mut forged = one;
        forged["packet"]["summary"] = json!("EVIL");
        forged["packet_text"] = Value::Null;
        assert_eq!(import(w, &forged, false).expect_err("forged")["code"], "baton_file_differs");
    }

    fn a_text_that_a_file_takes_away_is_named(w) {
        let id = task(w, "Ann", json!({ "title": "t", "notes": "words of Donna", "description": "d" }));
        let items = list(&w.ok(&agent("Setup"), "beads_export", json!({}))["items"]);
        let lines: Vec<Value> = items.iter().map(|one| json!({ "id": one["id"], "line": one["line"] })).collect();
        w.ok(&agent("Setup"), "beads_published", json!({ "lines": lines }));
        let mut row = line(w, &id);
        row.as_object_mut().expect("fields").remove("notes");
        row["description"] = json!("by hand");
        w.advance(5_000);
        row["updated_at"] = json!(baton_model::time::rfc3339(w.now));
        let imported = w.ok(&agent("Ann"), "beads_import", json!({ "lines": [row.to_string()] }));
        assert_eq!(w.ok(&agent("Ann"), "task_show", json!({ "id": id }))["notes"], Value::Null, "{imported:#}");
        assert_eq!(imported["emptied"], json!([{ "id": id, "field": "notes" }]));
        let is_noted = w.ledger().iter().any(|delta| {
            delta["body"]["replaced"]["notes"] == "words of Donna" && text(&delta["body"], "summary").contains("notes")
        });
        assert!(is_noted, "the ledger has it, and says which field");
    }

    fn what_another_holds_is_neither_held_back_nor_freed_nor_moved(w) {
        let held = task(w, "Donna", json!({ "title": "held" }));
        let (own, other) = (task(w, "Donna", json!({ "title": "own" })), task(w, "Eve", json!({ "title": "x" })));
        w.start(&agent("Donna"));
        w.ok(&agent("Donna"), "task_claim", json!({ "id": held }));
        w.ok(&agent("Donna"), "task_depend", json!({ "id": held, "on": own }));
        for input in [
            json!({ "id": held, "on": other }),
            json!({ "id": held, "on": other, "type": "parent-child" }),
            json!({ "id": held, "on": other, "type": "waits-for" }),
            json!({ "id": held, "on": own, "remove": true }),
        ] {
            w.no_trace(&agent("Eve"), "task_depend", input, "task_claimed");
        }
        w.no(&agent("Eve"), "task_create", json!({ "title": "y", "deps": [format!("blocks:{held}")] }), "task_claimed");
        // What decides nothing is free.
        w.ok(&agent("Eve"), "task_depend", json!({ "id": held, "on": other, "type": "related" }));
        w.ok(&agent("Eve"), "task_depend", json!({ "id": other, "on": held }));
        w.ok(&agent("Donna"), "task_depend", json!({ "id": held, "on": own, "remove": true }));
        w.ok(&agent("Donna"), "task_close", json!({ "id": held }));
    }

    fn what_an_ousted_agent_sends_reaches_whoever_has_its_work(w) {
        let begun = w.start(&agent("Donna"));
        w.checkpoint(&agent("Donna"), "half");
        let max = json!({ "session": begun["session_id"], "to": "Max", "wait": true, "why": "slow" });
        w.ok(&agent("Eve"), "session_reassign", max);
        let late = json!({ "summary": "LATE WRAP", "next": ["LATE NEXT"], "session": begun["session_id"] });
        w.no(&agent("Donna"), "session_wrap", late.clone(), "session_released");
        w.no(&agent("Donna"), "session_wrap", late, "session_released");
        let picked = w.pickup(&agent("Max"));
        let signals = list(&picked["pending_signals"]);
        assert_eq!(signals.len(), 1, "a retry sends nothing anew: {signals:#?}");
        assert!(text(&signals[0], "body").contains("LATE WRAP; next: LATE NEXT"), "{signals:#?}");
        let note = json!({ "text": "LATE NOTE", "session": begun["session_id"] });
        w.no(&agent("Donna"), "ledger_note", note, "session_released");
        let waiting = w.ok(&agent("Max"), "mail_inbox", json!({ "bodies": true }));
        assert!(waiting.to_string().contains("LATE NOTE"), "{waiting:#}");
        let recent = w.ok(&agent("Reader"), "ledger_list", json!({ "newest": true, "brief": true }));
        assert!(recent.to_string().contains("LATE NOTE"), "the log says it: {recent:#}");
    }
}
