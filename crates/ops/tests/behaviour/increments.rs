//! Increments: build, test, fix if need be, verify; and what an agent is given of each.

use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn ready(w: &mut World) -> Vec<String> {
    column(&list(&w.ok(&agent("Ann"), "task_ready", json!({}))["items"]), "agent_role")
}

fn close(w: &mut World, id: &Value, result: &str, context: Value) -> Value {
    w.advance(1);
    w.ok(
        &agent("Worker"),
        "task_close",
        json!({ "id": id, "result": result, "context": context, "reason": "as said" }),
    )
}

fn show(w: &mut World, id: &Value) -> Value {
    w.ok(&agent("Ann"), "task_show", json!({ "id": id, "full": true }))
}

/// The letters of an agent, whole.
fn mail_of(w: &mut World, who: &Agent) -> Vec<Value> {
    let items = list(&w.ok(who, "mail_inbox", json!({}))["items"]);
    items.iter().map(|mail| w.ok(who, "mail_read", json!({ "message_id": mail["message_id"] }))).collect()
}

/// An increment whose test is assigned to this tester, and what made it.
pub(crate) fn routed_to(w: &mut World, tester: &Agent) -> Value {
    w.ok(tester, "agent_register", json!({ "roles": ["testing"] }));
    w.start(tester);
    let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "Modes" }));
    w.ok(&agent("Ann"), "task_update", json!({ "id": made["test_id"], "specialist_tags": [] }));
    w.ok(&agent("Ann"), "task_close", json!({ "id": made["implementation_id"] }));
    let routed = w.ok(&agent("Ann"), "task_route", json!({}));
    assert_eq!(routed["items"][0]["agent"], "Tess", "{routed:#}");
    made
}

on_every_backend! {
    fn an_increment_that_goes_well_is_built_tested_and_verified(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "Detect the mode", "specialist_tags": ["rust"] }));
        let titles = column(&list(&made["items"]), "title");
        assert_eq!(titles, ["Detect the mode", "TEST: Detect the mode", "FIX (conditional): Detect the mode", "VERIFY: Detect the mode"]);
        let minutes: Vec<Value> = list(&made["items"]).iter().map(|t| t["estimated_duration"].clone()).collect();
        assert_eq!(minutes, [120, 30, 60, 15]);
        assert_eq!(ready(w), ["implementation"]);
        let context = json!({ "work_completed": "done", "files_modified": ["a.rs"], "test_command": "./t.sh" });
        let built = close(w, &made["implementation_id"], "pass", context.clone());
        assert_eq!(built["set_off"][0]["message"], "task_handoff");
        assert_eq!(ready(w), ["testing"]);
        let test = show(w, &made["test_id"]);
        assert_eq!((&test["agent_context"], &test["pending_message"], &test["previous_agent"]), (&context, &json!("task_handoff"), &json!("Worker")));
        close(w, &made["test_id"], "pass", json!({ "tests": 12 }));
        assert_eq!(ready(w), ["verification"]);
        let fix = show(w, &made["fix_id"]);
        assert_eq!((&fix["status"], &fix["close_reason"]), (&json!("closed"), &json!("not needed: the test passed")));
        assert_eq!(show(w, &made["verify_id"])["pending_message"], "verification_request");
        let next = w.ok(&agent("Ann"), "task_increment", json!({ "title": "Next", "after": made["verify_id"] }));
        assert_eq!(ready(w), ["verification"]);
        let verified = close(w, &made["verify_id"], "pass", json!({}));
        assert_eq!(verified["unblocked"], json!([next["implementation_id"]]));
    }

    fn a_failure_wakes_the_fix_and_the_fix_runs_the_test_again(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "T" }));
        let next = w.ok(&agent("Ann"), "task_increment", json!({ "title": "Next", "after": made["verify_id"] }));
        close(w, &made["implementation_id"], "pass", json!({ "work_completed": "x" }));
        close(w, &made["test_id"], "fail", json!({ "failure": "boom", "logs": "l" }));
        assert_eq!(ready(w), ["fixing"]);
        let fix = show(w, &made["fix_id"]);
        assert_eq!((&fix["pending_message"], &fix["attempts"], &fix["agent_context"]["logs"]), (&json!("test_failure_report"), &json!(1), &json!("l")));
        close(w, &made["fix_id"], "pass", json!({ "fixed": "y" }));
        assert_eq!(ready(w), ["testing"]);
        let test = show(w, &made["test_id"]);
        assert_eq!((&test["pending_message"], &test["status"], &test["attempts"]), (&json!("fix_complete"), &json!("open"), &json!(1)));
        close(w, &made["test_id"], "pass", json!({}));
        let rejected = close(w, &made["verify_id"], "fail", json!({ "why": "docs are missing" }));
        assert_eq!((rejected["unblocked"].clone(), rejected["set_off"][0]["act"].clone()), (json!([]), json!("wake")));
        assert_eq!(ready(w), ["fixing"], "the next increment waits for an approval, not for an end");
        close(w, &made["fix_id"], "pass", json!({}));
        close(w, &made["test_id"], "pass", json!({}));
        assert_eq!(ready(w), ["verification"]);
        let done = close(w, &made["verify_id"], "pass", json!({}));
        assert_eq!(done["unblocked"], json!([next["implementation_id"]]));
        let built = show(w, &made["implementation_id"]);
        assert_eq!(built["status"], "closed", "what was built is never opened again");
        assert_eq!(show(w, &made["fix_id"])["attempts"], 2);
    }

    fn the_words_of_a_reason_decide_where_they_are_unambiguous(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "T" }));
        close(w, &made["implementation_id"], "pass", json!({}));
        let failed = w.ok(&agent("Bob"), "task_update", json!({ "id": made["test_id"], "status": "closed", "close_reason": "2 tests failed" }));
        assert_eq!(failed["result"], "fail");
        assert_eq!(ready(w), ["fixing"]);
    }

    fn praise_that_names_no_errors_wakes_no_fix(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "T" }));
        close(w, &made["implementation_id"], "pass", json!({}));
        let passed = w.ok(&agent("Bob"), "task_close", json!({ "id": made["test_id"], "reason": "All 9 pass, no errors" }));
        assert_eq!((&passed["result"], &passed["set_off"][0]["act"]), (&json!("pass"), &json!("unneeded")));
        assert_eq!(ready(w), ["verification"]);
    }

    fn a_result_that_sets_something_off_is_asked_for_and_not_guessed(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "T" }));
        close(w, &made["implementation_id"], "pass", json!({}));
        for reason in [json!(null), json!("done"), json!("12 passed, 2 failed"), json!("Reviewed the error handling")] {
            let input = json!({ "id": made["test_id"], "reason": reason });
            let refusal = w.no_trace(&agent("Bob"), "task_close", input, "task_result_needed");
            let hint = text(&refusal, "hint");
            assert!(hint.contains("--result pass") && hint.contains("--result fail"), "{hint}");
        }
        let update = json!({ "id": made["test_id"], "status": "closed" });
        w.no_trace(&agent("Bob"), "task_update", update, "task_result_needed");
        assert_eq!(ready(w), ["testing"]);
        // Nothing follows from this one: it is closed as ever.
        let alone = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t" })), "id");
        assert_eq!(w.ok(&agent("Bob"), "task_close", json!({ "id": alone }))["result"], "pass");
    }

    fn context_that_comes_after_the_closing_reaches_the_tester(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "Modes", "acceptance_criteria": "both modes work" }));
        w.ok(&agent("Ann"), "task_close", json!({ "id": made["implementation_id"], "reason": "Implementation complete" }));
        assert_eq!(show(w, &made["test_id"])["agent_context"]["work_completed"], "Implementation complete");
        let context = json!({ "work_completed": "registration added", "files_modified": ["o.md:465-480"], "test_command": "./t.sh" });
        w.ok(&agent("Ann"), "task_update", json!({ "id": made["implementation_id"], "agent_context": context.clone() }));
        assert_eq!(show(w, &made["test_id"])["agent_context"], context);
        let claimed = w.ok(&agent("Tess"), "task_claim", json!({ "id": made["test_id"] }));
        assert_eq!(claimed["packet"]["agent_context"], context);
        // Who has begun is told, and what it has written itself stays.
        w.ok(&agent("Tess"), "task_update", json!({ "id": made["test_id"], "agent_context": { "test_command": "./mine.sh" }, "merge": true }));
        let more = json!({ "known_issues": ["slow"], "test_command": "./t.sh -v" });
        w.ok(&agent("Ann"), "task_update", json!({ "id": made["implementation_id"], "agent_context": more, "merge": true }));
        let test = show(w, &made["test_id"])["agent_context"].clone();
        assert_eq!((&test["known_issues"], &test["test_command"]), (&json!(["slow"]), &json!("./mine.sh")));
        let mail = mail_of(w, &agent("Tess")).iter().map(Value::to_string).collect::<String>();
        assert!(mail.contains("was added to after you began") && mail.contains("slow"), "{mail}");
    }

    fn a_message_that_went_out_before_the_words_came_goes_out_anew(w) {
        let tess = agent("Tess");
        let made = routed_to(w, &tess);
        let context = json!({ "work_completed": "registration added", "files_modified": ["o.md"] });
        w.ok(&agent("Ann"), "task_update", json!({ "id": made["implementation_id"], "agent_context": context }));
        let mail = mail_of(w, &tess);
        let handoffs = mail.iter().filter(|mail| mail["type"] == "task_handoff");
        let reports: Vec<&Value> = handoffs.map(|mail| &mail["content"]["context"]["work_completed"]).collect();
        assert_eq!(reports, [&json!("registration added")], "the first one, which nobody has read, is taken back");
    }

    fn what_passed_clears_what_failed_and_files_are_joined_with_who(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "Modes", "acceptance_criteria": "both modes work" }));
        let turn = |w: &mut World, who: &str, id: &Value, result: Value| {
            w.advance(1);
            w.ok(&agent(who), "task_claim", json!({ "id": id }));
            let mut input = result;
            input["id"] = id.clone();
            w.ok(&agent(who), "task_close", input);
        };
        let built = json!({ "work_completed": "two modes", "files_modified": ["a.rs"], "test_command": "./t.sh" });
        turn(w, "Ann", &made["implementation_id"], json!({ "result": "pass", "reason": "built", "context": built }));
        let logs = json!({ "logs": "E0308", "reproduction_steps": "run it" });
        turn(w, "Tess", &made["test_id"], json!({ "result": "fail", "reason": "2 of 9 tests failed", "context": logs }));
        let fix = show(w, &made["fix_id"])["agent_context"].clone();
        assert_eq!((&fix["failure"], &fix["logs"], &fix["files_modified"]), (&json!("2 of 9 tests failed"), &json!("E0308"), &json!([{ "path": "a.rs", "by": "Ann" }])));
        let fixed = json!({ "work_completed": "mode parsed", "files_modified": ["b.rs"] });
        turn(w, "Finn", &made["fix_id"], json!({ "result": "pass", "reason": "fixed", "context": fixed }));
        let test = show(w, &made["test_id"])["agent_context"].clone();
        assert_eq!((&test["work_completed"], &test["previous_failures"]), (&json!("mode parsed"), &json!(["2 of 9 tests failed"])));
        assert_eq!((&test["failure"], &test["logs"], &test["test_command"]), (&Value::Null, &Value::Null, &json!("./t.sh")));
        let files = json!([{ "path": "b.rs", "by": "Finn" }, { "path": "a.rs", "by": "Ann" }]);
        assert_eq!(test["files_modified"], files);
        turn(w, "Tess", &made["test_id"], json!({ "result": "pass", "reason": "All 9 pass" }));
        let packet = w.ok(&agent("Vera"), "task_claim", json!({ "id": made["verify_id"] }))["packet"].clone();
        let heard = &packet["agent_context"];
        assert_eq!(heard["summary"], "two modes; then fixed: mode parsed", "{packet:#}");
        assert_eq!((&heard["test_results"], &packet["attempts"], &heard["test_attempts"]), (&json!("All 9 pass"), &Value::Null, &json!(1)));
        assert_eq!((&packet["acceptance_criteria"], &heard["files_modified"]), (&json!("both modes work"), &files));
        assert_eq!(heard["failure"], Value::Null, "it passed");
        assert!(packet.to_string().len() <= 512);
    }

    fn what_does_not_fit_is_named_and_what_counts_for_the_approval_comes_first(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "Modes", "acceptance_criteria": "both modes work" }));
        let long = "x".repeat(400);
        let built = json!({ "work_completed": "two modes", "files_modified": ["a.rs"], "a": long, "b": long, "c": "c" });
        close(w, &made["implementation_id"], "pass", built);
        close(w, &made["test_id"], "pass", json!({}));
        let packet = w.ok(&agent("Vera"), "task_claim", json!({ "id": made["verify_id"] }))["packet"].clone();
        assert_eq!(packet["acceptance_criteria"], "both modes work");
        assert_eq!((&packet["agent_context"]["summary"], &packet["agent_context"]["files_modified"]), (&json!("two modes"), &json!(["a.rs"])));
        let left = packet["left_out"].to_string();
        assert!(left.contains("agent_context.a") && left.contains("agent_context.b"), "{packet:#}");
    }

    fn closing_twice_sets_nothing_off_twice(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "T" }));
        close(w, &made["implementation_id"], "pass", json!({}));
        close(w, &made["test_id"], "fail", json!({}));
        let before = (w.ledger(), show(w, &made["fix_id"]));
        w.ok(&agent("Zombie"), "task_close", json!({ "id": made["test_id"], "result": "fail" }));
        assert_eq!((w.ledger(), show(w, &made["fix_id"])), before);
        // Another result changes nothing either, and is kept as a comment.
        let refusal = w.no(&agent("Zombie"), "task_close", json!({ "id": made["test_id"], "result": "pass" }), "task_closed");
        assert!(!refusal["kept_comment_id"].is_null(), "{refusal:#}");
        assert_eq!(show(w, &made["fix_id"]), before.1);
    }

    fn an_agent_is_given_a_bounded_task_and_everything_only_when_it_asks(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "T", "description": "d".repeat(3_000) }));
        close(w, &made["implementation_id"], "pass", json!({ "work_completed": "w".repeat(9_000), "test_command": "./t.sh" }));
        let claimed = w.ok(&agent("Bob"), "task_claim", json!({ "id": made["test_id"] }));
        let packet = claimed["packet"].to_string();
        assert!(packet.len() <= 1024, "{} bytes", packet.len());
        assert_eq!(claimed["packet"]["agent_context"]["test_command"], "./t.sh");
        assert_ne!(claimed["packet"]["left_out"], Value::Null);
        let shown = w.ok(&agent("Bob"), "task_show", json!({ "id": made["test_id"] }));
        assert!(shown["agent_context"].to_string().len() < 1024 && shown["left_out"].is_array());
        assert_eq!(show(w, &made["test_id"])["agent_context"]["work_completed"].as_str().map(str::len), Some(9_000));
    }

    fn contexts_are_replaced_or_merged_and_never_cut(w) {
        let id = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "agent_context": { "a": 1, "b": { "c": 1 } } })), "id");
        let merge = json!({ "id": id, "agent_context": { "a": null, "b": { "d": 2 } }, "merge": true });
        assert_eq!(w.ok(&agent("Ann"), "task_update", merge)["agent_context"], json!({ "b": { "c": 1, "d": 2 } }));
        let replace = json!({ "id": id, "agent_context": { "z": 1 } });
        assert_eq!(w.ok(&agent("Ann"), "task_update", replace)["agent_context"], json!({ "z": 1 }));
        let large = json!({ "id": id, "agent_context": { "z": "x".repeat(17_000) } });
        w.no_trace(&agent("Ann"), "task_update", large, "context_too_large");
        let large = json!({ "id": id, "context": { "z": "x".repeat(17_000) } });
        w.no_trace(&agent("Ann"), "task_close", large, "context_too_large");
    }

    fn children_are_numbered_once_and_comments_are_kept_in_order(w) {
        let epic = text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "e", "issue_type": "epic", "id": ".factory-abc123" })), "id");
        let child = |w: &mut World, of: &str| text(&w.ok(&agent("Ann"), "task_create", json!({ "title": "c", "parent": of })), "id");
        let first = child(w, &epic);
        assert_eq!((first.as_str(), child(w, &epic).as_str()), (".factory-abc123.1", ".factory-abc123.2"));
        let deep = child(w, &first);
        let deeper = child(w, &deep);
        assert_eq!(deeper, ".factory-abc123.1.1.1");
        w.no_trace(&agent("Ann"), "task_create", json!({ "title": "c", "parent": deeper }), "task_too_deep");
        w.no_trace(&agent("Ann"), "task_create", json!({ "title": "c", "id": first }), "task_exists");
        w.ok(&agent("Ann"), "task_comment", json!({ "id": first, "text": "one" }));
        w.ok(&agent("Bob"), "task_comment", json!({ "id": first, "text": "two" }));
        let shown = show(w, &json!(first));
        assert_eq!(column(&list(&shown["comments"]), "author"), ["Ann", "Bob"]);
        assert_eq!(shown["dependents"][0]["id"], deep.as_str());
        assert_eq!(show(w, &json!(epic))["epic_total_children"], 2);
        let stats = w.ok(&agent("Ann"), "task_stats", json!({}))["summary"].clone();
        assert_eq!((stats["total_issues"].clone(), stats["ready_issues"].clone()), (json!(5), json!(5)));
    }

    fn the_board_shows_roles_in_the_order_of_the_work(w) {
        let made = w.ok(&agent("Ann"), "task_increment", json!({ "title": "T" }));
        w.ok(&agent("Ann"), "task_create", json!({ "title": "t" }));
        w.ok(&agent("Bob"), "task_claim", json!({ "id": made["implementation_id"] }));
        let rows = list(&w.ok(&agent("Ann"), "task_board", json!({}))["items"]);
        assert_eq!(column(&rows, "role"), ["implementation", "testing", "fixing", "verification", ""]);
        assert_eq!(rows[0]["in_progress"][0]["assignee"], "Bob");
        assert_eq!((rows[1]["counts"].clone(), rows[4]["ready"][0]["title"].clone()), (json!({ "blocked": 1 }), json!("t")));
    }
}
