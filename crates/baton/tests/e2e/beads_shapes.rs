//! JSON of `bd` in the shapes that Beads gives it, and the lines of its manual that were neither done nor answered.

use std::fs;

use serde_json::{Value, json};

use crate::beads_verbs::{bd, bd_json, made, titles};
use crate::stage::{Answer, Stage, Terminal, text};

/// Says that these fields are there.
fn has(value: &Value, fields: &[&str]) {
    for field in fields {
        assert!(value.get(field).is_some(), "{field} is not in {value:#}");
    }
}

/// The code of a refusal, after it was one of use: with these words in its hint or sentence.
fn answered(who: &Terminal<'_>, args: &[&str], words: &str) -> Answer {
    let answer = bd(who, args);
    assert!(answer.code == 1 && answer.err.contains(words), "{args:?}: {answer:?}");
    answer
}

#[test]
fn an_epic_and_its_parts_are_answered_in_the_shapes_of_beads() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let epic = made(&ann, &["whole", "-t", "epic"]);
    let first = made(&ann, &["first", "--parent", &epic]);
    let second = made(&ann, &["second", "--parent", &epic, "--deps", &first]);
    let swarms = bd_json(&ann, &["swarm", "list"]);
    has(
        &swarms["swarms"][0],
        &["id", "title", "epic_id", "total_issues", "completed_issues", "progress_percent"],
    );
    let status = bd_json(&ann, &["swarm", "status", &epic]);
    has(&status, &["epic_id", "progress_percent", "active_count", "ready_count", "blocked_count"]);
    assert_eq!(
        (&status["ready"][0]["id"], &status["blocked"][0]["blocked_by"]),
        (&json!(first), &json!([first]))
    );
    let plan = bd_json(&ann, &["swarm", "validate", &epic]);
    assert_eq!(plan["ready_fronts"][1]["issues"], json!([second]), "{plan}");
    assert_eq!((&plan["max_parallelism"], &plan["swarmable"]), (&json!(1), &json!(true)), "{plan}");

    assert_eq!(bd_json(&ann, &["mol", "current"]), json!([]));
    bd_json(&ann, &["update", &first, "--claim"]);
    let current = bd_json(&ann, &["mol", "current"]);
    assert_eq!(current[0]["molecule_id"], json!(epic), "{current}");
    assert_eq!(current[0]["current_step"]["id"], json!(first), "{current}");
    has(&current[0], &["molecule_title", "steps", "completed", "total"]);
    let progress = bd_json(&ann, &["mol", "progress"]);
    assert_eq!((&progress["current_step_id"], &progress["total"]), (&json!(first), &json!(2)), "{progress}");
    has(&bd_json(&ann, &["mol", "show", &epic]), &["root", "issues"]);

    let graph = bd_json(&ann, &["graph", &epic]);
    has(&graph["layout"], &["Nodes", "Layers", "MaxLayer", "RootID"]);
    assert_eq!((&graph["root"]["id"], &graph["layout"]["RootID"]), (&json!(epic), &json!(epic)));
    has(&bd_json(&ann, &["graph", "--all"])[0], &["Root", "Issues", "Dependencies"]);
    assert_eq!(bd_json(&ann, &["graph", "check"])["summary"]["cycle_count"], 0);
    let tree = bd_json(&ann, &["dep", "tree", &second]);
    assert_eq!((&tree[0]["parent_id"], &tree[1]["parent_id"]), (&json!(""), &json!(second)), "{tree}");
    has(&tree[1], &["id", "title", "issue_type", "created_at", "depth", "truncated"]);

    bd(&ann, &["close", &first, "--reason", "done"]).done();
    bd(&ann, &["close", &second, "--reason", "done"]).done();
    made(&ann, &["waits", "--deps", &epic]);
    let stale = bd_json(&ann, &["mol", "stale", "--blocking", "--unassigned"]);
    assert_eq!(
        (&stale["total_count"], &stale["stale_molecules"][0]["blocking_count"]),
        (&json!(1), &json!(1))
    );
    let closed = bd_json(&ann, &["epic", "close-eligible", "--reason", "all done"]);
    assert_eq!((&closed["closed"], &closed["count"]), (&json!([epic]), &json!(1)), "{closed}");
    assert_eq!(bd_json(&ann, &["epic", "close-eligible"]), json!([]));
}

#[test]
fn duplicates_states_settings_and_hooks_are_answered_in_the_shapes_of_beads() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    assert_eq!(bd_json(&ann, &["duplicates"])["groups"], json!([]));
    let (first, second) = (made(&ann, &["same"]), made(&ann, &["same"]));
    let found = bd_json(&ann, &["duplicates"]);
    assert_eq!(found["duplicate_groups"], 1, "{found}");
    has(
        &found["groups"][0]["issues"][0],
        &["id", "title", "status", "priority", "weight", "is_merge_target"],
    );
    has(&found["groups"][0], &["suggested_target", "suggested_sources", "suggested_action", "note"]);
    let merged = bd_json(&ann, &["duplicates", "--auto-merge"]);
    has(&merged["merge_results"][0], &["target", "sources", "closed", "linked", "errors"]);
    let left = if merged["merge_results"][0]["target"] == json!(first) { first } else { second };

    let set = bd_json(&ann, &["set-state", &left, "mode=slow"]);
    assert_eq!(
        (&set["old_value"], &set["new_value"], &set["changed"]),
        (&Value::Null, &json!("slow"), &json!(true))
    );
    assert_eq!(bd_json(&ann, &["state", "list", &left])["states"], json!({ "mode": "slow" }));
    assert_eq!(bd_json(&ann, &["config", "list"])["issue_prefix"], json!("shop"));

    let hooks = bd_json(&ann, &["hooks", "list"]);
    has(&hooks["hooks"][0], &["Name", "Installed", "Version", "IsShim", "Outdated"]);
    let installed = bd_json(&ann, &["hooks", "install"]);
    assert_eq!(installed["success"], true, "{installed}");
    let text = bd(&ann, &["hooks", "install"]).done().out;
    assert!(text.contains("mirror = true") && text.contains("bd sync"), "{text}");
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let text = bd(&ann, &["hooks", "install"]).done().out;
    assert!(text.contains("every command keeps"), "{text}");
    has(
        &bd_json(&ann, &["gate", "check", "--limit", "5"]),
        &["checked", "resolved", "escalated", "errors", "dry_run"],
    );
}

#[test]
fn a_short_lived_issue_is_neither_in_the_file_nor_in_the_list_unless_it_is_asked_for() {
    let stage = Stage::ready();
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let ann = stage.terminal("Ann");
    let wisp = made(&ann, &["a check", "--ephemeral"]);
    made(&ann, &["work"]);
    let file = || fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("a file");
    assert!(!file().contains(&wisp) && file().contains("work"), "{}", file());
    assert_eq!(titles(&bd_json(&ann, &["list"])), ["work"]);
    assert_eq!(bd_json(&ann, &["count"])["count"], 1);
    assert_eq!(bd_json(&ann, &["list", "--include-ephemeral"]).as_array().map(Vec::len), Some(2));
    assert!(!bd(&ann, &["export"]).done().out.contains(&wisp));
    assert!(bd(&ann, &["export", "--all"]).done().out.contains(&wisp));
    let listed = bd_json(&ann, &["wisp", "list"]);
    assert_eq!((&listed["count"], &listed["wisps"][0]["id"]), (&json!(1), &json!(wisp)), "{listed}");
    has(&listed["wisps"][0], &["title", "status", "priority", "type", "created_at", "updated_at"]);
    // A permanent one is written; one that the file has stays there.
    bd(&ann, &["promote", &wisp]).done();
    assert!(file().contains(&wisp), "{}", file());
    let other = made(&ann, &["another check", "--ephemeral"]);
    let collected = bd(&ann, &["mol", "wisp", "gc"]).done();
    assert!(!collected.out.contains(&other), "{collected:?}");
    bd(&ann, &["close", &other, "--reason", "seen"]).done();
    assert!(bd(&ann, &["mol", "wisp", "gc", "--closed", "--force"]).done().out.contains(&other));
    assert_eq!(bd_json(&ann, &["wisp", "list", "--all"])["count"], 0);
    // What an open issue needs stays, and is named; --force takes it.
    let needed = made(&ann, &["must come first", "--ephemeral"]);
    made(&ann, &["waits for it", "--deps", &needed]);
    let collected = bd(&ann, &["mol", "wisp", "gc", "--age", "0s"]).done();
    assert!(collected.err.contains(&format!("{needed} stays")), "{collected:?}");
    assert_eq!(bd_json(&ann, &["wisp", "list"])["count"], 1);
    assert!(bd(&ann, &["mol", "wisp", "gc", "--age", "0s", "--force"]).done().out.contains(&needed));
}

/// A task that became a gate is still the task of its hand-off.
#[test]
fn a_gate_ends_nothing_that_another_has_accepted() {
    let stage = Stage::ready();
    crate::cross::beside(&stage);
    let lib = stage.root().join("lib");
    let made =
        stage.terminal("Ann").json(&["handoff", "create", "--to", "lib", "--subject", "add it", "--local"]);
    let id = text(&made, "handoff_id");
    let lou = stage.terminal("Lou").within(&lib);
    lou.json(&["pickup", "--handoff", &id]);
    let task = text(&lou.json(&["handoff", "show", &id])["task"], "id");
    let yuri = stage.terminal("Yuri").within(&lib);
    bd(&yuri, &["update", &task, "--type", "gate"]);
    for args in [&["gate", "resolve", &task, "--reason", "words of Yuri"][..], &["gate", "check"]] {
        let done = bd(&yuri, args);
        assert_eq!(lou.json(&["handoff", "show", &id])["state"], "accepted", "{args:?}: {done:?}");
    }
}

#[test]
fn a_line_of_the_manual_is_done_or_answered_with_what_to_use() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let id = made(&ann, &["ask the owner", "-l", "human"]);
    let other = made(&ann, &["ask again", "-l", "human"]);
    assert_eq!(bd_json(&ann, &["human", "list"]).as_array().map(Vec::len), Some(2));
    bd(&ann, &["human", "respond", &id, "use the new one"]).done();
    bd(&ann, &["human", "dismiss", &other, "no longer"]).done();
    let figures = bd_json(&ann, &["human", "stats"]);
    assert_eq!((&figures["responded"], &figures["dismissed"]), (&json!(1), &json!(1)), "{figures}");
    assert_eq!(bd_json(&ann, &["show", &id])[0]["comments"][0]["text"], "Response: use the new one");
    bd(&ann, &["--allow-stale", "list"]).done();
    bd(&ann, &["ready", "--allow-stale"]).done();

    let mine = made(&ann, &["mine"]);
    bd_json(&ann, &["update", &mine, "--claim"]);
    answered(&ann, &["update", "--priority", "1"], &mine);
    answered(&ann, &["close"], &mine);
    answered(&ann, &["export", "--scrub"], "bd doctor --check pollution");
    answered(&ann, &["show", &mine, "--thread"], "bd comments");
    answered(&ann, &["orphans", "--fix"], "bd close");
}

#[test]
fn types_and_statuses_of_a_project_lead_somewhere() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    answered(&ann, &["create", "a", "-t", "saga"], "saga");
    bd(&ann, &["config", "set", "types.custom", "saga, opera"]).done();
    assert_eq!(bd_json(&ann, &["config", "get", "types.custom"])["value"], "saga, opera");
    made(&ann, &["a", "-t", "saga"]);
    answered(&ann, &["create", "b", "-t", "sega"], "sega");
    assert!(!bd(&ann, &["memories"]).done().out.contains("saga"));
    bd(&ann, &["config", "unset", "types.custom"]).done();
    answered(&ann, &["config", "set", "status.custom", "in_review"], "bd set-state ID stage=in_review");
    let id = made(&ann, &["c"]);
    answered(&ann, &["update", &id, "--status", "in_review"], "bd set-state ID stage=in_review");
}

#[test]
fn as_many_are_blocked_in_the_figures_as_in_the_list() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let needed = made(&ann, &["needed"]);
    let ids = ["open", "deferred", "pinned"].map(|status| {
        let id = made(&ann, &[status, "--deps", &needed]);
        bd(&ann, &["update", &id, "--status", status]).done();
        id
    });
    let listed = bd_json(&ann, &["blocked"]).as_array().map(Vec::len);
    let counted = bd_json(&ann, &["stats"])["summary"]["blocked_issues"].as_u64();
    assert_eq!(listed.map(|count| count as u64), counted, "{ids:?}");
}

#[test]
fn a_memory_is_found_behind_a_hundred_newer_ones() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    bd(&ann, &["remember", "the oldest of all", "--key", "oldest"]).done();
    for number in 0..210 {
        ann.run(&["memory", "add", &format!("fact number {number}")]).done();
    }
    assert_eq!(bd_json(&ann, &["recall", "oldest"])["value"], "the oldest of all");
    let all = bd_json(&ann, &["memories"]);
    assert_eq!(all.as_object().map(|all| all.len()), Some(212), "with schema_version");
    assert!(bd_json(&ann, &["memories", "oldest"]).get("oldest").is_some());
}

#[test]
fn answers_for_people_say_what_was_done() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let (first, second) = (made(&ann, &["same"]), made(&ann, &["same"]));
    let output = |args: &[&str]| bd(&ann, args).done().out;
    let found = output(&["duplicates"]);
    assert!(found.contains(&first) && found.contains(&second) && found.contains("--auto-merge"), "{found}");
    let dry = output(&["duplicates", "--auto-merge", "--dry-run"]);
    assert!(dry.contains("Nothing was closed"), "{dry}");
    let merged = output(&["duplicates", "--auto-merge"]);
    assert!(merged.contains("✓ Closed") && merged.contains("as a duplicate of"), "{merged}");
    assert_eq!(output(&["duplicates"]), "No issues have the same content.\n");
    let closed = if bd_json(&ann, &["show", &first])[0]["status"] == "closed" { first } else { second };
    assert_eq!(
        output(&["reopen", &closed, "--reason", "still needed"]),
        format!("↻ Reopened {closed}: still needed\n")
    );
    assert_eq!(bd_json(&ann, &["comments", &closed])[0]["text"], "still needed");
    let deleted = output(&["delete", &closed, "--force"]);
    assert!(deleted.starts_with(&format!("✓ Deleted {closed}: same\n")), "{deleted}");
    let merge = bd(&ann, &["merge", "shop-1", "--into", "shop-2"]);
    assert!(merge.code == 1 && merge.err.contains("bd duplicate ID --of OTHER"), "{merge:?}");

    let whats_new = bd_json(&ann, &["info", "--whats-new"]);
    has(&whats_new, &["current_version", "recent_changes"]);
    assert!(output(&["info", "--whats-new"]).contains("CHANGELOG.md"));
    let schema = &bd_json(&ann, &["info", "--schema"])["schema"];
    has(schema, &["tables", "schema_version", "config", "sample_issue_ids", "detected_prefix"]);
    assert_eq!(schema["sample_issue_ids"].as_array().map(Vec::len), Some(1), "{schema}");
    assert!(bd_json(&ann, &["info"])["schema"].is_null());

    let todo = bd_json(&ann, &["todo", "add", "buy", "milk"]);
    assert_eq!((&todo["title"], &todo["assignee"]), (&json!("buy milk"), &json!("Ann")));
    let id = crate::stage::text(&todo, "id");
    bd(&ann, &["update", &id, "--claim"]).done();
    assert!(!titles(&bd_json(&ann, &["todo"])).contains(&"buy milk".to_owned()), "only open ones");
    let done = bd_json(&ann, &["todo", "done", &id]);
    assert_eq!((&done["closed"], &done["reason"]), (&json!([id]), &json!("Completed")));
}

#[test]
fn a_setting_of_the_projects_own_is_kept_and_short_lived_issues_are_in_no_figure() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let set = bd_json(&ann, &["config", "set", "custom.reviewer", "Bob"]);
    assert_eq!((&set["key"], &set["value"]), (&json!("custom.reviewer"), &json!("Bob")));
    assert_eq!(bd(&ann, &["config", "get", "custom.reviewer"]).done().out, "Bob\n");
    assert_eq!(bd_json(&ann, &["config", "list"])["custom.reviewer"], "Bob");
    bd(&ann, &["config", "unset", "custom.reviewer"]).done();
    assert!(bd(&ann, &["config", "get", "custom.reviewer"]).done().out.contains("(not set)"));
    // One by which Beads would do something is not taken in silence.
    for key in ["sync.branch", "jira.url", "anything"] {
        let refusal = bd(&ann, &["config", "set", key, "x"]);
        assert!(refusal.code == 1 && refusal.err.contains("not set by a command"), "{key}: {refusal:?}");
    }
    made(&ann, &["work"]);
    made(&ann, &["a check", "--ephemeral"]);
    let figures = &bd_json(&ann, &["stats"])["summary"];
    assert_eq!(
        (&figures["total_issues"], &figures["open_issues"], &figures["ready_issues"]),
        (&json!(1), &json!(1), &json!(1))
    );
    assert_eq!(bd_json(&ann, &["info"])["issue_count"], 1);
    assert_eq!(ann.json(&["task", "stats"])["summary"]["total_issues"], 2);
}

#[test]
fn lines_without_an_id_are_imported_with_one_each() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let lines = "{\"title\":\"one\",\"issue_type\":\"bug\",\"priority\":1}\n{\"title\":\"two\"}\n";
    let file = stage.file("shop/plan.jsonl", lines);
    let dry = bd_json(&ann, &["import", &file, "--dry-run"]);
    assert_eq!((&dry["created"], &dry["dry_run"]), (&json!(2), &json!(true)), "{dry}");
    let done = bd_json(&ann, &["import", &file]);
    assert_eq!((&done["created"], done["ids"].as_array().map(Vec::len)), (&json!(2), Some(2)), "{done}");
    let listed = bd_json(&ann, &["list", "--sort", "title"]);
    assert_eq!(titles(&listed), ["one", "two"]);
    let first = &listed[0];
    assert!(crate::stage::text(first, "id").starts_with("shop-"), "{first}");
    assert!(crate::stage::text(first, "created_at").as_str() > "2026", "{first}");
    // What has neither id nor title is no issue.
    let bad = stage.file("shop/bad.jsonl", "{\"description\":\"x\"}\n");
    let refusal = bd(&ann, &["import", &bad, "--json"]);
    assert_eq!((refusal.code, refusal.json()["code"].clone()), (1, json!("beads_invalid")), "{refusal:?}");
}
