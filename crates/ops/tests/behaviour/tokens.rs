//! Access tokens: what a bearer may do, where, and that nothing of another project comes out of any operation.

use std::collections::BTreeSet;

use baton_model::access::{Grant, Scope};
use baton_ops::all;
use baton_ops::op::{OperationEntry, Reach, TxMode};
use serde_json::{Map, Value, json};

use crate::world::{Agent, World, agent, column, list, text};

fn bearer(name: &str, scope: Scope, projects: &[&str]) -> Agent {
    let mut who = agent(name);
    let projects = Some(projects.iter().map(|p| (*p).to_owned()).collect());
    who.0.grant = Grant { scope, projects, bearer: None, ..Grant::default() };
    who
}

/// Stands in everything that project `q` holds.
const CANARY: &str = "canary7";

/// Project `q` with something of every kind; the ids that were given out on the way.
fn secret_project(w: &mut World) -> BTreeSet<String> {
    w.register("q");
    let owner = agent("Owner").project("q");
    let canary = |what: &str| format!("{CANARY} {what}");
    let mut answers = vec![w.ok(&owner, "session_start", json!({}))];
    answers.push(w.ok(
        &owner,
        "project_set",
        json!({ "phase": canary("phase"), "focus": [canary("focus")] }),
    ));
    answers.push(w.ok(
        &owner,
        "session_checkpoint",
        json!({ "summary": canary("state"), "state": { "k": canary("v") } }),
    ));
    answers.push(w.ok(&owner, "ledger_note", json!({ "text": canary("note") })));
    answers.push(w.ok(&owner, "task_create", json!({ "title": canary("task") })));
    answers.push(w.ok(
        &owner,
        "signal_send",
        json!({ "to": "Spy", "subject": canary("signal"), "body": "" }),
    ));
    answers.push(w.ok(
        &owner,
        "handoff_create",
        json!({ "to_project_id": "q", "subject": canary("handoff") }),
    ));
    answers.push(w.ok(&owner, "session_wrap", json!({ "summary": canary("wrap") })));
    let mut ids = BTreeSet::new();
    for answer in &answers {
        gather(answer, &mut ids);
    }
    ids.extend(["q".to_owned(), "Owner".to_owned()]);
    ids
}

pub(crate) fn gather(value: &Value, ids: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(id) if key == "id" || key.ends_with("_id") => _ = ids.insert(id.to_owned()),
                    _ => gather(value, ids),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| gather(item, ids)),
        _ => {}
    }
}

/// Inputs for an operation: every text argument takes one of these ids in turn, the required ones always something.
pub(crate) fn inputs(schema: &Value, ids: &BTreeSet<String>) -> Vec<Value> {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let filler = |name: &str| filled(schema, &properties[name]);
    let base: Map<String, Value> = required.iter().map(|name| ((*name).to_owned(), filler(name))).collect();
    let mut all = vec![Value::Object(base.clone())];
    for (name, property) in &properties {
        if !is_text(property) {
            continue;
        }
        for id in ids {
            let mut input = base.clone();
            input.insert(name.clone(), id.as_str().into());
            all.push(Value::Object(input.clone()));
            if properties.contains_key("project") && name != "project" {
                input.insert("project".into(), "q".into());
                all.push(Value::Object(input));
            }
        }
    }
    all
}

fn is_text(property: &Value) -> bool {
    match &property["type"] {
        Value::String(one) => one == "string",
        Value::Array(several) => several.iter().any(|one| one == "string"),
        _ => false,
    }
}

fn filled(schema: &Value, property: &Value) -> Value {
    if let Some(target) = property["$ref"].as_str() {
        return filled(schema, &schema["$defs"][target.trim_start_matches("#/$defs/")].clone());
    }
    if let Some(first) = property["enum"].as_array().and_then(|all| all.first()) {
        return first.clone();
    }
    if let Some(first) = property["oneOf"].as_array().and_then(|all| all.first()) {
        return first.get("const").cloned().unwrap_or_else(|| filled(schema, first));
    }
    match property["type"].as_str() {
        Some("integer") => 1.into(),
        Some("boolean") => false.into(),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => "x".into(),
    }
}

/// Calls an operation in every way and looks at what comes back.
fn spied(w: &mut World, spy: &Agent, entry: &OperationEntry, ids: &BTreeSet<String>) {
    for input in inputs(&(entry.input_schema)().to_value(), ids) {
        let sent = input.to_string();
        let result = match w.call(spy, entry.name, input) {
            Ok(answer) | Err(answer) => answer.to_string(),
        };
        assert!(!result.contains(CANARY), "{} {sent} gives {result}", entry.name);
    }
}

on_every_backend! {
    fn a_token_of_one_project_learns_of_no_commit_in_others(w) {
        w.register("q");
        let spy = bearer("Spy", Scope::Read, &["p"]);
        let heads = w.ok(&spy, "ledger_heads", json!({ "projects": ["p", "q"] }));
        assert_eq!(column(&list(&heads["items"]), "project_id"), ["p"]);
        assert!(heads.get("mark").is_none(), "it changes with every project: {heads}");
        let mark = w.ok(&agent("Owner"), "ledger_heads", json!({}))["mark"].clone();
        let guessed = w.ok(&spy, "ledger_heads", json!({ "marks": [mark.as_str().unwrap_or_default()] }));
        assert!(guessed.get("unchanged").is_none(), "{guessed}");
        assert_eq!(list(&guessed["items"]).len(), 1);
    }

    fn heads_of_very_many_projects_are_those_that_are_there_and_asked_for(w) {
        w.register("q");
        for count in [3, 300] {
            let mut named: Vec<String> = (0..count).map(|nth| format!("n{nth}")).collect();
            named.extend(["q".to_owned(), "q".to_owned()]);
            let heads = w.ok(&agent("Owner"), "ledger_heads", json!({ "projects": named }));
            assert_eq!(column(&list(&heads["items"]), "project_id"), ["q"], "{count}");
        }
    }

    fn the_project_that_goes_on_is_named_to_those_who_reach_it(w) {
        for name in ["a", "secret"] {
            w.register(name);
        }
        w.ok(&agent("Owner"), "project_merge", json!({ "from": "a", "into": "secret" }));
        let eve = bearer("Eve", Scope::Write, &["a"]).project("a");
        for (verb, input) in [("project_show", json!({ "project": "a" })), ("project_list", json!({}))] {
            let shown = w.ok(&eve, verb, input);
            assert!(!shown.to_string().contains("secret"), "{verb}: {shown:#}");
        }
        for (verb, input) in [
            ("task_create", json!({ "title": "new" })),
            ("session_start", json!({})),
            ("mail_send", json!({ "to": "Ann", "subject": "s", "body": "b" })),
            ("baton_reclaim", json!({ "baton_id": "x" })),
        ] {
            let refusal = w.call(&eve, verb, input).expect_err("merged");
            assert!(!refusal.to_string().contains("secret"), "{verb}: {refusal:#}");
        }
        for input in [json!({}), json!({ "brief": true }), json!({ "newest": true, "brief": true })] {
            let ledger = w.ok(&eve, "ledger_list", input);
            assert!(!ledger.to_string().contains("secret"), "{ledger:#}");
            assert!(ledger.to_string().contains("merged into another project"), "{ledger:#}");
        }
        for entry in all::ALL.iter().filter(|entry| entry.tx_mode == TxMode::Read) {
            let (Ok(answer) | Err(answer)) = w.call(&eve, entry.name, json!({}));
            assert!(!answer.to_string().contains("secret"), "{}: {answer:#}", entry.name);
        }
        // Byte for byte or not at all.
        w.no(&eve, "ledger_export", json!({}), "export_out_of_reach");
        w.no(&eve, "ledger_list", json!({ "chain": true }), "export_out_of_reach");
        let both = bearer("Eve", Scope::Write, &["a", "secret"]).project("a");
        assert!(w.ok(&both, "ledger_list", json!({ "brief": true })).to_string().contains("into project secret"));
        assert_eq!(w.ok(&both, "project_show", json!({ "project": "a" }))["merged_into"], "secret");
        assert_eq!(w.no(&both, "task_create", json!({ "title": "new" }), "project_merged")["project_id"], "secret");
    }

    fn no_preview_tells_a_token_the_repository_of_a_project_that_it_does_not_reach(w) {
        w.machines.github = true;
        w.register("q");
        w.ok(&agent("Owner").project("q"), "project_set", json!({ "issues_repo": "acme/hidden", "default_owner": "hiddenowner" }));
        let spy = bearer("Spy", Scope::Write, &["p"]);
        let mut previews = Vec::new();
        for to in ["q", "nowhere"] {
            let params = json!({ "to_project_id": to, "subject": "s", "dry_run": true });
            let preview = w.ok(&spy, "handoff_create", params).to_string();
            assert!(!preview.contains("hidden"), "{preview}");
            previews.push(preview.replace(to, "X"));
        }
        assert_eq!(previews[0], previews[1], "nor whether there is such a project");
        let named = json!({ "to_project_id": "q", "subject": "s", "dry_run": true, "issues_github_repo": "o/r" });
        assert_eq!(w.ok(&spy, "handoff_create", named)["resolved_issues_github_repo"], "o/r", "what it says itself");
        let both = bearer("Ann", Scope::Write, &["p", "q"]);
        let params = json!({ "to_project_id": "q", "subject": "s", "dry_run": true });
        assert_eq!(w.ok(&both, "handoff_create", params)["resolved_issues_github_repo"], "acme/hidden");
        // A refusal tells it no more than a preview does.
        w.machines.github = false;
        let refusal = w.no_trace(&spy, "handoff_create", json!({ "to_project_id": "q", "subject": "s" }), "tracker_unresolved");
        assert!(!refusal.to_string().contains("hidden"), "{refusal:#}");
        let local = w.ok(&spy, "handoff_create", json!({ "to_project_id": "q", "subject": "s", "local": true }));
        w.machines.github = true;
        for dry_run in [true, false] {
            let params = json!({ "id": local["handoff_id"], "dry_run": dry_run });
            let refusal = w.no_trace(&spy, "handoff_publish", params, "project_unknown");
            assert!(!refusal.to_string().contains("hidden"), "{refusal:#}");
        }
    }

    fn a_token_of_one_project_gets_nothing_of_another(w) {
        let ids = secret_project(w);
        for scope in Scope::ALL {
            let spy = bearer("Spy", scope, &["p"]);
            let owner = agent("Owner").project("q");
            let before = w.ok(&owner, "ledger_list", json!({}));
            // A hand-off into another project is the one thing that may come from outside: it is tried last.
            let (explicit, silent): (Vec<_>, Vec<_>) =
                all::ALL.iter().partition(|entry| entry.name == "handoff_create");
            for entry in silent.into_iter() {
                spied(w, &spy, entry, &ids);
            }
            let after = w.ok(&owner, "ledger_list", json!({}));
            assert_eq!(before["items"], after["items"], "{scope:?} wrote into another project");
            for entry in explicit {
                spied(w, &spy, entry, &ids);
            }
        }
    }

    fn a_reader_changes_nothing(w) {
        w.start(&agent("Lola"));
        let reader = bearer("Lola", Scope::Read, &["p"]);
        w.ok(&reader, "session_status", json!({}));
        for entry in all::ALL.iter().filter(|entry| entry.tx_mode == TxMode::Write) {
            let schema = (entry.input_schema)().to_value();
            let filler = inputs(&schema, &BTreeSet::new()).remove(0);
            w.no_trace(&reader, entry.name, filler, "scope_missing");
        }
    }

    fn a_reader_sees_a_baton_as_a_pickup_would_bring_it_and_takes_nothing(w) {
        let left = w.leave_baton(&agent("Lola"), "the cart");
        w.ok(&agent("Lola"), "signal_send", json!({ "to": "Dora", "subject": "schema", "body": "it moved" }));
        let readers = [bearer("Dora", Scope::Read, &["p"]), crate::bearers::bearing(agent("Dora").nameless(), "r", Scope::Read, None).project("p")];
        for reader in readers {
            let before = w.everything();
            let shown = w.ok(&reader, "hd_exec", json!({ "dry_run": true, "handoff_id": left["baton_id"] }));
            assert_eq!(shown["baton"]["delta_id"], left["baton_id"]);
            assert_eq!(w.everything(), before, "nothing is written");
            w.no_trace(&reader, "hd_exec", json!({ "handoff_id": left["baton_id"] }), "scope_missing");
            w.no_trace(&reader, "hd_exec", json!({ "dry_run": true, "force": true, "why": "w" }), "scope_missing");
        }
        let elsewhere = bearer("Dora", Scope::Read, &["q"]);
        let refusal = w.call(&elsewhere, "hd_exec", json!({ "dry_run": true, "handoff_id": left["baton_id"] })).expect_err("another project");
        assert!(!refusal.to_string().contains("the cart"), "{refusal:#}");
    }

    fn only_an_operator_takes_by_force(w) {
        w.start(&agent("Lola"));
        let elsewhere = |who: Agent| who.machine("m2");
        let input = json!({ "force": true, "why": "it hangs" });
        w.no_trace(&elsewhere(bearer("Lola", Scope::Write, &["p"])), "session_start", input.clone(), "scope_missing");
        w.ok(&elsewhere(bearer("Lola", Scope::Operator, &["p"])), "session_start", input);
    }

    fn what_belongs_to_no_project_is_not_for_a_projects_token(w) {
        let own = bearer("Lola", Scope::Operator, &["p"]);
        for entry in all::ALL.iter().filter(|entry| entry.reach != Reach::Project) {
            let schema = (entry.input_schema)().to_value();
            let filler = inputs(&schema, &BTreeSet::new()).remove(0);
            w.no_trace(&own, entry.name, filler, "token_of_project");
        }
    }

    fn a_token_opens_until_it_is_taken_back_or_ends(w) {
        let me = agent("Lola");
        assert_eq!(w.ok(&me, "token_check", json!({}))["needed"], false);
        let made = w.ok(&me, "token_create", json!({ "scope": "write", "projects": ["p"], "expires_in_s": 60 }));
        let secret = text(&made, "token");
        let checked = w.ok(&me, "token_check", json!({ "token": secret }));
        assert_eq!((&checked["needed"], &checked["scope"], &checked["projects"]), (&json!(true), &json!("write"), &json!(["p"])));
        w.no(&me, "token_check", json!({ "token": format!("{secret}0") }), "token_invalid");
        w.no(&me, "token_check", json!({ "token": "" }), "token_invalid");
        w.advance(60_000);
        w.no(&me, "token_check", json!({ "token": secret }), "token_invalid");
        let second = w.ok(&me, "token_create", json!({ "scope": "read" }));
        assert_eq!(w.ok(&me, "token_revoke", json!({ "id": second["token_id"] }))["revoked_before"], false);
        assert_eq!(w.ok(&me, "token_revoke", json!({ "id": second["token_id"] }))["revoked_before"], true);
        w.no(&me, "token_check", json!({ "token": second["token"] }), "token_invalid");
        assert_eq!(w.ok(&me, "token_check", json!({}))["needed"], true, "the last token's end lets nobody in");
        let listed = w.ok(&me, "token_list", json!({}));
        assert_eq!(listed["items"].as_array().map(Vec::len), Some(2));
        let shown = listed.to_string() + &w.everything().join("\n");
        assert!(!shown.contains(&secret), "the secret is kept nowhere");
    }

    fn a_token_is_revoked_by_its_name_where_one_has_it(w) {
        let me = agent("Lola");
        let create = |w: &mut World, name: &str, identity: &str| {
            w.ok(&me, "token_create", json!({ "scope": "write", "name": name, "identities": [identity] }))
        };
        let ben = create(w, "ben", "Ben");
        let revoked = w.ok(&me, "token_revoke", json!({ "id": "Ben" }));
        assert_eq!((&revoked["token_id"], &revoked["revoked_before"]), (&ben["token_id"], &json!(false)));
        assert_eq!(w.ok(&me, "token_revoke", json!({ "id": "ben" }))["revoked_before"], true);
        let again = create(w, "ben", "Ben");
        let revoked = w.ok(&me, "token_revoke", json!({ "id": "ben" }));
        assert_eq!(revoked["token_id"], again["token_id"], "the one that is valid");
        w.no_trace(&me, "token_revoke", json!({ "id": "ben" }), "id_ambiguous");
        create(w, "ci", "Ann");
        create(w, "ci", "Bob");
        w.no_trace(&me, "token_revoke", json!({ "id": "ci" }), "id_ambiguous");
        w.no_trace(&me, "token_revoke", json!({ "id": "nobody" }), "token_unknown");
    }

    fn a_token_that_makes_no_sense_is_not_made(w) {
        let me = agent("Lola");
        for (input, code) in [
            (json!({ "scope": "god" }), "scope_unknown"),
            (json!({ "scope": "read", "projects": ["nowhere"] }), "project_unknown"),
            (json!({ "scope": "read", "expires_in_s": 0 }), "expiry_invalid"),
            (json!({ "scope": "read", "name": "a\nb" }), "label_invalid"),
            (json!({ "scope": "read", "name": "a " }), "label_invalid"),
            (json!({ "scope": "read", "name": "a\u{200b}" }), "label_invalid"),
        ] {
            w.no_trace(&me, "token_create", input, code);
        }
    }

    fn tokens_that_act_by_their_name_have_names_of_their_own(w) {
        let me = agent("Lola");
        let ci = json!({ "scope": "write", "name": "ci" });
        let first = w.ok(&me, "token_create", ci.clone());
        w.no_trace(&me, "token_create", ci.clone(), "token_name_in_use");
        w.ok(&me, "token_create", json!({ "scope": "write", "name": "ci", "identities": ["Ann"] }));
        w.ok(&me, "token_revoke", json!({ "id": first["token_id"] }));
        w.ok(&me, "token_create", ci);
        let names: Vec<String> =
            (0..3).map(|_| text(&w.ok(&me, "token_create", json!({ "scope": "read" })), "name")).collect();
        assert_eq!(names, ["Lola", "Lola-2", "Lola-3"]);
    }

    fn a_key_is_answered_once_whatever_the_operation(w) {
        let me = agent("Lola");
        let entry = all::find("task_create").expect("an operation");
        let input = json!({ "title": "pay" });
        let first = w.once(&me, entry, input.clone(), "k1").expect("made");
        let again = w.once(&me, entry, input.clone(), "k1").expect("the same");
        assert_eq!(first, again);
        assert_eq!(w.ok(&me, "task_list", json!({}))["items"].as_array().map(Vec::len), Some(1));
        let other = w.once(&me, entry, json!({ "title": "refund" }), "k1").expect_err("another request");
        assert_eq!(other["code"], "request_mismatch");
        let refused = w.once(&me, entry, json!({ "title": "" }), "k2");
        assert!(refused.is_err(), "a task without a title");
        w.once(&me, entry, json!({ "title": "later" }), "k2").expect("a refusal keeps no key");
        let started = all::find("session_start").expect("an operation");
        let begun = w.once(&me, started, json!({}), "k3").expect("started");
        let same = w.once(&me, started, json!({}), "k3").expect("the same");
        assert_eq!(same["delta_id"], begun["delta_id"]);
    }

    fn a_key_is_answered_once_outside_of_projects_too(w) {
        let me = agent("Lola").nameless().at("/srv/shop", None);
        let init = all::find("project_init").expect("an operation");
        let input = json!({ "id": "shop" });
        let first = w.once(&me, init, input.clone(), "k1").expect("made");
        assert_eq!(first["created"], true);
        assert_eq!(w.once(&me, init, input, "k1").expect("the same"), first, "also what says that it was made");
        let other = w.once(&me, init, json!({ "id": "bank" }), "k1").expect_err("another request");
        assert_eq!(other["code"], "request_mismatch");
        // Where the operation needs a project, it is the one to say so.
        let note = all::find("ledger_note").expect("an operation");
        let refused = w.once(&agent("Lola").nameless(), note, json!({ "text": "hello" }), "k2").expect_err("nowhere");
        assert_eq!(refused["code"], "project_unresolved");
    }

    fn a_secret_that_is_shown_once_is_not_kept_for_a_retry(w) {
        let me = agent("Lola").nameless();
        let create = all::find("token_create").expect("an operation");
        let made = w.once(&me, create, json!({ "scope": "read" }), "k1").expect("made");
        let again = w.once(&me, create, json!({ "scope": "read" }), "k1").expect_err("shown once");
        assert_eq!((&again["code"], &again["token_id"]), (&json!("secret_shown_once"), &made["token_id"]));
        assert_eq!(w.ok(&me, "token_list", json!({}))["items"].as_array().map(Vec::len), Some(1));
        let stored = w.everything().join("\n");
        assert!(!stored.contains(&text(&made, "token")), "the secret is kept nowhere");
    }

    fn what_is_read_encrypted_is_not_kept_in_plain_text(w) {
        let tess = agent("Tess");
        w.ok(&tess, "agent_register", json!({}));
        w.ok(&tess, "key_create", json!({}));
        let sent = w.ok(&agent("Lola"), "mail_send", json!({ "to": "Tess", "subject": "s", "body": "canary9", "sensitive": true }));
        let read = all::find("mail_read").expect("an operation");
        let input = json!({ "message_id": sent["message_id"] });
        let answer = w.once(&tess, read, input.clone(), "k1").expect("read");
        assert!(answer.to_string().contains("canary9"), "{answer:#}");
        assert_eq!(w.once(&tess, read, input, "k1").expect("read again")["body"], answer["body"]);
        let stored: Vec<String> = w.everything().into_iter().filter(|row| row.starts_with("request:") && row.contains("mail_read")).collect();
        // What the request did is kept for a retry, and nothing of the message.
        let did = json!({ "taken": answer["taken"], "deliver": answer["deliver"] }).to_string();
        assert!(stored.len() == 1 && stored[0].contains(&format!("{did:?}")), "{stored:#?}");
        assert!(!w.everything().join("\n").contains("canary9"), "no row holds its text");
    }

    fn a_kept_answer_is_for_those_only_who_might_do_it_themselves(w) {
        let relate = all::find("project_set").expect("an operation");
        let input = json!({ "phase": "canary7" });
        w.once(&agent("Lola"), relate, input.clone(), "k1").expect("set");
        let reader = bearer("Lola", Scope::Read, &["p"]);
        assert_eq!(w.once(&reader, relate, input.clone(), "k1").expect_err("a reader")["code"], "scope_missing");
        let stranger = bearer("Lola", Scope::Operator, &["q"]);
        assert_eq!(w.once(&stranger, relate, input, "k1").expect_err("a stranger")["code"], "project_unknown");
    }

    fn a_call_that_comes_too_late_leaves_its_note_under_a_key_too(w) {
        let lola = agent("Lola");
        let own = w.start(&lola);
        w.ok(&lola, "session_wrap", json!({ "summary": "done" }));
        let save = all::find("session_checkpoint").expect("an operation");
        let late = lola.in_session(&own);
        let refused = w.once(&late, save, json!({ "summary": "one more thing" }), "k1").expect_err("released");
        assert_eq!(refused["code"], "session_released");
        let notes = w.deltas("note");
        assert!(notes.iter().any(|note| note.to_string().contains("one more thing")), "{notes:#?}");
    }

    fn answers_are_forgotten_after_a_day_and_ids_of_callers_never(w) {
        let me = agent("Lola");
        let create = all::find("task_create").expect("an operation");
        w.once(&me, create, json!({ "title": "pay" }), "k1").expect("made");
        let begun = w.ok(&me, "session_start", json!({ "request_id": "mine" }));
        w.advance(86_400_001);
        assert_eq!(baton_ops::idempotency::forget(&mut w.store, w.now).expect("forgotten"), 1);
        let again = w.ok(&me, "session_start", json!({ "request_id": "mine" }));
        assert_eq!(again["delta_id"], begun["delta_id"]);
    }
}
