//! Workers whose provider says no, or whose agent fails at everything.

use std::fs;

use serde_json::Value;

use crate::stage::{Stage, text};
use crate::work::{Crew, bench, wait_for};

/// Twenty tasks and one agent; `script` decides how it goes, and may look whether the file `good` is there.
fn twenty(stage: &Stage, script: &str) -> Crew {
    let owner = stage.terminal("Owner");
    for n in 0..20 {
        owner.run(&["task", "create", &format!("t{n}"), "--agent-role", "implementation"]).done();
    }
    let mut at = bench(stage, "impl-1");
    at.set("GOOD", stage.root().join("good"));
    let args =
        ["work", "--role", "implementation", "--poll", "50ms", "--backoff", "20ms", "--", "sh", "-c", script];
    let mut command = at.command(&args);
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    Crew(vec![command.spawn().expect("a worker")])
}

/// The statuses of all tasks, and how many attempts were counted.
fn standing(stage: &Stage) -> (Vec<String>, i64) {
    let listed = stage.terminal("Owner").json(&["task", "list", "--all", "-n", "0"]);
    let rows = listed["items"].as_array().expect("items").clone();
    let attempts = rows.iter().map(|row| row["attempts"].as_i64().unwrap_or(0)).sum();
    (rows.iter().map(|row| text(row, "status")).collect(), attempts)
}

fn letters(stage: &Stage) -> Vec<String> {
    let inbox = stage.terminal("human").json(&["mail", "inbox"]);
    inbox["items"].as_array().expect("items").iter().map(|mail| text(mail, "subject")).collect()
}

#[test]
fn twenty_tasks_whose_agent_hits_a_limit_wait_for_its_end_with_one_letter() {
    let stage = Stage::ready();
    let command =
        "echo working on it; echo 'You have hit your usage limit. Try again in 2 seconds.' >&2; exit 7";
    let _crew = twenty(&stage, &format!("test -e $GOOD && exit 0; {command}"));
    wait_for("a letter", || !letters(&stage).is_empty());
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    let (statuses, attempts) = standing(&stage);
    assert!(attempts == 0 && !statuses.iter().any(|status| status == "blocked"), "{attempts}: {statuses:?}");
    let received = letters(&stage);
    assert!(received.len() == 1 && received[0].contains("impl-1 has hit a limit"), "{received:?}");
    fs::write(stage.root().join("good"), "").expect("written");
    wait_for("all are done", || standing(&stage).0.iter().all(|status| status == "closed"));
    assert_eq!(letters(&stage).len(), 1);
}

#[test]
fn a_limit_that_names_a_time_of_the_clock_is_read_in_the_zone_of_the_machine() {
    let stage = Stage::ready();
    stage.terminal("Owner").run(&["task", "create", "t", "--agent-role", "implementation"]).done();
    let mut at = bench(&stage, "impl-1");
    at.set("TZ", "AAA-9:30");
    let command = "echo 'You have hit your usage limit. Try again at Nov 25th, 2030 5:20 PM.' >&2; exit 7";
    let args =
        ["work", "--role", "implementation", "--max", "1", "--poll", "50ms", "--", "sh", "-c", command];
    at.run(&args).done();
    let received = letters(&stage);
    assert!(received.len() == 1 && received[0].contains("again at 2030-11-25 07:50 UTC"), "{received:?}");
    assert_eq!(standing(&stage), (vec!["open".to_owned()], 0));
}

#[test]
fn a_limit_that_names_its_end_is_one_letter_and_one_call_however_often_a_worker_is_started() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    for n in 0..3 {
        owner.run(&["task", "create", &format!("t{n}"), "--agent-role", "fixing"]).done();
    }
    let calls = stage.root().join("calls");
    let again = stage.root().join("again");
    let script = "echo call >> $CALLS; test -e $AGAIN && exit 0; \
        echo '429 rate limit reached, resets at 2030-01-01T00:00:00Z'; exit 1";
    let run = |name: &str, more: &[&str]| {
        let mut at = bench(&stage, name);
        at.set("CALLS", &calls);
        at.set("AGAIN", &again);
        at.run(&[&["work", "--role", "fixing", "--once"], more, &["--", "sh", "-c", script]].concat()).done()
    };
    let calls_made = || fs::read_to_string(&calls).unwrap_or_default().lines().count();
    for _ in 0..3 {
        run("W1", &[]);
    }
    let idle = run("W1", &["--json"]).out;
    assert!(idle.contains("\"at_limit\"") && idle.contains("\"until\""), "{idle}");
    assert_eq!((calls_made(), letters(&stage).len()), (1, 1));
    // Another worker may have another account; what it hits is the same limit.
    run("W2", &[]);
    assert_eq!((calls_made(), letters(&stage).len(), standing(&stage).1), (2, 1, 0));
    fs::write(&again, "").expect("written");
    run("W3", &[]);
    assert_eq!(standing(&stage).0.iter().filter(|status| *status == "closed").count(), 1);
}

#[test]
fn a_tool_that_runs_as_a_plain_command_and_hits_its_limit_fails_no_test() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    for role in ["testing", "testing", "verification"] {
        owner.run(&["task", "create", role, "--agent-role", role]).done();
    }
    let command = "echo working; echo 'Claude usage limit reached. Your limit will reset at 2030-01-01T00:00:00Z'; exit 1";
    for role in ["testing", "verification"] {
        let args = ["work", "--role", role, "--once", "--", "sh", "-c", command];
        bench(&stage, role).run(&args).done();
    }
    assert_eq!(standing(&stage), (vec!["open".to_owned(); 3], 0));
    assert_eq!(letters(&stage).len(), 1, "one limit is one letter");
}

/// A coding agent that hits a limit ends with 1 as a failed test does.
#[test]
fn a_limit_of_a_testing_agent_is_no_failed_test() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    for role in ["testing", "verification"] {
        owner.run(&["task", "create", role, "--agent-role", role]).done();
    }
    let claude =
        stage.file("bin/claude", "#!/bin/sh\necho 'Claude AI usage limit reached|4102444800'\nexit 1\n");
    owner.shell(&format!("chmod +x {claude}")).done();
    let path = format!("{}:{}", stage.root().join("bin").display(), crate::stage::env("PATH").expect("PATH"));
    for role in ["testing", "verification"] {
        let mut at = bench(&stage, role);
        at.set("PATH", &path);
        at.run(&["work", "--role", role, "--agent", "claude", "--max", "1", "--poll", "50ms"]).done();
    }
    let (statuses, attempts) = standing(&stage);
    assert_eq!((statuses, attempts), (vec!["open".to_owned(), "open".to_owned()], 0));
    let owner = stage.terminal("Owner");
    for row in owner.json(&["task", "list", "--all", "-n", "0"])["items"].as_array().expect("items") {
        let task = owner.json(&["task", "show", &text(row, "id"), "--full"]);
        let context = &task["agent_context"]["error_logs"];
        assert_eq!(*context, Value::Null, "a limit says nothing about a task: {task:#}");
    }
    // A test's own words about a limit are a failed test.
    let command = "echo 'FAILED test_retry: 429 rate limit was not retried'; exit 1";
    let mut at = bench(&stage, "testing");
    at.set("PATH", &path);
    at.run(&["work", "--role", "testing", "--max", "1", "--poll", "50ms", "--", "sh", "-c", command]).done();
    assert!(standing(&stage).0.contains(&"closed".to_owned()), "{:?}", standing(&stage));
}

#[test]
fn an_agent_that_fails_everything_is_set_aside_and_named_once() {
    let stage = Stage::ready();
    let _crew = twenty(&stage, "test -e $GOOD && exit 0; exit 7");
    wait_for("a letter", || !letters(&stage).is_empty());
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let (statuses, attempts) = standing(&stage);
    assert!(attempts <= 4 && !statuses.iter().any(|status| status == "blocked"), "{attempts}: {statuses:?}");
    let received = letters(&stage);
    assert!(received.len() == 1 && received[0].contains("impl-1 fails at everything"), "{received:?}");
    fs::write(stage.root().join("good"), "").expect("written");
    wait_for("all are done", || standing(&stage).0.iter().all(|status| status == "closed"));
}

/// A command that kills its worker with the first task of this title, and passes every other one.
const KILLER: &str = r#"grep -q deadly "$BATON_HANDOFF" && { kill -9 $PPID; sleep 1; }; exit 0"#;

#[test]
#[cfg(unix)]
fn a_task_that_takes_its_worker_with_it_is_set_aside_and_every_view_says_the_same() {
    let stage = Stage::ready();
    let owner = stage.terminal("Owner");
    let create = |title: &str, priority: &str| {
        let args = ["task", "create", title, "--agent-role", "implementation", "-p", priority];
        text(&owner.json(&args), "id")
    };
    let (deadly, good) = (create("deadly", "0"), create("good", "2"));
    let run = |name: &str| {
        let args = ["work", "--role", "implementation", "--once", "--", "sh", "-c", KILLER];
        bench(&stage, name).run(&args)
    };
    let ids = |list: &Value| list["items"].as_array().map_or(0, Vec::len);
    for (died, name) in ["impl-1", "impl-2", "impl-3"].into_iter().enumerate() {
        assert_ne!(run(name).code, 0, "{name} is killed");
        // Free in one view is free in all.
        assert_eq!(ids(&owner.json(&["task", "ready"])), 2);
        assert_eq!(ids(&owner.json(&["task", "list", "--status", "in_progress"])), 0);
        let shown = owner.json(&["task", "show", &deadly, "--full"]);
        assert_eq!((&shown["status"], &shown["assignee"]), (&"open".into(), &Value::Null), "{shown:#}");
        assert_eq!(shown["attempts"], died + 1);
        let summary = &owner.json(&["task", "stats"])["summary"];
        assert_eq!((&summary["ready_issues"], &summary["in_progress_issues"]), (&2.into(), &0.into()));
        let board = &owner.json(&["task", "board"])["items"][0];
        assert_eq!(
            (&board["counts"]["ready"], board["ready"].as_array().map(Vec::len)),
            (&2.into(), Some(2)),
            "{board:#}"
        );
        let card = owner.json(&["status"]);
        let open = |task: &Value| task["id"] == deadly.as_str() && task["status"] == "open";
        assert!(card["tasks"].as_array().is_some_and(|tasks| tasks.iter().any(open)), "{card:#}");
    }
    // The rest of the fleet lives, and goes on with other work.
    run("impl-4").done();
    assert_eq!(owner.json(&["task", "show", &good])["status"], "closed");
    let shown = owner.json(&["task", "show", &deadly, "--full"]);
    assert_eq!((&shown["status"], &shown["attempts"]), (&"blocked".into(), &3.into()), "{shown:#}");
    assert!(shown.to_string().contains("3 workers died at it, one after the other"), "{shown:#}");
    let letters = stage.terminal("human").json(&["mail", "inbox"]);
    let about = letters["items"].to_string().matches("3 workers died at it").count();
    assert!(about >= 1 && ids(&letters) == 1, "one letter: {letters:#}");
    // Who opens it again gives it as many workers once more.
    owner.json(&["task", "update", &deadly, "--status", "open"]);
    assert_ne!(run("impl-4").code, 0);
    assert_eq!(owner.json(&["task", "show", &deadly])["status"], "open");
}

#[test]
fn the_end_of_a_failed_tests_output_reaches_whoever_fixes_it() {
    let stage = Stage::ready();
    stage.terminal("Owner").json(&["task", "increment", "Round the prices"]);
    let packet = stage.root().join("packet.json");
    let failing = "echo 'FAILED rounds_half_up: 1.2 is not 1.3'; echo 1 of 7 failed >&2; exit 1";
    let runs = [("implementation", "true"), ("testing", failing), ("fixing", "cat >\"$PACKET\"")];
    for (role, command) in runs {
        let mut at = bench(&stage, role);
        at.set("PACKET", packet.display().to_string());
        at.run(&["work", "--role", role, "--max", "1", "--poll", "50ms", "--", "sh", "-c", command]).done();
    }
    let packet = fs::read_to_string(packet).expect("the packet of the fixer");
    assert!(packet.contains("FAILED rounds_half_up: 1.2 is not 1.3"), "{packet}");
    assert!(packet.contains("1 of 7 failed"), "{packet}");
}
