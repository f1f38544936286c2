//! How fast a worker goes on: after a failure it pauses, and longer after each further one; at a limit of its provider it waits
//! until that answers again.

use std::collections::BTreeSet;
use std::time::Duration;

use baton_model::time::{Millis, rfc3339};
use baton_model::usage_limit::{ProviderStop, Reset};

/// The longest pause after failures, unless the first one is longer.
const MAX_BACKOFF: Millis = 10 * 60_000;
/// The first pause at a limit whose end the provider does not tell.
const UNKNOWN_LIMIT: Millis = 5 * 60_000;
/// The longest pause at a limit, also where the provider names a later time: it may have been raised meanwhile.
const MAX_LIMIT_PAUSE: Millis = 6 * 3_600_000;
/// After so many failures in a row, at more than one task, the fault is taken for the agent's.
const IN_A_ROW: u32 = 3;
/// How much longer a task waits than its worker pauses, so that others come first.
const TASK_FACTOR: Millis = 4;

/// What came of a task, as far as it says something about the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict<'a> {
    /// The agent did its work.
    Worked,
    /// The agent failed.
    Failed,
    /// Its provider has stopped it.
    Stopped(&'a ProviderStop),
}

/// What is to be told, once for each row of failures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Notice {
    /// A limit was hit.
    Limit(ProviderStop),
    /// The agent fails at whatever it is given.
    FailsEverything { failures: u32, tasks: usize },
}

/// The backoff of a worker.
#[derive(Debug)]
pub(super) struct Backoff {
    /// The first pause after a failure; 0 for none.
    first: Millis,
    failures: u32,
    tasks: BTreeSet<String>,
    limits: u32,
    is_told: bool,
}

impl Backoff {
    /// The backoff of a worker that has done nothing yet.
    pub(super) fn new(first: Millis) -> Self {
        Self { first, failures: 0, tasks: BTreeSet::new(), limits: 0, is_told: false }
    }

    /// Whether failures are the agent's by now, and count against no task.
    pub(super) fn is_agent_at_fault(&self) -> bool {
        self.first > 0 && self.failures >= IN_A_ROW && self.tasks.len() > 1
    }

    /// How long a task is not offered again after it failed for the `attempts + 1`st time, in milliseconds.
    pub(super) fn task_pause(&self, attempts: i64) -> Millis {
        let doubled =
            doubled(self.first.saturating_mul(TASK_FACTOR), u32::try_from(attempts).unwrap_or(u32::MAX));
        doubled.min(MAX_BACKOFF.saturating_mul(TASK_FACTOR))
    }

    /// Takes note of what came of a task. Returns how long to pause, and what is to be told.
    pub(super) fn note(
        &mut self,
        task_id: &str,
        verdict: Verdict<'_>,
        now: Millis,
    ) -> (Millis, Option<Notice>) {
        match verdict {
            Verdict::Worked => {
                *self = Self::new(self.first);
                (0, None)
            }
            Verdict::Failed => {
                self.failures = self.failures.saturating_add(1);
                self.tasks.insert(task_id.to_owned());
                let pause = doubled(self.first, self.failures - 1).min(MAX_BACKOFF.max(self.first));
                let notice = Notice::FailsEverything { failures: self.failures, tasks: self.tasks.len() };
                (
                    pause,
                    self.is_agent_at_fault()
                        .then_some(notice)
                        .filter(|_| !std::mem::replace(&mut self.is_told, true)),
                )
            }
            Verdict::Stopped(stop) => {
                let unknown = doubled(UNKNOWN_LIMIT, self.limits).min(MAX_LIMIT_PAUSE);
                self.limits = self.limits.saturating_add(1);
                let pause = match &stop.reset {
                    Some(Reset::AgainAt(at)) => {
                        at.0.saturating_sub(now).clamp(self.first.max(1_000), MAX_LIMIT_PAUSE)
                    }
                    Some(Reset::Again(_)) | None => unknown,
                };
                let notice =
                    (!std::mem::replace(&mut self.is_told, true)).then(|| Notice::Limit(stop.clone()));
                (pause, notice)
            }
        }
    }
}

/// A span, doubled so often.
fn doubled(span: Millis, times: u32) -> Millis {
    span.saturating_mul(1_i64.checked_shl(times.min(40)).unwrap_or(i64::MAX))
}

/// A pause with up to a quarter more, so that workers that stopped together do not begin together.
pub(super) fn with_jitter(pause: Millis) -> Duration {
    let mut bytes = [0_u8; 2];
    crate::clock::random(&mut bytes);
    let share = Millis::from(u16::from_le_bytes(bytes));
    let jitter = pause / 4 * share / Millis::from(u16::MAX);
    Duration::from_millis(u64::try_from(pause.saturating_add(jitter)).unwrap_or_default())
}

impl Notice {
    /// Its subject and text, for a person.
    pub(super) fn text(&self, name: &str, pause: Duration, now: Millis) -> (String, String) {
        let minutes = pause.as_secs().div_ceil(60);
        match self {
            Self::Limit(stop) => {
                let again = stop.reset_text().map(|again| format!(", {again}")).unwrap_or_default();
                let subject = format!("Agent {name} has hit a limit{again}");
                // A span would be wrong by the time it is read, and a second instant beside the one of the subject says the same.
                let due = now.saturating_add(Millis::try_from(pause.as_millis()).unwrap_or(MAX_LIMIT_PAUSE));
                let next = match &stop.reset {
                    Some(Reset::AgainAt(at)) if due < at.0 => {
                        " once before that, in case it was raised".to_owned()
                    }
                    Some(Reset::AgainAt(_)) => " then".to_owned(),
                    Some(Reset::Again(_)) | None => {
                        let instant = rfc3339(due);
                        format!(" at {} UTC", instant.get(..16).unwrap_or_default().replace('T', " "))
                    }
                };
                let body = format!(
                    "{}\nIts tasks are given back without counting an attempt. It tries again{next}.\n",
                    stop.text
                );
                (subject, body)
            }
            Self::FailsEverything { failures, tasks } => {
                let subject = format!("Agent {name} fails at everything: {failures} failures in a row");
                let body = format!(
                    "It failed at {tasks} different tasks and is set aside: it tries one task after a pause that grows (about \
                     {minutes} min now), and no attempt counts until one succeeds. `baton task list` shows the tasks; \
                     their `failed_attempts` say what the command said.\n"
                );
                (subject, body)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use baton_model::time::Timestamp;

    fn limit(reset: Option<Reset>) -> ProviderStop {
        ProviderStop { text: "usage limit".into(), is_limit: true, reset }
    }

    #[test]
    fn pauses_double_with_each_failure_and_end_with_a_success() {
        let mut backoff = Backoff::new(1_000);
        let pauses: Vec<Millis> = (0..4).map(|_| backoff.note("a", Verdict::Failed, 0).0).collect();
        assert_eq!(pauses, [1_000, 2_000, 4_000, 8_000]);
        (0..40).for_each(|_| _ = backoff.note("a", Verdict::Failed, 0));
        assert_eq!(backoff.note("a", Verdict::Failed, 0).0, MAX_BACKOFF);
        assert_eq!(backoff.note("a", Verdict::Worked, 0), (0, None));
        assert_eq!(backoff.note("a", Verdict::Failed, 0).0, 1_000);
    }

    #[test]
    fn an_agent_that_fails_at_several_tasks_is_at_fault_and_told_of_once() {
        let mut backoff = Backoff::new(10);
        assert_eq!(backoff.note("a", Verdict::Failed, 0).1, None);
        assert_eq!(backoff.note("b", Verdict::Failed, 0).1, None);
        assert!(!backoff.is_agent_at_fault());
        assert!(matches!(
            backoff.note("c", Verdict::Failed, 0).1,
            Some(Notice::FailsEverything { failures: 3, tasks: 3 })
        ));
        assert!(backoff.is_agent_at_fault());
        assert_eq!(backoff.note("d", Verdict::Failed, 0).1, None);
    }

    #[test]
    fn one_task_that_always_fails_is_the_tasks_fault() {
        let mut backoff = Backoff::new(10);
        (0..9).for_each(|_| assert_eq!(backoff.note("a", Verdict::Failed, 0).1, None));
        assert!(!backoff.is_agent_at_fault());
    }

    #[test]
    fn at_a_limit_it_waits_until_the_provider_answers_again() {
        let mut backoff = Backoff::new(10);
        let stop = limit(Some(Reset::AgainAt(Timestamp(90_000))));
        let (pause, notice) = backoff.note("a", Verdict::Stopped(&stop), 30_000);
        assert_eq!((pause, notice), (60_000, Some(Notice::Limit(stop))));
        let unknown = limit(None);
        assert_eq!(backoff.note("b", Verdict::Stopped(&unknown), 0), (2 * UNKNOWN_LIMIT, None));
        let late = limit(Some(Reset::AgainAt(Timestamp(Millis::MAX))));
        assert_eq!(backoff.note("b", Verdict::Stopped(&late), 0).0, MAX_LIMIT_PAUSE);
    }

    #[test]
    fn a_task_waits_longer_than_the_worker_pauses() {
        let backoff = Backoff::new(5_000);
        assert_eq!((backoff.task_pause(0), backoff.task_pause(1)), (20_000, 40_000));
        assert_eq!(Backoff::new(0).task_pause(3), 0);
    }
}
