//! Lines of a Beads file about tasks that were renamed on one side: what was changed under the old id is merged into the new one.

use std::collections::BTreeSet;

use baton_model::delta::Kind;
use baton_model::id::{check_identity, identity_key};
use baton_model::task::Task;
use baton_model::task::claim::Claim;
use baton_model::task::entry::entries;
use baton_model::task::merge::adopt;
use baton_model::task::receipt::received;
use baton_model::task::record::Record;
use baton_model::task::renamed::{
    is_same_task, ledger_version_under_id, name_order, renamed_from, renamed_to, under_id, without_deletion,
};
use baton_model::time::parse_rfc3339;
use baton_store::{Failure, Tx, handoff, task};
use serde_json::{Map, Value, json};
use task::{comment, dependency, line};

use super::beads_export::full_record;
use super::beads_file::TaskLine;
use super::beads_merge::{LineVersion, Progress};
use super::beads_rows::update;
use super::claim_elsewhere::ending;
use super::claim_expiry::is_claim_live;
use super::line_guard::new_comments;
use super::rename::{bury, redirect};
use super::write::update_without_delta;
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::session::send_signal;

/// How many times one task is followed to another id.
pub(super) const RENAMES: usize = 64;

/// Whether a line and the ledger differ in whether a task has another id, or in which.
pub(super) fn is_rename(ours: &Task, theirs: &Task) -> bool {
    match (renamed_to(ours), renamed_to(theirs)) {
        (None, None) => false,
        // Also where one side has deleted it: what that side had changed before belongs to the new id.
        (Some(_), None) | (None, Some(_)) => true,
        (Some(our), Some(their)) => our != their,
    }
}

/// Lines about renamed tasks, which wait for the rest of the file, and what has come of them.
#[derive(Default)]
pub(super) struct RenamedLines {
    /// Each with whether it is the first of its task.
    waiting: Vec<(TaskLine, bool)>,
    /// Tasks that are new here and had another id before.
    new: Vec<String>,
    done: Vec<RenamedElsewhere>,
}

/// A task of this ledger that another one has renamed.
struct RenamedElsewhere {
    before: Task,
    to: String,
}

impl RenamedLines {
    /// Has a line wait for the rest of the file.
    pub(super) fn put_off(&mut self, version: TaskLine, is_first: bool) {
        self.waiting.push((version, is_first));
    }

    /// Notes a task that is new here, which may be one that has yet another id here.
    pub(super) fn note_new(&mut self, task: &Task) {
        if renamed_from(task).is_some() {
            self.new.push(task.task_id.clone());
        }
    }

    /// Writes down what was renamed, and tells the agents that have claimed it.
    pub(super) fn announce(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        author: &Author<'_>,
    ) -> Result<(), Failure> {
        for RenamedElsewhere { before, to } in &self.done {
            let what = format!("task {} is {to} now: another ledger renamed it", before.task_id);
            append_json(tx, env, author, Kind::Other, &json!({ "summary": what, "task_id": to }))?;
            handoff::rename_task(tx, author.project_id, (&before.task_id, to))?;
            let Some(claim) = &before.claim else { continue };
            if is_claim_live(tx, env, before)? && check_identity(&claim.by).is_ok() {
                let subject = format!("task {}, which you have claimed, is called {to} now", before.task_id);
                let ended = task::get(tx, author.project_id, to)?.as_ref().and_then(ending);
                let body = match &ended {
                    None => "the Beads file says so; go on with the new id".to_owned(),
                    Some((word, why)) => format!("another ledger {word} it: {why}"),
                };
                send_signal(tx, env, (author.project_id, author.identity, &claim.by), (&subject, &body))?;
            }
        }
        Ok(())
    }
}

/// The task that a deleted one has become, where this ledger has it.
pub(crate) fn successor(tx: &mut Tx<'_>, old: &Task) -> Result<Option<Task>, Failure> {
    let Some(to) = renamed_to(old) else { return Ok(None) };
    follow(tx, old, to)
}

fn follow(tx: &mut Tx<'_>, old: &Task, to: &str) -> Result<Option<Task>, Failure> {
    let mut to = to.to_owned();
    for _ in 0..RENAMES {
        let found = task::get(tx, &old.project_id, &to)?;
        let Some(found) = found.filter(|found| is_same_task(old, found) && found.task_id != old.task_id)
        else {
            return Ok(None);
        };
        match renamed_to(&found) {
            Some(next) => next.clone_into(&mut to),
            None => return Ok(Some(found)),
        }
    }
    Ok(None)
}

impl Progress<'_, '_> {
    /// Takes in the lines that have waited for the rest of the file.
    pub(super) fn follow_renames(&mut self, tx: &mut Tx<'_>) -> Result<(), Failure> {
        for (version, is_first) in std::mem::take(&mut self.renamed.waiting) {
            self.follow_rename(tx, &version, is_first)?;
        }
        for id in std::mem::take(&mut self.renamed.new) {
            let Some(new) = task::get(tx, self.project, &id)? else { continue };
            let former = match renamed_from(&new) {
                Some(from) => task::get(tx, self.project, from)?,
                None => None,
            };
            let Some(former) = former.filter(|former| is_same_task(former, &new)) else { continue };
            let present = if renamed_to(&new).is_some() { successor(tx, &new)? } else { Some(new) };
            if let (Some(our), Some(their)) = (successor(tx, &former)?, present) {
                self.unite_names(tx, our, their)?;
            }
        }
        Ok(())
    }

    fn follow_rename(&mut self, tx: &mut Tx<'_>, version: &TaskLine, is_first: bool) -> Result<(), Failure> {
        let theirs = &received(version.record.clone(), self.now);
        let id = &theirs.task.task_id;
        let Some(ours) = task::get(tx, self.project, id)? else { return Ok(()) };
        let known = line::known_lines(tx, self.project, id)?;
        let versions = version.earlier_versions(&known, is_first, self.now);
        let is_deleted = |task: &Task| task.status == "tombstone";
        let is_changed = match (renamed_to(&ours), renamed_to(&theirs.task)) {
            (Some(_), None) if is_deleted(&theirs.task) => {
                self.merge_into_successor(tx, &ours, (version, theirs), &versions)?;
                None
            }
            (Some(_), None) => self.merge_into_successor(tx, &ours, (version, theirs), &versions)?,
            (None, Some(to)) if is_deleted(&ours) => {
                if let Some(to) = follow(tx, &ours, to)? {
                    self.move_changes(tx, (&ours, &to), &versions)?;
                    handoff::rename_task(tx, self.project, (id, &to.task_id))?;
                }
                None
            }
            (None, Some(to)) => self.rename_as_elsewhere(tx, &ours, (theirs, to), &versions)?,
            _ => None,
        };
        let is_changed = match is_changed {
            Some(is_changed) => is_changed,
            None => {
                let is_refused = std::mem::take(&mut self.is_refused);
                let after =
                    self.merge_in(tx, &ours, &LineVersion::of(version, theirs, self.now), &versions)?;
                self.is_refused |= is_refused;
                self.unite(tx, &ours, &theirs.task)?;
                after.is_some()
            }
        };
        self.remember_line(tx, id, &version.text)?;
        self.record_line(id, is_changed);
        Ok(())
    }

    /// Another clone has changed a task that has another id here. Nothing where the ledger does not have that one.
    fn merge_into_successor(
        &mut self,
        tx: &mut Tx<'_>,
        ours: &Task,
        (version, theirs): (&TaskLine, &Record),
        versions: &[Record],
    ) -> Result<Option<bool>, Failure> {
        let Some(to) = successor(tx, ours)? else { return Ok(None) };
        let versions: Vec<Record> = versions.iter().map(|version| under_id(version.clone(), &to)).collect();
        let moved = without_deletion(under_id(theirs.clone(), &to), &full_record(tx, to.clone())?);
        let moved = LineVersion { is_moved: true, base: None, ..LineVersion::of(version, &moved, self.now) };
        self.merge_moved(tx, &to, &moved, &versions)?;
        Ok(Some(false))
    }

    /// Another clone has renamed a task: what this ledger has changed goes on under the new id. Nothing where that is not there, or
    /// where the caller may not end the claim of its holder.
    fn rename_as_elsewhere(
        &mut self,
        tx: &mut Tx<'_>,
        ours: &Task,
        (theirs, to): (&Record, &str),
        versions: &[Record],
    ) -> Result<Option<bool>, Failure> {
        if !self.guard.may_rename(tx, ours)? {
            return Ok(None);
        }
        let Some(to) = follow(tx, ours, to)? else { return Ok(None) };
        let record = full_record(tx, ours.clone())?;
        self.move_changes(tx, (ours, &to), versions)?;
        update(tx, ours, &record, adopt(theirs))?;
        let after = task::get(tx, self.project, &to.task_id)?;
        if let Some(reason) =
            ours.close_reason.as_ref().filter(|_| after.is_some_and(|after| after.is_open()))
        {
            // The other side has gone on with the task; why it was closed here stays in the ledger.
            let replaced = Map::from_iter([("close_reason".to_owned(), json!(reason))]);
            self.replaced.push((to.task_id.clone(), replaced));
        }
        self.move_claim(tx, ours, &to)?;
        self.renamed.done.push(RenamedElsewhere { before: ours.clone(), to: to.task_id });
        Ok(Some(true))
    }

    /// Merges what this ledger has of a task into the one that it has become. `versions`: those that the file had under the former id.
    fn move_changes(
        &mut self,
        tx: &mut Tx<'_>,
        (ours, to): (&Task, &Task),
        versions: &[Record],
    ) -> Result<(), Failure> {
        let versions: Vec<Record> = versions.iter().map(|version| under_id(version.clone(), to)).collect();
        let record = full_record(tx, ours.clone())?;
        let moved = without_deletion(ledger_version_under_id(record, to), &full_record(tx, to.clone())?);
        self.merge_moved(tx, to, &LineVersion::under_other_id(&moved), &versions)
    }

    /// Both sides have renamed one task: the name that comes last stays, and the work of the other goes on under it. One that was
    /// deleted since stays apart.
    fn unite(&mut self, tx: &mut Tx<'_>, ours: &Task, theirs: &Task) -> Result<(), Failure> {
        let (Some(our), Some(their)) = (renamed_to(ours), renamed_to(theirs)) else { return Ok(()) };
        match (follow(tx, ours, our)?, follow(tx, ours, their)?) {
            (Some(our), Some(their)) => self.unite_names(tx, our, their),
            _ => Ok(()),
        }
    }

    fn unite_names(&mut self, tx: &mut Tx<'_>, our: Task, their: Task) -> Result<(), Failure> {
        if our.task_id == their.task_id || [&our, &their].iter().any(|task| task.status == "tombstone") {
            return Ok(());
        }
        let (other, stays) = match name_order(&our) < name_order(&their) {
            true => (our, their),
            false => (their, our),
        };
        let record = full_record(tx, other.clone())?;
        let moved = ledger_version_under_id(record, &stays);
        self.merge_moved(tx, &stays, &LineVersion::under_other_id(&moved), &[])?;
        bury(tx, (&other, &stays.task_id), (self.guard.identity, self.now))?;
        self.move_claim(tx, &other, &stays)?;
        self.output.ids.push(other.task_id.clone());
        self.renamed.done.push(RenamedElsewhere { before: other, to: stays.task_id });
        Ok(())
    }

    /// Merges a version of a task into the one that it has become, whose line is to be written anew.
    fn merge_moved(
        &mut self,
        tx: &mut Tx<'_>,
        to: &Task,
        version: &LineVersion<'_>,
        known: &[Record],
    ) -> Result<(), Failure> {
        if self.merge_in(tx, to, version, known)?.is_some() {
            self.record_line(&to.task_id, true);
        }
        Ok(line::outdate(tx, self.project, &to.task_id)?)
    }

    /// The claim of a task that has another id now holds on under that one.
    fn move_claim(&self, tx: &mut Tx<'_>, before: &Task, to: &Task) -> Result<(), Failure> {
        let (Some(claim), Some(to)) = (&before.claim, task::get(tx, self.project, &to.task_id)?) else {
            return Ok(());
        };
        if to.claim.is_some() || !is_work_of(claim, &to) {
            return Ok(());
        }
        let (claim, claim_token) = (Some(claim.clone()), before.claim_token.max(to.claim_token));
        Ok(task::put(tx, &Task { claim, claim_token, ..to })?)
    }
}

/// Whether a task is in progress with the holder of a claim.
fn is_work_of(claim: &Claim, task: &Task) -> bool {
    let is_holder = |name: &str| identity_key(name) == identity_key(&claim.by);
    task.status == "in_progress" && task.assignee.as_deref().is_none_or(is_holder)
}

/// Has dependencies on the former ids of renamed tasks name the present ones, as far as these tasks or their dependencies are such.
/// Returns the tasks that were changed.
pub(super) fn redirect_all(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    ids: &[String],
) -> Result<Vec<String>, Failure> {
    let mut named: BTreeSet<String> = BTreeSet::new();
    for id in ids {
        let edges = dependency::dependencies_of(tx, author.project_id, id)?;
        named.extend(edges.into_iter().map(|edge| edge.depends_on_id));
        named.extend(task::get(tx, author.project_id, id)?.and_then(|task| task.parent_id));
        named.insert(id.clone());
    }
    let mut changed = Vec::new();
    for id in named {
        let Some(old) = task::get(tx, author.project_id, &id)? else { continue };
        if let Some(new) = successor(tx, &old)? {
            changed.extend(redirect(tx, env, author, (&old, &new))?);
            changed.extend(move_comments(tx, env, (&old, &new))?.then_some(new.task_id));
        }
    }
    Ok(changed)
}

/// Leaves nothing hanging on the former id of a task. Comments that the task does not have go over to it; says whether there are any.
fn move_comments(tx: &mut Tx<'_>, env: &Env<'_>, (old, new): (&Task, &Task)) -> Result<bool, Failure> {
    let stranded = full_record(tx, old.clone())?;
    if stranded.comments.is_empty() && stranded.dependencies.is_empty() {
        return Ok(false);
    }
    comment::clear(tx, old)?;
    dependency::clear(tx, old)?;
    line::outdate(tx, &old.project_id, &old.task_id)?;
    let record = full_record(tx, new.clone())?;
    let known = entries(&record);
    let moved = under_id(stranded, new);
    let missing = new_comments(&known, moved.comments);
    if missing.is_empty() {
        return Ok(false);
    }
    let made_at = |body: &Map<String, Value>| body.get("created_at")?.as_str().and_then(parse_rfc3339);
    let mut comments: Vec<_> = record.comments.iter().chain(&missing).collect();
    comments.sort_by_key(|body| made_at(body));
    comment::clear(tx, new)?;
    for (place, body) in (0i64..).zip(comments) {
        comment::insert(tx, new, place, body)?;
    }
    update_without_delta(tx, new, &Task { updated_at: env.now.max(new.updated_at), ..new.clone() })?;
    Ok(true)
}
