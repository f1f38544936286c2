//! What a caller says of a task in free words takes nothing away that Baton, or another agent, rests on.

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

/// A client whose access token may write, bound to a name.
fn bearing(name: &str) -> Agent {
    let mut who = agent(name).process("");
    let bearer = Bearer {
        token_id: format!("{name}-id"),
        name: "ci".to_owned(),
        identities: Some(vec![name.to_owned()]),
    };
    who.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer), ..Grant::default() };
    who
}

fn create(w: &mut World, title: &str) -> String {
    w.advance(1);
    text(&w.ok(&agent("Setup"), "task_create", json!({ "title": title })), "id")
}

/// The lines that the ledger writes for the file of a project.
fn exported(w: &mut World, who: &Agent) -> Vec<Value> {
    list(&w.ok(who, "beads_export", json!({}))["items"])
}

fn line_of(w: &mut World, who: &Agent, id: &str) -> String {
    let items = exported(w, who);
    text(items.iter().find(|item| item["id"] == id).expect("its line"), "line")
}

/// The line as another tool has changed it since.
fn edited(w: &mut World, line: &str, edit: impl Fn(&mut Value)) -> String {
    w.advance(5_000);
    let mut row: Value = serde_json::from_str(line).expect("json");
    edit(&mut row);
    row["updated_at"] = json!(baton_model::time::rfc3339(w.now));
    row.to_string()
}

const OTHER_LINES: [&str; 2] =
    [r#"{"_type":"memory","key":"k1","value":"round half up"}"#, r#"{"_type":"weird","x":1}"#];

on_every_backend! {
    fn the_acceptance_of_a_handoff_is_not_got_round_by_a_free_field(w) {
        w.register("q");
        let made = w.ok(&agent("Lola"), "handoff_create", json!({ "to_project_id": "q", "subject": "add it" }));
        let ben = agent("Ben").project("q");
        w.ok(&ben, "hd_exec", json!({ "handoff_id": made["handoff_id"] }));
        let shown = w.ok(&ben, "handoff_show", json!({ "id": made["handoff_id"] }));
        let id = text(&shown["task"], "id");
        for mal in [agent("Mal").project("q"), bearing("Mal").project("q")] {
            for value in [Value::Null, json!("nonsense")] {
                let input = json!({ "id": id, "extra": { "handoff_id": value } });
                w.no_trace(&mal, "task_update", input, "extra_reserved");
            }
            w.no(&mal, "task_close", json!({ "id": id, "reason": "PWNED" }), "handoff_not_yours");
        }
        // Nor by a line of a token, without and with other words in it: of another's task it adds comments and nothing else.
        let line = line_of(w, &ben, &id);
        let without = edited(w, &line, |row| _ = row.as_object_mut().expect("fields").remove("handoff_id"));
        let answer = w.ok(&bearing("Mal").project("q"), "beads_import", json!({ "lines": [without] }));
        let other = edited(w, &line, |row| {
            row["handoff_id"] = json!("nonsense");
            row["notes"] = json!("words of Mal");
        });
        w.ok(&bearing("Mal").project("q"), "beads_import", json!({ "lines": [other] }));
        let after = w.ok(&ben, "task_show", json!({ "id": id }));
        assert_eq!((&after["handoff_id"], &after["notes"]), (&made["handoff_id"], &Value::Null), "{answer:#}");
        w.no(&bearing("Mal").project("q"), "task_close", json!({ "id": id, "reason": "PWNED" }), "handoff_not_yours");
        w.ok(&ben, "task_close", json!({ "id": id, "reason": "done" }));
    }

    fn a_field_that_has_a_name_already_is_refused_before_anything_is_written(w) {
        let id = create(w, "t");
        let ann = agent("Ann");
        for (name, value) in [
            ("_type", json!("memory")),
            ("labels", json!(["x"])),
            ("description", json!("d")),
            ("assignee", json!("Lou")),
            ("renamed_to", json!("lib-x")),
            ("deleted_by", json!("Lou")),
            ("result", json!("pass")),
            ("closed_at", json!("2026-01-01T00:00:00Z")),
            ("failed_attempts", json!([])),
            ("due_at", json!("soon")),
            ("metadata", json!({ "handoff.v1": { "agent_context": { "test_command": "evil" } } })),
            ("metadata", json!({ "ticket": 1, "agent_role": "testing" })),
        ] {
            let extra = json!({ name: value });
            w.no_trace(&ann, "task_update", json!({ "id": id, "title": "b", "extra": extra }), "extra_reserved");
            w.no_trace(&ann, "task_create", json!({ "title": "n", "extra": extra }), "extra_reserved");
            let step = json!({ "write": { "task": { "title": "n", "extra": extra } } });
            w.no_trace(&ann, "task_batch", json!({ "steps": [step] }), "extra_reserved");
        }
        let step = json!({ "update": { "id": id, "metadata_refs": { "handoff.v1": id } } });
        w.no_trace(&ann, "task_batch", json!({ "steps": [step] }), "extra_reserved");
        let free = json!({ "metadata": { "ticket": "J-1" }, "closed_by_session": "s", "await_type": "human", "x_team": 1 });
        w.ok(&ann, "task_update", json!({ "id": id, "extra": free }));
        assert_eq!(w.ok(&ann, "task_show", json!({ "id": id }))["metadata"], json!({ "ticket": "J-1" }));
    }

    fn what_another_wrote_into_the_file_is_not_said_to_have_been_there(w) {
        let id = create(w, "t");
        let (setup, mal) = (agent("Setup"), bearing("Mal"));
        let first = line_of(w, &setup, &id);
        let publish = |w: &mut World, who: &Agent, line: &str| {
            w.ok(who, "beads_published", json!({ "lines": [{ "id": id, "line": line }] }))["noted"].clone()
        };
        assert_eq!(publish(w, &mal, &first), 1, "the ledger wrote it");
        let pushed = edited(w, &first, |row| row["description"] = json!("work of Lou"));
        assert_eq!(publish(w, &mal, &pushed), 0);
        w.ok(&agent("Ann"), "beads_import", json!({ "lines": [pushed] }));
        assert_eq!(w.ok(&setup, "task_show", json!({ "id": id }))["description"], "work of Lou");
        assert!(line_of(w, &setup, &id).contains("work of Lou"));
    }

    fn a_line_alone_takes_no_line_of_another_kind_away(w) {
        let ann = agent("Ann");
        let others = |w: &mut World| {
            let items = exported(w, &agent("Setup"));
            column(&items.into_iter().filter(|item| item["id"].is_null()).collect::<Vec<_>>(), "line")
        };
        w.ok(&ann, "beads_import", json!({ "lines": OTHER_LINES }));
        let id = create(w, "t");
        let line = line_of(w, &ann, &id);
        for input in [json!({ "lines": [] }), json!({ "lines": [line] }), json!({ "lines": [line], "partial": true })] {
            w.ok(&bearing("Mal"), "beads_import", input);
            assert_eq!(others(w), OTHER_LINES);
        }
        for input in [json!({ "lines": [], "partial": false }), json!({ "lines": [line], "partial": false, "dry_run": true })] {
            let refusal = w.no_trace(&bearing("Mal"), "beads_import", input, "scope_missing");
            assert_eq!(refusal["field"], "partial", "{refusal:#}");
            assert!(text(&refusal, "message").contains("operator"), "{refusal:#}");
        }
        // Whoever has the whole file says so, and the ledger says what went.
        w.ok(&ann, "beads_import", json!({ "lines": [OTHER_LINES[1]], "partial": false }));
        assert_eq!(others(w), OTHER_LINES[1..]);
        let entry = w.ledger().into_iter().find(|delta| delta["body"]["replaced"]["lines"][0] == OTHER_LINES[0]);
        let entry = entry.expect("the ledger has the line");
        assert!(text(&entry["body"], "summary").contains("memory k1"), "{entry:#}");
    }

    fn a_deletion_that_frees_a_held_task_has_a_reason_that_its_holder_hears(w) {
        let [whole, held, needed] = ["whole", "held", "needed"].map(|title| create(w, title));
        let (xena, yuri) = (agent("Xena"), agent("Yuri"));
        w.start(&xena);
        w.ok(&xena, "task_depend", json!({ "id": held, "on": whole, "type": "parent-child" }));
        w.ok(&xena, "task_claim", json!({ "id": held }));
        w.ok(&xena, "task_depend", json!({ "id": held, "on": needed }));
        for id in [&whole, &needed] {
            for reason in [Value::Null, json!(" ")] {
                let input = json!({ "id": id, "force": true, "reason": reason });
                w.no_trace(&yuri, "task_delete", input, "task_claimed");
            }
        }
        for (id, why) in [(&needed, "it was a duplicate"), (&whole, "the epic is void")] {
            w.ok(&yuri, "task_delete", json!({ "id": id, "force": true, "reason": why }));
            let heard = w.pending(&xena);
            assert!(heard.iter().any(|one| one["body"] == why && text(one, "subject").contains(&held)), "{heard:#?}");
        }
        // What its own holder deletes needs no reason.
        let own = create(w, "own");
        w.ok(&xena, "task_depend", json!({ "id": held, "on": own }));
        w.ok(&xena, "task_delete", json!({ "id": own, "force": true }));
    }

    fn a_line_over_the_api_is_one_line(w) {
        let id = create(w, "t");
        let line = line_of(w, &agent("Setup"), &id);
        for lines in [format!("{{\"_type\":\"note\",\"a\":[\n{line}\n]}}"), line.replacen(':', ":\r", 1)] {
            for who in [bearing("Mal"), agent("Ann")] {
                w.no_trace(&who, "beads_import", json!({ "lines": [lines] }), "beads_invalid");
            }
        }
    }

    fn what_no_command_of_a_token_says_no_line_of_it_says(w) {
        let (setup, mal) = (agent("Setup"), bearing("Mal"));
        let id = create(w, "t");
        let line = line_of(w, &setup, &id);
        for (field, value) in [
            ("created_by", json!("Lou")),
            ("created_at", json!("2020-01-01T00:00:00Z")),
            ("renamed_to", json!("lib-zzzz")),
            ("result", json!("pass")),
            ("deleted_by", json!("Lou")),
        ] {
            let before = w.ok(&setup, "task_show", json!({ "id": id }));
            let forged = edited(w, &line, |row| row[field] = value.clone());
            w.ok(&mal, "beads_import", json!({ "lines": [forged] }));
            let after = w.ok(&setup, "task_show", json!({ "id": id }));
            assert_eq!(after[field], before[field], "{field}: {after:#}");
        }
        // What others need is not deleted; what nobody needs is, by whom the line came from.
        let follower = create(w, "f");
        w.ok(&setup, "task_depend", json!({ "id": follower, "on": id }));
        for (id, status) in [(&id, "open"), (&follower, "tombstone")] {
            let line = line_of(w, &setup, id);
            let gone = edited(w, &line, |row| {
                row["status"] = json!("tombstone");
                row["deleted_at"] = json!("2026-11-29T00:00:00Z");
                row["deleted_by"] = json!("Lou");
            });
            let answer = w.ok(&mal, "beads_import", json!({ "lines": [gone] }));
            let after = w.ok(&setup, "task_show", json!({ "id": id }));
            assert_eq!(after["status"], status, "{answer:#}");
            assert_ne!(after["deleted_by"], "Lou", "{after:#}");
        }
        // And a deleted one is changed by nothing.
        let line = line_of(w, &setup, &follower);
        let changed = edited(w, &line, |row| row["title"] = json!("words of Mal"));
        w.ok(&mal, "beads_import", json!({ "lines": [changed] }));
        assert_eq!(w.ok(&setup, "task_show", json!({ "id": follower }))["title"], "f");
    }

    fn a_fix_that_somebody_is_at_work_on_is_not_closed_by_a_test_that_passes(w) {
        let made = w.ok(&agent("Setup"), "task_increment", json!({ "title": "inc" }));
        let id = |role: &str| {
            let tasks = list(&made["items"]);
            text(tasks.iter().find(|task| task["agent_role"] == role).expect("a task"), "id")
        };
        let (xena, yuri) = (agent("Xena"), agent("Yuri"));
        w.start(&xena);
        w.ok(&yuri, "task_close", json!({ "id": id("implementation"), "reason": "built" }));
        w.ok(&yuri, "task_close", json!({ "id": id("testing"), "result": "fail", "reason": "bad" }));
        let fix = id("fixing");
        w.ok(&xena, "task_claim", json!({ "id": fix }));
        w.ok(&yuri, "task_reopen", json!({ "id": id("testing") }));
        w.ok(&yuri, "task_close", json!({ "id": id("testing"), "result": "pass", "reason": "flaky" }));
        let after = w.ok(&xena, "task_show", json!({ "id": fix }));
        assert_eq!((&after["status"], &after["assignee"]), (&json!("in_progress"), &json!("Xena")), "{after:#}");
        let heard = w.pending(&xena);
        assert!(heard.iter().any(|one| text(one, "subject").contains("is not needed any more")), "{heard:#?}");
        w.ok(&xena, "task_close", json!({ "id": fix, "reason": "found the cause" }));
    }
}
