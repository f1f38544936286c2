//! Two homes on one working copy, each with a ledger of its own: what the one has begun, commands of the other go by although they run in
//! another folder, where they import no Beads file of the project.

use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::stage::{Stage, Terminal, text};

/// A sender in `shop`, and a receiving project `lib` with a mirrored file on which another home works.
struct Homes<'a> {
    sender: Terminal<'a>,
    receiver: Terminal<'a>,
    other: Terminal<'a>,
}

fn homes(stage: &Stage) -> Homes<'_> {
    stage.repo("lib");
    stage.file("lib/.baton.toml", "[tasks]\nmirror = true\n");
    let lib = stage.root().join("lib");
    let receiver = stage.terminal("Rex").within(&lib);
    receiver.json(&["init"]);
    let other = stage.terminal("Zoe").within(&lib).with("XDG_DATA_HOME", stage.root().join("zoe"));
    let other = other.with("BATON_STORE", stage.root().join("zoe.db"));
    other.json(&["init"]);
    Homes { sender: stage.terminal("Sue"), receiver, other }
}

/// A hand-off whose task the other home has begun: its id and that of its task.
fn begun(homes: &Homes<'_>, more: &[&str]) -> (String, String) {
    let args = ["handoff", "create", "--to", "lib", "--subject", "an endpoint", "--description", "d"];
    let made = homes.sender.json(&[&args, more].concat());
    homes.receiver.text(&["bd", "sync"]);
    let task = text(&made["task"], "id");
    homes.other.json(&["task", "claim", &task]);
    (text(&made, "handoff_id"), task)
}

fn shown(homes: &Homes<'_>, id: &str) -> Value {
    homes.sender.json(&["handoff", "show", id])
}

#[test]
fn a_hand_off_that_another_home_has_begun_does_not_expire_in_a_command_of_its_sender() {
    let stage = Stage::local().registered();
    let homes = homes(&stage);
    let (id, task) = begun(&homes, &["--expires-in", "3s"]);
    sleep(Duration::from_secs(4));
    homes.sender.json(&["status"]);
    assert_eq!(shown(&homes, &id)["state"], "offered");
    homes.other.json(&["task", "close", &task, "--reason", "it is there"]);
    homes.receiver.json(&["task", "list"]);
    let done = shown(&homes, &id);
    assert_eq!((&done["state"], &done["result"]), (&"completed".into(), &"it is there".into()), "{done:#}");
}

#[test]
fn what_another_home_says_of_work_that_was_taken_back_reaches_the_sender() {
    let stage = Stage::local().registered();
    let homes = homes(&stage);
    let (id, task) = begun(&homes, &[]);
    homes.sender.json(&["handoff", "cancel", &id, "--why", "not now"]);
    homes.other.json(&["task", "close", &task, "--reason", "done all the same"]);
    homes.receiver.json(&["task", "list"]);
    let over = shown(&homes, &id);
    assert_eq!(over["late_results"][0]["result"], "done all the same", "{over:#}");
}

#[test]
fn what_another_home_says_after_it_has_heard_of_the_end_reaches_the_sender() {
    for with_token in [true, false] {
        let stage = Stage::local().registered();
        let homes = homes(&stage);
        let (id, task) = begun(&homes, &[]);
        let token = homes.other.json(&["task", "show", &task])["claim"]["token"].to_string();
        homes.sender.json(&["handoff", "cancel", &id, "--why", "not now"]);
        homes.receiver.json(&["task", "list"]);
        homes.other.json(&["task", "list"]);
        let heard = homes.other.json(&["signal", "pending"]);
        assert!(text(&heard["items"][0], "body").contains("not now"), "the reason of the sender: {heard:#}");
        let close = ["task", "close", &task, "--reason", "done all the same"];
        if with_token {
            homes.other.refused(4, "lease_lost", &[&close[..], &["--token", &token]].concat());
        } else {
            homes.other.json(&close);
        }
        homes.receiver.json(&["task", "list"]);
        let over = shown(&homes, &id);
        assert_eq!(over["late_results"][0]["result"], "done all the same", "{over:#}");
        assert_eq!(over["late_results"][0]["by"], "Zoe", "{over:#}");
    }
}

#[test]
fn a_folder_is_not_given_away_while_another_home_works_on_a_task_of_its_file() {
    let stage = Stage::local().registered();
    let homes = homes(&stage);
    let (_, task) = begun(&homes, &[]);
    let lib = stage.root().join("lib").display().to_string();
    for args in [vec!["project", "split", &lib, "--to", "two"], vec!["init", "--id", "two", "--move"]] {
        // The first one has not imported the claim yet, the second one has.
        let refusal = homes.receiver.refused(4, "tasks_claimed", &args);
        assert!(refusal.to_string().contains(&format!("{task} by Zoe in the Beads file")), "{refusal:#}");
        homes.receiver.json(&["task", "list"]);
    }
    homes.other.json(&["task", "close", &task, "--reason", "done"]);
    homes.receiver.json(&["project", "split", &lib, "--to", "two"]);
}
