//! What no line of a caller with an access token says about a task that is there: who made and deleted it, what it was called, how a
//! task ended that is open, and what is encrypted. A command of such a caller does not say it either.

use baton_model::task::record::Record;
use baton_model::task::{Task, sealed};
use baton_store::{Failure, Tx};
use serde_json::json;

use super::delete::refuse_needed;
use super::line_guard::{LineGuard, keep_state};
use crate::handoff::acceptor::is_handed_to_another;

/// The fields by which a deletion is told.
const DELETION: [&str; 5] = ["deleted_at", "deleted_by", "delete_reason", "original_type", "tombstone_ttl"];
/// Fields beside the typed ones that would be taken for how a task ended or failed.
const ENDINGS: [&str; 2] = ["result", "failed_attempts"];
/// The field that says what a task is called since.
const RENAMED: &str = "renamed_to";

impl LineGuard<'_, '_> {
    /// Puts back what a line may not say about any task, held or not. Returns whether something was put back.
    pub(super) fn keep_facts(
        &self,
        tx: &mut Tx<'_>,
        task: &Task,
        (ours, merged): (&Record, &mut Record),
    ) -> Result<bool, Failure> {
        let wanted = merged.clone();
        if ours.task.status == "tombstone" {
            // A deleted task is changed by nothing.
            merged.clone_from(ours);
            return Ok(*merged != wanted);
        }
        let (own, after) = (&ours.task, &mut merged.task);
        after.created_by.clone_from(&own.created_by);
        after.created_at = own.created_at;
        after.attempts = own.attempts;
        if sealed::is_sensitive(task) {
            after.agent_context.clone_from(&own.agent_context);
            after.handoff_instructions.clone_from(&own.handoff_instructions);
        }
        if after.issue_type != own.issue_type && is_handed_to_another(tx, self.env, task, self.identity)? {
            after.issue_type.clone_from(&own.issue_type);
        }
        if after.status == "tombstone" {
            match refuse_needed(tx, task) {
                Ok(()) => _ = after.extra.insert("deleted_by".to_owned(), json!(self.identity)),
                Err(Failure::Refused(_)) => {
                    keep_state(own, after);
                    merged.dependencies.clone_from(&ours.dependencies);
                }
                Err(fault) => return Err(fault),
            }
        } else {
            put_back(own, after, &DELETION);
        }
        let after = &mut merged.task;
        put_back(own, after, &ENDINGS);
        if after.is_open() {
            put_back(own, after, &[RENAMED]);
        }
        if after.is_open() || !own.is_open() {
            after.result.clone_from(&own.result);
        }
        Ok(*merged != wanted)
    }
}

/// Puts fields back that Baton itself writes.
fn put_back(own: &Task, after: &mut Task, keys: &[&str]) {
    for key in keys {
        match own.extra.get(*key) {
            Some(value) => _ = after.extra.insert((*key).to_owned(), value.clone()),
            None => _ = after.extra.shift_remove(*key),
        }
    }
}
