use super::*;
use crate::handoff::Event;

fn kinds(steps: &[Step]) -> Vec<String> {
    steps.iter().map(|s| format!("{} {}", s.kind.as_str(), s.stage.as_str())).collect()
}

fn nobody(_: &ProcessLocation) -> bool {
    false
}

fn here() -> ProcessLocation {
    ProcessLocation { machine: "m".into(), process: "1".into() }
}

/// Does the steps one after the other, as many as said.
fn after(done: usize) -> Vec<Step> {
    let mut steps = plan(0);
    for _ in 0..done {
        let NextAttempt::Take(at) = next_attempt(&steps, 0, nobody) else { panic!("no turn: {steps:?}") };
        lease_step(&mut steps[at], &here(), 0);
        record_outcome(&mut steps, at, Outcome::Done(None), 0, 0);
    }
    steps
}

#[test]
fn words_survive_being_written() {
    for kind in Kind::ALL {
        assert_eq!(Kind::from_word(kind.as_str()), Some(kind));
    }
    for stage in StepStage::ALL {
        assert_eq!(StepStage::from_word(stage.as_str()), Some(stage));
    }
}

#[test]
fn steps_take_turns() {
    for done in 0..4 {
        assert_eq!(next_attempt(&after(done), 0, nobody), NextAttempt::Take(done));
    }
    assert_eq!(next_attempt(&after(4), 0, nobody), NextAttempt::Finished);
}

#[test]
fn a_step_in_work_is_left_alone_until_its_lease_ends_or_its_process_is_gone() {
    let mut steps = plan(0);
    lease_step(&mut steps[0], &here(), 100);
    assert_eq!(next_attempt(&steps, 100 + LEASE - 1, nobody), NextAttempt::Leased(100 + LEASE));
    assert_eq!(next_attempt(&steps, 100 + LEASE, nobody), NextAttempt::Take(0));
    assert_eq!(next_attempt(&steps, 101, |place| *place == here()), NextAttempt::Take(0));
    assert!(steps[0].is_unknown, "whoever takes it over has to look first");
}

#[test]
fn a_failure_waits_longer_each_time_and_obeys_the_other_side() {
    let mut steps = plan(0);
    let retry = |after| Outcome::Retry { why: "503".into(), after, unknown: false };
    lease_step(&mut steps[0], &here(), 0);
    record_outcome(&mut steps, 0, retry(None), 0, 0);
    assert_eq!((next_attempt(&steps, 0, nobody), steps[0].is_unknown), (NextAttempt::DueAt(1_000), false));
    lease_step(&mut steps[0], &here(), 1_000);
    record_outcome(&mut steps, 0, retry(None), 1_000, 999);
    assert_eq!(next_attempt(&steps, 1_000, nobody), NextAttempt::DueAt(1_000 + 2_499));
    record_outcome(&mut steps, 0, retry(Some(60_000)), 0, 0);
    assert_eq!(next_attempt(&steps, 0, nobody), NextAttempt::DueAt(60_000));
    steps[0].attempts = 1_000;
    record_outcome(&mut steps, 0, retry(None), 0, 0);
    assert_eq!(next_attempt(&steps, 0, nobody), NextAttempt::DueAt(MAX_PAUSE), "never given up by count");
}

#[test]
fn cancelling_undoes_in_reverse_what_was_done() {
    for (done, expected) in [
        (0, vec!["task skipped", "memory skipped", "session skipped", "offer skipped"]),
        (1, vec!["task done", "memory skipped", "session skipped", "offer skipped", "undo_task pending"]),
        (
            2,
            vec![
                "task done",
                "memory done",
                "session skipped",
                "offer skipped",
                "undo_memory pending",
                "undo_task pending",
            ],
        ),
        (
            4,
            vec![
                "task done",
                "memory done",
                "session done",
                "offer done",
                "undo_session pending",
                "undo_memory pending",
                "undo_task pending",
            ],
        ),
    ] {
        for event in [Event::Cancel, Event::Decline, Event::Expire] {
            let mut steps = after(done);
            on_event(&mut steps, event, 5);
            assert_eq!(kinds(&steps), expected, "after {done}");
            let next = steps.iter().position(|step| !step.is_over());
            assert_eq!(
                next_attempt(&steps, 5, nobody),
                next.map_or(NextAttempt::Finished, NextAttempt::Take)
            );
        }
    }
}

#[test]
fn a_task_that_may_be_there_is_looked_for_before_it_is_undone() {
    let mut steps = plan(0);
    lease_step(&mut steps[0], &here(), 0);
    on_event(&mut steps, Event::Cancel, 5);
    assert_eq!(kinds(&steps)[..2], ["task running", "memory skipped"]);
    assert_eq!(kinds(&steps)[4], "undo_task pending");
    assert_eq!(
        next_attempt(&steps, 5, nobody),
        NextAttempt::Leased(LEASE),
        "the one who tries is waited for"
    );
    assert_eq!(next_attempt(&steps, LEASE, nobody), NextAttempt::Take(0));
}

#[test]
fn a_final_failure_leaves_nothing_behind() {
    let mut steps = plan(0);
    lease_step(&mut steps[0], &here(), 0);
    record_outcome(&mut steps, 0, Outcome::Final { why: "404".into(), unknown: false }, 0, 0);
    on_event(&mut steps, Event::Fail, 0);
    assert_eq!(kinds(&steps), ["task failed", "memory skipped", "session skipped", "offer skipped"]);
    assert_eq!(next_attempt(&steps, 0, nobody), NextAttempt::Finished);

    let mut steps = plan(0);
    lease_step(&mut steps[0], &here(), 0);
    record_outcome(&mut steps, 0, Outcome::Final { why: "401".into(), unknown: true }, 0, 0);
    on_event(&mut steps, Event::Fail, 0);
    assert_eq!(kinds(&steps)[0], "task pending", "it is looked for");
    assert_eq!(next_attempt(&steps, 0, nobody), NextAttempt::DueAt(FIRST_RETRY));
    assert_eq!(kinds(&steps)[4], "undo_task pending");
}

#[test]
fn a_retry_does_again_what_failed_or_was_undone() {
    let mut steps = plan(0);
    lease_step(&mut steps[0], &here(), 0);
    record_outcome(&mut steps, 0, Outcome::Final { why: "404".into(), unknown: false }, 0, 0);
    on_event(&mut steps, Event::Fail, 0);
    on_event(&mut steps, Event::Retry, 7);
    assert_eq!(kinds(&steps), ["task pending", "memory pending", "session pending", "offer pending"]);
    assert_eq!((next_attempt(&steps, 7, nobody), steps[0].is_unknown), (NextAttempt::Take(0), false));

    let mut steps = after(2);
    lease_step(&mut steps[2], &here(), 0);
    record_outcome(&mut steps, 2, Outcome::Final { why: "?".into(), unknown: false }, 0, 0);
    on_event(&mut steps, Event::Fail, 0);
    for at in 4..6 {
        lease_step(&mut steps[at], &here(), 0);
        record_outcome(&mut steps, at, Outcome::Done(None), 0, 0);
    }
    on_event(&mut steps, Event::Retry, 7);
    assert_eq!(kinds(&steps)[..4], ["task pending", "memory pending", "session pending", "offer pending"]);
    assert!(steps[0].is_unknown, "the closed issue is taken up again");
}

#[test]
fn completing_reports_to_the_tracker() {
    let mut steps = after(4);
    on_event(&mut steps, Event::Complete, 9);
    assert_eq!(kinds(&steps)[4], "report pending");
    assert_eq!(next_attempt(&steps, 9, nobody), NextAttempt::Take(4));
}

#[test]
fn what_one_who_was_overtaken_made_is_looked_for_at_once() {
    let mut steps = after(4);
    check_duplicates_now(&mut steps, 3);
    check_duplicates_now(&mut steps, 3);
    assert_eq!(kinds(&steps)[4..], ["double pending"]);
    assert_eq!(next_attempt(&steps, 3, nobody), NextAttempt::Take(4));
    record_duplicate_check(&mut steps[4], &[7], nobody, 3);
    assert_eq!(
        (next_attempt(&steps, 3, nobody), closed_duplicates(&steps[4])),
        (NextAttempt::Finished, vec![7])
    );
    assert_eq!(steps[4].view().doubles_closed, [7], "it is reported");
}

/// The times at which looks are taken until there are none left.
fn looks(steps: &mut [Step], gone_from: Millis) -> Vec<Millis> {
    let mut times = Vec::new();
    while let NextAttempt::OnlyDuplicateCheck(at) =
        next_attempt(steps, times.last().copied().unwrap_or_default(), nobody)
    {
        lease_step(&mut steps[4], &here(), at);
        record_duplicate_check(&mut steps[4], &[], |place| place.process == "sleeper" && at >= gone_from, at);
        times.push(at);
    }
    times
}

#[test]
fn what_may_still_arrive_is_looked_for_until_it_cannot() {
    let sleeper = ProcessLocation { machine: "m".into(), process: "sleeper".into() };
    let (minute, hour) = (60_000, 3_600_000);
    let first = vec![minute, 11 * minute];
    for (sender, gone_from, expected) in [
        (None, 0, first.clone()),
        (Some(&sleeper), 0, first.clone()),
        (Some(&sleeper), hour, vec![minute, 11 * minute, 71 * minute]),
        (
            Some(&sleeper),
            NOT_YET,
            vec![minute, 11 * minute, 71 * minute, 71 * minute + 6 * hour, 71 * minute + 30 * hour],
        ),
    ] {
        let mut steps = after(4);
        schedule_duplicate_check(&mut steps, sender, 0);
        assert_eq!(looks(&mut steps, gone_from), expected);
        assert_eq!(steps[4].stage, StepStage::Done);
    }
}

#[test]
fn a_look_for_doubles_holds_nothing_up_and_waits_while_a_task_is_made() {
    let mut steps = plan(0);
    lease_step(&mut steps[0], &here(), 0);
    schedule_duplicate_check(&mut steps, None, 0);
    let due = 60_000;
    assert_eq!(next_attempt(&steps, 1, nobody), NextAttempt::Leased(LEASE));
    steps[0].lease_until = due * 2;
    assert_eq!(
        next_attempt(&steps, due, nobody),
        NextAttempt::Leased(due * 2),
        "the task is still being made"
    );
    record_outcome(&mut steps, 0, Outcome::Done(None), 5, 0);
    for at in 1..4 {
        assert_eq!(next_attempt(&steps, 5, nobody), NextAttempt::Take(at));
        record_outcome(&mut steps, at, Outcome::Done(None), 5, 0);
    }
    assert_eq!(next_attempt(&steps, 5, nobody), NextAttempt::OnlyDuplicateCheck(due));
    on_event(&mut steps, Event::Complete, 6);
    assert_eq!(next_attempt(&steps, 6, nobody), NextAttempt::Take(5), "the report goes out at once");
    record_outcome(
        &mut steps,
        5,
        Outcome::Retry { why: "503".into(), after: Some(due * 9), unknown: false },
        6,
        0,
    );
    assert_eq!(
        next_attempt(&steps, due, nobody),
        NextAttempt::Take(4),
        "and while it waits, the look is taken"
    );
}

#[test]
fn a_comment_that_is_refused_does_not_hold_up_what_follows() {
    let mut steps = after(4);
    append_event(&mut steps, Kind::Comment, "accepted", 1);
    on_event(&mut steps, Event::Complete, 2);
    assert_eq!(
        (next_attempt(&steps, 2, nobody), steps[4].result.as_deref()),
        (NextAttempt::Take(4), Some("accepted"))
    );
    lease_step(&mut steps[4], &here(), 2);
    record_outcome(&mut steps, 4, Outcome::Final { why: "403".into(), unknown: false }, 3, 0);
    assert_eq!((next_attempt(&steps, 3, nobody), steps[5].due_at), (NextAttempt::Take(5), 3));
    assert!(closed_duplicates(&steps[4]).is_empty());
}
