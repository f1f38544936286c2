//! Agents, mail, leases and keys with the real binary.

use std::fs;

use serde_json::{Value, json};

use crate::stage::{Stage, assert_fields, items, text};

/// Lola builds, Tess tests.
fn staffed() -> Stage {
    let stage = Stage::ready();
    stage.terminal("Lola").json(&["agent", "register", "--role", "implementation", "--program", "codex"]);
    stage.terminal("Tess").json(&[
        "agent",
        "register",
        "--role",
        "testing",
        "--skill",
        "rust",
        "--max-tasks",
        "4",
    ]);
    stage
}

#[test]
fn the_roles_file_of_the_repository_is_read_and_wins() {
    let stage = staffed();
    let tess = stage.terminal("Tess");
    let registered = tess.json(&["agent", "show"]);
    assert_fields(
        &registered,
        "project_id name program model roles skills max_tasks state last_seen sessions",
    );
    assert_eq!(registered["max_tasks"], 4);
    let file = "agent_roles:\n  testing-specialist:\n    max_concurrent_tasks: 2\n";
    fs::write(stage.shop().join("AGENT_ROLES.yaml"), file).expect("written");
    let bound = tess.json(&["agent", "show"]);
    assert_eq!((&bound["max_tasks"], &bound["max_tasks_from"]), (&json!(2), &json!("AGENT_ROLES.yaml:3")));
    let roles = tess.json(&["agent", "roles"]);
    assert_eq!((&roles["file"], items(&roles).len()), (&json!("AGENT_ROLES.yaml"), 4));
    assert_eq!(items(&tess.json(&["agent", "list", "--role", "testing"])).len(), 1);
    fs::write(stage.shop().join("AGENT_ROLES.yaml"), file.replace("max_con", "max_kon")).expect("written");
    let error = tess.refused(1, "roles_invalid", &["agent", "roles"]);
    assert_eq!((&error["line"], &error["near"]), (&json!(3), &json!(["max_concurrent_tasks"])));
}

#[test]
fn a_role_address_on_a_baton_leads_to_an_agent_of_that_role() {
    let stage = staffed();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    let wrapped = lola.json(&["wrap", "--summary", "built", "--role", "testing"]);
    let donna = stage.terminal("Donna");
    assert_eq!(donna.json(&["pickup", "--dry-run"])["baton"], Value::Null);
    let picked = stage.terminal("Tess").json(&["pickup"]);
    assert_eq!(picked["baton"]["delta_id"], wrapped["delta_id"]);
}

#[test]
fn a_hand_off_message_goes_to_a_role_and_its_acknowledgement_comes_back() {
    let stage = staffed();
    let (lola, tess) = (stage.terminal("Lola"), stage.terminal("Tess"));
    let content = r#"{"task_id": "shop-1", "task_title": "Round once", "handoff_type": "implementation_to_testing",
        "context": {"work_completed": "total() rounds once", "files_modified": ["cart.py:40-52"], "test_command": "pytest"}}"#;
    let file = stage.file("handoff.json", content);
    lola.json(&["mail", "send", "--to", "Tess", "--subject", "lunch?", "--text", "at one"]);
    let args =
        ["mail", "send", "--to", "role:testing", "--type", "task_handoff", "--body", &file, "--ack-by", "2h"];
    let sent = lola.json(&args);
    assert_fields(
        &sent,
        "project_id identity message_id to type subject created_at thread_id importance ack_by",
    );
    let waiting = items(&tess.json(&["mail", "inbox"]));
    assert_eq!(
        waiting.iter().map(|m| text(m, "subject")).collect::<Vec<_>>(),
        ["Handoff: Round once", "lunch?"]
    );
    let id = text(&sent, "message_id");
    let got = tess.json(&["mail", "read", &id]);
    assert_eq!((&got["content"]["to_agent"], &got["taken"]), (&json!("role:testing"), &json!(true)));
    assert_eq!(items(&tess.json(&["mail", "inbox"])).len(), 2, "it is read, and still to be acknowledged");
    tess.json(&["mail", "ack", &id, "--text", "on it"]);
    assert_eq!(items(&tess.json(&["mail", "inbox"])).len(), 1);
    let back = items(&lola.json(&["mail", "inbox", "--bodies"]));
    assert_eq!((&back[0]["body"], &back[0]["reply_to"]), (&json!("on it"), &json!(id)));
    assert_eq!(items(&lola.json(&["mail", "inbox"])).len(), 0, "what was written out is delivered");
    assert_eq!(items(&lola.json(&["mail", "thread", &id])).len(), 2);
    assert_eq!(items(&lola.json(&["mail", "search", "LUNCH"])).len(), 1);
    let bad = stage.file("bad.json", content.replace("[\"cart.py:40-52\"]", "[1]"));
    let args = ["mail", "send", "--to", "Tess", "--type", "task_handoff", "--body", &bad];
    assert_eq!(lola.refused(1, "content_invalid", &args)["path"], "context.files_modified[0]");
    stage.assert_sound();
}

#[test]
fn an_unknown_recipient_is_refused_unless_it_is_waited_for() {
    let stage = staffed();
    let lola = stage.terminal("Lola");
    let error = lola.refused(3, "recipient_unknown", &["mail", "send", "--to", "Tes", "--subject", "s"]);
    assert_eq!(error["near"], json!(["Tess"]));
    lola.json(&["mail", "send", "--to", "Zoe", "--subject", "s", "--wait"]);
    assert_eq!(items(&stage.terminal("Zoe").json(&["mail", "inbox"])).len(), 1);
}

#[test]
fn what_is_sensitive_is_not_in_the_store_and_not_in_an_export() {
    let stage = staffed();
    let (lola, tess) = (stage.terminal("Lola"), stage.terminal("Tess"));
    let args =
        ["mail", "send", "--to", "Tess", "--subject", "access", "--text", "swordfish-7", "--sensitive"];
    lola.refused(1, "key_missing", &args);
    let key = tess.json(&["key", "create"]);
    assert!(text(&key, "public_key").starts_with("age1"));
    lola.json(&["key", "create"]);
    let sent = lola.json(&args);
    assert_eq!(sent["readers"], json!(["Tess", "Lola"]));
    let id = text(&sent, "message_id");
    let file = stage.root().join("export.jsonl");
    lola.json(&["log", "export", &file.display().to_string()]);
    assert!(!fs::read_to_string(&file).expect("export").contains("swordfish"));
    assert!(stage.store_contains(&id), "the message is there");
    assert!(!stage.store_contains("swordfish"), "its text is not");
    assert_eq!(tess.json(&["mail", "read", &id])["body"], "swordfish-7");
    assert_eq!(lola.json(&["mail", "read", &id])["body"], "swordfish-7");
    fs::remove_dir_all(stage.home().join("config/baton/keys")).expect("the keys are where the help says");
    tess.refused(1, "key_missing", &["mail", "read", &id]);
}

#[test]
fn paths_are_leased_and_a_conflict_names_the_holder() {
    let stage = staffed();
    let (lola, tess) = (stage.terminal("Lola"), stage.terminal("Tess"));
    lola.json(&["start"]);
    let taken = lola.json(&["lease", "take", "src/", "--for", "2h", "--why", "the parser"]);
    assert_fields(&taken["items"][0], "lease_id pattern mode holder session_id taken_at expires_at");
    let error = tess.refused(4, "lease_conflict", &["lease", "take", "src/cart.py"]);
    assert_eq!(error["holders"][0]["holder"], "Lola");
    let warned = tess.json(&["lease", "take", "src/cart.py", "--advisory"]);
    assert_eq!(warned["warnings"][0]["kind"], "lease_overlaps");
    lola.json(&["end"]);
    assert_eq!(items(&tess.json(&["lease", "list"])).len(), 1, "the session is over, and so is its lease");
    tess.json(&["lease", "release"]);
    assert_eq!(items(&tess.json(&["lease", "list", "src/**"])).len(), 0);
}

#[test]
fn every_type_of_hand_off_message_has_its_schema() {
    let stage = Stage::new();
    let schemas = items(&stage.terminal("Lola").json(&["mail", "schema"]));
    assert_eq!(schemas.len(), 5);
    let one = stage.terminal("Lola").text(&["mail", "schema", "fix_complete"]);
    let one: Value = serde_json::from_str(&one).expect("a schema is JSON");
    assert_eq!(one["title"], "fix_complete");
    stage.terminal("Lola").refused(1, "message_type_unknown", &["mail", "schema", "fix_complet"]);
}

#[test]
fn the_inbox_says_how_a_question_is_answered() {
    let stage = Stage::ready();
    let (ann, lola) = (stage.terminal("Ann"), stage.terminal("Lola"));
    lola.json(&["start"]);
    ann.json(&["signal", "send", "--to", "Lola", "--type", "Question", "7 or 19?"]);
    let shown = lola.text(&["mail", "inbox", "--bodies"]);
    let command = shown.split('`').nth(1).expect("a command").replace("--text …", "--text 7");
    assert!(command.starts_with("baton mail send --as Lola --reply-to "), "{shown}");
    lola.run(&command.split(' ').skip(1).collect::<Vec<_>>()).done();
    assert!(ann.text(&["mail", "inbox", "--bodies"]).contains('7'));
}
