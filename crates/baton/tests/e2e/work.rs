//! Workers: real processes take tasks, run shell scripts as agents, and hand over to each other.
#![cfg(unix)]

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::stage::{Stage, Terminal, text};

/// What every agent does: it keeps the packet that it was given, and says what it did. A test fails as often as the file
/// `failures` has lines; with a file `seen.slow` beside, work takes its time.
pub(crate) const AGENT: &str = r#"set -e
packet=$(cat)
[ "$packet" = "$(cat "$BATON_HANDOFF")" ]
printf '%s\n' "$packet" >> "$SEEN"
[ ! -e "$SEEN.slow" ] || sleep 0.4
case "$BATON_IDENTITY" in
  impl*) echo '{"result":"pass","reason":"built","context":{"work_completed":"mode detection","files_modified":["a.rs"],"test_command":"./t.sh"}}' > "$BATON_RESULT" ;;
  test*) if [ -s "$FAILURES" ]; then sed -i 1d "$FAILURES"
           echo '{"result":"fail","reason":"2 of 12 fail","context":{"failure_details":"boom in mode_test","logs":"'"$(head -c 3000 /dev/zero | tr '\0' x)"'"}}' > "$BATON_RESULT"
         fi ;;
  fix*) echo '{"result":"pass","reason":"mended","context":{"work_completed":"guarded the empty case"}}' > "$BATON_RESULT" ;;
esac
"#;

/// Processes that end with the test.
pub(crate) struct Crew(pub Vec<Child>);

impl Drop for Crew {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

pub(crate) const ROLES: [(&str, &str); 4] =
    [("impl-1", "implementation"), ("test-1", "testing"), ("fix-1", "fixing"), ("verify-1", "verification")];

/// A terminal in which a worker runs.
pub(crate) fn bench<'a>(stage: &'a Stage, name: &str) -> Terminal<'a> {
    let mut at = stage.terminal(name);
    at.set("SEEN", stage.root().join("seen"));
    at.set("FAILURES", stage.root().join("failures"));
    at
}

pub(crate) fn work(stage: &Stage, name: &str, role: &str, more: &[&str]) -> Child {
    // Written once: a shell reads its script as it goes, and would take half of one for the whole.
    let agent = stage.root().join("agent.sh");
    let agent = if agent.exists() { agent.display().to_string() } else { stage.file("agent.sh", AGENT) };
    let args = [&["work", "--role", role, "--poll", "1s", "--jsonl"], more, &["--", "sh", &agent]].concat();
    let mut command = bench(stage, name).command(&args);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    command.spawn().expect("a worker")
}

/// Waits until the task is closed, or blocked.
pub(crate) fn settled(stage: &Stage, id: &str) -> Value {
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
pub(crate) fn seen(stage: &Stage) -> Vec<Value> {
    let text = fs::read_to_string(stage.root().join("seen")).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a packet")).collect()
}

/// Runs an increment through to the end of its verification, and returns what was made and what was seen.
pub(crate) fn increment(
    stage: &Stage,
    failures: &str,
    worker: impl Fn(&str, &str) -> Child,
) -> (Value, Vec<Value>) {
    stage.file("failures", failures);
    let made = stage.terminal("Owner").json(&["task", "increment", "Detect operating mode"]);
    let crew = Crew(ROLES.iter().map(|(name, role)| worker(name, role)).collect());
    settled(stage, &text(&made, "verify_id"));
    drop(crew);
    (made, seen(stage))
}

fn types(packets: &[Value]) -> Vec<String> {
    packets.iter().map(|packet| text(packet, "type")).collect()
}

/// What every agent was given is within the budget of its role, and what was built is never opened again.
pub(crate) fn assert_bounded(stage: &Stage, made: &Value, packets: &[Value]) {
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

/// The seed's flow that goes well: the messages are those of the table.
pub(crate) fn goes_well(stage: &Stage, worker: impl Fn(&str, &str) -> Child) {
    let (made, packets) = increment(stage, "", worker);
    assert_eq!(types(&packets), ["task_assignment", "task_handoff", "verification_request"]);
    assert_eq!(packets[1]["agent_context"]["test_command"], "./t.sh");
    let fix = stage.terminal("Owner").json(&["task", "show", &text(&made, "fix_id")]);
    assert_eq!(fix["close_reason"], "not needed: the test passed");
    assert_bounded(stage, &made, &packets);
}

/// The seed's flow in which the test fails once.
pub(crate) fn fails_once(stage: &Stage, worker: impl Fn(&str, &str) -> Child) {
    let (made, packets) = increment(stage, "once\n", worker);
    let expected =
        ["task_assignment", "task_handoff", "test_failure_report", "fix_complete", "verification_request"];
    assert_eq!(types(&packets), expected);
    assert_eq!(packets[2]["agent_context"]["failure_details"], "boom in mode_test");
    assert_bounded(stage, &made, &packets);
}

#[test]
fn an_increment_that_goes_well_passes_through_three_workers() {
    let stage = Stage::ready();
    goes_well(&stage, |name, role| work(&stage, name, role, &[]));
}

#[test]
fn a_failure_is_fixed_tested_again_and_verified() {
    let stage = Stage::ready();
    fails_once(&stage, |name, role| work(&stage, name, role, &[]));
}

/// An agent that works as the plan's section 8 has it: the task is closed first, its context comes after.
const CLOSES_ITSELF: &str = r#"set -e
cat >> "$SEEN"
bd() { "$BATON" bd "$@" > /dev/null; }
case "$BATON_IDENTITY" in
  impl*) bd close "$BATON_TASK" --reason "Implementation complete"
         bd update "$BATON_TASK" --silent --agent-context '{"work_completed":"registration added","files_modified":["a.rs:4"],
           "test_command":"./t.sh","implementation_notes":"works when the server is down","known_issues":[],"attempts":0,"previous_agent":"impl-1"}' ;;
  test*) if [ -s "$FAILURES" ]; then sed -i 1d "$FAILURES"
           bd update "$BATON_TASK" --silent --agent-context '{"reproduction_steps":"./t.sh register"}'
           bd close "$BATON_TASK" --reason "2 of 9 tests failed"
         else bd close "$BATON_TASK" --reason "All 9 pass, no errors"; fi ;;
  fix*) bd update "$BATON_TASK" --silent --agent-context '{"work_completed":"timeout raised","files_modified":["b.rs:1"]}'
        bd close "$BATON_TASK" --reason "Fixed" ;;
  *) bd close "$BATON_TASK" --reason "Approved" ;;
esac
"#;

/// What each role receives where agents close their tasks themselves and the tests fail so often. The other roles begin to work
/// when the implementation is described: a tester that began between the two commands would hear of it by mail.
pub(crate) fn closed_by_agents(stage: &Stage, failures: &str) -> (Value, Vec<Value>) {
    let agent = stage.file("closes.sh", CLOSES_ITSELF);
    stage.file("failures", failures);
    let owner = stage.terminal("Owner");
    let made = owner.json(&["task", "increment", "Detect operating mode"]);
    let worker = |(name, role): (&str, &str)| {
        let mut at = bench(stage, name);
        at.set("BATON", crate::stage::BATON);
        let mut command =
            at.command(&["work", "--role", role, "--poll", "1s", "--jsonl", "--", "sh", &agent]);
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        command.spawn().expect("a worker")
    };
    let mut crew = Crew(vec![worker(ROLES[0])]);
    let built = text(&made, "implementation_id");
    wait_for("what was built", || {
        owner.json(&["task", "show", &built])["agent_context"]["work_completed"].is_string()
    });
    crew.0.extend(ROLES[1..].iter().copied().map(worker));
    settled(stage, &text(&made, "verify_id"));
    drop(crew);
    let packets = seen(stage);
    assert_bounded(stage, &made, &packets);
    for id in ["implementation_id", "test_id", "verify_id"] {
        let task = stage.terminal("Owner").json(&["task", "show", &text(&made, id), "--full"]);
        let comments = task["comments"].to_string();
        assert!(!comments.contains("the command ended"), "the worker has nothing to add: {comments}");
    }
    (made, packets)
}

#[test]
fn what_is_closed_first_and_described_after_reaches_each_role_whole() {
    let stage = Stage::ready();
    let (_, packets) = closed_by_agents(&stage, "once\n");
    let expected =
        ["task_assignment", "task_handoff", "test_failure_report", "fix_complete", "verification_request"];
    assert_eq!(types(&packets), expected);
    let context = |at: usize, key: &str| packets[at]["agent_context"][key].clone();
    for (at, key, value) in [
        (1, "test_command", "./t.sh"),
        (1, "work_completed", "registration added"),
        (2, "failure", "2 of 9 tests failed"),
        (2, "reproduction_steps", "./t.sh register"),
        (2, "test_command", "./t.sh"),
        (2, "work_completed", "registration added"),
        (3, "work_completed", "timeout raised"),
        (4, "summary", "registration added; then fixed: timeout raised"),
        (4, "test_results", "All 9 pass, no errors"),
    ] {
        assert_eq!(context(at, key), value, "{key} of packet {at}: {:#}", packets[at]);
    }
    let none = Value::Null;
    for (at, attempts) in [0.into(), 0.into(), 1.into(), 1.into(), none].into_iter().enumerate() {
        assert_eq!(packets[at]["attempts"], attempts, "packet {at}");
        assert!(context(at, "attempts").is_null(), "said once: {:#}", packets[at]);
    }
    assert_eq!(context(4, "test_attempts"), 1, "the test's own number");
    assert!(context(4, "failure").is_null(), "what passed has no failure");
}

#[test]
fn a_third_fix_is_told_what_the_one_before_did() {
    let stage = Stage::ready();
    let (_, packets) = closed_by_agents(&stage, "1\n2\n3\n");
    let fixes: Vec<&Value> = packets.iter().filter(|packet| packet["agent_role"] == "fixing").collect();
    let before: Vec<&Value> = fixes.iter().map(|fix| &fix["agent_context"]["previous_fix"]).collect();
    assert_eq!(before, [&Value::Null, &"timeout raised".into(), &"timeout raised".into()]);
    assert_eq!(packets.last().map(|last| &last["agent_context"]["test_attempts"]), Some(&3.into()));
}

#[test]
fn a_command_that_fails_gives_the_task_back_and_after_too_many_attempts_it_is_blocked() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    let id = text(&owner.json(&["task", "create", "t", "--agent-role", "implementation"]), "id");
    let worker = bench(&stage, "impl-1").with("BATON_ROUTE_MAX_ATTEMPTS", "2");
    for attempt in 1..=2 {
        let output = worker
            .run(&[
                "--json",
                "work",
                "--role",
                "implementation",
                "--backoff",
                "0s",
                "--once",
                "--",
                "sh",
                "-c",
                "exit 3",
            ])
            .done()
            .json();
        assert_eq!(output["outcome"], "given_back", "{output:#}");
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
fn a_worker_whose_command_cannot_be_started_claims_nothing() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    let id = text(&owner.json(&["task", "create", "t", "--agent-role", "implementation"]), "id");
    // A script whose interpreter is missing looks like a program until it is started.
    let script = stage.file("broken.sh", "#!/nonexistent/interpreter\n");
    owner.shell(&format!("chmod +x {script}")).done();
    let text_file = stage.file("no-program.txt", "no program");
    for command in ["/nonexistent", "no-such-program-anywhere", &text_file, &script] {
        let args = ["--json", "work", "--role", "implementation", "--once", "--", command];
        let refusal = bench(&stage, "impl-1").run(&args).refused(5, "command_unstartable");
        assert!(refusal.to_string().contains(command), "{refusal:#}");
        let task = owner.json(&["task", "show", &id]);
        let standing = (task["status"].as_str(), task["attempts"].as_i64().unwrap_or_default());
        assert_eq!(standing, (Some("open"), 0), "{command}: {task:#}");
        assert!(task["claim"].is_null() && task["assignee"].is_null(), "{command}: {task:#}");
        // A worker that ended is offered nothing, however lately it was heard of.
        let routed = owner.json(&["route"]);
        assert_eq!(routed["items"], serde_json::json!([]), "{command}: {routed:#}");
    }
    stage.terminal("impl-2").json(&["agent", "register", "--role", "implementation"]);
    assert_eq!(owner.json(&["route"])["items"][0]["agent"], "impl-2");
}

#[test]
fn all_that_a_command_wrote_is_recorded_or_kept_in_a_file_that_is_named() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    let run = |script: &str| {
        let id = text(&owner.json(&["task", "create", "t", "--agent-role", "testing"]), "id");
        let args = ["work", "--role", "testing", "--once", "--", "sh", "-c", script];
        let answer = bench(&stage, "test-1").run(&args).done();
        let task = owner.json(&["task", "show", &id, "--full"]);
        if task["status"] != "closed" {
            owner.run(&["task", "claim", &id, "--force", "--why", "done with"]).done();
            owner.run(&["task", "close", &id, "--force"]).done();
        }
        (task.to_string(), answer.err)
    };
    let report = |result: &str, context: &str| {
        format!(
            r#"{{"result":"{result}","reason":"R1","context":{{"c":"{context}"}},"handoff_instructions":{{"h":"H1"}}}}"#
        )
    };
    // A failure of the agent: what it found out goes along.
    let (task, warned) = run(&format!("echo '{}' > $BATON_RESULT", report("error", "C1")));
    assert!(
        ["R1", "C1", "H1"].iter().all(|word| task.contains(word)) && warned.is_empty(),
        "{task} {warned}"
    );
    // Too late: reason and context are a comment, and the rest is where the worker says.
    let take = "$BATON_BIN task claim $BATON_TASK --force --why took --as Boss >&2";
    let take = take.replace("$BATON_BIN", crate::stage::BATON);
    let (task, warned) = run(&format!("{take}; echo '{}' > $BATON_RESULT", report("pass", "C1")));
    assert!(["R1", "C1"].iter().all(|word| task.contains(word)), "{task} {warned}");
    assert_eq!(kept_file(&warned), report("pass", "C1"));
    // Too large, and unreadable.
    let large = report("fail", &"x".repeat(20_000));
    let (task, warned) = run(&format!("echo '{large}' > $BATON_RESULT"));
    assert!(task.contains("R1") && kept_file(&warned) == large, "{warned}");
    let (_, warned) = run("echo '{\"result\":\"passed\",\"reason\":\"R1\"}' > $BATON_RESULT");
    assert!(kept_file(&warned).contains("passed"), "{warned}");
    // Something would be lost of it, or it has no end.
    let (_, warned) = run("echo '{\"context\":{\"a\":1,\"a\":2}}' > $BATON_RESULT");
    assert!(kept_file(&warned).contains("\"a\":2"), "{warned}");
    let (task, warned) = run("mkfifo $BATON_RESULT");
    assert!(task.contains("it is a pipe") && warned.contains("it is kept in "), "{task} {warned}");
}

#[test]
fn a_report_without_a_result_is_taken_and_the_exit_code_decides() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    let run = |code: i32| {
        let id = text(&owner.json(&["task", "create", "t", "--agent-role", "implementation"]), "id");
        let script = format!(
            r#"echo '{{"reason":"as asked","context":{{"work_completed":"half of it"}}}}' > $BATON_RESULT; exit {code}"#
        );
        let args =
            ["work", "--role", "implementation", "--once", "--backoff", "0s", "--", "sh", "-c", &script];
        bench(&stage, "impl-1").run(&args).done();
        let task = owner.json(&["task", "show", &id, "--full"]);
        if task["status"] != "closed" {
            owner.run(&["task", "close", &id, "--force"]).done();
        }
        task
    };
    let well = run(0);
    assert_eq!((&well["status"], &well["result"]), (&"closed".into(), &"pass".into()), "{well:#}");
    assert_eq!(well["agent_context"]["work_completed"], "half of it");
    let badly = run(3);
    assert_eq!((&badly["status"], &badly["attempts"]), (&"open".into(), &1.into()), "{badly:#}");
    assert_eq!(badly["agent_context"]["work_completed"], "half of it", "nothing is discarded: {badly:#}");
}

/// What is in the file that a worker says it has kept.
fn kept_file(warned: &str) -> String {
    let path = warned.lines().find_map(|line| line.split_once("it is kept in ")).expect("a file").1;
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path.trim()).expect("there").permissions());
    assert_eq!(mode & 0o777, 0o600, "its owner's alone");
    std::fs::read_to_string(path.trim()).expect("readable").trim().to_owned()
}

#[test]
fn a_command_that_takes_too_long_is_stopped_with_all_it_started() {
    let stage = Stage::ready();
    let id = text(&stage.terminal("Owner").json(&["task", "create", "t", "--agent-role", "testing"]), "id");
    let still = stage.root().join("still-here");
    let script = format!("(sleep 8; touch {}) & sleep 600", still.display());
    let args =
        ["--json", "work", "--role", "testing", "--once", "--max-duration", "1s", "--", "sh", "-c", &script];
    let report = bench(&stage, "test-1").run(&args).done().json();
    assert_eq!(
        (report["outcome"].as_str(), report["task_id"].as_str()),
        (Some("given_back"), Some(id.as_str()))
    );
    assert!(text(&report, "reason").starts_with("stopped after 1 seconds"), "{report:#}");
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

pub(crate) fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("{what}");
}
