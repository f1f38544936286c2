//! Workers: real processes take tasks, run shell scripts as agents, and hand over to each other.
#![cfg(unix)]

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::stage::{Stage, Terminal, env, text};

/// What every agent does: it keeps the packet that it was given, and says what it did. A test fails as often as the file
/// `failures` has lines.
const AGENT: &str = r#"set -e
packet=$(cat)
[ "$packet" = "$(cat "$BATON_HANDOFF")" ]
printf '%s\n' "$packet" >> "$SEEN"
case "$BATON_IDENTITY" in
  impl*) echo '{"result":"pass","reason":"built","context":{"work_completed":"mode detection","files_modified":["a.rs"],"test_command":"./t.sh"}}' > "$BATON_RESULT" ;;
  test*) if [ -s "$FAILURES" ]; then sed -i 1d "$FAILURES"
           echo '{"result":"fail","reason":"2 of 12 fail","context":{"failure_details":"boom in mode_test","logs":"'"$(head -c 3000 /dev/zero | tr '\0' x)"'"}}' > "$BATON_RESULT"
         fi ;;
  fix*) echo '{"result":"pass","reason":"mended","context":{"work_completed":"guarded the empty case"}}' > "$BATON_RESULT" ;;
esac
"#;

/// Processes that end with the test.
struct Crew(Vec<Child>);

impl Drop for Crew {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

const ROLES: [(&str, &str); 4] =
    [("impl-1", "implementation"), ("test-1", "testing"), ("fix-1", "fixing"), ("verify-1", "verification")];

/// A terminal in which a worker runs.
fn bench<'a>(stage: &'a Stage, name: &str) -> Terminal<'a> {
    let mut at = stage.terminal(name);
    at.set("SEEN", stage.root().join("seen"));
    at.set("FAILURES", stage.root().join("failures"));
    at
}

fn work(stage: &Stage, name: &str, role: &str, more: &[&str]) -> Child {
    let agent = stage.file("agent.sh", AGENT);
    let args = [&["work", "--role", role, "--poll", "1s", "--jsonl"], more, &["--", "sh", &agent]].concat();
    let mut command = bench(stage, name).command(&args);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command.spawn().expect("a worker")
}

/// Waits until the task is closed, or blocked.
fn settled(stage: &Stage, id: &str) -> Value {
    let began = Instant::now();
    loop {
        let task = stage.terminal("Owner").json(&["task", "show", id, "--full"]);
        if task["status"] == "closed" || task["status"] == "blocked" {
            return task;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "{task:#}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The packets that agents were given, in order.
fn seen(stage: &Stage) -> Vec<Value> {
    let text = fs::read_to_string(stage.root().join("seen")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a packet")).collect()
}

/// Runs an increment through to the end of its verification, and returns what was seen.
fn increment(failures: &str) -> (Stage, Value, Vec<Value>) {
    let stage = Stage::ready();
    stage.file("failures", failures);
    let made = stage.terminal("Owner").json(&["task", "increment", "Detect operating mode"]);
    let crew = Crew(ROLES.iter().map(|(name, role)| work(&stage, name, role, &[])).collect());
    settled(&stage, &text(&made, "verify_id"));
    drop(crew);
    let packets = seen(&stage);
    (stage, made, packets)
}

fn types(packets: &[Value]) -> Vec<String> {
    packets.iter().map(|packet| text(packet, "type")).collect()
}

/// What every agent was given is within the budget of its role, and what was built is never opened again.
fn assert_bounded(stage: &Stage, made: &Value, packets: &[Value]) {
    for packet in packets {
        let budget = match packet["agent_role"].as_str() {
            Some("testing") => 1024,
            Some("verification") => 512,
            _ => 2048,
        };
        assert!(packet.to_string().len() <= budget, "{} bytes: {packet:#}", packet.to_string().len());
    }
    let built = text(made, "implementation_id");
    let turns = packets.iter().filter(|packet| packet["id"] == built.as_str()).count();
    assert_eq!(turns, 1, "the implementation is worked on once");
    assert_eq!(stage.terminal("Owner").json(&["task", "show", &built])["status"], "closed");
    stage.assert_sound();
}

#[test]
fn an_increment_that_goes_well_passes_through_three_workers() {
    let (stage, made, packets) = increment("");
    assert_eq!(types(&packets), ["task_assignment", "task_handoff", "verification_request"]);
    assert_eq!(packets[1]["agent_context"]["test_command"], "./t.sh");
    let fix = stage.terminal("Owner").json(&["task", "show", &text(&made, "fix_id")]);
    assert_eq!(fix["close_reason"], "not needed: the test passed");
    assert_bounded(&stage, &made, &packets);
}

#[test]
fn a_failure_is_fixed_tested_again_and_verified() {
    let (stage, made, packets) = increment("once\n");
    let expected =
        ["task_assignment", "task_handoff", "test_failure_report", "fix_complete", "verification_request"];
    assert_eq!(types(&packets), expected);
    assert_eq!(packets[2]["agent_context"]["failure_details"], "boom in mode_test");
    assert_bounded(&stage, &made, &packets);
}

#[test]
fn a_command_that_fails_gives_the_task_back_and_after_too_many_attempts_it_is_blocked() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    let id = text(&owner.json(&["task", "create", "t", "--agent-role", "implementation"]), "id");
    let worker = bench(&stage, "impl-1").with("BATON_ROUTE_MAX_ATTEMPTS", "2");
    for attempt in 1..=2 {
        let said = worker
            .run(&["--json", "work", "--role", "implementation", "--once", "--", "sh", "-c", "exit 3"])
            .done()
            .json();
        assert_eq!(said["outcome"], "given_back", "{said:#}");
        assert_eq!(owner.json(&["task", "show", &id])["attempts"], attempt);
    }
    let idle =
        worker.run(&["--json", "work", "--role", "implementation", "--once", "--", "true"]).done().json();
    assert_eq!(idle["outcome"], "nothing_ready");
    let task = owner.json(&["task", "show", &id, "--full"]);
    assert_eq!(
        (task["status"].as_str(), task["failed_attempts"][1]["by"].as_str()),
        (Some("blocked"), Some("impl-1"))
    );
    assert_eq!(text(&task["failed_attempts"][0], "why"), "the command ended with exit status: 3");
}

#[test]
fn a_command_that_takes_too_long_is_stopped_with_all_it_started() {
    let stage = Stage::ready();
    let id = text(&stage.terminal("Owner").json(&["task", "create", "t", "--agent-role", "testing"]), "id");
    let still = stage.root().join("still-here");
    let script = format!("(sleep 8; touch {}) & sleep 600", still.display());
    let args =
        ["--json", "work", "--role", "testing", "--once", "--max-duration", "1s", "--", "sh", "-c", &script];
    let said = bench(&stage, "test-1").run(&args).done().json();
    assert_eq!((said["outcome"].as_str(), said["task_id"].as_str()), (Some("given_back"), Some(id.as_str())));
    assert!(text(&said, "reason").starts_with("stopped after 1 seconds"), "{said:#}");
    let task = stage.terminal("Owner").json(&["task", "show", &id]);
    assert_eq!((task["status"].as_str(), task["attempts"].as_i64()), (Some("open"), Some(1)));
    std::thread::sleep(Duration::from_secs(9));
    assert!(!still.exists(), "what the command had started went on");
}

#[test]
fn a_killed_worker_loses_its_task_to_another_with_the_attempt_counted() {
    let stage = Stage::ready();
    let id = text(&stage.terminal("Owner").json(&["task", "create", "t", "--agent-role", "fixing"]), "id");
    let mut doomed =
        bench(&stage, "fix-0").spawn(&["work", "--role", "fixing", "--once", "--", "sleep", "30"]);
    let began = Instant::now();
    while stage.terminal("Owner").json(&["task", "show", &id])["claim"]["session_id"].is_null() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never began");
        std::thread::sleep(Duration::from_millis(20));
    }
    doomed.kill().expect("killed");
    doomed.wait().expect("gone");
    let crew = Crew(vec![work(&stage, "fix-1", "fixing", &["--once"])]);
    let task = settled(&stage, &id);
    drop(crew);
    assert_eq!((task["assignee"].as_str(), task["attempts"].as_i64()), (Some("fix-1"), Some(1)), "{task:#}");
    assert_eq!(task["failed_attempts"][0]["by"], "fix-0");
}

/// A number below `limit`, different in every run.
fn random(limit: u64) -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish() % limit
}

/// One process of the chaos, started anew whenever it was killed.
fn member(stage: &Stage, at: usize) -> Child {
    let quiet = |mut command: std::process::Command| {
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        command.spawn().expect("started")
    };
    match at {
        0 => quiet(stage.terminal("Router").command(&["route", "--watch"])),
        1 => quiet(stage.terminal("Server").command(&["serve", "--listen", "127.0.0.1:0"])),
        _ => {
            let (name, role) = ROLES[at % 4];
            work(stage, &format!("{name}{}", at / 4), role, &[])
        }
    }
}

#[test]
fn workers_router_and_server_killed_at_random_lose_no_task_and_repeat_no_message() {
    let kills: u64 = env("BATON_TEST_KILLS").and_then(|text| text.parse().ok()).unwrap_or(6);
    let stage = Stage::ready();
    stage.file("failures", "");
    let owner = stage.terminal("Owner");
    let ids: Vec<Vec<String>> = (0..(2 + kills / 2).min(125))
        .map(|n| {
            let made = owner.json(&["task", "increment", &format!("Piece {n}")]);
            ["implementation_id", "test_id", "fix_id", "verify_id"].map(|key| text(&made, key)).to_vec()
        })
        .collect();
    let mut crew = Crew((0..10).map(|at| member(&stage, at)).collect());
    for _ in 0..kills {
        std::thread::sleep(Duration::from_millis(50 + random(500)));
        let at = usize::try_from(random(10)).expect("small");
        let _ = crew.0[at].kill();
        let _ = crew.0[at].wait();
        crew.0[at] = member(&stage, at);
    }
    let began = Instant::now();
    for id in ids.iter().flatten() {
        loop {
            let task = owner.json(&["task", "show", id, "--full"]);
            let why = task["route"]["why"].is_string();
            if task["status"] == "closed"
                || (task["status"] == "blocked" && why)
                || task["blocked"] == true && given_up(&owner, &ids, id)
            {
                let listed = task["failed_attempts"].as_array().map_or(0, Vec::len);
                let counted = task["attempts"].as_u64().unwrap_or_default();
                assert_eq!(u64::try_from(listed).ok(), Some(counted), "attempts add up: {task:#}");
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(60 + kills * 5), "{task:#}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    drop(crew);
    let packets = seen(&stage);
    let mut turns: Vec<String> =
        packets.iter().map(|p| format!("{} {} {}", p["id"], p["attempts"], p["type"])).collect();
    let all = turns.len();
    turns.sort();
    turns.dedup();
    assert_eq!(turns.len(), all, "no message was given out twice");
    stage.assert_sound();
}

/// Whether a task can never become ready, because one before it in its increment is blocked after too many attempts.
fn given_up(owner: &Terminal<'_>, ids: &[Vec<String>], id: &str) -> bool {
    let own = ids.iter().find(|four| four.iter().any(|other| other == id)).expect("an increment");
    own.iter().any(|other| owner.json(&["task", "show", other])["status"] == "blocked")
}
