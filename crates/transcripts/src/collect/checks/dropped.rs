//! Checks that others tell better.

use std::collections::HashSet;

use super::super::coverage::covers;
use super::super::importance::{Importance, importance};
use super::super::run::Run;
use super::super::steps::{bare, chain, without_settings};
use super::{Check, CheckState, Checks};

/// After so many changes of source files a failure is one of the past where other checks pass.
const MANY_EDITS: u64 = 10;

/// Steps that are not told.
#[derive(Debug)]
pub(in super::super) struct DroppedSteps {
    /// What they showed a later check shows, too.
    told_by_others: HashSet<String>,
    /// They verified nothing.
    void: HashSet<String>,
}

impl Checks {
    /// Takes out what a later check tells better: a part of what passed since, and a look through a pipe at what is known or was
    /// changed since. Gives the steps that are not told any more.
    pub(in super::super) fn drop_what_others_tell(&mut self) -> DroppedSteps {
        let all = std::mem::take(&mut self.list);
        let edits = self.edits;
        let is_told = |check: &Check| {
            let of_one_program = |other: &Check| first_words(&other.key) == first_words(&check.key);
            let mut others = all.iter().filter(|other| other.key != check.key);
            match check.state {
                CheckState::Covered => false,
                // So much was changed since, and what was run then passed, that it tells of another state.
                CheckState::Failed
                    if check.importance == Importance::Work && edits >= check.edits + MANY_EDITS =>
                {
                    let passed_since = |other: &Check| {
                        other.state == CheckState::Passed
                            && other.edits >= check.edits + MANY_EDITS
                            && other.importance >= Importance::Work
                    };
                    !others.any(passed_since)
                }
                CheckState::Passed => !others.any(|other| {
                    other.state == CheckState::Passed
                        && check.is_covered_by(other)
                        && !covers(&other.command, &check.command)
                }),
                CheckState::Unknown if check.note.is_some() && check.failing.is_empty() => {
                    check.edits == edits
                        && check.importance >= Importance::Work
                        && !others.any(|other| other.state != CheckState::Unknown && of_one_program(other))
                }
                _ => true,
            }
        };
        let (listed, dropped): (Vec<Check>, Vec<Check>) = all.iter().cloned().partition(is_told);
        self.list = listed;
        let told_by_others = dropped.into_iter().map(|check| check.key).collect();
        DroppedSteps { told_by_others, void: std::mem::take(&mut self.void) }
    }

    /// Whether every step of a run that does something is one of these or told with its last state, and one is of these.
    pub(in super::super) fn tell_without(&self, run: &Run, dropped: &DroppedSteps) -> bool {
        let steps = chain(&run.command);
        let keys = steps.iter().map(|step| bare(&step.text));
        let keys: Vec<&str> = keys.filter(|key| importance(key) > Importance::Look).collect();
        let is_dropped = |key: &str| {
            dropped.told_by_others.contains(key) || (run.ok != Some(false) && dropped.void.contains(key))
        };
        let is_listed = |key: &str| is_dropped(key) || self.list.iter().any(|check| check.key == key);
        keys.iter().any(|key| is_dropped(key)) && keys.iter().all(|key| is_listed(key))
    }
}

/// Program and verb of a step.
fn first_words(step: &str) -> Vec<&str> {
    without_settings(step).split_whitespace().take(2).collect()
}
