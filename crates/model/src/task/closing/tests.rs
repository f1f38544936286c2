use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::task::gate::{Gate, GateFacts};

const STAGES: [IncrementStage; 4] = [
    IncrementStage::Implementation,
    IncrementStage::Testing,
    IncrementStage::Fixing,
    IncrementStage::Verification,
];

fn told(closed: IncrementStage, outcome: Outcome) -> Vec<String> {
    let tell = |s: &Step| format!("{:?} {:?} {}", s.stage, s.act, s.message.unwrap_or("-"));
    follows(closed, outcome).iter().map(tell).collect()
}

#[test]
fn the_whole_table() {
    use Outcome::{Fail, Pass};
    for outcome in [Pass, Fail] {
        assert_eq!(told(IncrementStage::Implementation, outcome), ["Testing Hand task_handoff"]);
        assert_eq!(told(IncrementStage::Fixing, outcome), ["Testing Rerun fix_complete"]);
    }
    assert_eq!(told(IncrementStage::Testing, Fail), ["Fixing Wake test_failure_report"]);
    assert_eq!(
        told(IncrementStage::Testing, Pass),
        ["Fixing Unneeded -", "Verification Hand verification_request"]
    );
    assert_eq!(told(IncrementStage::Verification, Fail), ["Fixing Wake test_failure_report"]);
    assert_eq!(told(IncrementStage::Verification, Pass), Vec::<String>::new());
}

#[test]
fn roles_and_stages_belong_together() {
    for stage in STAGES {
        assert_eq!(IncrementStage::of(Some(stage.role())), Some(stage));
    }
    assert_eq!((IncrementStage::of(None), IncrementStage::of(Some("cook"))), (None, None));
}

/// Four linked tasks, moved by the table alone.
struct Increment([Task; 4]);

impl Increment {
    fn new() -> Self {
        Self(STAGES.map(|stage| Task {
            task_id: stage.role().into(),
            title: "t".into(),
            status: "open".into(),
            agent_role: Some(stage.role().into()),
            ..Task::default()
        }))
    }

    fn of(&self, stage: IncrementStage) -> &Task {
        &self.0[stage as usize]
    }

    fn holds(&self, gate: Gate, on: IncrementStage, woken: bool) -> bool {
        let on = self.of(on);
        gate.holds(
            Some(GateFacts {
                settled: on.is_settled(),
                result: on.result.as_deref(),
                ..GateFacts::default()
            }),
            woken,
        )
    }

    fn is_ready(&self, stage: IncrementStage) -> bool {
        let task = self.of(stage);
        let held = match stage {
            IncrementStage::Implementation => false,
            IncrementStage::Testing => self.holds(Gate::Closed, IncrementStage::Implementation, false),
            IncrementStage::Fixing => self.holds(Gate::Failed, IncrementStage::Testing, task.woken),
            IncrementStage::Verification => self.holds(Gate::Passed, IncrementStage::Testing, false),
        };
        task.status == "open" && !held
    }

    fn close(&mut self, stage: IncrementStage, outcome: Outcome, now: i64) {
        self.close_with(stage, outcome, ("said", json!({})), now);
    }

    /// Closes a task with a reason and a context.
    fn close_with(
        &mut self,
        stage: IncrementStage,
        outcome: Outcome,
        (reason, context): (&str, serde_json::Value),
        now: i64,
    ) {
        let task = &mut self.0[stage as usize];
        task.set_status("closed", now);
        task.result = Some(outcome.word().into());
        task.close_reason = Some(reason.into());
        task.agent_context.extend(context.as_object().cloned().unwrap_or_default());
        let closed = task.clone();
        let mut tasks = IncrementTasks::default();
        self.0.iter().for_each(|task| tasks.put(task.clone()));
        for step in follows(stage, outcome) {
            apply(step, &mut self.0[step.stage as usize], &closed, &tasks, ("Ann", now));
        }
    }
}

#[test]
fn the_failing_example_of_the_plan_runs_through() {
    use Outcome::{Fail, Pass};
    let mut inc = Increment::new();
    let ready = |inc: &Increment| {
        STAGES.into_iter().filter(|s| inc.is_ready(*s)).map(IncrementStage::role).collect::<Vec<_>>()
    };
    let mut seen = vec![ready(&inc)];
    let closings = [
        (IncrementStage::Implementation, Pass),
        (IncrementStage::Testing, Fail),
        (IncrementStage::Fixing, Pass),
        (IncrementStage::Testing, Pass),
        (IncrementStage::Verification, Fail),
        (IncrementStage::Fixing, Pass),
        (IncrementStage::Testing, Pass),
        (IncrementStage::Verification, Pass),
    ];
    for (at, (stage, outcome)) in (1..).zip(closings) {
        assert!(inc.is_ready(stage), "{stage:?} at {at}");
        inc.close(stage, outcome, at);
        seen.push(ready(&inc));
    }
    let one = |role: &'static str| vec![role];
    assert_eq!(
        seen[..5],
        [one("implementation"), one("testing"), one("fixing"), one("testing"), one("verification")]
    );
    assert_eq!(seen[5..], [one("fixing"), one("testing"), one("verification"), vec![]]);
    assert_eq!((inc.of(IncrementStage::Fixing).attempts, inc.of(IncrementStage::Testing).attempts), (2, 2));
}

/// What a stage is told under a field of its context.
fn context<'a>(inc: &'a Increment, stage: IncrementStage, field: &str) -> &'a str {
    inc.of(stage).agent_context.get(field).and_then(serde_json::Value::as_str).unwrap_or("-")
}

#[test]
fn every_role_hears_what_was_built_and_what_the_last_fix_did() {
    use IncrementStage::{Fixing, Implementation, Testing, Verification};
    use Outcome::{Fail, Pass};
    for built in [json!({}), json!({ "summary": "cart done" }), json!({ "work_completed": "built it" })] {
        let mut inc = Increment::new();
        inc.close_with(Implementation, Pass, ("built it", built.clone()), 1);
        for (round, (failed, fix)) in
            (1..).zip([(Testing, "repair 1"), (Testing, "repair 2"), (Verification, "repair 3")])
        {
            if failed == Verification {
                inc.close_with(Testing, Pass, ("green", json!({})), 10 * round);
            }
            inc.close_with(failed, Fail, (&format!("red {round}"), json!({})), 10 * round + 1);
            assert_eq!(context(&inc, Fixing, "failure"), format!("red {round}"));
            assert_eq!(context(&inc, Fixing, "work_completed"), "built it", "{built} {round}");
            let before = if round == 1 { "-".to_owned() } else { format!("repair {}", round - 1) };
            assert_eq!(context(&inc, Fixing, "previous_fix"), before, "{built} {round}");
            inc.close_with(Fixing, Pass, (fix, json!({})), 10 * round + 2);
            assert_eq!(context(&inc, Testing, "work_completed"), fix, "{built} {round}");
        }
        inc.close_with(Testing, Pass, ("green", json!({})), 90);
        let summary = if built.get("summary").is_some() { "cart done" } else { "built it" };
        assert_eq!(context(&inc, Verification, "summary"), format!("{summary}; then fixed: repair 3"));
    }
}

#[test]
fn what_a_fix_says_that_it_did_is_told_to_the_next_fix_before_the_reason_of_its_closing() {
    use IncrementStage::{Fixing, Implementation, Testing};
    use Outcome::{Fail, Pass};
    let report = |text: &str| json!({ "work_completed": text });
    let mut inc = Increment::new();
    inc.close_with(Implementation, Pass, ("the command ended with 0", report("built")), 1);
    inc.close_with(Testing, Fail, ("the command ended with 1", json!({})), 2);
    inc.close_with(Fixing, Pass, ("the command ended with 0", report("repaired the tokenizer")), 3);
    inc.close_with(Testing, Fail, ("the command ended with 1", json!({})), 4);
    assert_eq!(context(&inc, Fixing, "previous_fix"), "repaired the tokenizer");
    assert_eq!(context(&inc, Fixing, "work_completed"), "built");
    // A fix that says nothing has not done what the test report that it did.
    inc.close_with(Fixing, Pass, ("the command ended with 0", json!({})), 5);
    inc.close_with(Testing, Fail, ("red", report("ran all tests")), 6);
    assert_eq!(context(&inc, Fixing, "previous_fix"), "the command ended with 0");
    inc.close_with(Fixing, Pass, ("the parser is mended", json!({})), 7);
    inc.close_with(Testing, Fail, ("red", json!({})), 8);
    assert_eq!(context(&inc, Fixing, "previous_fix"), "the parser is mended");
}

#[test]
fn files_of_the_newest_change_come_first_and_nothing_grows_by_repetition() {
    use IncrementStage::{Fixing, Implementation, Testing};
    use Outcome::{Fail, Pass};
    let mut inc = Increment::new();
    let issues = json!(["slow", "slow", "ugly"]);
    let built = json!({ "files_modified": ["a.rs", "b.rs"], "known_issues": issues });
    inc.close_with(Implementation, Pass, ("built", built), 1);
    let paths = |inc: &Increment| -> Vec<String> {
        let files = inc.of(Testing).agent_context["files_modified"].as_array().cloned().unwrap_or_default();
        let path = |file: &serde_json::Value| file.as_str().or(file["path"].as_str()).map(str::to_owned);
        files.iter().filter_map(path).collect()
    };
    for (turn, (changed, expected)) in (1..).zip([
        (json!(["c.rs"]), vec!["c.rs", "a.rs", "b.rs"]),
        (json!(["b.rs"]), vec!["b.rs", "c.rs", "a.rs"]),
        // One that adds to what it was handed.
        (json!(["b.rs", "c.rs", "a.rs", "d.rs"]), vec!["d.rs", "b.rs", "c.rs", "a.rs"]),
    ]) {
        inc.close_with(Testing, Fail, ("red", json!({})), 10 * turn);
        inc.close_with(Fixing, Pass, ("fixed", json!({ "files_modified": changed })), 10 * turn + 1);
        assert_eq!(paths(&inc), expected);
        assert_eq!(inc.of(Testing).agent_context["known_issues"], json!(["slow", "ugly"]));
    }
}

#[test]
fn work_that_failed_is_not_told_as_completed() {
    use IncrementStage::{Fixing, Implementation, Testing, Verification};
    use Outcome::{Fail, Pass};
    let mut inc = Increment::new();
    inc.close_with(Implementation, Fail, ("no compiler", json!({})), 1);
    assert_eq!(context(&inc, Testing, "work_completed"), "the implementation failed: no compiler");
    let mut inc = Increment::new();
    inc.close_with(Implementation, Pass, ("built", json!({})), 1);
    inc.close_with(Testing, Fail, ("red", json!({})), 2);
    inc.close_with(Fixing, Fail, ("no idea", json!({})), 3);
    assert_eq!(context(&inc, Testing, "work_completed"), "the fix was given up: no idea");
    inc.close_with(Testing, Pass, ("green by chance", json!({})), 4);
    assert_eq!(context(&inc, Verification, "summary"), "built; the fix was given up: no idea");
}

#[test]
fn the_verification_is_told_how_often_the_test_failed_and_not_how_often_it_ran() {
    use IncrementStage::{Fixing, Implementation, Testing, Verification};
    use Outcome::{Fail, Pass};
    let attempts = |inc: &Increment| inc.of(Verification).agent_context.get("test_attempts").cloned();
    let mut inc = Increment::new();
    inc.close_with(Implementation, Pass, ("built", json!({})), 1);
    inc.close_with(Testing, Pass, ("green", json!({})), 2);
    inc.close_with(Verification, Fail, ("docs missing", json!({})), 3);
    inc.close_with(Fixing, Pass, ("docs written", json!({})), 4);
    // A tester that was killed is no test that failed.
    inc.0[Testing as usize].attempts += 1;
    inc.close_with(Testing, Pass, ("green", json!({})), 5);
    assert_eq!(attempts(&inc), None, "the test never failed");
    inc.close_with(Verification, Fail, ("docs wrong", json!({})), 6);
    inc.close_with(Fixing, Pass, ("docs mended", json!({})), 7);
    inc.close_with(Testing, Fail, ("red", json!({})), 8);
    inc.close_with(Fixing, Pass, ("mended", json!({})), 9);
    inc.close_with(Testing, Pass, ("green", json!({})), 10);
    assert_eq!(attempts(&inc), Some(json!(1)));
}

#[test]
fn what_failed_is_told_to_the_next_test_and_to_the_next_verification() {
    [false, true].into_iter().for_each(check_failures);
}

fn check_failures(is_replaced: bool) {
    use IncrementStage::{Fixing, Implementation, Testing, Verification};
    use Outcome::{Fail, Pass};
    let mut inc = Increment::new();
    inc.close_with(Implementation, Pass, ("built", json!({})), 1);
    let logs = json!({ "error_logs": "FAIL test_login: expected 200 got 401" });
    inc.close_with(Testing, Fail, ("the command ended with 1", logs), 2);
    assert_eq!(context(&inc, Fixing, "error_logs"), "FAIL test_login: expected 200 got 401");
    if is_replaced {
        // An agent that replaces its context takes nothing away.
        inc.0[Fixing as usize].agent_context = serde_json::Map::new();
    }
    inc.close_with(Fixing, Pass, ("fixed", json!({})), 3);
    let failed = "the command ended with 1: FAIL test_login: expected 200 got 401";
    assert_eq!(inc.of(Testing).agent_context["previous_failures"], json!([failed]));
    inc.close_with(Testing, Pass, ("green", json!({})), 4);
    let objection = format!("{}docs missing in README", "é".repeat(900));
    inc.close_with(Verification, Fail, ("no", json!({ "failure_details": objection })), 5);
    inc.close_with(Fixing, Pass, ("fixed", json!({})), 6);
    inc.close_with(Testing, Pass, ("green", json!({})), 7);
    for stage in [Testing, Verification] {
        let failures =
            inc.of(stage).agent_context["previous_failures"].as_array().cloned().unwrap_or_default();
        let last = failures[0].as_str().unwrap_or_default();
        assert!(last.starts_with("no: …") && last.ends_with("docs missing in README"), "{last}");
        assert!(last.len() < 450, "{last}");
        assert_eq!(failures[1..], [json!(failed)], "{stage:?}: the last one first");
    }
    assert_eq!(inc.of(Verification).agent_context.get("failure_details"), None);
}

#[test]
fn files_are_signed_where_another_than_the_sender_changed_them() {
    use IncrementStage::{Fixing, Implementation, Testing, Verification};
    use Outcome::{Fail, Pass};
    let mut inc = Increment::new();
    for (stage, name) in [(Implementation, "impl-1"), (Testing, "test-1"), (Fixing, "fix-1")] {
        inc.0[stage as usize].assignee = Some(name.into());
    }
    let files = |inc: &Increment, stage| inc.of(stage).agent_context["files_modified"].clone();
    inc.close_with(Implementation, Pass, ("built", json!({ "files_modified": ["a.rs"] })), 1);
    assert_eq!(files(&inc, Testing), json!(["a.rs"]), "its sender changed it");
    let signed = json!([{ "path": "a.rs", "by": "impl-1" }]);
    inc.0[Testing as usize].assignee = Some("test-1".into());
    inc.close_with(Testing, Fail, ("red", json!({})), 2);
    assert_eq!(files(&inc, Fixing), signed);
    inc.close_with(Fixing, Pass, ("nothing to change", json!({})), 3);
    assert_eq!(files(&inc, Testing), signed, "the fix changed no file");
    inc.close_with(Testing, Pass, ("green", json!({})), 4);
    assert_eq!(files(&inc, Verification), signed);
}

#[test]
fn the_role_that_comes_next_is_not_handed_on_to_the_one_after() {
    use IncrementStage::{Implementation, Testing, Verification};
    use Outcome::Pass;
    let mut inc = Increment::new();
    let instructions = json!({ "next_role": "testing", "notes": "run ./t first" });
    inc.0[Implementation as usize].handoff_instructions =
        instructions.as_object().cloned().unwrap_or_default();
    inc.close(Implementation, Pass, 1);
    assert_eq!(inc.of(Testing).handoff_instructions["next_role"], "testing");
    inc.close(Testing, Pass, 2);
    assert_eq!(json!(inc.of(Verification).handoff_instructions), json!({ "notes": "run ./t first" }));
}

proptest! {
    /// Whatever is closed whenever it is ready: one task at a time is ready, and what was built is built once.
    #[test]
    fn a_random_walk_keeps_to_the_plan(outcomes in prop::collection::vec(any::<bool>(), 1..60)) {
        let mut inc = Increment::new();
        let (mut failures, mut at) = (0, 0);
        for pass in outcomes {
            let ready: Vec<IncrementStage> = STAGES.into_iter().filter(|s| inc.is_ready(*s)).collect();
            if ready.is_empty() {
                let verified = inc.of(IncrementStage::Verification);
                prop_assert_eq!(verified.result.as_deref(), Some("pass"), "nothing is left to do, so it was approved");
                break;
            }
            prop_assert_eq!(ready.len(), 1, "{:?}", ready);
            at += 1;
            let outcome = if pass { Outcome::Pass } else { Outcome::Fail };
            failures += i64::from(!pass && matches!(ready[0], IncrementStage::Testing | IncrementStage::Verification));
            inc.close(ready[0], outcome, at);
            prop_assert_eq!(inc.of(IncrementStage::Implementation).closed_at, Some(1), "it is never opened again");
            prop_assert_eq!(inc.of(IncrementStage::Fixing).attempts, failures);
            for task in &inc.0 {
                prop_assert_eq!(task.is_open(), task.closed_at.is_none());
            }
        }
    }
}
