//! Workers, the router and the server, killed at random while increments go through them: no task is lost, no message is given
//! out twice, and every attempt is accounted for.
//!
//! `BATON_TEST_KILLS=200` kills a worker, the router and the server 200 times each while 500 tasks run.
#![cfg(unix)]

use std::collections::HashMap;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::stage::{Stage, Terminal, env, text};
use crate::work::{Crew, ROLES, seen, work};

/// A number below `limit`, different in every run.
fn random(limit: usize) -> usize {
    use std::hash::{BuildHasher, Hasher};
    let number = std::collections::hash_map::RandomState::new().build_hasher().finish();
    usize::try_from(number % u64::try_from(limit).expect("a limit")).expect("small")
}

/// Two workers of each role stand after the router and the server.
const CREW: usize = 10;
/// What is killed: a worker, the router, the server.
const KINDS: usize = 3;

/// One process, started anew whenever it was killed.
fn member(stage: &Stage, at: usize) -> Child {
    let quiet =
        |mut command: Command| command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
    match at {
        0 => quiet(stage.terminal("Router").command(&["route", "--watch"])),
        1 => quiet(stage.terminal("Server").command(&["serve", "--listen", "127.0.0.1:0"])),
        _ => {
            let (name, role) = ROLES[at % 4];
            work(stage, &format!("{name}{}", at / 4), role, &[])
        }
    }
}

/// Four linked tasks: the implementation, its test, its fix, its verification.
fn increment(owner: &Terminal<'_>, n: usize) -> [String; 4] {
    let made = owner.json(&["task", "increment", &format!("Piece {n}")]);
    ["implementation_id", "test_id", "fix_id", "verify_id"].map(|key| text(&made, key))
}

#[test]
fn workers_router_and_server_killed_at_random_lose_no_task_and_repeat_no_message() {
    let each = env("BATON_TEST_KILLS").and_then(|text| text.parse().ok()).unwrap_or(3);
    let pieces = (each * 125_usize).div_ceil(200).max(4);
    let stage = Stage::ready();
    // Most kills are to hit somebody at work.
    stage.file("seen.slow", "");
    // Every fifth test fails once and goes round by its fix.
    stage.file("failures", "once\n".repeat(pieces / 5 + 1));
    // A worker is killed here whatever its task is, so that three in a row say nothing about it.
    stage.file("home/config/baton/config.toml", "[route]\nmax_attempts = 0\n");
    let owner = stage.terminal("Owner");
    let mut crew = Crew((0..CREW).map(|at| member(&stage, at)).collect());
    let mut left = [each; KINDS];
    let mut increments = Vec::new();
    let all = each * KINDS;
    for killed in 0..all {
        // New work comes in until the last kill.
        while increments.len() * all < pieces * (killed + 1) {
            increments.push(increment(&owner, increments.len()));
        }
        std::thread::sleep(Duration::from_millis(u64::try_from(20 + random(230)).expect("small")));
        let kind = (0..).map(|_| random(KINDS)).find(|kind| left[*kind] > 0).expect("some are left");
        left[kind] -= 1;
        let at = if kind == 2 { 2 + random(CREW - 2) } else { kind };
        let ended = crew.0[at].try_wait().expect("a child of ours");
        assert_eq!(ended, None, "member {at} ended by itself");
        crew.0[at].kill().expect("killed");
        crew.0[at].wait().expect("gone");
        crew.0[at] = member(&stage, at);
    }
    let began = Instant::now();
    let patience = Duration::from_secs(120 + u64::try_from(all).expect("small"));
    for four in &increments {
        for id in four {
            ended(&owner, four, id, began + patience);
        }
    }
    drop(crew);
    // A test that had failed was closed when it was looked at and was opened again by its fix: only now nothing moves.
    let tasks: Vec<Value> =
        increments.iter().flatten().map(|id| owner.json(&["task", "show", id, "--full"])).collect();
    let packets = seen(&stage);
    accounted(&tasks, &packets);
    delivered_once(&stage);
    let blocked: Vec<&Value> = tasks.iter().filter(|task| task["status"] == "blocked").collect();
    for task in &blocked {
        eprintln!("{} is blocked: {}", task["id"], task["failed_attempts"]);
    }
    let blocked = blocked.len();
    let attempts: i64 = tasks.iter().filter_map(|task| task["attempts"].as_i64()).sum();
    eprintln!(
        "{each} kills each of worker, router and server; {} tasks, {blocked} blocked, {attempts} attempts, {} packets given out",
        tasks.len(),
        packets.len()
    );
    stage.assert_sound();
}

/// Waits until a task is closed, or blocked with its reason, or can never become ready because one before it is blocked.
fn ended(owner: &Terminal<'_>, increment: &[String], id: &str, until: Instant) -> Value {
    loop {
        let task = owner.json(&["task", "show", id, "--full"]);
        let blocked = |task: &Value| task["status"] == "blocked" && task["route"]["why"].is_string();
        let given_up =
            || increment.iter().any(|other| blocked(&owner.json(&["task", "show", other, "--full"])));
        if task["status"] == "closed" || blocked(&task) || task["blocked"] == true && given_up() {
            return task;
        }
        assert!(Instant::now() < until, "{task:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Every attempt has its entry or is a turn of the circle of test and fix, and nobody was given a task more often than its
/// attempts tell.
fn accounted(tasks: &[Value], packets: &[Value]) {
    let number = |task: &Value| usize::try_from(task["attempts"].as_i64().unwrap_or(0)).expect("small");
    // Those that did not fail: the fix woke, or the test was opened for another run. The list keeps the last twenty.
    let turns = |task: &Value| {
        let listed = task["failed_attempts"].as_array().map_or(0, Vec::len);
        number(task).checked_sub(listed).filter(|_| listed < 20).unwrap_or_else(|| panic!("{task:#}"))
    };
    for four in tasks.chunks(4) {
        let [built, test, fix, verify] = [0, 1, 2, 3].map(|at| turns(&four[at]));
        let over = four[3]["status"] == "closed";
        let fits = fix == test || (!over && fix == test + 1);
        assert!(built == 0 && verify == 0 && fits, "attempts add up: {four:#?}");
    }
    for task in tasks {
        let id = &task["id"];
        let given = packets.iter().filter(|packet| packet["id"] == *id).count();
        let worked = task["status"] == "closed" && task["close_reason"] != "not needed: the test passed";
        assert!(given <= number(task) + 1, "{id} was given out {given} times: {task:#}");
        assert!(given > 0 || !worked, "{id} was closed without having been given out: {task:#}");
    }
    let mut turns: Vec<String> =
        packets.iter().map(|p| format!("{} {} {}", p["id"], p["attempts"], p["type"])).collect();
    turns.sort();
    let all = turns.len();
    turns.dedup();
    assert_eq!(turns.len(), all, "a message was given out twice");
}

/// Of the messages of one task and attempt one was delivered at most, and none still waits.
fn delivered_once(stage: &Stage) {
    let file = stage.root().join("export.jsonl");
    stage.terminal("Owner").json(&["log", "export", &file.display().to_string()]);
    let rows = fs::read_to_string(&file).expect("export");
    let mut delivered: HashMap<(String, i64), usize> = HashMap::new();
    for row in rows.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row")) {
        let body = row["body"].as_str().and_then(|body| serde_json::from_str::<Value>(body).ok());
        let handoff = body.filter(|body| row["_type"] == "message" && body["task_id"].is_string());
        let Some(body) = handoff else { continue };
        if row["recalled_at"].is_i64() {
            continue;
        }
        assert!(row["delivered_at"].is_i64(), "it still waits: {row:#}");
        let attempt = body["previous_attempts"].as_i64().expect("counted");
        *delivered.entry((text(&body, "task_id"), attempt)).or_default() += 1;
    }
    assert!(!delivered.is_empty(), "there are messages");
    let twice: Vec<_> = delivered.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "delivered more than once: {twice:?}");
}
