//! Agents: registered, listed, shown; their roles, the roles file, and batons that are meant for a role.

use serde_json::{Value, json};

use crate::world::{STALE, World, agent, column, list, text};

fn register(w: &mut World, name: &str, role: &str) -> Value {
    w.ok(&agent(name), "agent_register", json!({ "roles": [role] }))
}

fn names(w: &mut World, filter: Value) -> Vec<String> {
    column(&list(&w.ok(&agent("Reader"), "agent_list", filter)["items"]), "name")
}

/// A baton that waits for a role.
fn leave_for_role(w: &mut World, who: &str, role: &str) -> Value {
    w.start(&agent(who));
    w.ok(&agent(who), "session_wrap", json!({ "summary": "built", "role": role }))
}

on_every_backend! {
    fn a_registered_agent_is_shown_with_what_holds_for_it(w) {
        let input = json!({ "program": "codex", "model": "m-1", "roles": ["testing-specialist"], "skills": ["Rust"], "max_tasks": 3 });
        let tess = w.ok(&agent("Tess"), "agent_register", input);
        assert_eq!((&tess["name"], &tess["roles"], &tess["max_tasks"]), (&json!("Tess"), &json!(["testing"]), &json!(3)));
        assert_eq!(tess["skills"], json!(["rust", "testing", "validation", "qa", "automation"]));
        assert_eq!((&tess["max_session_duration"], &tess["state"]), (&json!(60), &json!("fresh")));
        let shown = w.ok(&agent("Rex"), "agent_show", json!({ "name": "TESS" }));
        for field in ["name", "program", "model", "roles", "skills", "max_tasks", "max_tasks_from"] {
            assert_eq!(shown[field], tess[field], "{field}");
        }
    }

    fn what_a_second_registration_leaves_out_stays(w) {
        w.ok(&agent("Tess"), "agent_register", json!({ "roles": ["testing"], "skills": ["rust"], "program": "codex" }));
        let again = w.ok(&agent("tess"), "agent_register", json!({ "skills": [], "program": "" }));
        assert_eq!((&again["name"], &again["roles"]), (&json!("Tess"), &json!(["testing"])));
        assert_eq!((&again["own_skills"], &again["program"]), (&json!([]), &Value::Null));
    }

    fn a_registration_is_a_delta_and_the_same_again_is_none(w) {
        register(w, "Tess", "testing");
        assert_eq!(w.newest("other")["body"]["agent"]["roles"], json!(["testing"]));
        let before = w.ledger().len();
        w.advance(1_000);
        register(w, "Tess", "testing");
        assert_eq!(w.ledger().len(), before);
        register(w, "Tess", "fixing");
        assert_eq!(w.ledger().len(), before + 1);
    }

    fn a_name_keeps_the_spelling_of_its_first_session(w) {
        w.start(&agent("BlueLake"));
        assert_eq!(register(w, "bluelake", "testing")["name"], "BlueLake");
    }

    fn agents_are_filtered_by_role_skill_and_freshness(w) {
        register(w, "Tess", "testing");
        w.ok(&agent("Finn"), "agent_register", json!({ "roles": ["fixing"], "skills": ["rust"] }));
        w.start(&agent("Lola"));
        assert_eq!(names(w, json!({})), ["Finn", "Tess"]);
        assert_eq!(names(w, json!({ "role": "testing-specialist" })), ["Tess"]);
        assert_eq!(names(w, json!({ "skill": "RUST" })), ["Finn"]);
        assert_eq!(names(w, json!({ "skill": "qa" })), ["Tess"]);
        assert_eq!(names(w, json!({ "all": true })), ["Finn", "Tess", "Lola"]);
        w.advance(STALE);
        assert_eq!(names(w, json!({ "fresh": true })), ["Finn", "Tess"], "the edge is still fresh");
        w.advance(1);
        w.start(&agent("Tess"));
        assert_eq!(names(w, json!({ "fresh": true })), ["Tess"], "a session counts as being heard of");
    }

    fn the_roles_file_wins_over_what_was_registered(w) {
        let file = "agent_roles:\n  testing-specialist:\n    max_concurrent_tasks: 2\n    max_session_duration: 45\n  docs:\n    skills: [writing]\n";
        w.machines.role_file = Some(file.to_owned());
        let tess = w.ok(&agent("Tess"), "agent_register", json!({ "roles": ["testing"], "max_tasks": 9 }));
        assert_eq!((&tess["max_tasks"], &tess["max_session_duration"]), (&json!(2), &json!(45)));
        assert_eq!(tess["warnings"][0]["kind"], "limit_overruled");
        assert_eq!(register(w, "Dora", "docs")["skills"], json!(["writing"]));
        let roles = w.ok(&agent("Rex"), "agent_roles", json!({}));
        assert_eq!(column(&list(&roles["items"]), "role"), ["docs", "fixing", "implementation", "testing", "verification"]);
        assert_eq!(roles["items"][3]["from"]["max_concurrent_tasks"], "AGENT_ROLES.yaml:3");
        assert_eq!(roles["items"][3]["from"]["skills"], "built in");
        w.machines.role_file = None;
        let free = w.ok(&agent("Rex"), "agent_show", json!({ "name": "Tess" }));
        assert_eq!(free["max_tasks"], 9, "the file is read anew every time");
    }

    fn a_slip_in_the_roles_file_is_told_and_nothing_is_written(w) {
        w.machines.role_file = Some("agent_roles:\n  testing:\n    skils: [a]\n".to_owned());
        let refusal = w.no_trace(&agent("Tess"), "agent_register", json!({ "roles": ["testing"] }), "roles_invalid");
        assert_eq!((&refusal["line"], &refusal["field"]), (&json!(3), &json!("agent_roles.testing.skils")));
    }

    fn an_agent_that_takes_no_tasks_for_now_is_given_none(w) {
        register(w, "Tess", "testing");
        w.ok(&agent("Ann"), "task_create", json!({ "title": "t", "agent_role": "testing" }));
        w.ok(&agent("Tess"), "agent_register", json!({ "max_tasks": 0 }));
        assert_eq!(list(&w.ok(&agent("Ann"), "task_route", json!({}))["items"]).len(), 0);
        w.ok(&agent("Tess"), "agent_register", json!({ "max_tasks": 1 }));
        let routed = w.ok(&agent("Ann"), "task_route", json!({}));
        assert_eq!(routed["items"][0]["agent"], "Tess");
    }

    fn a_task_is_not_offered_again_before_the_time_that_its_release_names(w) {
        let id = w.ok(&agent("Ann"), "task_create", json!({ "title": "t" }))["id"].clone();
        let claimed = w.ok(&agent("Tess"), "task_claim", json!({ "id": id }));
        let back = json!({ "id": id, "token": claimed["token"], "why": "it crashed", "retry_after_ms": 20_000 });
        w.ok(&agent("Tess"), "task_release", back);
        assert_eq!(list(&w.ok(&agent("Ann"), "task_ready", json!({}))["items"]).len(), 0);
        w.advance(19_000);
        assert_eq!(list(&w.ok(&agent("Ann"), "task_ready", json!({}))["items"]).len(), 0);
        w.advance(2_000);
        assert_eq!(list(&w.ok(&agent("Ann"), "task_ready", json!({}))["items"]).len(), 1);
    }

    fn a_malformed_registration_is_refused(w) {
        let tess = agent("Tess");
        let near = w.no_trace(&tess, "agent_register", json!({ "roles": ["tseting"] }), "role_unknown");
        assert_eq!(near["near"], json!(["testing"]));
        w.no_trace(&tess, "agent_register", json!({ "max_tasks": -1 }), "agent_invalid");
        w.no_trace(&tess, "agent_register", json!({ "skills": ["a\nb"] }), "label_invalid");
        w.no_trace(&agent("Bot"), "agent_register", json!({}), "agent_invalid");
        register(w, "Tess", "testing");
        let near = w.no(&tess, "agent_show", json!({ "name": "Tes" }), "agent_unknown");
        assert_eq!(near["near"], json!(["Tess"]));
    }

    fn a_baton_for_a_role_goes_to_an_agent_that_has_it_and_to_nobody_else(w) {
        let left = leave_for_role(w, "Lola", "testing");
        let nobody = w.pickup(&agent("Rex"));
        assert_eq!((&nobody["baton"], &nobody["warnings"][0]["kind"]), (&Value::Null, &json!("no_baton")));
        w.end(&agent("Rex"));
        register(w, "Finn", "fixing");
        assert_eq!(w.pickup(&agent("Finn"))["baton"], Value::Null);
        w.end(&agent("Finn"));
        w.ok(&agent("Tess"), "agent_register", json!({ "roles": ["Testing-Specialist"] }));
        let picked = w.pickup(&agent("Tess"));
        assert_eq!(picked["baton"]["delta_id"], left["delta_id"]);
    }

    fn a_wrap_for_a_role_that_nobody_can_have_says_so_and_is_kept(w) {
        w.start(&agent("Lola"));
        let wrapped = w.ok(&agent("Lola"), "session_wrap", json!({ "summary": "built", "role": "tseting", "packet": null }));
        let kinds = column(&list(&wrapped["warnings"]), "kind");
        assert!(kinds.contains(&"role_unknown".to_owned()), "{kinds:?}");
        w.start(&agent("Lola"));
        let wrapped = w.ok(&agent("Lola"), "session_wrap", json!({ "summary": "built", "role": "Testing-Specialist" }));
        assert!(!column(&list(&wrapped["warnings"]), "kind").contains(&"role_unknown".to_owned()));
    }

    fn the_file_s_name_of_a_role_and_its_short_one_are_the_same_role(w) {
        leave_for_role(w, "Lola", "testing-specialist");
        register(w, "Tess", "testing");
        assert_eq!(w.pickup(&agent("Tess"))["baton"]["summary"], "built");
    }

    fn an_export_carries_agents(w) {
        register(w, "Tess", "testing");
        let rows = list(&w.ok(&agent("Rex"), "ledger_export", json!({}))["items"]);
        assert!(rows.iter().any(|row| row.to_string().contains("\"agent\"") && row.to_string().contains("Tess")), "{rows:?}");
        assert_eq!(text(&w.ok(&agent("Rex"), "agent_show", json!({ "name": "Tess" })), "name"), "Tess");
    }

    fn a_limit_is_known_to_other_processes_of_the_agent_and_told_once_by_all(w) {
        let limit = |w: &mut World, who: &str, more: Value| {
            let mut input = json!({ "tool": "claude" });
            input.as_object_mut().expect("an object").extend(more.as_object().cloned().expect("an object"));
            let answer = w.ok(&agent(who), "agent_limit", input);
            (answer["until"].is_string(), answer["is_news"] == true)
        };
        let hour = json!({ "reached": true, "for_ms": 3_600_000 });
        assert_eq!(limit(w, "Tess", json!({})), (false, false));
        assert_eq!(limit(w, "Tess", hour.clone()), (true, true));
        w.advance(60_000);
        assert_eq!(limit(w, "Tess", json!({})), (true, false), "another process asks");
        assert_eq!(limit(w, "Vera", json!({})), (false, false), "another agent may have another account");
        assert_eq!(limit(w, "Vera", hour.clone()), (true, false), "the same limit is one letter");
        w.advance(3_600_000);
        assert_eq!(limit(w, "Tess", json!({})), (false, false), "it is over");
        assert_eq!(limit(w, "Tess", hour.clone()), (true, true), "the next one");
        assert_eq!(limit(w, "Tess", json!({ "over": true })), (false, false));
        assert_eq!(limit(w, "Tess", json!({})), (false, false));
        assert_eq!(limit(w, "Tess", json!({ "reached": true })), (false, true), "nobody says until when");
        assert_eq!(limit(w, "Tess", json!({ "reached": true })), (false, false));
        w.no(&agent("Tess"), "agent_limit", json!({}), "label_invalid");
    }
}
