use proptest::prelude::*;

use super::*;
use crate::task::gate::{Gate, GateInput};

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
            Some(GateInput {
                settled: on.is_settled(),
                result: on.result.as_deref(),
                ..GateInput::default()
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
        let task = &mut self.0[stage as usize];
        task.set_status("closed", now);
        task.result = Some(outcome.word().into());
        task.close_reason = Some("said".into());
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
