//! How long git may hold up a command: one limit for all of its calls in a working copy. A repository in which git stalls (its
//! `HEAD` is a FIFO, its index never ends) would else cost the patience of one call many times over.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// All calls of a command in one working copy together.
pub(super) const TOTAL_TIMEOUT: Duration = Duration::from_secs(3);
/// One call, so that after one that stalls there is time for what git answers at once.
const SINGLE: Duration = Duration::from_secs(2);
/// What takes no longer is not counted: a process that lives on calls git many times.
const QUICK: Duration = Duration::from_millis(250);
/// So long a working copy in which git stalled is left alone by a process that lives on.
const AFTER: Duration = Duration::from_secs(60);

/// What was spent in one working copy.
#[derive(Debug, Clone, Copy)]
struct SpentTime {
    /// Time of slow calls.
    time: Duration,
    /// When the last of them ended.
    last: Instant,
    /// Whether a call got no answer in time, or was not made any more.
    is_out: bool,
}

/// Time by working copy.
#[derive(Debug, Default)]
pub(super) struct Budget(BTreeMap<PathBuf, SpentTime>);

impl Budget {
    /// How long the next call may take; none where nothing is left.
    pub(super) fn remaining(&mut self, root: &Path, now: Instant) -> Option<Duration> {
        let Some(spent) = self.0.get_mut(root) else { return Some(SINGLE) };
        if now.saturating_duration_since(spent.last) > AFTER {
            self.0.remove(root);
            return Some(SINGLE);
        }
        let left = TOTAL_TIMEOUT.saturating_sub(spent.time);
        if left < QUICK {
            spent.is_out = true;
            return None;
        }
        Some(left.min(SINGLE))
    }

    /// Notes what a call took, and whether it was answered.
    pub(super) fn spend(&mut self, root: &Path, took: Duration, answered: bool, now: Instant) {
        if answered && took < QUICK {
            return;
        }
        let spent = self.0.entry(root.to_owned()).or_insert(SpentTime {
            time: Duration::ZERO,
            last: now,
            is_out: false,
        });
        spent.time += took;
        spent.last = now;
        spent.is_out |= !answered;
    }

    /// The working copies whose facts are incomplete for it.
    pub(super) fn out(&self) -> Vec<PathBuf> {
        self.0.iter().filter(|(_, spent)| spent.is_out).map(|(root, _)| root.clone()).collect()
    }
}

/// The budget of this process: a command line is one command.
static OF_PROCESS: Mutex<Budget> = Mutex::new(Budget(BTreeMap::new()));

/// Works with the budget of this process.
pub(super) fn of_process<T>(work: impl FnOnce(&mut Budget) -> T) -> T {
    work(&mut OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_calls_share_one_limit_and_quick_ones_are_free() {
        let (one, two) = (Path::new("/one"), Path::new("/two"));
        let now = Instant::now();
        let mut budget = Budget::default();
        for _ in 0..1000 {
            budget.spend(one, Duration::from_millis(20), true, now);
        }
        assert_eq!((budget.remaining(one, now), budget.out()), (Some(SINGLE), vec![]));
        budget.spend(one, Duration::from_secs(2), true, now);
        assert_eq!(budget.remaining(one, now), Some(Duration::from_secs(1)));
        budget.spend(one, Duration::from_secs(1), false, now);
        assert_eq!((budget.remaining(one, now), budget.remaining(two, now)), (None, Some(SINGLE)));
        assert_eq!(budget.out(), [one]);
        let later = now + AFTER + Duration::from_secs(1);
        assert_eq!((budget.remaining(one, later), budget.out()), (Some(SINGLE), vec![]));
    }
}
