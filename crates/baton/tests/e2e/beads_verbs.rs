//! The verbs and options that people who live in Beads use every day.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{Answer, Stage, Terminal, text};

pub(crate) fn bd(who: &Terminal<'_>, args: &[&str]) -> Answer {
    who.run(&["bd"].iter().chain(args).copied().collect::<Vec<_>>())
}

pub(crate) fn bd_json(who: &Terminal<'_>, args: &[&str]) -> Value {
    let args: Vec<&str> = args.iter().chain(&["--json"]).copied().collect();
    bd(who, &args).done().json()
}

pub(crate) fn made(who: &Terminal<'_>, args: &[&str]) -> String {
    let args: Vec<&str> = ["create"].iter().chain(args).copied().collect();
    text(&bd_json(who, &args), "id")
}

pub(crate) fn titles(list: &Value) -> Vec<String> {
    list.as_array().expect("a bare array").iter().map(|issue| text(issue, "title")).collect()
}

#[test]
fn the_first_things_that_scripts_call_answer() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    assert!(bd(&ann, &["version"]).done().out.starts_with("bd version 1.0.3"));
    assert_eq!(bd_json(&ann, &["version"])["version"], "1.0.3");
    for verb in ["quickstart", "prime", "onboard", "human"] {
        assert!(bd(&ann, &[verb]).done().out.contains("bd "), "{verb}");
    }
    let id = made(&ann, &["A"]);
    let info = bd_json(&ann, &["info"]);
    assert_eq!((&info["issue_count"], &info["config"]["issue_prefix"]), (&json!(1), &json!("shop")));
    assert_eq!(bd_json(&ann, &["where"])["prefix"], "shop");
    assert_eq!(bd_json(&ann, &["ping"])["status"], "ok");
    assert_eq!(bd_json(&ann, &["doctor", "--check=validate"])["overall_ok"], true);
    assert_eq!(bd(&ann, &["config", "get", "issue_prefix"]).done().out, "shop\n");
    assert_eq!(bd(&ann, &["config", "get", "jira.url"]).done().out, "jira.url (not set)\n");
    assert!(bd(&ann, &["help", "create"]).done().out.contains("--body-file"));
    assert!(bd(&ann, &["completion", "bash"]).done().out.contains("bd"));
    let refusal = bd(&ann, &["jira", "sync"]);
    assert!(
        refusal.code == 1 && refusal.err.contains("Jira") && refusal.err.contains("baton handoff create"),
        "{}",
        refusal.err
    );
    let slip = bd(&ann, &["create", "B", "-t", "bgu", "--json"]);
    assert_eq!((slip.code, slip.json()["code"].clone()), (1, json!("type_unknown")));
    assert!(slip.err.contains("did you mean bug?"), "clients read either stream: {}", slip.err);
    let unknown = bd(&ann, &["show", "nope"]);
    assert!(unknown.err.contains("`bd list`"), "hints are in the words of bd: {}", unknown.err);
    let slip = bd(&ann, &["raedy"]);
    assert!(slip.code == 1 && slip.err.contains("bd ready"), "{}", slip.err);
    let short = bd(&ann, &["close"]);
    assert!(short.err.contains("an issue id is needed"), "the whole message is shown: {}", short.err);
    let read_only = bd(&ann, &["--readonly", "close", &id, "--json"]);
    assert_eq!((read_only.code, read_only.json()["code"].clone()), (1, json!("readonly")));
}

#[test]
fn a_text_may_begin_with_a_hyphen() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let id = made(&ann, &["A", "-d", "- one\n- two", "--design", "-x", "--acceptance", "- [ ] done"]);
    let option = |field: &str, value: &str| bd_json(&ann, &["update", &id, field, value]);
    option("--notes", "- item one");
    option("--append-notes", "--quiet");
    option("--title", "-1 is refused");
    let shown = bd_json(&ann, &["show", &id])[0].clone();
    for (field, text) in [
        ("title", "-1 is refused"),
        ("description", "- one\n- two"),
        ("design", "-x"),
        ("acceptance_criteria", "- [ ] done"),
        ("notes", "- item one\n--quiet"),
    ] {
        assert_eq!(shown[field], text, "{field}");
    }
    option("-d", "-x");
    assert_eq!(bd_json(&ann, &["show", &id])[0]["description"], "-x");
    let closed = bd_json(&ann, &["close", &id, "--reason", "- all of it"]);
    assert_eq!(closed[0]["close_reason"], "- all of it");
    bd(&ann, &["reopen", &id, "-r", "- not all"]).done();
    ann.run(&["task", "create", "B", "-d", "- rows", "--acceptance", "- ok"]).done();
    ann.json(&["start"]);
    ann.run(&["wrap", "--summary", "- half of it", "--next", "- the rest"]).done();
    let refusal = bd(&ann, &["create", "- a title"]);
    assert!(
        refusal.code == 1 && refusal.err.contains("behind `--`") && !refusal.err.contains("-- - "),
        "{}",
        refusal.err
    );
    bd(&ann, &["create", "--", "- a title"]).done();
}

#[test]
fn lists_are_filtered_and_sorted_as_asked() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    made(&ann, &["Fix the login", "-t", "bug", "-p", "0", "-l", "auth,tech-debt", "-d", "the token is lost"]);
    made(&ann, &["Add a page", "-p", "3", "--metadata", r#"{"team":"web"}"#, "--due", "yesterday"]);
    made(&ann, &["Write docs", "-t", "chore", "--notes", "ask Ben", "--spec-id", "specs/docs.md"]);
    let listed = |args: &[&str]| titles(&bd_json(&ann, &[&["list"], args].concat()));
    assert_eq!(listed(&["--title-contains", "LOGIN"]), ["Fix the login"]);
    assert_eq!(listed(&["--desc-contains", "token"]), ["Fix the login"]);
    assert_eq!(listed(&["--notes-contains", "ben"]), ["Write docs"]);
    assert_eq!(listed(&["--label-pattern", "tech-*"]), ["Fix the login"]);
    assert_eq!(listed(&["--exclude-type", "bug,chore"]), ["Add a page"]);
    assert_eq!(listed(&["--exclude-label", "auth", "--sort", "title"]), ["Add a page", "Write docs"]);
    assert_eq!(listed(&["--metadata-field", "team=web"]), ["Add a page"]);
    assert_eq!(listed(&["--has-metadata-key", "team"]), ["Add a page"]);
    assert_eq!(listed(&["--spec", "specs/"]), ["Write docs"]);
    assert_eq!(listed(&["--overdue"]), ["Add a page"]);
    assert_eq!(listed(&["--priority-max", "1"]), ["Fix the login"]);
    assert_eq!(listed(&["--sort", "title", "--reverse", "-n", "2"]), ["Write docs", "Fix the login"]);
    assert_eq!(listed(&["--created-after", "1d", "--no-labels", "-p", "3"]), ["Add a page"]);
    assert_eq!(listed(&["--created-before", "yesterday"]), Vec::<String>::new());
    let query = |text: &str| titles(&bd_json(&ann, &["query", text]));
    assert_eq!(query("type=bug OR (priority>=3 AND assignee=none)"), ["Fix the login", "Add a page"]);
    assert_eq!(query("NOT label=auth AND created>1d AND notes=Ben"), ["Write docs"]);
    let refusal = bd(&ann, &["query", "colour=red", "--json"]);
    assert_eq!((refusal.code, refusal.json()["code"].clone()), (1, json!("query_invalid")));
    let refusal = bd(&ann, &["list", "--due-before", "soonish", "--json"]);
    assert_eq!((refusal.code, refusal.json()["code"].clone()), (1, json!("time_invalid")));
    assert_eq!(bd_json(&ann, &["count", "--title", "the"])["count"], 1);
    let found = bd(&ann, &["search", "docs", "--status", "all", "--long"]).done();
    assert!(found.out.contains("Write docs") && found.out.contains("ask Ben"), "{}", found.out);
}

#[test]
fn short_verbs_change_what_they_say() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let id = bd(&ann, &["q", "Quick", "one", "-p", "1"]).done().out.trim().to_owned();
    let show = |who: &Terminal<'_>| bd_json(who, &["show", &id])[0].clone();
    bd(&ann, &["assign", &id, "beads/crew/wolf"]).done();
    assert_eq!(titles(&bd_json(&ann, &["list", "--assignee", "beads/crew/wolf"])), ["Quick one"]);
    bd(&ann, &["assign", &id, ""]).done();
    bd(&ann, &["priority", &id, "P3"]).done();
    bd(&ann, &["tag", &id, "later"]).done();
    bd(&ann, &["note", &id, "it", "is", "flaky"]).done();
    bd(&ann, &["defer", &id, "--until", "next monday"]).done();
    let seen = show(&ann);
    assert_eq!((&seen["priority"], &seen["labels"]), (&json!(3), &json!(["later"])));
    assert_eq!((&seen["notes"], &seen["status"]), (&json!("it is flaky"), &json!("deferred")));
    assert!(seen["defer_until"].is_string() && seen["assignee"].is_null(), "{seen:#}");
    let refusal = bd(&ann, &["defer", &id, "--until", "whenever", "--json"]);
    assert_eq!((refusal.code, refusal.json()["code"].clone()), (1, json!("time_invalid")));
    bd(&ann, &["undefer", &id]).done();
    let seen = show(&ann);
    assert_eq!((&seen["status"], &seen["defer_until"]), (&json!("open"), &Value::Null));
    bd(&ann, &["update", &id, "--set-metadata", "team=web", "--set-metadata", "a=b"]).done();
    bd(&ann, &["update", &id, "--unset-metadata", "a"]).done();
    assert_eq!(show(&ann)["metadata"]["team"], "web");
    assert!(show(&ann)["metadata"]["a"].is_null());
    bd(&ann, &["set-state", &id, "mode=slow"]).done();
    bd(&ann, &["set-state", &id, "mode=fast", "--reason", "fixed"]).done();
    assert_eq!(bd(&ann, &["state", &id, "mode"]).done().out, "fast\n");
    bd(&ann, &["update", &id, "--claim"]).done();
    assert_eq!(titles(&bd_json(&ann, &["show", "--current"])), ["Quick one"]);
    bd(&ann, &["heartbeat", &id]).done();
    assert_eq!(bd(&stage.terminal("Bob"), &["heartbeat", &id, "--json"]).json()["code"], "task_claimed");
    bd(&ann, &["unclaim", &id, "--reason", "later"]).done();
    assert_eq!(bd(&ann, &["heartbeat", &id, "--json"]).json()["code"], "not_claimed");
    let again = bd(&ann, &["reopen", &id]).done();
    assert!(again.err.contains("open already"), "{}", again.err);
}

#[test]
fn what_belongs_to_issues_is_changed_and_shown() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let epic = made(&ann, &["Whole", "-t", "epic", "-l", "web"]);
    let one = made(&ann, &["One", "--parent", &epic]);
    let two = made(&ann, &["Two", "--parent", &epic, "--no-inherit-labels", "--deps", &one]);
    assert_eq!(bd_json(&ann, &["label", "list", &one]), json!(["web"]));
    assert_eq!(bd_json(&ann, &["label", "list", &two]), json!([]));
    let both = bd_json(&ann, &["label", "add", &one, &two, "backend,rust"]);
    assert_eq!((&both[0]["issue_id"], &both[3]["label"]), (&json!(one), &json!("rust")));
    assert_eq!(bd_json(&ann, &["label", "list", &two]), json!(["backend", "rust"]));
    assert_eq!(bd_json(&ann, &["label", "list-all"])[0], json!({ "label": "backend", "count": 2 }));
    assert_eq!(titles(&bd_json(&ann, &["children", &epic])), ["One", "Two"]);
    let status = bd_json(&ann, &["epic", "status"]);
    assert_eq!((&status[0]["total_children"], &status[0]["eligible_for_close"]), (&json!(2), &json!(false)));
    let swarm = bd_json(&ann, &["swarm", "status", &epic]);
    assert_eq!(
        (titles(&swarm["ready"]), titles(&swarm["blocked"])),
        (vec!["One".to_owned()], vec!["Two".to_owned()])
    );
    let layers = bd_json(&ann, &["graph", &epic]);
    assert!(layers["layout"]["Layers"].as_array().is_some_and(|layers| layers.len() == 2), "{layers:#}");
    assert!(bd(&ann, &["graph", "--dot", "--all"]).done().out.contains(&format!("\"{one}\" -> \"{two}\"")));
    assert!(bd(&ann, &["graph", "check"]).done().out.contains("sound"));
    let tree = bd(&ann, &["list", "--tree"]).done().out;
    assert!(tree.contains(&format!("\n  ○ {one}")), "{tree}");
    let why = bd_json(&ann, &["ready", "--explain"]);
    assert_eq!(
        (&why["summary"]["total_blocked"], &why["blocked"][0]["blocked_by"][0]["id"]),
        (&json!(1), &json!(one))
    );
    let next = bd_json(&ann, &["close", &one, "--reason", "done", "--continue"]);
    assert_eq!((&next["continue"]["id"], &next["continue"]["status"]), (&json!(two), &json!("in_progress")));
    bd(&ann, &["close", &two, "--reason", "done"]).done();
    assert_eq!(bd_json(&ann, &["epic", "close-eligible"])["closed"], json!([epic]));
    let (a, b) = (made(&ann, &["Same"]), made(&ann, &["Same"]));
    assert_eq!(bd_json(&ann, &["duplicates"])["groups"][0]["issues"].as_array().map(Vec::len), Some(2));
    bd(&ann, &["duplicate", &b, "--of", &a]).done();
    let closed = bd_json(&ann, &["show", &b])[0].clone();
    assert_eq!(
        (&closed["status"], &closed["dependencies"][0]["dependency_type"]),
        (&json!("closed"), &json!("duplicates"))
    );
    bd(&ann, &["relate", &a, &epic]).done();
    assert_eq!(bd_json(&ann, &["dep", "list", &epic, "-t", "relates-to"])[0]["id"], json!(a));
    bd(&ann, &["dep", "unrelate", &a, &epic]).done();
    assert_eq!(bd_json(&ann, &["dep", "list", &epic, "-t", "relates-to"]), json!([]));
    let gate = text(&bd_json(&ann, &["gate", "create", "--blocks", &a, "--reason", "review"]), "id");
    assert_eq!(bd_json(&ann, &["ready"]), json!([]));
    assert_eq!(bd_json(&ann, &["gate", "list", &a])[0]["id"], json!(gate));
    bd(&ann, &["gate", "resolve", &gate]).done();
    assert_eq!(titles(&bd_json(&ann, &["ready"])), ["Same"]);
    let lint = bd_json(&ann, &["lint"]);
    assert_eq!(lint["results"][0]["missing"], json!(["Acceptance Criteria"]));
    let history = bd_json(&ann, &["history", &two]);
    assert!(text(&history[0], "summary").contains("clos"), "newest first: {history:#}");
    // Under the names of Beads, too: the issue as it is after the last change, and what is known of it after the others.
    assert_eq!((&history[0]["Committer"], &history[0]["CommitDate"]), (&json!("Ann"), &history[0]["at"]));
    assert!(text(&history[0], "CommitHash").len() > 8, "{history:#}");
    assert_eq!((&history[0]["Issue"]["id"], &history[0]["Issue"]["status"]), (&json!(two), &json!("closed")));
    let title = history[0]["Issue"]["title"].clone();
    bd(&ann, &["update", &two, "--title", "Another title"]).done();
    bd(&ann, &["rename", &two, "shop-two"]).done();
    let later = bd_json(&ann, &["history", "shop-two"]);
    assert_eq!(later[0]["Issue"]["title"], "Another title");
    let count = |all: &Value| all.as_array().map_or(0, Vec::len);
    assert_eq!(count(&later), count(&history) + 2, "it goes back beyond the rename: {later:#}");
    let first = later.as_array().and_then(|all| all.last()).cloned().unwrap_or_default();
    assert_eq!((&first["Issue"]["title"], &first["Issue"]["status"]), (&title, &Value::Null));
}

#[test]
fn texts_come_from_files_and_plans_become_issues() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let file = |name: &str, text: &str| fs::write(stage.shop().join(name), text).expect("written");
    file("body.md", "from a `file`\n");
    let id = made(&ann, &["A", "--body-file", "body.md", "--skills", "rust"]);
    let text_of = |id: &str| text(&bd_json(&ann, &["show", id])[0], "description");
    assert!(text_of(&id).starts_with("from a `file`") && text_of(&id).contains("## Required Skills"));
    file("empty.md", "");
    let refusal = bd(&ann, &["update", &id, "--body-file", "empty.md", "--json"]);
    assert_eq!((refusal.code, refusal.json()["code"].clone()), (1, json!("description_empty")));
    file("plan.md", "## First\nDo it.\n### Priority\n1\n## Second\n### Labels\na, b\n");
    assert_eq!(titles(&bd_json(&ann, &["create", "-f", "plan.md"])), ["First", "Second"]);
    let plan = json!({
        "nodes": [{ "key": "w", "title": "Whole", "type": "epic" }, { "key": "p", "title": "Part", "parent_key": "w" },
                  { "key": "q", "title": "After", "parent_key": "w", "metadata_refs": { "before": "p" } }],
        "edges": [{ "from_key": "q", "to_key": "p" }]
    });
    file("plan.json", &plan.to_string());
    let before = bd_json(&ann, &["count"])["count"].clone();
    file("bad.json", &plan.to_string().replace(r#""to_key":"p""#, r#""to_key":"x""#));
    let refusal = bd(&ann, &["create", "--graph", "bad.json", "--json"]);
    assert_eq!((refusal.code, refusal.json()["code"].clone()), (1, json!("plan_invalid")));
    assert_eq!(bd_json(&ann, &["count"])["count"], before, "nothing of a bad plan is written");
    let ids = bd_json(&ann, &["create", "--graph", "plan.json"])["ids"].clone();
    let after = bd_json(&ann, &["show", &text(&ids, "q")])[0].clone();
    assert_eq!((&after["parent"], &after["metadata"]["before"]), (&ids["w"], &ids["p"]));
    assert_eq!(titles(&bd_json(&ann, &["blocked"])), ["After"]);
    let dry = bd_json(&ann, &["create", "Not yet", "--dry-run"]);
    assert_eq!((text(&dry, "title"), bd_json(&ann, &["search", "Not yet"])), ("Not yet".into(), json!([])));
    let refusal = bd(&ann, &["create", "B", "-t", "bug", "--validate", "--json"]);
    assert_eq!((refusal.code, refusal.json()["code"].clone()), (1, json!("section_missing")));
    file("deps.jsonl", &format!("{{\"from\":\"{id}\",\"to\":\"{}\"}}\n", text(&ids, "p")));
    assert_eq!(bd_json(&ann, &["dep", "add", "--file", "deps.jsonl"])[0]["status"], "added");
}

/// The calls of beads-mcp 1.3, in its order, each with the options that it gives.
#[test]
fn the_calls_of_the_mcp_server_of_beads_are_answered_as_it_expects() {
    let stage = Stage::ready();
    let mona = stage.terminal("Mona");
    let call = |args: &[&str]| {
        let all = [args, &["--actor", "mona", "--no-auto-flush", "--no-auto-import", "--json"]].concat();
        bd(&mona, &all).done().json()
    };
    bd(&mona, &["init", "--prefix", "shop", "--actor", "mona"]).done();
    let a = text(
        &call(&[
            "create", "First", "-p", "1", "-t", "bug", "-d", "d", "--design", "how", "-l", "x", "-l", "y",
        ]),
        "id",
    );
    let b = text(&call(&["create", "Second", "-p", "2", "-t", "task", "--deps", &a]), "id");
    bd(&mona, &["dep", "add", &b, &a, "--type", "blocks", "--actor", "mona"]).done();
    let ready = call(&[
        "ready",
        "--limit",
        "10",
        "--type",
        "bug",
        "--label",
        "x",
        "--label",
        "y",
        "--sort",
        "hybrid",
        "--unassigned",
    ]);
    assert_eq!(titles(&ready), ["First"]);
    assert_eq!(
        titles(&call(&["list", "--status", "open", "--title", "sec", "--no-assignee", "--limit", "20"])),
        ["Second"]
    );
    let blocked = call(&["blocked"]);
    assert_eq!((&blocked[0]["blocked_by"], &blocked[0]["blocked_by_count"]), (&json!([a]), &json!(1)));
    let shown = call(&["show", &b])[0].clone();
    for key in ["id", "title", "status", "priority", "issue_type", "created_at", "updated_at"] {
        assert!(!shown[key].is_null() && !shown["dependencies"][0][key].is_null(), "{key}: {shown:#}");
    }
    assert_eq!(
        call(&["update", &a, "--status", "open", "--notes", "n", "--set-labels", "z"])[0]["labels"],
        json!(["z"])
    );
    assert_eq!(call(&["update", &a, "--claim"])[0]["assignee"], "mona");
    bd(&mona, &["comment", &a, "hello", "--actor", "mona"]).done();
    let comment = call(&["comments", &a])[0].clone();
    assert_eq!(
        (&comment["text"], &comment["author"], &comment["issue_id"]),
        (&json!("hello"), &json!("mona"), &json!(a))
    );
    assert!(comment["id"].is_string() && comment["created_at"].is_string());
    bd(&mona, &["note", &a, "noted", "--actor", "mona"]).done();
    assert_eq!(call(&["close", &a, "--reason", "Completed"])[0]["status"], "closed");
    assert_eq!(call(&["reopen", &a, "--reason", "again"])[0]["status"], "open");
    let stats = call(&["stats"])["summary"].clone();
    for key in [
        "total_issues",
        "open_issues",
        "in_progress_issues",
        "closed_issues",
        "blocked_issues",
        "ready_issues",
    ] {
        assert!(stats[key].is_i64(), "{key}: {stats}");
    }
    assert!(stats["average_lead_time_hours"].is_number());
    for dictionary in
        [&["doctor", "--check=validate"][..], &["doctor", "--check=pollution"], &["info", "--schema"]]
    {
        assert!(call(dictionary).is_object(), "{dictionary:?}");
    }
}

#[test]
fn memories_are_kept_by_name() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    bd(&ann, &["remember", "run the tests with --race", "--key", "testing"]).done();
    bd(&ann, &["remember", "run them twice", "--key", "testing"]).done();
    assert!(bd(&ann, &["recall", "testing"]).done().out.contains("twice"));
    let all = bd_json(&ann, &["memories"]);
    assert_eq!(
        all,
        json!({ "testing": "run them twice", "schema_version": 1 }),
        "one gives way to the other"
    );
    bd(&ann, &["forget", "testing"]).done();
    assert_eq!(bd(&ann, &["recall", "testing", "--json"]).json()["code"], "memory_unknown");
}

#[test]
fn another_folder_is_acted_on_where_it_is_named() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let other = stage.root().join("other");
    fs::create_dir_all(other.join(".beads")).expect("made");
    let path = other.display().to_string();
    let line = r#"{"id":"oth-1","title":"From the file","status":"open","priority":1,"issue_type":"task","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}"#;
    fs::write(other.join(".beads/issues.jsonl"), format!("{line}\n")).expect("written");
    let init = bd(&ann, &["-C", &path, "init", "--skip-hooks", "--prefix", "oth"]).done();
    assert!(init.out.contains("oth") && init.out.contains("1 issues"), "{}", init.out);
    let beads = other.join(".beads").display().to_string();
    assert_eq!(titles(&bd_json(&ann.with("BEADS_DIR", &beads), &["list"])), ["From the file"]);
    assert_eq!(titles(&bd_json(&ann, &["--db", &format!("{beads}/beads.db"), "list"])), ["From the file"]);
    bd(&ann.with("BEADS_DIR", &beads), &["create", "There"]).done();
    assert_eq!(bd_json(&ann, &["list"]), json!([]), "nothing was written here");
    let refusal = bd(&ann, &["--db", "/nowhere/.beads/x.db", "list"]);
    assert!(refusal.code == 1 && refusal.err.contains("/nowhere"), "{}", refusal.err);
    let taken = bd(&ann, &["init", "--prefix", "oth", "--json"]);
    assert_eq!((taken.code, taken.json()["code"].clone()), (1, json!("project_taken")));
    bd(&ann.with("BEADS_DIR", &beads), &["sync"]).done();
    let file = fs::read_to_string(other.join(".beads/issues.jsonl")).expect("read");
    assert!(file.contains("There") && file.lines().count() == 2, "{file}");
}

#[test]
fn issues_are_deleted_after_a_preview_and_renamed() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let [a, b, c] = ["A", "B", "C"].map(|title| made(&ann, &[title]));
    bd(&ann, &["dep", "add", &b, &a]).done();
    let needed = bd(&ann, &["delete", &a, "--json"]);
    assert_eq!((needed.code, needed.json()["code"].clone()), (1, json!("task_needed")));
    assert!(needed.err.contains("--cascade"), "{}", needed.err);
    let preview = bd(&ann, &["delete", &a, "--cascade"]).done().out;
    assert!(
        preview.contains("A") && preview.contains("B") && preview.contains("--cascade --force"),
        "{preview}"
    );
    assert_eq!(bd_json(&ann, &["list"]).as_array().map(Vec::len), Some(3), "a preview deletes nothing");
    let file = stage.file("gone", format!("# old ones\n{a}\n"));
    let gone = bd_json(&ann, &["delete", "--from-file", &file, "--force", "--reason", "a test"]);
    assert_eq!((&gone["deleted"], &gone["orphaned_issues"]), (&json!([a]), &json!([b])));
    assert_eq!(titles(&bd_json(&ann, &["ready"])), ["B", "C"]);
    let new = bd_json(&ann, &["rename", &c, "shop-auth"]);
    assert_eq!((&new["old_id"], &new["new_id"]), (&json!(c), &json!("shop-auth")));
    let old = bd(&ann, &["update", &c, "--title", "D"]);
    assert!(old.err.contains("is called shop-auth now"), "{}", old.err);
    let shown = bd(&ann, &["show", &c]).done().out;
    assert!(shown.contains("now called") && shown.contains("shop-auth"), "{shown}");
    let deleted = ann.run(&["task", "delete", "shop-auth", "--reason", "not wanted"]).done().out;
    assert_eq!(deleted, "deleted shop-auth: C\n");
}

#[test]
fn a_batch_is_carried_out_whole_or_not_at_all() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    let [a, b] = ["A", "B"].map(|title| made(&ann, &[title]));
    let file = stage.file("bad", format!("create task 1 C\n\nclose {a} done\ndep add {b} shop-none\n"));
    let refusal = bd(&ann, &["batch", "-f", &file]);
    assert!(refusal.code == 1 && refusal.err.contains("line 4 (dep add"), "{}", refusal.err);
    assert_eq!(bd_json(&ann, &["list"]).as_array().map(Vec::len), Some(2), "no line was carried out");
    let good =
        format!("# a plan\ncreate task 1 \"C and D\"\nclose {a} done\nupdate {b} priority=0 assignee=Bob\n");
    let file = stage.file("good", &good);
    assert!(bd(&ann, &["batch", "-f", &file, "--dry-run"]).done().out.contains("3 operations"));
    assert_eq!(bd_json(&ann, &["batch", "-f", &file])["operations"], 3);
    assert_eq!(titles(&bd_json(&ann, &["list"])), ["B", "C and D"]);
    let short = made(&ann, &["Short", "--ephemeral"]);
    assert_eq!(titles(&bd_json(&ann, &["wisp", "list"])["wisps"]), ["Short"]);
    assert_eq!(bd_json(&ann, &["mol", "wisp"])["wisps"][0]["id"], short.as_str());
}

#[test]
fn values_are_kept_by_name_and_a_reason_may_follow_the_id() {
    let stage = Stage::ready();
    let ann = stage.terminal("Ann");
    bd(&ann, &["kv", "set", "max_retries", "3"]).done();
    bd(&ann, &["kv", "set", "max_retries", "4"]).done();
    assert_eq!(bd(&ann, &["kv", "get", "max_retries"]).done().out, "4\n");
    let all = bd_json(&ann, &["kv", "list"]);
    assert_eq!(all["max_retries"], "4");
    bd(&ann, &["kv", "clear", "max_retries"]).done();
    assert_eq!(bd(&ann, &["kv", "get", "max_retries", "--json"]).json()["code"], "value_unknown");
    let [a, b, c] = ["A", "B", "C"].map(|title| made(&ann, &[title]));
    assert_eq!(bd_json(&ann, &["close", &a, "Fixed"])[0]["close_reason"], "Fixed");
    assert_eq!(bd_json(&ann, &["close", &b, "All is well"])[0]["close_reason"], "All is well");
    let slip = bd(&ann, &["close", &c, "shop-zz9"]).done();
    assert!(slip.err.contains("shop-zz9"), "an id that is none is no reason: {}", slip.err);
    let watch = bd(&ann, &["list", "--watch"]);
    assert!(watch.code == 1 && watch.err.contains("watch -n 2 bd list"), "{}", watch.err);
    let template = bd(&ann, &["list", "--format", "{{.ID}}"]);
    assert!(template.err.contains("jq"), "{}", template.err);
}

#[test]
fn a_person_acts_by_the_name_that_git_has_for_him_and_an_agent_by_its_own() {
    let stage = Stage::ready();
    let person = stage.bare().with("BATON_SURFACE", "human");
    person.shell("git config user.name 'Ann Smith'").done();
    assert_eq!(bd_json(&person, &["create", "By a person"])["created_by"], "Ann-Smith");
    assert_eq!(
        bd_json(&person, &["--actor", "beads/crew/wolf", "create", "B"])["created_by"],
        "beads-crew-wolf"
    );
    assert_eq!(bd_json(&person.with("BEADS_ACTOR", "carol"), &["create", "C"])["created_by"], "carol");
    let agent = stage.bare().with("BATON_SURFACE", "codex");
    assert_ne!(bd_json(&agent, &["create", "By an agent"])["created_by"], "Ann-Smith");
    assert_eq!(bd_json(&stage.terminal("Bob"), &["create", "D"])["created_by"], "Bob");
}
