//! A project that is renamed is found by its name, by its id and by every name that it had.

use baton_ops::op::TxMode;
use serde_json::{Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn rename(w: &mut World, project: &str, to: &str) -> Value {
    w.ok(&agent("Owner"), "project_rename", json!({ "project": project, "to": to }))
}

fn at(name: &str, project: &str) -> Agent {
    agent(name).project(project).process("")
}

/// A caller whose token reaches these projects alone.
fn bearer(name: &str, project: &str, reached: &[&str]) -> Agent {
    let mut caller = at(name, project);
    caller.0.grant.projects = Some(reached.iter().map(|id| (*id).to_owned()).collect());
    caller
}

on_every_backend! {
    fn work_in_flight_goes_on_under_the_old_name_and_the_new_one(w) {
        let donna = agent("Donna");
        w.start(&donna);
        w.ok(&donna, "session_checkpoint", json!({ "summary": "half" }));
        let renamed = rename(w, "p", "store");
        assert_eq!((&renamed["project_id"], &renamed["before"], &renamed["name"]), (&json!("p"), &json!("p"), &json!("store")));
        assert_eq!(renamed["undo"], "baton project rename p --to p");
        // Nobody needs to stop: the session of before goes on, by either word.
        w.ok(&donna, "session_checkpoint", json!({ "summary": "more" }));
        let by_name = donna.clone().project("store");
        assert_eq!(w.ok(&by_name, "session_checkpoint", json!({ "summary": "most" }))["project_id"], "p");
        let baton = w.ok(&by_name, "session_wrap", json!({ "summary": "the cart rounds" }));
        let got = w.pickup(&at("Lola", "store"));
        assert_eq!(got["baton"]["delta_id"], baton["baton_id"]);
        let card = w.ok(&at("Lola", "p"), "session_status", json!({}));
        assert_eq!((&card["project_id"], &card["project"]["name"]), (&json!("p"), &json!("store")));
        w.assert_sound();
    }

    fn every_name_leads_to_the_project_wherever_one_is_named(w) {
        w.register("lib");
        rename(w, "p", "store");
        rename(w, "store", "market");
        let far = at("Lola", "lib");
        for (name, subject) in [("p", "one"), ("store", "two"), ("market", "three")] {
            assert_eq!(w.ok(&far, "project_show", json!({ "project": name }))["project_id"], "p");
            let mail = json!({ "to": "Ann", "to_project": name, "subject": subject, "body": "b", "wait": true });
            w.ok(&far, "mail_send", mail);
            w.ok(&far, "project_relate", json!({ "to": name }));
            let input = json!({ "to_project_id": name, "subject": subject, "request_id": subject });
            let made = w.ok(&far, "handoff_create", input.clone());
            assert_eq!(made["to_project_id"], "p", "{made:#}");
            // The same request is answered once, although it names the project otherwise than the ledger does.
            assert_eq!(w.ok(&far, "handoff_create", input)["handoff_id"], made["handoff_id"]);
            let preview = w.ok(&far, "handoff_create", json!({ "to_project_id": name, "subject": "s", "dry_run": true }));
assert_eq!(preview["would_store_memory"]["project_id"], "p", "{preview:#}");
            let token = w.ok(&agent("Owner"), "token_create", json!({ "scope": "read", "name": subject, "projects": [name] }));
            assert_eq!(token["projects"], json!(["p"]), "{token:#}");
        }
        let mut subjects = column(&w.pending(&at("Ann", "market")), "subject");
        subjects.sort();
        assert_eq!(subjects, ["one", "three", "two"]);
        let shown = w.ok(&far, "project_show", json!({ "project": "p" }));
        assert_eq!((&shown["name"], &shown["names"]), (&json!("market"), &json!(["market", "store"])));
        assert_eq!(column(&list(&shown["related"]), "project_id"), ["lib"], "a name is no relation");
        let known = list(&w.ok(&far, "project_list", json!({}))["items"]);
        assert_eq!(column(&known, "project_id"), ["lib", "p"], "no project was made of a name");
        let merged = w.ok(&agent("Owner"), "project_merge", json!({ "from": "lib", "into": "store", "dry_run": true }));
        assert_eq!(merged["project_id"], "p");
        w.assert_sound();
    }

    fn every_reading_operation_answers_a_name_as_it_answers_the_id(w) {
        w.start(&agent("Donna"));
        w.ok(&agent("Donna"), "session_wrap", json!({ "summary": "the cart rounds" }));
        rename(w, "p", "store");
        let mut answered = 0;
        for entry in baton_ops::all::ALL.iter().filter(|entry| entry.tx_mode == TxMode::Read) {
            let (by_id, by_name) = (at("Lola", "p"), at("Lola", "store"));
            let expected = w.call(&by_id, entry.name, json!({}));
            assert_eq!(w.call(&by_name, entry.name, json!({})), expected, "{}", entry.name);
            answered += usize::from(expected.is_ok());
            let named = |name: &str| json!({ "project": name });
            let expected = w.call(&by_id, entry.name, named("p"));
            // An operation without such a field repeats what it was given.
            if expected.as_ref().err().is_none_or(|refusal| refusal["code"] != "input_invalid") {
                assert_eq!(w.call(&by_id, entry.name, named("store")), expected, "{}", entry.name);
            }
        }
        assert!(answered > 20, "only {answered} operations answer without arguments");
    }

    fn a_name_is_taken_once_and_never_from_another_project(w) {
        w.register("lib");
        rename(w, "p", "store");
        rename(w, "p", "market");
        let owner = agent("Owner");
        for (project, to, code) in [
            ("p", "lib", "project_taken"), ("lib", "p", "project_taken"), ("lib", "market", "project_taken"),
            ("lib", "store", "project_taken"), ("p", "market", "project_unchanged"), ("lib", "lib", "project_unchanged"),
            ("gone", "x1", "project_unknown"), ("p", "no name", "project_invalid"), ("p", "", "project_invalid"),
        ] {
            for dry_run in [true, false] {
                w.no_trace(&owner, "project_rename", json!({ "project": project, "to": to, "dry_run": dry_run }), code);
            }
        }
        for kind in ["project_name", "former_project_name"] {
            w.no_trace(&at("Lola", "lib"), "project_relate", json!({ "to": "p", "kind": kind }), "relation_invalid");
        }
        let before = w.everything();
        let preview = w.ok(&owner, "project_rename", json!({ "project": "p", "to": "fair", "dry_run": true }));
        assert_eq!((&preview["dry_run"], &preview["names"]), (&json!(true), &json!(["fair", "market", "p", "store"])));
        assert_eq!(w.everything(), before);
        // Back, by the id: the name stays an alias.
        rename(w, "market", "p");
        let shown = w.ok(&owner, "project_show", json!({ "project": "store" }));
        assert_eq!((&shown["project_id"], &shown["name"], &shown["names"]), (&json!("p"), &Value::Null, &json!(["market", "store"])));
        rename(w, "p", "store");
    }

    fn a_folder_is_registered_for_the_project_that_is_called_so(w) {
        rename(w, "p", "store");
        let here = |folder: &str| at("Ann", "p").at(folder, Some(folder)).nameless();
        let mut stranger = here("/repos/store");
        stranger.0.project = None;
        w.no_trace(&stranger, "project_init", json!({}), "project_taken");
        w.no_trace(&stranger, "project_init", json!({ "claimed": "store" }), "project_claimed");
        let joined = w.ok(&stranger, "project_init", json!({ "join": "store" }));
        assert_eq!((&joined["project_id"], &joined["created"]), (&json!("p"), &json!(false)));
        let mut other = here("/repos/other");
        other.0.project = None;
        w.no_trace(&other, "project_init", json!({ "id": "store" }), "project_taken");
        assert_eq!(w.ok(&other, "project_init", json!({ "join": "store" }))["project_id"], "p");
        assert_eq!(w.ok(&other, "project_init", json!({ "id": "store" }))["project_id"], "p");
        let mut third = here("/repos/third");
        third.0.project = None;
        w.ok(&third, "project_init", json!({}));
        let split = w.ok(&agent("Owner"), "project_split", json!({ "path": "/repos/third", "to": "store" }));
        assert_eq!(split["to"], "p");
        let known = list(&w.ok(&agent("Owner"), "project_list", json!({}))["items"]);
        assert_eq!(column(&known, "project_id"), ["p", "third"]);
    }

    fn a_name_tells_nothing_to_a_token_that_does_not_reach_the_project(w) {
        w.register("lib");
        rename(w, "p", "store");
        let inside = bearer("Ann", "store", &["p"]);
        assert_eq!(w.ok(&inside, "session_status", json!({}))["project_id"], "p");
        // A write under a key looks for the project before it runs.
        w.ok(&inside, "session_start", json!({}));
        for verb in ["session_checkpoint", "session_end"] {
            let entry = baton_ops::all::find(verb).expect("an operation");
            let input = if verb == "session_end" { json!({}) } else { json!({ "summary": "half" }) };
            let done = w.once(&inside, entry, input, verb).expect("done");
            assert_eq!(done["project_id"], "p");
        }
        let outside = bearer("Eve", "lib", &["lib"]);
        let refusal = w.no(&outside, "project_show", json!({ "project": "store" }), "project_unknown");
        assert_eq!(refusal["project_id"], "store", "{refusal:#}");
        assert!(!refusal.to_string().contains("`p`"), "{refusal:#}");
        w.no(&outside, "project_rename", json!({ "project": "lib", "to": "mine" }), "token_of_project");
    }

    fn a_request_is_the_same_under_the_new_name_of_its_project(w) {
        let entry = baton_ops::all::find("ledger_note").expect("an operation");
        let note = |project: &str| json!({ "project": project, "text": "only once" });
        let first = w.once(&agent("Ann"), entry, note("p"), "k-1").expect("noted");
        w.ok(&agent("Owner"), "project_rename", json!({ "project": "p", "to": "store" }));
        for name in ["store", "p"] {
            let again = w.once(&agent("Ann"), entry, note(name), "k-1").expect("answered");
            assert_eq!(again["delta_id"], first["delta_id"], "{name}: {again:#}");
        }
        assert_eq!(w.ledger_of("p").iter().filter(|entry| entry["kind"] == "note").count(), 1);
    }

    fn isolation_and_an_export_keep_a_projects_name(w) {
        w.register("lib");
        w.ok(&agent("Owner"), "project_relate", json!({ "project": "p", "to": "lib" }));
        rename(w, "p", "store");
        let mut owner = agent("Owner").at("/repos/p", Some("/repos/p"));
        owner.0.project = None;
        w.ok(&owner, "project_init", json!({ "id": "p", "isolated": true }));
        let shown = w.ok(&agent("Owner"), "project_show", json!({ "project": "store" }));
        assert_eq!((&shown["name"], list(&shown["related"]).len()), (&json!("store"), 0));
        let rows = list(&w.ok(&agent("Owner"), "ledger_export", json!({}))["items"]);
        let names = rows.iter().filter(|row| row["_type"] == "project_relation");
        assert_eq!(names.map(|row| text(row, "other_project_id")).collect::<Vec<_>>(), ["store"]);
    }
    fn a_slip_near_the_new_name_is_refused_and_makes_no_project(w) {
        w.register("api");
        rename(w, "api", "ledgers");
        let to = |name: &str| json!({ "to_project_id": name, "subject": "s" });
        let refusal = w.no_trace(&agent("Ann"), "handoff_create", to("ledger"), "target_unknown");
        assert_eq!(refusal["near"], json!(["ledgers"]), "{refusal:#}");
        let refusal = w.no(&agent("Ann"), "session_status", json!({ "project": "ledger" }), "project_unknown");
        assert_eq!(refusal["near"], json!(["ledgers"]), "{refusal:#}");
        let hidden = bearer("Ann", "p", &["p"]);
        let refusal = w.no(&hidden, "session_status", json!({ "project": "ledger" }), "project_unknown");
        assert_eq!((&refusal["near"], text(&refusal, "hint")), (&Value::Null, "this token sees: p".to_owned()));
        assert_eq!(w.ok(&agent("Ann"), "handoff_create", to("ledgers"))["to_project_id"], "api");
    }
}
