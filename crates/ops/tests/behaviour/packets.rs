//! What an agent is given with its claim.

use serde_json::{Value, json};

use crate::world::{World, agent, text};

fn packet(w: &mut World, by: &str, id: &Value) -> Value {
    w.advance(1);
    w.ok(&agent(by), "task_claim", json!({ "id": id }))["packet"].clone()
}

fn close(w: &mut World, by: &str, id: &Value, result: &str, context: Value) {
    w.ok(
        &agent(by),
        "task_close",
        json!({ "id": id, "result": result, "context": context, "reason": "as said" }),
    );
}

on_every_backend! {
    fn every_role_of_an_increment_is_told_what_is_to_be_built(w) {
        let input = json!({ "title": "CSV importer", "description": "Read rows from a file" });
        let made = w.ok(&agent("Ann"), "task_increment", input);
        let stages = [("implementation_id", "pass"), ("test_id", "fail"), ("fix_id", "pass"), ("test_id", "pass"), ("verify_id", "pass")];
        for (key, result) in stages {
            let given = packet(w, "Bo", &made[key]);
            let field = if key == "implementation_id" { "description" } else { "what_to_build" };
            assert_eq!(given[field], "Read rows from a file", "{key}: {given:#}");
            close(w, "Bo", &made[key], result, json!({}));
        }
        // A task with a description of its own says that.
        let other = w.ok(&agent("Ann"), "task_increment", input_of("B"));
        w.ok(&agent("Ann"), "task_update", json!({ "id": other["test_id"], "description": "Run it twice" }));
        close(w, "Ann", &other["implementation_id"], "pass", json!({}));
        let given = packet(w, "Bo", &other["test_id"]);
        assert_eq!((&given["description"], &given["what_to_build"]), (&json!("Run it twice"), &Value::Null));
    }

    fn every_role_of_an_increment_is_told_when_it_is_done(w) {
        let made = w.ok(&agent("Ann"), "task_increment", input_of("Login"));
        w.ok(&agent("Ann"), "task_update", json!({ "id": made["implementation_id"], "acceptance_criteria": "a wrong password is refused" }));
        let stages = [("implementation_id", "pass"), ("test_id", "fail"), ("fix_id", "pass"), ("test_id", "pass"), ("verify_id", "pass")];
        for (key, result) in stages {
            let given = packet(w, "Bo", &made[key]);
            assert_eq!(given["acceptance_criteria"], "a wrong password is refused", "{key}: {given:#}");
            for full in [false, true] {
                let shown = w.ok(&agent("Ann"), "task_show", json!({ "id": made[key], "full": full }));
                assert_eq!(shown["acceptance_criteria"], "a wrong password is refused", "{key}, {full}: {shown:#}");
            }
            close(w, "Bo", &made[key], result, json!({}));
        }
        // A task with criteria of its own says those.
        w.ok(&agent("Ann"), "task_update", json!({ "id": made["verify_id"], "acceptance_criteria": "approved by Cy" }));
        let shown = w.ok(&agent("Ann"), "task_show", json!({ "id": made["verify_id"] }));
        assert_eq!(shown["acceptance_criteria"], "approved by Cy", "{shown:#}");
    }

    fn what_passed_clears_what_an_attempt_before_it_left(w) {
        for (log_of_the_attempt, log_of_the_pass) in [(true, false), (true, true), (false, true)] {
            let made = w.ok(&agent("Ann"), "task_increment", input_of("Login"));
            close(w, "Bo", &made["implementation_id"], "pass", json!({}));
            packet(w, "Tess", &made["test_id"]);
            if log_of_the_attempt {
                let context = json!({ "error_logs": "panicked at connection refused" });
                w.ok(&agent("Tess"), "task_update", json!({ "id": made["test_id"], "agent_context": context, "merge": true }));
            }
            w.advance(1_000);
            w.ok(&agent("Tess"), "task_release", json!({ "id": made["test_id"], "why": "exit status: 9" }));
            let given = packet(w, "Tia", &made["test_id"]);
            assert_eq!(given["agent_context"]["error_logs"].is_string(), log_of_the_attempt, "it is told until then: {given:#}");
            w.advance(1_000);
            if log_of_the_pass {
                let context = json!({ "error_logs": "a warning" });
                w.ok(&agent("Tia"), "task_update", json!({ "id": made["test_id"], "agent_context": context, "merge": true }));
            }
            close(w, "Tia", &made["test_id"], "pass", json!({}));
            let given = packet(w, "Vera", &made["verify_id"]);
            let wanted = if log_of_the_pass { json!("a warning") } else { Value::Null };
            assert_eq!(given["agent_context"]["error_logs"], wanted, "{given:#}");
            close(w, "Vera", &made["verify_id"], "pass", json!({}));
        }
    }

    fn design_notes_and_comments_reach_the_agent_or_are_named(w) {
        let made = w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "agent_role": "implementation" }));
        w.ok(&agent("Ann"), "task_update", json!({ "id": made["id"], "design": "one pass", "notes": "mind the BOM" }));
        for comment in ["first", "second"] {
            w.ok(&agent("Cy"), "task_comment", json!({ "id": made["id"], "text": comment }));
        }
        let given = packet(w, "Bo", &made["id"]);
        assert_eq!((&given["design"], &given["notes"]), (&json!("one pass"), &json!("mind the BOM")), "{given:#}");
        assert_eq!(given["comments"], json!(["Cy: second", "Cy: first"]), "{given:#}");
        let long = w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "agent_role": "verification" }));
        w.ok(&agent("Ann"), "task_update", json!({ "id": long["id"], "design": "d".repeat(900), "notes": "n".repeat(950) }));
        let given = packet(w, "Bo", &long["id"]);
        assert_eq!(given["left_out"], json!(["rest of design", "notes"]), "{given:#}");
    }

    fn an_agent_is_told_why_the_attempts_before_failed(w) {
        let made = w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "agent_role": "implementation" }));
        for why in ["cannot reach db", "it took longer than 5 s"] {
            packet(w, "Bo", &made["id"]);
            w.ok(&agent("Bo"), "task_release", json!({ "id": made["id"], "why": why }));
        }
        let given = packet(w, "Cy", &made["id"]);
        let attempts = json!([{ "by": "Bo", "why": "it took longer than 5 s" }, { "by": "Bo", "why": "cannot reach db" }]);
        assert_eq!((&given["failed_attempts"], &given["attempts"]), (&attempts, &json!(2)), "{given:#}");
    }

    fn a_verification_that_begins_has_no_attempts_of_its_own(w) {
        let made = w.ok(&agent("Ann"), "task_increment", input_of("T"));
        for (key, result) in [("implementation_id", "pass"), ("test_id", "fail"), ("fix_id", "pass"), ("test_id", "pass")] {
            close(w, "Bo", &made[key], result, json!({}));
        }
        let given = packet(w, "Bo", &made["verify_id"]);
        assert_eq!((&given["attempts"], &given["agent_context"]["test_attempts"]), (&Value::Null, &json!(1)), "{given:#}");
    }

    fn contexts_of_an_increment_do_not_add_up_until_a_result_is_refused(w) {
        let made = w.ok(&agent("Ann"), "task_increment", input_of("T"));
        let field = |key: &str| json!({ key: key.repeat(1_500) });
        close(w, "Bo", &made["implementation_id"], "pass", field("log1"));
        close(w, "Bo", &made["test_id"], "fail", field("log2"));
        close(w, "Bo", &made["fix_id"], "pass", field("log3"));
        let fixed = w.ok(&agent("Ann"), "task_show", json!({ "id": made["fix_id"], "full": true }));
        let context = &fixed["agent_context"];
        assert_eq!(text(context, "log3").len(), 6_000, "{context:#}");
        let elsewhere = context["in_other_tasks"].as_object().expect("an object").clone();
        assert_eq!(elsewhere.len(), 1, "{elsewhere:?}");
        for (key, holder) in &elsewhere {
            let other = w.ok(&agent("Ann"), "task_show", json!({ "id": holder, "full": true }));
            assert_eq!(text(&other["agent_context"], key).len(), 6_000);
        }
        close(w, "Bo", &made["test_id"], "pass", field("log4"));
        close(w, "Bo", &made["verify_id"], "fail", field("log5"));
        // What an agent says itself is never cut.
        w.ok(&agent("Ann"), "task_update", json!({ "id": made["fix_id"], "status": "open" }));
        let input = json!({ "id": made["fix_id"], "result": "pass", "reason": "x", "context": { "log": "l".repeat(17_000) } });
        w.no_trace(&agent("Bo"), "task_close", input, "context_too_large");
    }
}

fn input_of(title: &str) -> Value {
    json!({ "title": title, "description": "all of it" })
}
