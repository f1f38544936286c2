//! Filling a budget: which entries appear, and how long.

use super::rest::Rests;
use super::section::{Entry, Section, rank};
use crate::budget::Budget;

/// The form chosen for each entry, in the order of the entries; `None` is left out.
pub(super) struct FormChoice {
    pub forms: Vec<Option<usize>>,
    /// Thousandths of the unit that are still free.
    pub free: u64,
}

impl FormChoice {
    /// Everything at full length: there is no budget.
    pub(super) fn everything(entries: &[Entry]) -> Self {
        Self { forms: entries.iter().map(|entry| entry.forms.len().checked_sub(1)).collect(), free: u64::MAX }
    }

    /// How many of what is missing, by name, in the order of the page.
    pub(super) fn missing(&self, entries: &[Entry]) -> Vec<(&'static str, usize)> {
        let mut counts: Vec<(&'static str, usize)> = Vec::new();
        for (entry, form) in entries.iter().zip(&self.forms) {
            let noun = form.map_or(Some(entry.noun), |form| entry.forms[form].lacks);
            let lacking = Some(entry.missing(*form)).filter(|count| *count > 0).unwrap_or(entry.count);
            match counts.iter_mut().find(|(known, _)| Some(*known) == noun) {
                Some((_, count)) => *count += lacking,
                None => counts.extend(noun.map(|noun| (noun, lacking))),
            }
        }
        counts.sort_by_key(|(noun, _)| *noun == super::section::SHORTENED);
        counts
    }

    /// Makes room for the ends of lists behind `line`: of a list that is cut, the item worth least gives way to it.
    pub(super) fn make_room(&mut self, entries: &[Entry], costs: &FormCosts, line: u64) {
        let rests = Rests::of(entries, &self.forms);
        let needed = line + rests.cost(costs.budget);
        for step in costs.steps.iter().rev() {
            let entry = &entries[step.entry];
            if self.free >= needed {
                return;
            }
            let is_own = |one: &Entry, form: &Option<usize>| one.section == entry.section && form.is_some();
            let shown = entries.iter().zip(&self.forms).filter(|(one, form)| is_own(one, form)).count();
            let gives_way = rests.cuts(entry.section) && entry.count == 1 && shown > 1;
            if self.forms[step.entry] == Some(step.form) && gives_way {
                self.forms[step.entry] = None;
                self.free += step.cost;
                return;
            }
        }
    }

    /// Whether every fact is there in some form.
    pub(super) fn holds_all_facts(&self, entries: &[Entry]) -> bool {
        let fact = |entry: &Entry| entry.forms.first().is_some_and(|form| form.rank <= rank::FACT);
        entries.iter().zip(&self.forms).all(|(entry, form)| form.is_some() || !fact(entry))
    }
}

/// Gives space by value. One section may not take more than its share until the others of the core had theirs.
pub(super) fn pack(entries: &[Entry], costs: &FormCosts, free: u64) -> FormChoice {
    let share = costs.budget.room() / 100 * 45;
    let mut filling = Packing::new(entries, costs, free);
    for (last, limit) in [(rank::CORE, share), (rank::CORE, u64::MAX), (u8::MAX, share), (u8::MAX, u64::MAX)]
    {
        for step in costs.steps.iter().filter(|step| step.rank <= last) {
            filling.take(step, limit);
        }
    }
    if filling.drop_edits_behind_gap() {
        // What is free now goes to the rest of the document.
        let is_edit = |step: &&Step| entries[step.entry].section == Section::Diffs;
        costs.steps.iter().filter(|step| !is_edit(step)).for_each(|step| filling.take(step, u64::MAX));
    }
    FormChoice { forms: filling.forms, free: filling.free }
}

/// What every form of the entries costs, in the order in which they get space.
pub(super) struct FormCosts {
    budget: Budget,
    steps: Vec<Step>,
}

impl FormCosts {
    /// To estimate a text takes longer than to place it, so this is made once.
    pub(super) fn new(entries: &[Entry], budget: Budget) -> Self {
        let mut steps: Vec<Step> =
            entries.iter().enumerate().flat_map(|(at, entry)| steps(at, entry, budget)).collect();
        steps.sort_by_key(|step| (step.rank, step.order, step.entry, step.form));
        Self { budget, steps }
    }
}

/// One entry in one form.
struct Step {
    rank: u8,
    order: i64,
    entry: usize,
    form: usize,
    cost: u64,
}

fn steps(at: usize, entry: &Entry, budget: Budget) -> impl Iterator<Item = Step> {
    entry.forms.iter().enumerate().map(move |(form, is)| Step {
        rank: is.rank,
        order: entry.order,
        entry: at,
        form,
        cost: budget.cost(&is.text),
    })
}

struct Packing<'a> {
    entries: &'a [Entry],
    forms: Vec<Option<usize>>,
    paid: Vec<u64>,
    /// What each section took, heading included; zero is a section that does not appear.
    sections: [u64; Section::ALL.len()],
    heads: [u64; Section::ALL.len()],
    free: u64,
}

impl<'a> Packing<'a> {
    fn new(entries: &'a [Entry], costs: &FormCosts, free: u64) -> Self {
        Self {
            entries,
            forms: vec![None; entries.len()],
            paid: vec![0; entries.len()],
            sections: [0; Section::ALL.len()],
            heads: Section::ALL.map(|section| costs.budget.cost(&section.head())),
            free,
        }
    }

    /// Takes out the edits that are older than one for which there is no space: they would pass for the last. Whether there were some.
    fn drop_edits_behind_gap(&mut self) -> bool {
        let is_edit = |at: &usize| self.entries[*at].section == Section::Diffs;
        let mut edits: Vec<usize> = (0..self.entries.len()).filter(is_edit).collect();
        edits.sort_by_key(|at| self.entries[*at].order);
        let behind = edits.iter().skip_while(|at| self.forms[**at].is_some());
        let dropped: Vec<usize> = behind.filter(|at| self.forms[**at].is_some()).copied().collect();
        for at in &dropped {
            self.free += self.paid[*at];
            (self.forms[*at], self.paid[*at]) = (None, 0);
        }
        if !dropped.is_empty() && edits.iter().all(|at| self.forms[*at].is_none()) {
            self.free += self.heads[Section::Diffs as usize];
            self.sections[Section::Diffs as usize] = 0;
        }
        !dropped.is_empty()
    }

    fn take(&mut self, step: &Step, limit: u64) {
        if self.forms[step.entry].is_some_and(|form| form >= step.form) {
            return;
        }
        let section = self.entries[step.entry].section as usize;
        let head = if self.sections[section] == 0 { self.heads[section] } else { 0 };
        let before = self.paid[step.entry];
        let rise = (head + step.cost).saturating_sub(before);
        if rise > self.free || (limit < u64::MAX && self.sections[section] + rise > limit) {
            return;
        }
        self.free -= rise;
        self.sections[section] += rise;
        self.paid[step.entry] = before.max(step.cost);
        self.forms[step.entry] = Some(step.form);
    }
}
