//! A baton that leaves as a file is picked up elsewhere, or here again; never at both ends with both knowing.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, list, text};

fn at(name: &str, project: &str) -> Agent {
    agent(name).project(project).process("")
}

fn export(w: &mut World) -> Value {
    w.ok(&agent("Ann"), "baton_export", json!({}))["baton"].clone()
}

/// What another ledger of the same project would do.
fn import(w: &mut World, baton: &Value) -> Value {
    w.ok(&agent("Ben").project("q"), "baton_import", json!({ "project": "q", "baton": baton }))
}

on_every_backend! {
    fn an_export_is_repeated_under_its_key(w) {
        let left = w.leave_baton(&agent("Ann"), "the cart rounds");
        let entry = baton_ops::all::find("baton_export").expect("an operation");
        let first = w.once(&agent("Ann"), entry, json!({}), "k-1").expect("exported");
        assert_eq!((&first["baton_id"], &first["exported_before"]), (&left["baton_id"], &json!(false)));
        let again = w.once(&agent("Ann"), entry, json!({}), "k-1").expect("the same");
        assert_eq!(again, first);
        let other = w.once(&agent("Ann"), entry, json!({}), "k-2").expect_err("another request");
        assert_eq!(other["code"], "baton_none");
    }

    fn what_left_as_a_file_is_picked_up_where_the_file_goes(w) {
        w.register("q");
        let left = w.leave_baton(&agent("Ann"), "half of the cart");
        let before = text(&w.ok(&agent("Ann"), "handoff_show", json!({ "id": left["baton_id"] })), "packet");
        let baton = export(w);
        assert_eq!((&baton["baton_id"], &baton["exported_by"]), (&left["baton_id"], &json!("Ann")));
        assert_eq!(baton["packet"], serde_json::from_str::<Value>(&before).expect("a packet"));
        let none = w.pickup(&agent("Lola"));
        assert_eq!(none["baton"], Value::Null);
        let reminded = list(&none["rules_reminders"]).into_iter().find(|one| one["kind"] == "exported_baton");
        assert!(reminded.is_some_and(|one| text(&one, "message").contains("Ann exported baton")), "{none:#}");
        w.no(&agent("Lola"), "hd_exec", json!({ "handoff_id": left["baton_id"] }), "baton_exported");
        w.no(&agent("Ann"), "baton_export", json!({}), "baton_none");
        w.start(&agent("Cid"));
        let addressed = w.ok(&agent("Cid"), "session_wrap", json!({ "summary": "s", "to": "Ben" }));
        let refused = w.no(&agent("Ann"), "baton_export", json!({}), "baton_none");
        let command = format!("`baton handoff export {} -o FILE`", &text(&addressed, "baton_id")[..13]);
        assert!(text(&refused, "hint").contains(&command), "{refused:#}");
        w.no(&agent("Ann"), "baton_export", json!({ "baton_id": left["baton_id"] }), "baton_exported");
        let again = w.ok(&agent("Ann"), "baton_export", json!({ "baton_id": left["baton_id"], "again": true }));
        assert_eq!((&again["exported_before"], &again["baton"]), (&json!(true), &baton));
        let imported = import(w, &baton);
        let picked = w.pickup(&at("Donna", "q"));
        assert_eq!((&picked["baton"]["delta_id"], &picked["baton"]["agent_identity"]), (&imported["baton_id"], &json!("Ann")));
        assert!(text(&picked["baton"], "body").contains("half of the cart"));
    }

    fn a_spent_baton_says_what_it_was_spent_by(w) {
        let reason = |w: &mut World, id: &Value| {
            let shown = w.ok(&agent("Ann"), "handoff_show", json!({ "id": id }));
            let alone = w.ok(&agent("Ann"), "baton_show", json!({ "id": id }));
            assert_eq!(shown["spent"], alone["spent"], "{shown:#}");
            shown["spent"].clone()
        };
        let left = w.leave_baton(&agent("Ann"), "half of the cart")["baton_id"].clone();
        assert_eq!(reason(w, &left), Value::Null);
        w.ok(&agent("Ann"), "baton_export", json!({}));
        let spent = reason(w, &left);
        assert_eq!((&spent["reason"], &spent["by"]), (&json!("exported"), &json!("Ann")));
        assert!(spent["at"].is_string(), "{spent:#}");
        w.ok(&agent("Ann"), "baton_reclaim", json!({ "baton_id": left }));
        assert_eq!(reason(w, &left), Value::Null);
        w.ok(&agent("Ann"), "baton_withdraw", json!({ "id": left }));
        let spent = reason(w, &left);
        assert_eq!((&spent["reason"], &spent["by"]), (&json!("withdrawn"), &json!("Ann")));
        let gone_on = w.leave_baton(&agent("Ann"), "more")["baton_id"].clone();
        w.pickup(&agent("Lola"));
        w.wrap(&agent("Lola"), "done");
        assert_eq!(reason(w, &gone_on)["reason"], "continued");
    }

    fn who_left_a_baton_that_was_withdrawn_is_told_so(w) {
        let own = w.start(&agent("Ann"));
        let left = w.wrap(&agent("Ann"), "half");
        w.ok(&agent("Ann"), "baton_withdraw", json!({ "id": left["baton_id"] }));
        let late = json!({ "summary": "x", "session": own["session_id"] });
        let refusal = w.no(&agent("Ann"), "session_checkpoint", late, "session_released");
        assert!(text(&refusal, "hint").contains("its baton was withdrawn"), "{refusal:#}");
    }

    fn the_export_counts_what_its_session_wrote_down_besides(w) {
        w.start(&agent("Ann"));
        w.ok(&agent("Ann"), "ledger_note", json!({ "text": "the till rounds down" }));
        w.ok(&agent("Ann"), "ledger_note", json!({ "text": "half of the \"cart\"" }));
        w.wrap(&agent("Ann"), "half of the \"cart\"");
        let exported = w.ok(&agent("Ann"), "baton_export", json!({ "dry_run": true }));
        assert_eq!(exported["kept_back"], json!({ "notes": 1, "decisions": 0 }), "{exported:#}");
        w.leave_baton(&agent("Cid"), "nothing besides");
        let input = json!({ "dry_run": true, "identity": "Cid" });
        let waits = list(&w.ok(&agent("Cid"), "baton_list", json!({}))["items"]);
        let id = waits.iter().find(|one| one["from"] == "Cid").expect("it waits")["baton_id"].clone();
        let mut input = input;
        input["baton_id"] = id;
        assert_eq!(w.ok(&agent("Cid"), "baton_export", input).get("kept_back"), None);
    }

    fn the_same_file_is_imported_once(w) {
        w.register("q");
        w.leave_baton(&agent("Ann"), "once");
        let baton = export(w);
        let first = import(w, &baton);
        let held = w.pickup(&at("Donna", "q"));
        let second = import(w, &baton);
        assert_eq!((&second["baton_id"], &second["imported_before"]), (&first["baton_id"], &json!(true)));
        assert!(text(&second, "progress").contains("Donna") && text(&second, "progress").ends_with("holds"), "{second:#}");
        assert_eq!(w.ledger_of("q").iter().filter(|entry| entry["kind"] == "wrap").count(), 1);
        w.ok(&at("Donna", "q"), "session_end", json!({ "session": held["session_id"] }));
        let third = import(w, &baton);
        assert_eq!(third.get("progress"), None, "it waits again: {third:#}");
    }

    fn the_same_file_is_imported_once_where_projects_were_merged(w) {
        for project in ["q", "r", "s"] {
            w.register(project);
        }
        w.leave_baton(&agent("Ann"), "once");
        let baton = export(w);
        import(w, &baton);
        let into = |w: &mut World, project: &str| {
            w.ok(&agent("Ben").project(project), "baton_import", json!({ "project": project, "baton": baton }))
        };
        for (from, to) in [("q", "r"), ("r", "s")] {
            w.ok(&agent("Owner"), "project_merge", json!({ "from": from, "into": to }));
            let again = into(w, to);
            assert_eq!(again["imported_before"], true, "{to}: {again:#}");
            let batons = w.ok(&agent("Ben").project(to), "baton_list", json!({ "project": to }));
            assert_eq!(list(&batons["items"]).len(), 1, "{to}: {batons:#}");
        }
        w.pickup(&at("Donna", "s"));
        w.ok(&at("Donna", "s"), "session_wrap", json!({ "summary": "done", "done": true }));
        let after = into(w, "s");
        assert_eq!(after["imported_before"], true, "{after:#}");
        assert!(after["progress"].is_string(), "{after:#}");
    }

    fn what_its_last_holder_saved_goes_along(w) {
        w.register("q");
        w.leave_baton(&agent("Ann"), "the cart rounds");
        let held = w.pickup(&agent("Hal"));
        w.ok(&agent("Hal"), "session_checkpoint", json!({ "summary": "half of it", "state": { "step": 7 } }));
        w.no(&agent("Ann"), "baton_export", json!({ "baton_id": held["baton"]["delta_id"] }), "baton_claimed");
        w.ok(&agent("Hal"), "ledger_note", json!({ "kind": "decision", "text": "round half up" }));
        w.ok(&agent("Hal"), "session_end", json!({ "session": held["session_id"] }));
        let baton = export(w);
        for word in ["the cart rounds", "half of it", "round half up"] {
            assert!(baton["packet"].to_string().contains(word), "{word} is gone: {baton:#}");
        }
        import(w, &baton);
        let body = text(&w.pickup(&at("Donna", "q"))["baton"], "body");
        assert!(body.contains("round half up") && body.contains("\"step\":7"), "{body}");
    }

    fn a_baton_that_is_taken_back_waits_here_again(w) {
        let left = w.leave_baton(&agent("Ann"), "back");
        w.no(&agent("Ann"), "baton_reclaim", json!({ "baton_id": left["baton_id"] }), "baton_not_exported");
        let baton = export(w);
        let refusal = w.no(&agent("Ann"), "baton_import", json!({ "baton": baton }), "baton_exported");
        assert!(text(&refusal, "hint").contains("baton handoff reclaim"));
        w.ok(&agent("Ann"), "baton_reclaim", json!({ "baton_id": left["baton_id"] }));
        w.no(&agent("Ann"), "baton_reclaim", json!({ "baton_id": left["baton_id"] }), "baton_not_exported");
        let known = w.ok(&agent("Ann"), "baton_import", json!({ "baton": baton }));
        assert_eq!((&known["imported_before"], &known["baton_id"]), (&json!(true), &left["baton_id"]));
        assert_eq!(w.pickup(&agent("Lola"))["baton"]["delta_id"], left["baton_id"]);
    }

    fn what_its_own_project_has_again_is_no_work_of_another(w) {
        w.register("q");
        let left = w.leave_baton(&agent("Ann"), "back");
        let baton = export(w);
        w.ok(&agent("Ann"), "baton_reclaim", json!({ "baton_id": left["baton_id"] }));
        let there = json!({ "project": "q", "baton": baton });
        let refusal = w.no_trace(&at("Ben", "q"), "baton_import", there.clone(), "baton_reclaimed");
        assert!(text(&refusal, "message").ends_with("which waits there"), "{refusal}");
        w.pickup(&agent("Lola"));
        w.ok(&agent("Lola"), "session_wrap", json!({ "summary": "and on" }));
        let refusal = w.no_trace(&at("Ben", "q"), "baton_import", there, "baton_reclaimed");
        assert!(text(&refusal, "message").contains("carried on"), "{refusal}");
    }

    fn the_sender_hears_of_the_pickup_with_the_file_that_comes_back(w) {
        w.register("q");
        let left = w.leave_baton(&agent("Ann"), "there");
        let baton = export(w);
        import(w, &baton);
        let donna = at("Donna", "q");
        w.pickup(&donna);
        w.ok(&donna, "session_wrap", json!({ "summary": "and back" }));
        let back = w.ok(&donna, "baton_export", json!({ "project": "q" }))["baton"].clone();
        assert_eq!((&back["receipts"][0]["baton_id"], &back["receipts"][0]["picked_up_by"]), (&left["baton_id"], &json!("Donna")));
        let home = agent("Ann");
        let heard = w.ok(&home, "baton_import", json!({ "project": "p", "baton": back }));
        assert_eq!(heard["receipts"][0]["picked_up_by"], "Donna");
        let twice = w.ok(&home, "baton_import", json!({ "project": "p", "baton": back }));
        assert_eq!((&twice["imported_before"], &twice["receipts"]), (&json!(true), &Value::Null));
        let refusal = w.no(&home, "hd_exec", json!({ "handoff_id": left["baton_id"] }), "baton_exported");
        assert!(text(&refusal, "message").contains("Donna picked it up there"), "{refusal}");
        assert_eq!(text(&w.pickup(&home)["baton"], "summary"), "and back");
    }

    fn a_baton_of_another_project_is_refused_unless_the_project_is_named(w) {
        w.register("q");
        w.leave_baton(&agent("Ann"), "stray");
        let baton = export(w);
        let there = at("Ben", "q");
        w.no_trace(&there, "baton_import", json!({ "baton": baton }), "baton_other_project");
        let mut damaged = baton.clone();
        damaged["identity"] = json!("../etc");
        assert!(w.call(&there, "baton_import", json!({ "project": "q", "baton": damaged })).is_err());
        let mut large = baton;
        large["packet"]["summary"] = json!("x".repeat(300 * 1024));
        w.no_trace(&there, "baton_import", json!({ "project": "q", "baton": large }), "packet_too_large");
    }

    fn work_that_goes_on_from_its_file_is_not_taken_back(w) {
        w.register("q");
        let left = w.leave_baton(&agent("Ann"), "there");
        let baton = export(w);
        let back = json!({ "baton_id": left["baton_id"] });
        import(w, &baton);
        let waits = w.no_trace(&agent("Ann"), "baton_reclaim", back.clone(), "baton_continued");
        assert!(text(&waits, "message").contains("project q imported it as baton"), "{waits}");
        let donna = at("Donna", "q");
        w.pickup(&donna);
        let held = w.no_trace(&agent("Ann"), "baton_reclaim", back.clone(), "baton_continued");
        assert!(text(&held, "message").contains("Donna"), "{held}");
        // The file that comes back makes a baton here: taken back, the first one would make a second holder.
        w.ok(&donna, "session_wrap", json!({ "summary": "and back" }));
        let returned = w.ok(&donna, "baton_export", json!({ "project": "q" }))["baton"].clone();
        let here = w.ok(&agent("Ann"), "baton_import", json!({ "project": "p", "baton": returned }));
        let refusal = w.no_trace(&agent("Ann"), "baton_reclaim", back.clone(), "baton_continued");
        assert!(text(&refusal, "message").contains("it came back as baton"), "{refusal}");
        assert!(text(&refusal, "hint").contains(&text(&here, "baton_id")), "{refusal}");
        // The first file once more is refused with the way on that is not refused.
        let again = w.no_trace(&agent("Ann"), "baton_import", json!({ "project": "p", "baton": baton }), "baton_continued");
        assert!(text(&again, "hint").contains(&text(&here, "baton_id")), "{again}");
        let forced = json!({ "baton_id": left["baton_id"], "force": true });
        w.no_trace(&agent("Ann"), "baton_reclaim", forced.clone(), "why_missing");
        let forced = json!({ "baton_id": left["baton_id"], "force": true, "why": "the other disk is lost" });
        let taken = w.ok(&agent("Ann"), "baton_reclaim", forced);
        assert_eq!(taken["picked_up_elsewhere"]["picked_up_by"], "Donna");
        assert_eq!(w.newest("other")["body"]["why"], "the other disk is lost");
    }

    fn a_packet_arrives_with_its_numbers_and_its_bytes(w) {
        w.register("q");
        let packet = r#"{ "summary": "s", "big": 12345678901234567890123, "pi": 3.14159265358979323846264, "far": 1e400 }"#;
        w.start(&agent("Ann"));
        w.ok(&agent("Ann"), "session_wrap", json!({ "packet_text": packet }));
        let baton = export(w);
        let mut other = baton.clone();
        other["packet"]["summary"] = json!("another");
        w.no_trace(&at("Ben", "q"), "baton_import", json!({ "project": "q", "baton": other }), "baton_file_invalid");
        import(w, &baton);
        let picked = w.pickup(&at("Donna", "q"));
        assert_eq!(text(&picked["baton"], "body"), packet);
        // A holder that does not wrap leaves them as they are, too.
        let donna = at("Donna", "q");
        w.ok(&donna, "session_reassign", json!({ "session": picked["session_id"], "to": "Rex", "wait": true }));
        let body = text(&w.pickup(&at("Rex", "q"))["baton"], "body");
        for number in ["12345678901234567890123", "3.14159265358979323846264", "1e400"] {
            assert!(body.contains(number), "{number} is gone: {body}");
        }
    }

    fn a_packet_that_was_accepted_leaves_whoever_held_it(w) {
        w.register("q");
        let packet = json!({ "summary": "s", "notes": "x".repeat(262_014 - 26) }).to_string();
        assert_eq!(packet.len(), 262_014);
        w.start(&agent("Ann"));
        w.ok(&agent("Ann"), "session_wrap", json!({ "packet_text": packet }));
        let held = w.pickup(&agent("Hal"));
        w.ok(&agent("Hal"), "ledger_note", json!({ "text": "half of it" }));
        w.ok(&agent("Hal"), "session_end", json!({ "session": held["session_id"] }));
        let baton = export(w);
        import(w, &baton);
        let donna = at("Donna", "q");
        let picked = w.pickup(&donna);
        assert!(text(&picked["baton"], "body").contains("half of it"));
        w.ok(&donna, "session_reassign", json!({ "session": picked["session_id"], "to": "Rex", "wait": true }));
        let body = text(&w.pickup(&at("Rex", "q"))["baton"], "body");
        assert!(body.contains("half of it") && body.contains(&"x".repeat(200_000)));
    }
}
