//! Which changes of a Beads line are taken from a caller with an access token: what such a caller may not do with a task by a command,
//! no line does for it. The file of a working copy that the local user reaches is believed: another ledger writes it too.

use std::collections::BTreeSet;

use baton_model::access::Grant;
use baton_model::id::identity_key;
use baton_model::refusal::{Kind, Refusal};
use baton_model::task::conflict::{Conflict, Side};
use baton_model::task::entry::{entries, is_comment};
use baton_model::task::record::Record;
use baton_model::task::{Task, reserved, sealed};
use baton_store::{Failure, Tx};
use serde_json::{Map, Value};

use super::claim_expiry::is_claim_live;
use super::close::open_parts;
use super::delete::open_handoff;
use super::readiness;
use crate::handoff::acceptor::is_handed_to_another;
use crate::op::Env;

/// The fields of a task that a deletion or a rename writes.
const ENDED: [&str; 6] =
    ["renamed_to", "deleted_at", "deleted_by", "delete_reason", "original_type", "tombstone_ttl"];

/// The rights of the caller whose lines are taken in.
pub(super) struct LineGuard<'a, 'e> {
    pub(super) env: &'a Env<'e>,
    /// As whom the lines are taken in.
    pub(super) identity: &'a str,
}

impl LineGuard<'_, '_> {
    /// Whether the caller may do everything that a line says.
    pub(super) fn is_trusted(&self) -> bool {
        self.env.caller.grant.is_operator()
    }

    /// Whether a line may end a task under its id: no live claim holds it, and no hand-off waits for its end.
    pub(super) fn may_rename(&self, tx: &mut Tx<'_>, task: &Task) -> Result<bool, Failure> {
        Ok(self.is_trusted()
            || !(sealed::is_sensitive(task)
                || is_claim_live(tx, self.env, task)?
                || open_handoff(tx, task)?.is_some()))
    }

    /// Leaves a task as it is where another agent holds it or has accepted its hand-off, but for new comments. Returns what was not taken.
    pub(super) fn keep_held(
        &self,
        tx: &mut Tx<'_>,
        task: &Task,
        (ours, merged): (&Record, &mut Record),
    ) -> Result<Vec<Conflict>, Failure> {
        if self.is_trusted() {
            return Ok(Vec::new());
        }
        let wanted = entries(merged);
        let is_anothers = |by: &str| identity_key(by) != identity_key(self.identity);
        let is_held = task.claim.as_ref().is_some_and(|claim| is_anothers(&claim.by));
        let is_held = is_held && is_claim_live(tx, self.env, task)?;
        let is_kept = if is_held || is_handed_to_another(tx, self.env, task, self.identity)? {
            merged.task.clone_from(&ours.task);
            merged.dependencies.clone_from(&ours.dependencies);
            let added = new_comments(&entries(ours), std::mem::take(&mut merged.comments));
            merged.comments = ours.comments.iter().cloned().chain(added).collect();
            true
        } else if self.is_end_anothers(tx, task, merged)? || self.closes_early(tx, task, &merged.task)? {
            keep_state(&ours.task, &mut merged.task);
            true
        } else {
            false
        };
        // By which hand-off a task came, no line says.
        let is_handoff_kept = reserved::keep_handoff(&ours.task.extra, &mut merged.task.extra);
        let is_fact_kept = self.keep_facts(tx, task, (ours, &mut *merged))?;
        if !is_kept && !is_handoff_kept && !is_fact_kept {
            return Ok(Vec::new());
        }
        Ok(not_taken(&task.task_id, &wanted, &entries(merged)))
    }

    /// Under whose names a line brings comments that are not the caller's, where the caller may not speak for others.
    pub(super) fn names_of_others(&self, known: &Map<String, Value>, line: &Record) -> BTreeSet<String> {
        if self.is_trusted() {
            return BTreeSet::new();
        }
        let comments = new_comments(known, line.comments.clone());
        let authors = comments.iter().filter_map(|body| body.get("author")?.as_str());
        authors.filter(|name| identity_key(name) != identity_key(self.identity)).map(str::to_owned).collect()
    }

    /// Whether a line closes what a command of the caller would not: an epic with open parts, or a task that waits for another.
    pub(super) fn closes_early(&self, tx: &mut Tx<'_>, task: &Task, after: &Task) -> Result<bool, Failure> {
        if self.is_trusted() || !task.is_open() || after.status != "closed" {
            return Ok(false);
        }
        Ok(!open_parts(tx, task)?.is_empty() || !readiness::holding(tx, task)?.is_empty())
    }

    /// Whether a line ends, gives away or deletes a task of a hand-off that is not the caller's to end.
    fn is_end_anothers(&self, tx: &mut Tx<'_>, task: &Task, merged: &Record) -> Result<bool, Failure> {
        let after = &merged.task;
        if after.status == "tombstone" {
            return Ok(open_handoff(tx, task)?.is_some());
        }
        let is_changed = after.status != task.status || after.assignee != task.assignee;
        Ok(is_changed && is_handed_to_another(tx, self.env, task, self.identity)?)
    }
}

/// Refuses a caller that says its lines are the whole file and is no operator: what they lack would be taken out, memories of others
/// among it.
pub(super) fn require_whole_file(grant: &Grant) -> Result<(), Refusal> {
    if grant.is_operator() {
        return Ok(());
    }
    let what = format!(
        "`partial: false` takes lines out of the project's Beads file, and the token has the scope {}: only an operator says what \
         the file lacks",
        grant.scope.as_str()
    );
    let hint = "leave `partial` out: every line is taken in, and none is taken out; or ask for a token made with \
                `baton token create --scope operator`";
    Err(Refusal::new(Kind::Forbidden, "scope_missing", what, hint).with("field", "partial"))
}

/// Puts back whether and how a task ended, and whose it is.
pub(super) fn keep_state(ours: &Task, merged: &mut Task) {
    merged.status.clone_from(&ours.status);
    merged.assignee.clone_from(&ours.assignee);
    merged.closed_at = ours.closed_at;
    merged.close_reason.clone_from(&ours.close_reason);
    merged.result.clone_from(&ours.result);
    for key in ENDED {
        if !ours.extra.contains_key(key) {
            merged.extra.shift_remove(key);
        }
    }
}

/// The changes that a line asked for and did not get.
fn not_taken(id: &str, wanted: &Map<String, Value>, taken: &Map<String, Value>) -> Vec<Conflict> {
    let names = wanted.keys().chain(taken.keys().filter(|name| !wanted.contains_key(*name)));
    let differs = |name: &&String| !is_comment(name) && wanted.get(*name) != taken.get(*name);
    let value = |of: &Map<String, Value>, name: &str| of.get(name).cloned().unwrap_or_default();
    let conflict = |name: &String| Conflict {
        id: id.to_owned(),
        field: name.replace('/', "."),
        ours: value(taken, name),
        theirs: value(wanted, name),
        kept: Side::Ours,
    };
    names.filter(differs).map(conflict).collect()
}

/// The comments that a task does not have.
pub(super) fn new_comments(
    known: &Map<String, Value>,
    comments: Vec<Map<String, Value>>,
) -> Vec<Map<String, Value>> {
    let is_new = |body: &Map<String, Value>| {
        let alone = Record { comments: vec![body.clone()], ..Record::default() };
        entries(&alone).keys().all(|name| !is_comment(name) || !known.contains_key(name))
    };
    comments.into_iter().filter(is_new).collect()
}
