//! How lines of a Beads file come into the ledger, one after another.

use std::collections::{BTreeSet, HashSet};

use baton_model::task::Task;
use baton_model::task::conflict::Conflict;
use baton_model::task::entry::entries;
use baton_model::task::merge::{
    Sides, adopt_at, ignored_changes, keep_sealed, lost_by_sides, merge, replaced_by, untimed_removals,
};
use baton_model::task::receipt::{believed, received};
use baton_model::task::record::Record;
use baton_model::task::renamed::ledger_version_under_id;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, task};
use serde_json::{Map, Value};
use task::line;

use super::beads_circles::LinkedLines;
use super::beads_export::{full_record, keep_line};
use super::beads_file::{BaseLines, IssuesFile, TaskLine};
use super::beads_import::{BeadsImportOutput, EmptiedText};
use super::beads_renames::{RenamedLines, is_rename};
use super::beads_rows::{insert, update};
use super::claim_elsewhere::{ClaimChange, LateClose};
use super::early_closes::EarlyCloses;
use super::line_guard::LineGuard;
use super::lines::Lines;
use super::merged_claims::MergedProjects;
use super::older_lines::OlderLines;
use super::untimed_lines::UntimedLines;
use super::write::begins;
use crate::project::refuse_merged;

/// What an import has come to so far.
pub(super) struct Progress<'a, 'e> {
    pub(super) project: &'a str,
    pub(super) now: Millis,
    pub(super) guard: LineGuard<'a, 'e>,
    pub(super) output: &'a mut BeadsImportOutput,
    /// Claims that lines of the file have ended.
    pub(super) ended: Vec<ClaimChange>,
    /// Closes of tasks that were closed before.
    pub(super) late_closes: Vec<LateClose>,
    pub(super) older: OlderLines,
    pub(super) untimed: UntimedLines,
    /// Texts that lines of the file have replaced, by task and field.
    pub(super) replaced: Vec<(String, Map<String, Value>)>,
    /// Whether something of the line at hand was not the caller's to change, or was not taken from a file that stays as it is.
    pub(super) is_refused: bool,
    /// Whether the lines are those of another file than the project's.
    pub(super) is_partial: bool,
    /// Tasks with new comments under the names of others, which the caller alone says.
    pub(super) attributed: BTreeSet<(String, String)>,
    /// Lines about tasks that have another id on one side.
    pub(super) renamed: RenamedLines,
    /// Lines that close a task while others that it needs closed are open.
    pub(super) early: EarlyCloses,
    /// Lines whose tasks may close a circle with others.
    pub(super) linked: LinkedLines,
    /// The projects that were merged into this one.
    pub(super) merged: MergedProjects,
    /// Gives the lines that both sides of git's conflict began from.
    pub(super) base: Option<&'a dyn Fn() -> Vec<String>>,
}

/// A version that is merged with a task.
pub(super) struct LineVersion<'a> {
    /// The number of its line, from 1.
    pub(super) number: usize,
    /// Whether it is one side of a conflict that git has left.
    pub(super) is_side: bool,
    /// Whether it was made under another id: what is sealed in it stays so under this one.
    pub(super) is_moved: bool,
    /// Whether it is what this ledger had, to which the known versions belong, and the task is as it came.
    pub(super) is_own: bool,
    /// What both sides of the conflict began from, where that is known.
    pub(super) base: Option<Record>,
    pub(super) record: &'a Record,
}

impl<'a> LineVersion<'a> {
    /// What the ledger has under another id.
    pub(super) fn under_other_id(record: &'a Record) -> Self {
        Self { number: 0, is_side: false, is_moved: true, is_own: true, base: None, record }
    }

    /// Of a line, with what is believed of it.
    pub(super) fn of(version: &TaskLine, record: &'a Record, now: Millis) -> Self {
        let base = version.base(now);
        Self {
            number: version.number,
            is_side: version.is_side(),
            is_moved: false,
            is_own: false,
            base,
            record,
        }
    }
}

impl<'a, 'e> Progress<'a, 'e> {
    /// Of an import that has not begun.
    pub(super) fn new(project: &'a str, guard: LineGuard<'a, 'e>, output: &'a mut BeadsImportOutput) -> Self {
        Self {
            project,
            now: guard.env.now,
            guard,
            output,
            ended: Vec::new(),
            late_closes: Vec::new(),
            older: OlderLines::default(),
            untimed: UntimedLines::default(),
            replaced: Vec::new(),
            is_refused: false,
            is_partial: false,
            attributed: BTreeSet::new(),
            renamed: RenamedLines::default(),
            early: EarlyCloses::default(),
            linked: LinkedLines::default(),
            merged: MergedProjects::default(),
            base: None,
        }
    }
}

impl Progress<'_, '_> {
    pub(super) fn take_in(
        &mut self,
        tx: &mut Tx<'_>,
        version: TaskLine,
        is_first: bool,
    ) -> Result<(), Failure> {
        let TaskLine { text, record, .. } = &version;
        let project = self.project;
        let theirs = &received(record.clone(), self.now);
        let id = &theirs.task.task_id;
        let Some(task) = task::get(tx, project, id)? else {
            let mut begun = adopt_at(theirs, self.now);
            let is_freed = self.merged.open_freed(tx, project, (text, &mut begun))?;
            insert(tx, project, &begun)?;
            self.note_authors(id, &Map::new(), theirs);
            // A time that was not believed, or is not there, is put right in the file.
            let times = |task: &Task| (task.created_at, task.updated_at);
            let is_stale = is_freed || theirs != record || times(&begun.task) != times(&record.task);
            line::put(tx, project, id, &line::KnownLines::default().followed_by(text), is_stale)?;
            match theirs.task.status.as_str() {
                "tombstone" => self.output.deleted += 1,
                _ => self.output.created += 1,
            }
            self.output.ids.push(id.clone());
            self.linked.note(version.number, theirs);
            self.renamed.note_new(&theirs.task);
            return Ok(());
        };
        let known = line::known_lines(tx, project, id)?;
        if known.last.as_ref() == Some(text) {
            self.output.unchanged += 1;
            return Ok(());
        }
        // A line that the file had before has nothing new: it came back by way of git.
        let is_new = !known.earlier.contains(text);
        if is_new && is_rename(&task, &theirs.task) {
            // Where the work goes on may stand further down in the file.
            self.renamed.put_off(version, is_first);
            return Ok(());
        }
        if is_new && self.early.can_wait() && self.guard.closes_early(tx, &task, &theirs.task)? {
            self.early.put_off(version, is_first);
            return Ok(());
        }
        let change = match is_new {
            true => {
                let versions = version.earlier_versions(&known, is_first, self.now);
                self.merge_in(tx, &task, &LineVersion::of(&version, theirs, self.now), &versions)?
            }
            false => None,
        };
        self.remember_line(tx, id, text)?;
        self.record_line(id, change.is_some());
        if change.is_some() {
            self.linked.note(version.number, theirs);
        }
        Ok(())
    }

    /// Remembers a line as one that the ledger has seen. One of which something was refused is to be written anew, and says the same
    /// again where it comes from a caller that may.
    pub(super) fn remember_line(&mut self, tx: &mut Tx<'_>, id: &str, text: &str) -> Result<(), Failure> {
        match std::mem::take(&mut self.is_refused) {
            true => Ok(line::outdate(tx, self.project, id)?),
            false => keep_line(tx, self.project, id, text),
        }
    }

    /// Counts a line by whether it has changed its task.
    pub(super) fn record_line(&mut self, id: &str, is_changed: bool) {
        if is_changed {
            self.output.updated += 1;
            self.output.ids.push(id.to_owned());
        } else {
            self.output.unchanged += 1;
        }
    }

    /// Notes comments that a line brings under the names of others.
    fn note_authors(&mut self, id: &str, known: &Map<String, Value>, line: &Record) {
        let names = self.guard.names_of_others(known, line);
        self.attributed.extend(names.into_iter().map(|name| (id.to_owned(), name)));
    }

    /// Merges a version with the task; returns the task if that changed it.
    pub(super) fn merge_in(
        &mut self,
        tx: &mut Tx<'_>,
        task: &Task,
        version: &LineVersion<'_>,
        known: &[Record],
    ) -> Result<Option<Task>, Failure> {
        let theirs = version.record;
        let ours = believed(full_record(tx, task.clone())?, known, self.now);
        let (mut merged, mut conflicts) = match version.is_own {
            true => {
                let incoming = ledger_version_under_id(ours.clone(), task);
                let (merged, mut conflicts) = merge(known, theirs, &incoming);
                conflicts.iter_mut().for_each(Conflict::swap);
                (merged, conflicts)
            }
            false => merge(known, &ours, theirs),
        };
        let mut passed = ignored_changes(known, &merged, theirs);
        passed.retain(|passed| conflicts.iter().all(|conflict| conflict.field != passed.field));
        self.older.add(version.number, &passed);
        let is_whole = passed.is_empty();
        if !version.is_side && !version.is_moved {
            let mut removals = untimed_removals(known, &merged, theirs);
            removals.retain(|removal| passed.iter().all(|one| one.field != removal.field.replace('/', ".")));
            self.untimed.add(version.number, &removals);
        }
        if version.is_side {
            let sides = Sides { base: version.base.as_ref(), ours: &ours, theirs };
            conflicts.retain(|conflict| conflict.is_deletion() || !sides.is_one_sided(&conflict.field));
            let mut lost = lost_by_sides(known, &sides, &merged);
            lost.retain(|one| conflicts.iter().chain(&passed).all(|conflict| conflict.field != one.field));
            conflicts.extend(lost);
        }
        conflicts.extend(keep_sealed(&ours, &mut merged));
        if version.is_moved {
            conflicts.extend(keep_sealed(theirs, &mut merged));
        }
        self.keep_unwritable(tx, task, (&ours, &mut merged), &mut conflicts)?;
        self.is_refused |= self.is_partial && !is_whole;
        self.note_authors(&task.task_id, &entries(&ours), &merged);
        let replaced = replaced_by(&ours, &merged);
        let left = entries(&merged);
        let is_named = |field: &str| conflicts.iter().any(|conflict| conflict.field == field);
        let emptied = replaced.keys().filter(|field| !left.contains_key(*field) && !is_named(field));
        let emptied = emptied.map(|field| EmptiedText { id: task.task_id.clone(), field: field.clone() });
        let emptied: Vec<EmptiedText> = emptied.collect();
        self.output.conflicts.extend(conflicts);
        self.late_closes.extend(LateClose::in_comments(task, &ours.comments, &merged.comments));
        let after = update(tx, task, &ours, merged)?;
        self.ended.extend(after.as_ref().and_then(|after| ClaimChange::of(task, after)));
        self.late_closes.extend(LateClose::of(task, &theirs.task));
        if after.is_some() && !replaced.is_empty() {
            self.output.emptied.extend(emptied);
            self.replaced.push((task.task_id.clone(), replaced));
        }
        Ok(after)
    }

    /// Leaves what the caller may not write as it is. A project that was merged refuses what begins a task.
    fn keep_unwritable(
        &mut self,
        tx: &mut Tx<'_>,
        task: &Task,
        (ours, merged): (&Record, &mut Record),
        conflicts: &mut Vec<Conflict>,
    ) -> Result<(), Failure> {
        let refused = self.guard.keep_held(tx, task, (ours, &mut *merged))?;
        self.is_refused = !refused.is_empty();
        // What the merge decided about a field that the caller may not write has no effect.
        conflicts.retain(|conflict| refused.iter().all(|one| one.field != conflict.field));
        conflicts.extend(refused);
        if begins(task, &merged.task) {
            refuse_merged(tx, &task.project_id)?;
        }
        Ok(())
    }

    /// Reads the lines and takes each task in; the file comes with what was found about it.
    pub(super) fn take_all(
        &mut self,
        tx: &mut Tx<'_>,
        is_lenient: bool,
        lines: &mut dyn Lines,
    ) -> Result<IssuesFile, Failure> {
        lines.rewind()?;
        let mut file = IssuesFile::new(is_lenient);
        let (mut met, mut bases) = (HashSet::new(), BaseLines::default());
        loop {
            let text = match lines.next() {
                Ok(Some(text)) => text,
                Ok(None) => break,
                Err(refusal) => {
                    file.pass(refusal)?;
                    continue;
                }
            };
            for version in file.read(&text)? {
                let version = bases.add_to(version, self.base);
                let is_first = met.insert(version.record.task.task_id.clone());
                self.take_in(tx, version, is_first)?;
            }
        }
        self.take_early_closes(tx)?;
        self.follow_renames(tx)?;
        file.end()?;
        let circles = std::mem::take(&mut self.linked).complaints(tx, self.project)?;
        let output = &mut *self.output;
        output.complaints = std::mem::take(&mut file.complaints);
        output.complaints.extend(std::mem::take(&mut self.older).complaint());
        output.complaints.extend(std::mem::take(&mut self.untimed).complaints());
        output.complaints.extend(circles);
        output.ids.sort_unstable();
        output.ids.dedup();
        (output.memories, output.other_lines) = (file.memories, file.others.len() - file.memories);
        Ok(file)
    }
}
