//! The end of a list that the budget cuts: `- … and 3 more`.

use super::section::{Entry, FINISHED_TASKS, Section};
use crate::budget::Budget;

/// How many things each list does not show, by its section; lists that show nothing have no place on the page.
#[derive(Debug, Default)]
pub(super) struct Rests(Vec<(Section, usize)>);

/// Lists of which a reader takes the end for the end of the matter.
const LISTS: &[Section] = &[
    Section::Files,
    Section::Verify,
    Section::Constraints,
    Section::Decisions,
    Section::Attempts,
    Section::Pending,
    Section::Questions,
    Section::Notes,
    Section::Issues,
    Section::Commands,
];

impl Rests {
    /// What these forms of the entries leave out.
    pub(super) fn of(entries: &[Entry], forms: &[Option<usize>]) -> Self {
        let missing = |section: Section| {
            // How many tasks are done is a count of its own, and no task.
            let is_own = move |entry: &Entry| entry.section == section && entry.noun != FINISHED_TASKS;
            let own = || entries.iter().zip(forms).filter(move |(entry, _)| is_own(entry));
            let count: usize = own().map(|(entry, form)| entry.missing(*form)).sum();
            (count > 0 && own().any(|(_, form)| form.is_some())).then_some((section, count))
        };
        Self(LISTS.iter().copied().filter_map(missing).collect())
    }

    /// Whether a section is such a list, and cut.
    pub(super) fn cuts(&self, section: Section) -> bool {
        self.0.iter().any(|(known, _)| *known == section)
    }

    /// What all of them cost.
    pub(super) fn cost(&self, budget: Budget) -> u64 {
        self.0.iter().map(|(_, count)| budget.cost(&line(*count))).sum()
    }

    /// Leaves out the last of them for which there is no room.
    pub(super) fn fit(&mut self, budget: Budget, free: u64) {
        while self.cost(budget) > free {
            self.0.pop();
        }
    }

    /// The last line of a section; empty where nothing of it is missing.
    pub(super) fn line(&self, section: Section) -> String {
        let count = self.0.iter().find(|(known, _)| *known == section).map(|(_, count)| *count);
        count.map(line).unwrap_or_default()
    }
}

fn line(count: usize) -> String {
    format!("- … and {count} more\n")
}
