use proptest::prelude::*;

use super::*;
use crate::task::gate::{Gate, Seen};

const STAGES: [Stage; 4] = [Stage::Implementation, Stage::Testing, Stage::Fixing, Stage::Verification];

fn told(closed: Stage, outcome: Outcome) -> Vec<String> {
    let tell = |s: &Step| format!("{:?} {:?} {}", s.stage, s.act, s.message.unwrap_or("-"));
    follows(closed, outcome).iter().map(tell).collect()
}

#[test]
fn the_whole_table() {
    use Outcome::{Fail, Pass};
    for outcome in [Pass, Fail] {
        assert_eq!(told(Stage::Implementation, outcome), ["Testing Hand task_handoff"]);
        assert_eq!(told(Stage::Fixing, outcome), ["Testing Rerun fix_complete"]);
    }
    assert_eq!(told(Stage::Testing, Fail), ["Fixing Wake test_failure_report"]);
    assert_eq!(told(Stage::Testing, Pass), ["Fixing Unneeded -", "Verification Hand verification_request"]);
    assert_eq!(told(Stage::Verification, Fail), ["Fixing Wake test_failure_report"]);
    assert_eq!(told(Stage::Verification, Pass), Vec::<String>::new());
}

#[test]
fn roles_and_stages_belong_together() {
    for stage in STAGES {
        assert_eq!(Stage::of(Some(stage.role())), Some(stage));
    }
    assert_eq!((Stage::of(None), Stage::of(Some("cook"))), (None, None));
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

    fn of(&self, stage: Stage) -> &Task {
        &self.0[stage as usize]
    }

    fn holds(&self, gate: Gate, on: Stage, woken: bool) -> bool {
        let on = self.of(on);
        gate.holds(
            Some(Seen { settled: on.is_settled(), result: on.result.as_deref(), ..Seen::default() }),
            woken,
        )
    }

    fn is_ready(&self, stage: Stage) -> bool {
        let task = self.of(stage);
        let held = match stage {
            Stage::Implementation => false,
            Stage::Testing => self.holds(Gate::Closed, Stage::Implementation, false),
            Stage::Fixing => self.holds(Gate::Failed, Stage::Testing, task.woken),
            Stage::Verification => self.holds(Gate::Passed, Stage::Testing, false),
        };
        task.status == "open" && !held
    }

    fn close(&mut self, stage: Stage, outcome: Outcome, now: i64) {
        let task = &mut self.0[stage as usize];
        task.set_status("closed", now);
        task.result = Some(outcome.word().into());
        task.close_reason = Some("said".into());
        let closed = task.clone();
        for step in follows(stage, outcome) {
            apply(step, &mut self.0[step.stage as usize], &closed, "Ann", now);
        }
    }
}

#[test]
fn the_failing_example_of_the_plan_runs_through() {
    use Outcome::{Fail, Pass};
    let mut inc = Increment::new();
    let ready = |inc: &Increment| {
        STAGES.into_iter().filter(|s| inc.is_ready(*s)).map(Stage::role).collect::<Vec<_>>()
    };
    let mut seen = vec![ready(&inc)];
    let closings = [
        (Stage::Implementation, Pass),
        (Stage::Testing, Fail),
        (Stage::Fixing, Pass),
        (Stage::Testing, Pass),
        (Stage::Verification, Fail),
        (Stage::Fixing, Pass),
        (Stage::Testing, Pass),
        (Stage::Verification, Pass),
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
    assert_eq!((inc.of(Stage::Fixing).attempts, inc.of(Stage::Testing).attempts), (2, 2));
}

proptest! {
    /// Whatever is closed whenever it is ready: one task at a time is ready, and what was built is built once.
    #[test]
    fn a_random_walk_keeps_to_the_plan(outcomes in prop::collection::vec(any::<bool>(), 1..60)) {
        let mut inc = Increment::new();
        let (mut failures, mut at) = (0, 0);
        for pass in outcomes {
            let ready: Vec<Stage> = STAGES.into_iter().filter(|s| inc.is_ready(*s)).collect();
            if ready.is_empty() {
                let verified = inc.of(Stage::Verification);
                prop_assert_eq!(verified.result.as_deref(), Some("pass"), "nothing is left to do, so it was approved");
                break;
            }
            prop_assert_eq!(ready.len(), 1, "{:?}", ready);
            at += 1;
            let outcome = if pass { Outcome::Pass } else { Outcome::Fail };
            failures += i64::from(!pass && matches!(ready[0], Stage::Testing | Stage::Verification));
            inc.close(ready[0], outcome, at);
            prop_assert_eq!(inc.of(Stage::Implementation).closed_at, Some(1), "it is never opened again");
            prop_assert_eq!(inc.of(Stage::Fixing).attempts, failures);
            for task in &inc.0 {
                prop_assert_eq!(task.is_open(), task.closed_at.is_none());
            }
        }
    }
}
