//! The journeys with the real agents: what a plain `baton install` sets up, a model on loopback, and nothing prepared beyond.
//! Each journey goes from every agent to another one; with `BATON_TEST_PAIRS` set, to every other.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::agents::{Cli, clis};
use crate::mock_model::Call;
use crate::real_agent::{
    Agent, begin, busy, for_every_pair, kill, record, record_told, the_baton, until, waiting,
};
use crate::stage::{BATON, Stage, text};

#[test]
fn what_an_agent_did_that_ended_without_a_wrap_reaches_the_next_one() {
    for_every_pair(|folder, from, to| {
        let stage = Stage::ready();
        let first = Agent::new((folder, &stage), from, vec![begin()], "The cart adds up; taxes are next.");
        first.run(&stage.shop(), "Count the cart");
        let baton = the_baton(&stage);
        let second = Agent::new((folder, &stage), to, Vec::new(), "Fine.");
        second.run(&stage.shop(), "Go on");
        second.assert_told(&baton, from);
        record("J2", from, &second);
        let picked = stage.terminal("Next").json(&["pickup"]);
        let document = picked["baton"]["body"].to_string();
        assert!(document.contains("Count the cart"), "{from:?}: {picked:#}");
        assert!(picked.to_string().contains("Prices are rounded half up"), "{from:?}: {picked:#}");
        stage.assert_sound();
    });
}

#[test]
fn a_killed_agent_yields_at_once_and_what_it_decided_is_recovered() {
    for_every_pair(|folder, from, to| {
        let stage = Stage::ready();
        let first = Agent::new((folder, &stage), from, vec![begin(), busy()], "never said");
        kill(first.start(&stage.shop(), "Count the cart", 1));
        let second = Agent::new((folder, &stage), to, Vec::new(), "Fine.");
        second.run(&stage.shop(), "Go on");
        second.assert_told("import-transcript", from);
        record("J4_with_a_session", from, &second);
        let picked = stage.terminal("Next").json(&["pickup"]);
        assert!(picked.to_string().contains("Prices are rounded half up"), "{from:?}: {picked:#}");
        stage.assert_sound();
    });
}

#[test]
fn the_conversation_of_an_agent_that_was_killed_without_a_session_is_offered() {
    for_every_pair(|folder, from, to| {
        let stage = Stage::ready();
        let first =
            Agent::new((folder, &stage), from, vec![Call::shell("echo counted"), busy()], "never said");
        kill(first.start(&stage.shop(), "Count the cart", 1));
        let second = Agent::new((folder, &stage), to, Vec::new(), "Fine.");
        second.run(&stage.shop(), "Go on");
        second.assert_told("import-transcript", from);
        record("J4_without_a_session", from, &second);
        stage.assert_sound();
    });
}

#[test]
fn after_a_compaction_one_baton_waits_with_the_first_request() {
    let Some(folder) = clis() else { return };
    let stage = Stage::ready();
    let id = "44444444-aaaa-4000-8000-00000000abcd";
    let first =
        Agent::new((&folder, &stage), Cli::Claude, vec![begin()], "The cart adds up; taxes are next.");
    let mut command = first.command(&stage.shop(), "Count the cart");
    let output = command.args(["--session-id", id]).output().expect("it starts");
    assert!(output.status.success(), "{output:#?}");
    let before = the_baton(&stage);
    for prompt in ["/compact", "Now the taxes"] {
        let mut command = first.command(&stage.shop(), prompt);
        let output = command.args(["--resume", id]).output().expect("it starts");
        assert!(output.status.success(), "{prompt}: {output:#?}");
    }
    let preview = || stage.terminal("Reader").json(&["pickup", "--dry-run"]);
    until("the baton of the whole conversation", || {
        preview()["baton"]["body"].to_string().contains("Now the taxes")
    });
    assert_ne!(the_baton(&stage), before);
    let second = Agent::new((&folder, &stage), Cli::Codex, Vec::new(), "Fine.");
    second.run(&stage.shop(), "Go on");
    // A hook of the compaction may come after that of the end, and then registers a session: the card is not recorded.
    record_told("J5", &second, "");
    let picked = stage.terminal("Next").json(&["pickup"])["baton"]["body"].to_string();
    assert!(picked.contains("Now the taxes"), "{picked}");
    assert!(picked.contains("Count the cart"), "{picked}");
    stage.assert_sound();
}

#[test]
fn a_resumed_conversation_leaves_one_baton_with_all_of_it() {
    let Some(folder) = clis() else { return };
    for cli in Cli::ALL {
        let stage = Stage::ready();
        let edit = Call::shell("echo 12 > cart.txt");
        let agent = Agent::new((&folder, &stage), cli, vec![edit], "The cart adds up.");
        agent.run(&stage.shop(), "Count the cart, and never round a price");
        let before = the_baton(&stage);
        agent.resume(&stage.shop(), "Now the taxes");
        let preview = || stage.terminal("Reader").json(&["pickup", "--dry-run"])["baton"].clone();
        until("a newer baton", || text(&preview(), "delta_id") != before);
        the_baton(&stage);
        let body = preview()["body"].to_string();
        for what in ["Now the taxes", "Count the cart", "never round a price", "cart.txt"] {
            assert!(body.contains(what), "{cli:?}: no {what} in {body}");
        }
        stage.assert_sound();
    }
}

#[test]
fn what_is_done_after_the_baton_was_carried_on_waits_as_a_baton_of_its_own() {
    let Some(folder) = clis() else { return };
    for cli in Cli::ALL {
        let stage = Stage::ready();
        let agent = Agent::new((&folder, &stage), cli, Vec::new(), "The cart adds up.");
        agent.run(&stage.shop(), "Count the cart");
        the_baton(&stage);
        let taker = stage.terminal("Taker");
        taker.json(&["pickup"]);
        taker.json(&["wrap", "--summary", "the cart is counted twice"]);
        let carried_on = the_baton(&stage);
        agent.resume(&stage.shop(), "Now the taxes");
        until("the new work waits", || waiting(&stage).len() == 2);
        let own = waiting(&stage).into_iter().find(|one| text(one, "id") != carried_on).expect("another one");
        let picked = stage.terminal("Next").json(&["pickup", "--handoff", &text(&own, "id")]);
        assert!(picked["baton"]["body"].to_string().contains("Now the taxes"), "{cli:?}: {picked:#}");
        stage.assert_sound();
    }
}

#[test]
fn work_in_a_worktree_is_found_from_the_main_checkout() {
    for_every_pair(|folder, from, to| {
        let stage = Stage::ready();
        let beside = worktree(&stage);
        let edit = Call::shell("echo half > tax.txt");
        let first = Agent::new((folder, &stage), from, vec![begin(), edit], "Half of the taxes.");
        first.run(&beside, "Do the taxes");
        let baton = the_baton(&stage);
        let second = Agent::new((folder, &stage), to, Vec::new(), "Fine.");
        second.run(&stage.shop(), "Go on");
        second.assert_told(&baton, from);
        record("J6", from, &second);
        let location = stage.terminal("Next").json(&["pickup"])["location"].clone();
        assert_eq!(location["root"], json!(beside), "{from:?}: {location:#}");
        assert_eq!(location["uncommitted"], json!(["tax.txt"]), "{from:?}: {location:#}");
        stage.assert_sound();
    });
}

/// A linked worktree of the repository, with a commit in it.
fn worktree(stage: &Stage) -> PathBuf {
    let beside = stage.root().join("beside");
    let beside_name = beside.display().to_string();
    let lines: [&[&str]; 3] = [
        &["add", "-A"],
        &[
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@example.org",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "one",
        ],
        &["worktree", "add", "-q", "-b", "taxes", &beside_name],
    ];
    for args in lines {
        let done = Command::new("git").current_dir(stage.shop()).args(args).status().expect("git runs");
        assert!(done.success(), "git {args:?}");
    }
    beside
}

#[test]
fn of_two_agents_at_once_one_wraps_and_the_other_takes_nothing() {
    for_every_pair(|folder, from, to| {
        let stage = Stage::ready();
        let sign = stage.root().join("sign");
        let look = Call::shell(&format!("{BATON} status")).after(&sign);
        let first = Agent::new((folder, &stage), from, vec![begin(), look], "The cart adds up.");
        let mut child = first.start(&stage.shop(), "Count the cart", 1);
        let wrap = format!(
            "{BATON} start --as Second > /dev/null && {BATON} wrap --summary 'the taxes' --as Second"
        );
        let second = Agent::new((folder, &stage), to, vec![Call::shell(&wrap)], "Wrapped.");
        second.run(&stage.shop(), "Do the taxes");
        let left = the_baton(&stage);
        fs::write(&sign, "").expect("written");
        until("the first one ends", || child.try_wait().expect("a child").is_some());
        first.assert_told("the taxes", to);
        until("two batons wait", || waiting(&stage).len() == 2);
        let third = Agent::new((folder, &stage), Cli::Codex, Vec::new(), "Fine.");
        if from == Cli::Claude {
            third.run(&stage.shop(), "Go on");
            record("J8", from, &third);
        }
        let pickups = stage.ledger("shop").into_iter().filter(|delta| delta["kind"] == "pickup").count();
        assert_eq!(pickups, 0, "nobody took anything by the way");
        assert!(waiting(&stage).iter().any(|baton| text(baton, "id") == left));
        stage.assert_sound();
    });
}

#[test]
fn a_baton_on_a_server_is_announced_to_the_next_agent() {
    for_every_pair(|folder, from, to| {
        let stage = Stage::remote(&[]).registered();
        let first = Agent::new((folder, &stage), from, vec![begin()], "The cart adds up; taxes are next.");
        first.run(&stage.shop(), "Count the cart");
        let baton = the_baton(&stage);
        let second = Agent::new((folder, &stage), to, Vec::new(), "Fine.");
        second.run(&stage.shop(), "Go on");
        second.assert_told(&baton, from);
        record("J11", from, &second);
        assert!(!stage.has_store(), "it is all on the server");
    });
}

#[test]
fn a_refused_pickup_leaves_the_holder_its_baton_and_none_of_its_own() {
    let Some(folder) = clis() else { return };
    for cli in Cli::ALL {
        let stage = Stage::ready();
        stage.terminal("Ann").json(&["start"]);
        stage.terminal("Ann").json(&["wrap", "--summary", "the cart is half done"]);
        let holder = stage.terminal("Holder");
        let held = text(&holder.json(&["pickup"]), "session_id");
        let calls = vec![
            Call::shell(&format!("{BATON} pickup --json")),
            Call::baton("hd_exec", json!({ "full": true })),
        ];
        let late = Agent::new((&folder, &stage), cli, calls, "Holder is at work on it.");
        late.run(&stage.shop(), "Pick up the work that waits");
        // Hooks work on after their agent has ended.
        thread::sleep(Duration::from_secs(3));
        assert!(late.model.was_told("baton_claimed"), "{cli:?}: {:#?}", late.model.results());
        let card = stage.terminal("Reader").json(&["status"]);
        assert_eq!(card["handoffs"][0]["holder"], "Holder", "{cli:?}: {card:#}");
        assert_eq!(card["handoffs"].as_array().map(Vec::len), Some(1), "{cli:?}: {card:#}");
        assert!(card["sessions"].to_string().contains(&held), "{cli:?}: {card:#}");
        stage.assert_sound();
    }
}
