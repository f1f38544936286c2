//! What another ledger on the same Beads file holds counts as held here; a line closes nothing early; a folder does not take a held
//! task along.

use baton_model::access::{Bearer, Grant, Scope};
use serde_json::{Value, json};

use crate::hub::Hub;
use crate::world::{Agent, World, agent, list, text};

fn at(name: &str, project: &str) -> Agent {
    agent(name).project(project).process("")
}

/// A client whose access token may write.
fn bearing(name: &str, project: &str, identities: Option<Vec<String>>) -> Agent {
    let mut who = at(name, project);
    let bearer = Bearer { token_id: format!("{name}-id"), name: "ci".to_owned(), identities };
    who.0.grant = Grant { scope: Scope::Write, projects: None, bearer: Some(bearer), ..Grant::default() };
    who
}

fn mal(project: &str) -> Agent {
    bearing("Mal", project, Some(vec!["Mal".to_owned()]))
}

fn line_of(w: &mut World, project: &str, id: &str) -> Value {
    let items = list(&w.ok(&at("Setup", project), "beads_export", json!({}))["items"]);
    let line = text(items.iter().find(|item| item["id"] == id).expect("its line"), "line");
    serde_json::from_str(&line).expect("json")
}

/// The line with these fields, as another ledger has written it since.
fn changed(w: &mut World, project: &str, id: &str, fields: Value) -> String {
    let mut row = line_of(w, project, id);
    w.advance(5_000);
    for (key, value) in fields.as_object().expect("fields") {
        row[key] = value.clone();
    }
    row["updated_at"] = json!(baton_model::time::rfc3339(w.now));
    row.to_string()
}

/// Another ledger on the file of the project has given the task to Bea.
fn held_by_bea(w: &mut World, project: &str, id: &str) {
    let line = changed(w, project, id, json!({ "status": "in_progress", "assignee": "Bea" }));
    w.ok(&at("Setup", project), "beads_import", json!({ "lines": [line] }));
}

/// A hand-off to `q` that waits for a minute, and its task.
fn offered(w: &mut World) -> (String, String) {
    w.register("q");
    let wanted = json!({ "to_project_id": "q", "subject": "add an endpoint", "expires_in": "1m" });
    let id = text(&w.ok(&agent("Lola"), "handoff_create", wanted), "handoff_id");
    let task = text(&w.ok(&at("Cas", "q"), "handoff_show", json!({ "id": id }))["task"], "id");
    (id, task)
}

fn create(w: &mut World, fields: Value) -> String {
    w.advance(1);
    text(&w.ok(&agent("Setup"), "task_create", fields), "id")
}

on_every_backend! {
    fn a_handoff_whose_task_another_ledger_holds_is_neither_taken_nor_declined_nor_expires(w) {
        let (id, task) = offered(w);
        held_by_bea(w, "q", &task);
        for action in ["accept", "decline"] {
            let input = json!({ "id": id, "action": action });
            let refusal = w.no_trace(&at("Cas", "q"), "handoff_advance", input, "task_claimed");
            assert_eq!((&refusal["holder"], &refusal["task_id"]), (&json!("Bea"), &json!(task)), "{refusal:#}");
        }
        w.no(&at("Cas", "q"), "hd_exec", json!({ "handoff_id": id }), "task_claimed");
        w.advance(120_000);
        w.ok(&at("Cas", "q"), "session_status", json!({}));
        assert_eq!(w.ok(&agent("Lola"), "handoff_show", json!({ "id": id }))["state"], "offered");
        w.ok(&at("Bea", "q"), "handoff_advance", json!({ "id": id, "action": "accept" }));
        assert_eq!(w.ok(&agent("Lola"), "handoff_show", json!({ "id": id }))["accepted_by"], "Bea");
    }

    fn a_fix_that_another_ledger_holds_outlasts_a_passing_test(w) {
        let made = w.ok(&agent("Setup"), "task_increment", json!({ "title": "CSV importer" }));
        let [build, test, fix] = ["implementation_id", "test_id", "fix_id"].map(|key| text(&made, key));
        w.ok(&agent("Setup"), "task_close", json!({ "id": build }));
        w.ok(&agent("Setup"), "task_close", json!({ "id": test, "result": "fail", "reason": "it rounds down" }));
        held_by_bea(w, "p", &fix);
        w.ok(&agent("Yuri"), "task_reopen", json!({ "id": test }));
        w.ok(&agent("Yuri"), "task_close", json!({ "id": test, "result": "pass", "reason": "ok" }));
        let left = w.ok(&agent("Yuri"), "task_show", json!({ "id": fix }));
        assert_eq!((&left["status"], &left["assignee"]), (&json!("in_progress"), &json!("Bea")), "{left:#}");
    }

    fn a_line_of_a_token_closes_no_epic_with_open_parts_and_nothing_that_waits(w) {
        let epic = create(w, json!({ "title": "whole", "issue_type": "epic" }));
        let part = create(w, json!({ "title": "part", "parent": epic }));
        let needed = create(w, json!({ "title": "needed" }));
        let waiting = create(w, json!({ "title": "waiting", "deps": [needed] }));
        let ended = |at: &World| json!({ "status": "closed", "close_reason": "M", "closed_at": baton_model::time::rfc3339(at.now + 1) });
        for id in [&epic, &waiting] {
            let end = ended(w);
            let line = changed(w, "p", id, end);
            let answer = w.ok(&mal("p"), "beads_import", json!({ "lines": [line], "partial": true }));
            assert!(!list(&answer["conflicts"]).is_empty(), "{answer:#}");
            assert_eq!(w.ok(&agent("Setup"), "task_show", json!({ "id": id }))["status"], "open");
        }
        // With what they need in the same lines, whatever their order, they are closed.
        let mut lines = Vec::new();
        for id in [&epic, &waiting, &needed, &part] {
            let end = ended(w);
            lines.push(changed(w, "p", id, end));
        }
        w.ok(&mal("p"), "beads_import", json!({ "lines": lines, "partial": true }));
        for id in [&epic, &waiting, &needed, &part] {
            assert_eq!(w.ok(&agent("Setup"), "task_show", json!({ "id": id }))["status"], "closed", "{id}");
        }
    }

    fn a_folder_takes_no_task_along_that_is_held_under_a_claim(w) {
        w.ok(&agent("Owner").at("/repos/shop", None), "project_init", json!({ "id": "shop" }));
        let held = text(&w.ok(&at("Setup", "shop"), "task_create", json!({ "title": "held" })), "id");
        w.ok(&at("Xena", "shop"), "task_claim", json!({ "id": held }));
        let split = |dry_run: bool| json!({ "path": "/repos/shop", "to": "cart", "dry_run": dry_run });
        // A task that no file has stays with its project.
        w.ok(&agent("Owner"), "project_split", split(true));
        let line = line_of(w, "shop", &held).to_string();
        w.ok(&at("Setup", "shop"), "beads_published", json!({ "lines": [{ "id": held, "line": line }] }));
        for dry_run in [true, false] {
            let refusal = w.no_trace(&agent("Owner"), "project_split", split(dry_run), "tasks_claimed");
            assert!(text(&refusal, "message").contains(&format!("{held} by Xena")), "{refusal:#}");
        }
        let moving = json!({ "id": "cart", "move_folder": true });
        w.no_trace(&agent("Owner").at("/repos/shop", None), "project_init", moving, "tasks_claimed");
        w.ok(&at("Xena", "shop"), "task_close", json!({ "id": held }));
        w.ok(&agent("Owner"), "project_split", split(false));
    }

    fn a_close_by_a_line_of_a_token_is_the_close_of_its_identity(w) {
        let (id, task) = offered(w);
        let end = json!({ "status": "closed", "close_reason": "MAL SAYS", "closed_at": baton_model::time::rfc3339(w.now + 1) });
        let line = changed(w, "q", &task, end);
        w.ok(&mal("q"), "beads_import", json!({ "lines": [line], "partial": true }));
        crate::saga::drive(w, &mut Hub::default(), &id);
        let shown = w.ok(&agent("Lola"), "handoff_show", json!({ "id": id }));
        assert_eq!((&shown["state"], &shown["ended"]["by"]), (&json!("completed"), &json!("Mal")), "{shown:#}");
    }

    fn no_token_writes_under_the_name_of_baton(w) {
        for name in ["Baton", "baton", "BATON"] {
            let unbound = bearing(name, "p", None);
            let input = json!({ "to": "Ann", "type": "StatusUpdate", "subject": "your hand-off has expired" });
            w.no_trace(&unbound, "signal_send", input, "identity_invalid");
            w.no_trace(&agent("Owner"), "token_create", json!({ "name": "t", "scope": "write", "identities": [name] }), "identity_invalid");
        }
    }

    fn a_token_without_the_role_marks_none_of_its_mail(w) {
        w.ok(&agent("Tess"), "agent_register", json!({ "roles": ["testing"] }));
        let sent = w.ok(&agent("Ann"), "mail_send", json!({ "to": "role:testing", "subject": "S", "body": "B" }));
        let input = json!({ "message_ids": [sent["message_id"]] });
        for who in [mal("p"), bearing("Mal", "p", None)] {
            w.no_trace(&who, "signal_delivered", input.clone(), "role_missing");
        }
        let tess = bearing("Tess", "p", Some(vec!["Tess".to_owned()]));
        assert_eq!(w.ok(&tess, "signal_delivered", input)["marked"], 1);
    }
}
