//! What scripts and people read in the answers of `bd`, and plans of several issues.

use std::fs;

use serde_json::{Value, json};

use crate::beads_verbs::{bd, bd_json, made, titles};
use crate::stage::{Stage, Terminal, text};

fn dependencies(who: &Terminal<'_>, id: &str) -> Vec<(String, String)> {
    let shown = bd_json(who, &["show", id])[0].clone();
    let all = shown["dependencies"].as_array().cloned().unwrap_or_default();
    all.iter().map(|other| (text(other, "id"), text(other, "dependency_type"))).collect()
}

fn code(who: &Terminal<'_>, args: &[&str]) -> Value {
    let refusal = bd(who, &[args, &["--json"]].concat());
    assert_eq!(refusal.code, 1, "{args:?}: {}", refusal.out);
    refusal.json()["code"].clone()
}

fn count(who: &Terminal<'_>) -> Value {
    bd_json(who, &["count"])["count"].clone()
}

#[test]
fn what_gives_way_depends_on_what_stays_and_the_answer_is_that_of_beads() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let [old, new, double] = ["Old", "New", "Double"].map(|title| made(&ann, &[title]));
    let done = bd_json(&ann, &["supersede", &old, "--with", &new]);
    assert_eq!(
        done,
        json!({ "superseded": old, "replacement": new, "status": "closed", "schema_version": 1 })
    );
    assert_eq!(dependencies(&ann, &old), [(new.clone(), "supersedes".to_owned())]);
    assert_eq!(dependencies(&ann, &new), []);
    let shown = bd_json(&ann, &["show", &old])[0].clone();
    assert_eq!(
        (&shown["status"], text(&shown, "close_reason")),
        (&json!("closed"), format!("superseded by {new}"))
    );
    let waits = made(&ann, &["Waits", "--deps", &new]);
    assert_eq!(
        bd_json(&ann, &["duplicate", &waits, "--of", &new]),
        json!({ "duplicate": waits, "canonical": new, "status": "closed", "schema_version": 1 }),
        "what it waits for does not matter any more"
    );
    let output = bd(&ann, &["duplicate", &double, "--of", &new]).done().out;
    assert_eq!(output, format!("✓ Closed {double} as a duplicate of {new}\n"));
    assert_eq!(dependencies(&ann, &double), [(new, "duplicates".to_owned())]);
}

#[test]
fn an_issue_of_a_plan_waits_for_what_it_names() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let first = made(&ann, &["First"]);
    let plan =
        format!("## A\n### Dependencies\nblocks:{first}\n## B\n### Deps\n{first}, discovered-from:{first}\n");
    fs::write(stage.shop().join("plan.md"), plan).expect("written");
    let made_of_plan = bd_json(&ann, &["create", "-f", "plan.md"]);
    assert_eq!(dependencies(&ann, &text(&made_of_plan[0], "id")), [(first.clone(), "blocks".to_owned())]);
    assert_eq!(dependencies(&ann, &text(&made_of_plan[1], "id")).len(), 2);
    assert_eq!(titles(&bd_json(&ann, &["ready"])), ["First"]);
    let plan = json!({ "nodes": [
        { "key": "x", "title": "X", "deps": [{ "target": "y" }, { "target": first, "type": "related" }] },
        { "key": "y", "title": "Y" },
    ], "edges": [{ "from_key": "y", "to_id": first, "type": "blocks" }] });
    fs::write(stage.shop().join("plan.json"), plan.to_string()).expect("written");
    let ids = bd_json(&ann, &["create", "--graph", "plan.json"])["ids"].clone();
    assert_eq!(dependencies(&ann, &text(&ids, "y")), [(first.clone(), "blocks".to_owned())]);
    let of_x = dependencies(&ann, &text(&ids, "x"));
    assert_eq!(of_x, [(text(&ids, "y"), "blocks".to_owned()), (first, "related".to_owned())]);
}

#[test]
fn a_plan_with_a_fault_leaves_nothing_behind() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let [a, b] = ["A", "B"].map(|title| made(&ann, &[title]));
    let file = |name: &str, text: &str| fs::write(stage.shop().join(name), text).expect("written");
    let before = count(&ann);
    for (fault, expected) in [
        ("### Dependencies\nshop-none", "task_unknown"),
        ("### Labels\nfine,a\u{1}b", "label_invalid"),
        ("### Dependencies\n:", "dependency_invalid"),
    ] {
        file("plan.md", &format!("## First\nDo it.\n## Second\n{fault}\n"));
        assert_eq!(code(&ann, &["create", "-f", "plan.md"]), expected, "{fault}");
        assert_eq!(count(&ann), before, "{fault}: the first one is not there either");
    }
    file("plan.md", "## First\n## Second\n### Dependencies\nshop-none\n");
    let refusal = bd(&ann, &["create", "-f", "plan.md"]);
    assert!(refusal.err.contains("`## Second`: project shop has no task `shop-none`"), "{}", refusal.err);
    let nodes = json!([{ "key": "x", "title": "X" }, { "key": "y", "title": "Y" }]);
    for edges in [
        json!([{ "from_key": "x", "to_key": "y" }, { "from_key": "y", "to_key": "x" }]),
        json!([{ "from_key": "x", "to_id": "shop-none" }]),
        json!([{ "from_key": "x", "to_key": "y", "gate": "any-children" }]),
    ] {
        file("plan.json", &json!({ "nodes": nodes, "edges": edges }).to_string());
        let refusal = bd(&ann, &["create", "--graph", "plan.json"]);
        assert_eq!((refusal.code, count(&ann)), (1, before.clone()), "{edges}: {}", refusal.err);
    }
    file(
        "deps.jsonl",
        &format!("{{\"from\":\"{a}\",\"to\":\"{b}\"}}\n\n{{\"from\":\"{b}\",\"to\":\"{a}\"}}\n"),
    );
    let refusal = bd(&ann, &["dep", "add", "--file", "deps.jsonl"]);
    assert!(refusal.code == 1 && refusal.err.contains("line 3: "), "{}", refusal.err);
    assert_eq!(dependencies(&ann, &a), [], "the line before the cycle is not there either");
}

#[test]
fn what_a_plan_says_of_an_issue_is_kept_and_what_is_not_understood_is_named() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let node = json!({
        "key": "x", "title": "X", "design": "one pass", "acceptance_criteria": "it runs", "notes": "n", "estimate": 30,
        "external_ref": "gh-9", "status": "in_progress", "spec_id": "specs/x.md", "due_at": "2027-01-01T00:00:00Z", "pinned": false,
        "body": "lost", "metadata": { "team": "web" }, "labels": ["a"], "id": "shop-x",
    });
    let plan = json!({ "nodes": [node], "comment": "?" });
    fs::write(stage.shop().join("plan.json"), plan.to_string()).expect("written");
    let done = bd(&ann, &["create", "--graph", "plan.json"]).done();
    assert!(done.err.contains("`comment` of the plan, `body` of node `x`"), "{}", done.err);
    let shown = bd_json(&ann, &["show", "shop-x"])[0].clone();
    for (field, value) in [
        ("design", json!("one pass")),
        ("acceptance_criteria", json!("it runs")),
        ("notes", json!("n")),
        ("estimated_minutes", json!(30)),
        ("external_ref", json!("gh-9")),
        ("status", json!("in_progress")),
        ("spec_id", json!("specs/x.md")),
        ("due_at", json!("2027-01-01T00:00:00.000Z")),
        ("labels", json!(["a"])),
        ("pinned", Value::Null),
    ] {
        assert_eq!(shown[field], value, "{field}: {shown:#}");
    }
}

#[test]
fn an_explanation_counts_what_held_an_issue_back() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let epic = made(&ann, &["Whole", "-t", "epic"]);
    let [a, b] = ["A", "B"].map(|title| made(&ann, &[title]));
    let free =
        made(&ann, &["Free", "--parent", &epic, "--deps", &format!("related:{a},discovered-from:{b}")]);
    let freed = made(&ann, &["Freed", "--deps", &format!("{a},related:{b}")]);
    let held = made(&ann, &["Held", "--deps", &b]);
    bd(&ann, &["close", &a, "--reason", "Done"]).done();
    let why = bd_json(&ann, &["ready", "--explain"]);
    let reason = |id: &str| {
        let all = why["ready"].as_array().expect("a list");
        let row = all.iter().find(|row| row["id"] == id).expect("it is ready").clone();
        (text(&row, "reason"), row["resolved_blockers"].clone())
    };
    assert_eq!(reason(&free), ("it waits for nothing".to_owned(), json!([])));
    assert_eq!(reason(&freed), ("what it depends on is closed".to_owned(), json!([a])));
    let waiting = why["blocked"][0].clone();
    assert_eq!(
        (&waiting["id"], &waiting["blocked_by"], &waiting["blocked_by_count"]),
        (&json!(held), &json!([{ "id": b, "title": "B", "status": "open", "priority": 2 }]), &json!(1))
    );
    let output = bd(&ann, &["ready", "--explain"]).done().out;
    assert!(
        output.contains(&format!("waits for {b}")) && output.contains("it waits for nothing"),
        "{output}"
    );
}

#[test]
fn labels_and_memories_are_answered_in_the_shapes_of_beads() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let epic = made(&ann, &["Whole", "-t", "epic"]);
    let part = made(&ann, &["Part", "--parent", &epic]);
    let change =
        |status: &str, id: &str, label: &str| json!({ "status": status, "issue_id": id, "label": label });
    assert_eq!(
        bd_json(&ann, &["label", "add", &epic, &part, "web"]),
        json!([change("added", &epic, "web"), change("added", &part, "web")])
    );
    assert_eq!(bd_json(&ann, &["label", "remove", &part, "web"]), json!([change("removed", &part, "web")]));
    assert_eq!(
        bd_json(&ann, &["label", "propagate", &epic, "web"]),
        json!([change("propagated", &part, "web")])
    );
    assert_eq!(bd(&ann, &["label", "add", &part, "b"]).done().out, format!("✓ Added label b to {part}\n"));
    let stored = bd_json(&ann, &["remember", "Run the tests with -race"]);
    assert_eq!(
        stored,
        json!({ "key": "run-the-tests-with-race", "value": "Run the tests with -race", "action": "remembered", "schema_version": 1 })
    );
    assert_eq!(
        bd_json(&ann, &["remember", "Twice", "--key", "run-the-tests-with-race"])["action"],
        "updated"
    );
    let known =
        json!({ "key": "run-the-tests-with-race", "value": "Twice", "found": true, "schema_version": 1 });
    assert_eq!(bd_json(&ann, &["recall", "run-the-tests-with-race"]), known);
    assert_eq!(bd_json(&ann, &["remember", "run-the-tests-with-race"])["action"], "recalled");
    bd(&ann, &["kv", "set", "retries", "3"]).done();
    assert_eq!(bd_json(&ann, &["kv", "list"]), json!({ "retries": "3", "schema_version": 1 }));
    assert_eq!(bd_json(&ann, &["kv", "get", "retries"])["found"], true);
    assert_eq!(
        bd_json(&ann, &["memories"]),
        json!({ "run-the-tests-with-race": "Twice", "schema_version": 1 })
    );
    assert_eq!(
        bd_json(&ann, &["memories", "RACE"])["run-the-tests-with-race"],
        "Twice",
        "a word of the name"
    );
    let gone = bd_json(&ann, &["forget", "run-the-tests-with-race"]);
    assert_eq!(gone, json!({ "key": "run-the-tests-with-race", "deleted": "true", "schema_version": 1 }));
    let refusal = bd(&ann, &["recall", "nothing", "--json"]);
    let answer = refusal.json();
    assert_eq!(
        (refusal.code, &answer["found"], &answer["value"], &answer["code"]),
        (1, &json!(false), &json!(""), &json!("memory_unknown"))
    );
    assert_eq!(bd(&ann, &["forget", "nothing", "--json"]).json()["found"], "false");
}

#[test]
fn memories_of_the_file_are_listed_changed_and_kept() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    fs::write(stage.shop().join(".baton.toml"), "[tasks]\nmirror = true\n").expect("written");
    let path = stage.shop().join(".beads/issues.jsonl");
    fs::create_dir_all(stage.shop().join(".beads")).expect("made");
    let line = |key: &str, value: &str| {
        format!("{{\"_type\":\"memory\",\"key\":\"{key}\",\"value\":\"{value}\"}}\n")
    };
    fs::write(&path, format!("{}{}", line("race", "run with -race"), line("old", "obsolete")))
        .expect("written");
    let file = || fs::read_to_string(&path).expect("read");
    assert_eq!(bd_json(&ann, &["memories"])["race"], "run with -race");
    assert_eq!(bd_json(&ann, &["recall", "race"])["value"], "run with -race");
    assert!(bd(&ann, &["prime"]).done().out.contains("run with -race"));
    assert_eq!(bd_json(&ann, &["remember", "run it twice", "--key", "race"])["action"], "updated");
    bd(&ann, &["forget", "old"]).done();
    bd(&ann, &["create", "An issue"]).done();
    assert_eq!(
        (file().matches("_type\":\"memory").count(), file().contains(&line("race", "run it twice"))),
        (1, true),
        "{}",
        file()
    );
    assert_eq!(bd_json(&ann, &["memories"]), json!({ "race": "run it twice", "schema_version": 1 }));
    let export = bd(&ann, &["export"]).done().out;
    assert!(export.contains(&line("race", "run it twice")), "{export}");
}

#[test]
fn an_issue_is_moved_to_another_whole_and_out_of_it() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let [one, two, part] = ["One", "Two", "Part"].map(|title| made(&ann, &[title, "--parent", ""]));
    let parent = |id: &str| bd_json(&ann, &["show", id])[0]["parent"].clone();
    for (to, expected) in
        [(one.as_str(), json!(one)), (&two, json!(two)), ("", Value::Null), ("", Value::Null)]
    {
        bd(&ann, &["update", &part, "--parent", to]).done();
        assert_eq!(parent(&part), expected, "{to}");
    }
    let numbered = made(&ann, &["Numbered", "--parent", &one]);
    assert_eq!(code(&ann, &["update", &numbered, "--parent", "", "--title", "T"]), "task_parent_implied");
    assert_eq!(bd_json(&ann, &["show", &numbered])[0]["title"], "Numbered");
}

#[test]
fn quiet_before_or_behind_the_verb_leaves_errors_alone_and_no_reason_leaves_no_colon() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let [a, b, c] = ["A", "B", "C"].map(|title| made(&ann, &[title]));
    for args in [&["-q", "list"][..], &["list", "-q"], &["--quiet", "list"]] {
        assert_eq!(bd(&ann, args).done().out, "", "{args:?}");
    }
    for args in [&["-q", "close", &a, "shop-none"][..], &["close", &a, "shop-none-2", "-q"]] {
        let output = bd(&ann, args);
        assert!(output.err.contains("shop-none") && output.out.is_empty(), "{args:?}: {}", output.err);
    }
    assert_eq!(bd(&ann, &["close", &b]).done().out, format!("✓ Closed {b}\n"));
    assert_eq!(bd(&ann, &["close", &c, "--reason", "Fixed"]).done().out, format!("✓ Closed {c}: Fixed\n"));
    let help = bd(&ann, &["delete", "--help"]).done().out;
    assert!(help.contains("Accepted without effect: --hard"), "{help}");
    assert!(bd(&ann, &["dep", "tree", "--help"]).done().out.contains("--reverse"));
    assert_eq!(code(&ann, &["create", "N", "-t", "novel"]), "type_unknown");
    let slip = bd(&ann, &["create", "N", "-t", "novel"]);
    assert!(
        !slip.err.contains("baton task") && slip.err.contains("bd create TITLE --type novel --force"),
        "{}",
        slip.err
    );
    bd(&ann, &["create", "N", "-t", "novel", "--force"]).done();
}

#[test]
fn a_molecule_that_is_burned_is_deleted_and_counts_for_nothing() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let whole = made(&ann, &["Patrol", "-t", "epic"]);
    let part = made(&ann, &["Look", "--parent", &whole]);
    for args in [&["mol", "burn", &whole, "--dry-run"][..], &["mol", "burn", &part]] {
        assert_eq!(bd_json(&ann, args)["dry_run"], true, "{args:?}");
    }
    assert_eq!(bd_json(&ann, &["show", &part])[0]["status"], "open", "nothing went yet");
    let other = made(&ann, &["Waits"]);
    bd_json(&ann, &["dep", "add", &other, &whole]);
    assert_eq!(code(&ann, &["mol", "burn", &whole]), "task_needed", "what waits for it is named");
    let gone = bd_json(&ann, &["mol", "burn", &whole, "--force"]);
    assert_eq!((&gone["deleted_count"], &gone["orphaned_issues"]), (&json!(2), &json!([other])));
    assert_eq!(titles(&bd_json(&ann, &["list", "--all"])), ["Waits"]);
}

#[test]
fn init_means_the_folder_that_the_environment_names() {
    let stage = Stage::ready();
    let there = stage.root().join("there");
    fs::create_dir_all(&there).expect("a folder");
    let here = stage.root().join("here");
    fs::create_dir_all(&here).expect("a folder");
    let named = there.join(".beads").display().to_string();
    let ann = stage.terminal("Ann").within(&here).with("BEADS_DIR", &named);
    bd(&ann, &["init", "--prefix", "test", "--quiet"]).done();
    let id = made(&ann, &["One"]);
    assert!(id.starts_with("test-"), "{id}");
    let rows = stage.terminal("Ann").within(&there).json(&["task", "list"]);
    assert_eq!(rows["items"].as_array().map(Vec::len), Some(1), "{rows:#}");
}

#[test]
fn what_is_remembered_travels_in_an_export_that_asks_for_it() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    bd(&ann, &["remember", "Dates are UTC", "--key", "dates"]).done();
    bd(&ann, &["kv", "set", "port", "8080"]).done();
    let line = "{\"_type\":\"memory\",\"key\":\"dates\",\"value\":\"Dates are UTC\"}";
    assert!(!bd(&ann, &["export"]).done().out.contains("memory"));
    for flag in ["--include-memories", "--all"] {
        let out = bd(&ann, &["export", flag]).done().out;
        assert_eq!(
            out.lines().filter(|text| text.contains("\"memory\"")).collect::<Vec<_>>(),
            [line],
            "{flag}: {out}"
        );
    }
    let file = stage.root().join("all.jsonl").display().to_string();
    bd(&ann, &["export", "--include-memories", "-o", &file]).done();
    bd(&ann, &["forget", "dates"]).done();
    assert_ne!(bd(&ann, &["recall", "dates"]).code, 0);
    bd(&ann, &["import", &file]).done();
    assert_eq!(bd(&ann, &["recall", "dates"]).done().out.trim(), "Dates are UTC");
}
