//! A server that does not stand in a repository goes by the Beads file there all the same: one task, one claimer.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::beads_verbs::made;
use crate::http::Server;
use crate::stage::{Stage, Terminal, text};

/// A repository with a mirrored file, a server that stands outside of it, and another home with a ledger of its own.
fn served(stage: &Stage) -> (Server, Terminal<'_>) {
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let server = Server::start(&stage.terminal("Server").within(stage.root()));
    let zoe = stage.terminal("Zoe").with("XDG_DATA_HOME", stage.root().join("zoe"));
    let zoe = zoe.with("BATON_STORE", stage.root().join("zoe.db"));
    zoe.json(&["init"]);
    (server, zoe)
}

/// The line of a task in the file.
fn line(stage: &Stage, id: &str) -> serde_json::Value {
    let text = fs::read_to_string(stage.shop().join(".beads/issues.jsonl")).expect("a file");
    let mut lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("json"));
    lines.find(|line| line["id"] == id).expect("its line")
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_claim_over_the_api_goes_by_the_file_of_a_folder_in_which_the_server_does_not_stand() {
    let stage = Stage::local().registered();
    let (server, zoe) = served(&stage);
    let ann = stage.terminal("Ann");
    let [first, second] = ["first", "second"].map(|title| made(&ann, &[title]));
    // What the server gives, the other home sees.
    let claim = |id: &str| json!({ "project": "shop", "identity": "Ann", "id": id });
    server.ok("task_claim", &claim(&first));
    assert_eq!(line(&stage, &first)["assignee"], "Ann");
    zoe.refused(4, "task_claimed", &["task", "claim", &first]);
    // What the other home has, the server does not give.
    zoe.json(&["task", "claim", &second]);
    let refusal = server.call("task_claim", &claim(&second)).json();
    assert_eq!(refusal["code"], "task_claimed", "{refusal:#}");
    assert!(refusal.to_string().contains("Zoe"), "{refusal:#}");
    // What is done over the API comes into the file.
    server.ok("task_close", &json!({ "project": "shop", "identity": "Ann", "id": first, "reason": "done" }));
    until("the close is in the file", || line(&stage, &first)["status"] == "closed");
}

#[test]
fn the_router_gives_nobody_what_another_home_has_in_progress() {
    let stage = Stage::local().registered();
    let ann = stage.terminal("Ann");
    ann.json(&["agent", "register", "--as", "Ida", "--role", "implementation"]);
    stage.file("shop/.baton.toml", "[tasks]\nmirror = true\n");
    let id = text(&ann.json(&["task", "create", "build it", "--agent-role", "implementation"]), "id");
    let zoe = stage.terminal("Zoe").with("XDG_DATA_HOME", stage.root().join("zoe"));
    let zoe = zoe.with("BATON_STORE", stage.root().join("zoe.db"));
    zoe.json(&["init"]);
    zoe.json(&["task", "claim", &id]);
    let server = Server::start(&stage.terminal("Server").within(stage.root()));
    let show = || server.ok("task_show", &json!({ "project": "shop", "id": id }));
    until("the server has read the file", || show()["assignee"] == "Zoe");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(show()["assignee"], "Zoe");
    let mail = server.ok("mail_inbox", &json!({ "project": "shop", "identity": "Ida" }));
    assert_eq!(mail["items"], json!([]), "{mail:#}");
}

#[test]
fn a_claim_without_the_file_says_so_in_its_answer() {
    let stage = Stage::local().registered();
    let (server, _) = served(&stage);
    let id = made(&stage.terminal("Ann"), &["first"]);
    let path = stage.shop().join(".beads/issues.jsonl");
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(&path, format!("{text}<<<<<<< HEAD\n")).expect("written");
    let answer = server.ok("task_claim", &json!({ "project": "shop", "identity": "Ann", "id": id }));
    let warning = answer["file_warnings"][0].as_str().expect("a warning");
    assert!(warning.contains(".beads/issues.jsonl is not in step"), "{answer:#}");
    fs::write(&path, text).expect("written");
    let answer = server.ok("task_claim", &json!({ "project": "shop", "identity": "Ann", "id": id }));
    assert!(answer.get("file_warnings").is_none(), "{answer:#}");
}
