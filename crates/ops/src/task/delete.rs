//! `task_delete`: delete a task; what it said stays in the ledger.

use baton_model::delta;
use baton_model::handoff::{Handoff, State};
use baton_model::id::check_identity;
use baton_model::refusal::{Kind, Refusal};
use baton_model::task::Task;
use baton_model::task::claim::Claim;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, handoff, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use task::dependency;

use super::answer::TaskAnswer;
use super::by_id_to_change;
use super::depend::{RemovedDependency, unlink_all};
use super::write::{answer, change, check_writer, reload, require_unheld, write};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};
use crate::session::send_signal;

/// Deletes a task.
pub struct Delete;

/// Input of `task_delete`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeleteInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that deletes it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Task id or a unique prefix of one.
    pub id: String,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// Delete it although open tasks depend on it or are parts of it: they stay, without the dependency. Where another agent holds one of
    /// them under a live claim, a reason is needed, which that agent is told.
    #[serde(default)]
    pub force: bool,
}

/// Answer of `task_delete`: the task, and the dependencies that went with it.
#[derive(Serialize, Deserialize)]
pub struct DeleteOutput {
    /// The task, with the status `tombstone`.
    #[serde(flatten)]
    pub task: TaskAnswer,
    /// Dependencies from it and on it, which are gone.
    pub removed_dependencies: Vec<RemovedDependency>,
}

impl Operation for Delete {
    const META: Meta = Meta::write("task_delete", "Delete a task; what it said stays in the ledger")
        .changes_tasks()
        .reads_tasks();
    type Input = DeleteInput;
    type Output = DeleteOutput;

    fn run(input: DeleteInput, cx: &mut Cx<'_>) -> Result<DeleteOutput, Failure> {
        let request = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        write(cx, request, |tx, env, author| {
            let known = by_id_to_change(tx, author.project_id, &input.id)?;
            check_writer(tx, env, author, &known)?;
            refuse_handed(tx, &known)?;
            if !input.force {
                refuse_needed(tx, &known)?;
            }
            tell_holders(tx, env, author, (&known, input.reason.as_deref()))?;
            let removed_dependencies = unlink_all(tx, env, author, &known)?;
            let known = reload(tx, known)?;
            let wanted = tombstone(&known, author.identity, (input.reason.as_deref(), env.now));
            let deleted = change(tx, env, author, &known, wanted, "is deleted")?;
            Ok(DeleteOutput { task: answer(&deleted, env, author), removed_dependencies })
        })
    }
}

/// The task as Beads keeps one that was deleted.
pub(super) fn tombstone(known: &Task, identity: &str, (reason, now): (Option<&str>, i64)) -> Task {
    let mut wanted = known.clone();
    wanted.set_status("tombstone", now);
    (wanted.closed_at, wanted.result) = (None, None);
    (wanted.claim, wanted.pending_type, wanted.woken) = (None, None, false);
    let mut put = |key: &str, value: &str| wanted.extra.insert(key.to_owned(), json!(value));
    put("deleted_at", &rfc3339(now));
    put("deleted_by", identity);
    put("original_type", &known.issue_type);
    if let Some(reason) = reason {
        put("delete_reason", reason);
    }
    wanted
}

/// Refuses a task by which another repository's work is followed until it ends.
pub(super) fn refuse_handed(tx: &mut Tx<'_>, known: &Task) -> Result<(), Failure> {
    let Some(handoff) = open_handoff(tx, known)? else { return Ok(()) };
    let id = &known.task_id;
    let what =
        format!("task {id} belongs to the hand-off {}, whose sender waits for its end", handoff.handoff_id);
    let hint = format!("close it, so that the sender hears why: `baton task close {id} --reason WHY`");
    Err(Refusal::new(Kind::Refused, "task_handed", what, hint).with("task_id", id.clone()).into())
}

/// The hand-off of a task, if it has not ended.
pub(super) fn open_handoff(tx: &mut Tx<'_>, known: &Task) -> Result<Option<Handoff>, Failure> {
    let found = handoff::by_task(tx, &known.project_id, &known.task_id)?;
    Ok(found.filter(|handoff| matches!(handoff.state, State::Offered | State::Accepted)))
}

/// Refuses a task that open ones depend on or are parts of.
pub(super) fn refuse_needed(tx: &mut Tx<'_>, known: &Task) -> Result<(), Failure> {
    let mut by: Vec<String> = Vec::new();
    for edge in dependency::dependents_of(tx, &known.project_id, &known.task_id)? {
        let is_held = edge.gate.is_some() || edge.kind == "parent-child";
        if is_held && task::get(tx, &known.project_id, &edge.task_id)?.is_some_and(|task| task.is_open()) {
            by.push(edge.task_id);
        }
    }
    let parts = task::children(tx, &known.project_id, &known.task_id)?;
    by.extend(parts.into_iter().filter(Task::is_open).map(|part| part.task_id));
    by.sort();
    by.dedup();
    if by.is_empty() {
        return Ok(());
    }
    let what = format!("{} on task {}", dependents_clause(&by), known.task_id);
    let hint = format!(
        "delete those first; `baton task delete {} --force` leaves them without the dependency",
        known.task_id
    );
    Err(Refusal::new(Kind::Refused, "task_needed", what, hint)
        .with("task_id", known.task_id.clone())
        .with("needed_by", json!(by))
        .into())
}

/// Tells the holders of the tasks that lose a dependency, or the whole that they are a part of, why. Without a reason it is refused:
/// what a live holder holds is not changed without a word.
fn tell_holders(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (known, reason): (&Task, Option<&str>),
) -> Result<(), Failure> {
    for edge in dependency::dependents_of(tx, &known.project_id, &known.task_id)? {
        let is_decisive = edge.gate.is_some() || edge.kind == "parent-child";
        let Some(from) = task::get(tx, &known.project_id, &edge.task_id)?.filter(|_| is_decisive) else {
            continue;
        };
        let refusal = match require_unheld(tx, env, author, &from) {
            Err(Failure::Refused(refusal)) => refusal,
            other => {
                other?;
                continue;
            }
        };
        let reason = reason.filter(|why| !why.trim().is_empty());
        let (Some(claim), Some(why)) = (&from.claim, reason) else {
            let (id, held) = (&known.task_id, &from.task_id);
            let hint = format!(
                "say why, and its holder is told: `baton task delete {id} --force --reason WHY`; {held} is without {id} then"
            );
            return Err(Refusal { hint, ..refusal }.with("needed_by", json!([held])).into());
        };
        announce_cut(tx, env, author, (known, &from, claim), why)?;
    }
    Ok(())
}

/// Records that a task is deleted that a held one depends on, and sends the reason to its holder.
fn announce_cut(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (known, held, claim): (&Task, &Task, &Claim),
    why: &str,
) -> Result<(), Failure> {
    let (by, id, from) = (author.identity, &known.task_id, &held.task_id);
    let body = json!({
        "text": format!("{by} deleted task {id}, on which task {from} of {} depended", claim.holder().describe()),
        "task_id": from, "forced": true, "why": why,
    });
    append_json(tx, env, author, delta::Kind::Note, &body)?;
    if check_identity(&claim.by).is_err() {
        return Ok(());
    }
    let subject =
        format!("{by} deleted task {id}: task {from}, which you hold, does not depend on it any more");
    send_signal(tx, env, (author.project_id, by, &claim.by), (&subject, why))
}

fn dependents_clause(by: &[String]) -> String {
    match by {
        [one] => format!("{one} depends"),
        several => format!("{} depend", several.join(", ")),
    }
}
