//! Projects, tasks and hand-offs between projects.

use serde_json::{Value, json};

use crate::stage::{Stage, assert_fields, items, text};

#[test]
fn a_repository_is_registered_once() {
    let stage = Stage::new();
    let lola = stage.terminal("Lola");
    let first = lola.json(&["init", "--id", "till", "--issues-repo", "acme/till"]);
    assert_eq!(first["project_id"], "till");
    assert_eq!(lola.json(&["init"])["project_id"], "till", "registering again is no second project");
    let listed = lola.json(&["project", "list"]);
    assert_fields(&listed, "project_id items next");
    assert_eq!(items(&listed).len(), 1);
    let below = stage.shop().join("src/deep");
    std::fs::create_dir_all(&below).expect("folders");
    assert_eq!(lola.within(&below).json(&["status"])["project_id"], "till", "a folder below belongs to it");
}

#[test]
fn a_project_keeps_what_is_set() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    let args = [
        "project",
        "set",
        "--phase",
        "beta",
        "--focus",
        "cart",
        "--focus",
        "tax",
        "--issues-repo",
        "acme/shop",
    ];
    lola.json(&args);
    let shown = lola.json(&["project", "show"]);
    assert_eq!(shown["project_id"], "shop");
    assert_eq!((&shown["phase"], &shown["focus"]), (&json!("beta"), &json!(["cart", "tax"])));
    assert_eq!(lola.json(&["status"])["project"]["phase"], "beta");
    lola.json(&["project", "set", "--phase", ""]);
    let shown = lola.json(&["project", "show", "shop"]);
    assert_eq!(
        (&shown["phase"], &shown["focus"]),
        (&Value::Null, &json!(["cart", "tax"])),
        "only what was named changes"
    );
}

#[test]
fn a_task_lives() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    let task = lola.json(&[
        "task",
        "create",
        "round once",
        "-p",
        "1",
        "-l",
        "cart",
        "--assignee",
        "Donna",
        "-d",
        "in total()",
    ]);
    assert_fields(&task, "id title status priority project_id");
    let id = text(&task, "id");
    assert_eq!(lola.json(&["task", "show", &id])["description"], "in total()");
    lola.json(&["task", "update", &id, "--status", "in_progress"]);
    let open = lola.json(&["task", "list"]);
    assert_fields(&open, "project_id items next");
    assert_eq!(items(&open)[0]["status"], "in_progress");
    lola.json(&["task", "close", &id, "--reason", "done"]);
    assert_eq!(items(&lola.json(&["task", "list"])).len(), 0);
    assert_eq!(items(&lola.json(&["task", "list", "--all"])).len(), 1);
    lola.json(&["task", "reopen", &id]);
    assert_eq!(lola.run(&["task", "list", "--jsonl"]).done().lines().len(), 1);
    lola.refused(3, "task_unknown", &["task", "show", "nothing-1"]);
}

#[test]
fn a_list_of_tasks_holds_fifty_and_says_when_there_is_more() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    let script = "for i in $(seq 1 53); do \"$BATON\" task create \"task $i\" >/dev/null || exit 9; done";
    lola.shell(script).done();
    let usual = lola.json(&["task", "list"]);
    assert_eq!(items(&usual).len(), 50);
    assert_ne!(usual["next"], Value::Null, "there is more behind it");
    assert_eq!(items(&lola.json(&["task", "list", "-n", "0"])).len(), 53);
    let page = lola.json(&["task", "list", "-n", "7"]);
    assert_eq!(items(&page).len(), 7);
    assert_ne!(page["next"], Value::Null, "there is more behind it");
}

#[test]
fn open_tasks_with_the_batons_focus_come_first() {
    let stage = Stage::ready();
    let lola = stage.terminal("Lola");
    lola.json(&["start"]);
    lola.json(&["task", "create", "urgent elsewhere", "-p", "0"]);
    lola.json(&["task", "create", "about the cart", "-p", "3", "-l", "cart"]);
    lola.json(&["wrap", "--summary", "x", "--focus", "cart"]);
    let picked = stage.terminal("Donna").json(&["pickup"]);
    let titles: Vec<&Value> = picked["todos"].as_array().into_iter().flatten().map(|t| &t["title"]).collect();
    assert_eq!(titles, ["about the cart", "urgent elsewhere"]);
}

/// A stage with two projects, and a hand-off from the shop to the bank.
fn handed_over() -> (Stage, String, String) {
    let stage = Stage::ready();
    let bank = stage.repo("bank");
    stage.terminal("Ben").within(&bank).json(&["init"]);
    let packet = "{\"summary\" : \"IBAN checks fail\", \"x\":1 }\n";
    let file = stage.file("packet.json", packet);
    let lola = stage.terminal("Lola");
    let create = [
        "handoff",
        "create",
        "--to",
        "bank",
        "--subject",
        "check IBANs",
        "--description",
        "see packet",
        "--tag",
        "iban",
        "--link",
        "issue=7",
        "--packet",
        &file,
        "--priority",
        "high",
        "--request-id",
        "h1",
    ];
    let made = lola.json(&create);
    assert_fields(&made, "handoff_id state warnings");
    let other = ["handoff", "create", "--to", "bank", "--subject", "another", "--request-id", "h1"];
    lola.refused(1, "request_mismatch", &other);
    let again = lola.json(&create);
    assert_eq!(again["handoff_id"], made["handoff_id"], "a retry makes no second one");
    (stage, text(&made, "handoff_id"), packet.to_owned())
}

#[test]
fn a_hand_off_goes_to_another_project_and_its_result_comes_back() {
    let (stage, id, packet) = handed_over();
    let (lola, ben) = (stage.terminal("Lola"), stage.terminal("Ben").within(stage.root().join("bank")));
    let waiting = ben.json(&["handoff", "list"]);
    assert_fields(&waiting, "project_id items next");
    assert_eq!(items(&waiting).len(), 1);
    assert_eq!(items(&ben.json(&["handoff", "list", "--state", "completed"])).len(), 0);
    assert_eq!(
        text(&ben.json(&["handoff", "show", &id]), "packet"),
        packet,
        "the packet is kept byte for byte"
    );
    assert_eq!(ben.json(&["handoff", "accept", &id])["state"], "accepted");
    assert_eq!(ben.json(&["handoff", "complete", &id, "--result", "fixed in 4f2"])["state"], "completed");
    let done = lola.json(&["handoff", "show", &id]);
    assert_eq!(done["state"], "completed");
    assert_eq!(items(&ben.json(&["task", "list"])).len(), 0, "the task is closed");
    assert_eq!(done["result"], "fixed in 4f2");
    let delta = stage.ledger("shop").last().expect("a delta").to_string();
    assert!(delta.contains("fixed in 4f2"), "the sender's project gets the result: {delta}");
    assert_eq!(ben.run(&["handoff", "decline", &id, "--json"]).code, 4, "what is complete stays so");
    stage.assert_sound();
}

#[test]
fn a_hand_off_can_be_tried_declined_and_cancelled() {
    let (stage, id, _) = handed_over();
    let (lola, ben) = (stage.terminal("Lola"), stage.terminal("Ben").within(stage.root().join("bank")));
    lola.json(&["handoff", "create", "--to", "bank", "--subject", "only a try", "--dry-run"]);
    assert_eq!(items(&ben.json(&["handoff", "list"])).len(), 1, "a dry run writes nothing");
    assert_eq!(ben.json(&["handoff", "decline", &id, "--result", "not ours"])["state"], "declined");
    let second = text(&lola.json(&["handoff", "create", "--to", "bank", "--subject", "again"]), "handoff_id");
    assert_eq!(lola.json(&["handoff", "cancel", &second])["state"], "cancelled");
    let far = lola.json(&["handoff", "create", "--to", "nowhere", "--subject", "x"]);
    assert_eq!(
        far["warnings"][0]["kind"], "placeholder_project",
        "an unknown project is registered with a warning"
    );
    ben.refused(3, "handoff_unknown", &["handoff", "show", "01900000-0000-7000-8000-000000000000"]);
}
