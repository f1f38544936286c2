//! Claims of this ledger that end because the Beads file says so: another ledger on the same file gave the task to another agent,
//! or took it back.

use baton_model::delta::Kind;
use baton_model::id::{BOT, assignee_key, check_identity};
use baton_model::refusal::{self, Refusal};
use baton_model::route;
use baton_model::task::Task;
use baton_model::task::claim::{Claim, FileClaim};
use baton_store::{Failure, Tx, message, project_root, task};
use serde_json::{Map, Value, json};

use super::claim_expiry::liveness;
use super::comment::late_close_words;
use super::write::update_without_delta;
use crate::handoff::late_close;
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::session::send_signal;

/// Whether a claim outlasts what a line of the file made of its task. What the file did not change ends nothing.
pub(super) fn stays(claim: &Claim, known: &Task, after: &Task) -> bool {
    let is_given_on = after.assignee != known.assignee && other_assignee(claim, after).is_some();
    let is_taken_back = known.status == "in_progress" && after.status != "in_progress";
    after.is_open() && !is_given_on && !is_taken_back
}

/// The assignee of a task, where that is another than the holder of the claim.
fn other_assignee<'a>(claim: &Claim, task: &'a Task) -> Option<&'a str> {
    task.assignee.as_deref().filter(|name| assignee_key(name) != assignee_key(&claim.by))
}

/// How a task was ended, as a verb, and why: by a line of the file, or before. None of one that is open.
pub(super) fn ending(task: &Task) -> Option<(&'static str, String)> {
    let (word, why) = match task.status.as_str() {
        "closed" => ("closed", task.close_reason.as_deref()),
        "tombstone" => ("deleted", task.text("delete_reason")),
        _ => return None,
    };
    let why = why.filter(|why| !why.trim().is_empty()).unwrap_or("no reason was given");
    Some((word, why.to_owned()))
}

/// A claim that a line of the file has ended.
pub(super) struct ClaimChange {
    before: Task,
    claim: Claim,
    /// Who has the task by the file.
    assignee: Option<String>,
    after: Task,
}

impl ClaimChange {
    /// What a line made of the claim of a task, if that ended it.
    pub(super) fn of(before: &Task, after: &Task) -> Option<Self> {
        let claim = before.claim.clone().filter(|_| after.claim.is_none())?;
        let assignee = other_assignee(&claim, after).map(str::to_owned);
        Some(Self { before: before.clone(), claim, assignee, after: after.clone() })
    }

    /// Writes it down, tells the holder of a live claim, and takes back the message of one that was not begun.
    pub(super) fn announce(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        author: &Author<'_>,
    ) -> Result<(), Failure> {
        let session_liveness = liveness(tx, env, &self.before)?;
        if let Some((_, message_id)) =
            route::last_sent(&self.before).filter(|_| route::awaits_start(&self.before))
        {
            message::retract(tx, author.project_id, message_id, env.now)?;
        }
        if self.assignee.is_some() && self.after.is_open() {
            self.remember_holder(tx, author.project_id, env.now)?;
        }
        if self.claim.expires_at(session_liveness) <= env.now {
            return Ok(());
        }
        let (id, holder) = (&self.before.task_id, self.claim.holder().describe());
        let by = self.new_holder();
        let (what, why) = self.summary_and_reason();
        let body = json!({
            "text": format!("{what} from {holder}: {why}"), "task_id": id, "why": why,
            "released_by": by.unwrap_or(author.identity), "released_from": self.claim.by,
        });
        append_json(tx, env, author, Kind::Note, &body)?;
        if check_identity(&self.claim.by).is_err() {
            return Ok(());
        }
        let from = by.unwrap_or(author.identity);
        let subject = format!("{what}, which you had claimed");
        send_signal(tx, env, (author.project_id, from, &self.claim.by), (&subject, &why))
    }

    /// Who has the task by the file, if that is a name.
    fn new_holder(&self) -> Option<&str> {
        self.assignee.as_deref().filter(|name| check_identity(name).is_ok() && self.after.is_open())
    }

    /// What happened, and why.
    fn summary_and_reason(&self) -> (String, String) {
        let id = &self.before.task_id;
        if let Some((word, why)) = ending(&self.after) {
            return (format!("another ledger {word} task {id}"), why);
        }
        match (self.new_holder(), &self.assignee) {
            (Some(by), _) => {
                (format!("{by} took task {id} over"), format!("the Beads file gives it to {by}"))
            }
            (None, Some(_)) => (
                format!("another ledger took task {id} over"),
                "the Beads file gives it to another".to_owned(),
            ),
            (None, None) => {
                let why = format!("it is {} in the Beads file", self.after.status);
                (format!("another ledger took task {id} back"), why)
            }
        }
    }

    /// Whose claim it was is kept with the task: without a claim of its own this ledger refuses that agent by it.
    fn remember_holder(&self, tx: &mut Tx<'_>, project_id: &str, now: i64) -> Result<(), Failure> {
        let Some(found) = task::get(tx, project_id, &self.before.task_id)? else { return Ok(()) };
        if found.previous_agent.as_ref() == Some(&self.claim.by) {
            return Ok(());
        }
        let after = Task { previous_agent: Some(self.claim.by.clone()), updated_at: now, ..found.clone() };
        update_without_delta(tx, &found, &after)
    }
}

/// A close that a line of the file has of a task that was closed here before, for instance because its hand-off ended.
pub(super) struct LateClose {
    known: Task,
    reason: String,
    by: Option<String>,
}

impl LateClose {
    /// The close of a line, where it gives another reason than the task has.
    pub(super) fn of(known: &Task, line: &Task) -> Option<Self> {
        let is_late = known.status == "closed" && line.status == "closed";
        let reason = line.close_reason.clone().filter(|reason| !reason.trim().is_empty());
        let reason = reason.filter(|reason| is_late && known.close_reason.as_ref() != Some(reason))?;
        Some(Self { known: known.clone(), reason, by: line.assignee.clone() })
    }

    /// The closes that another ledger acknowledged when the task was closed there already: each is kept in a comment, which this ledger
    /// does not have yet.
    pub(super) fn in_comments<'a>(
        known: &'a Task,
        ours: &'a [Map<String, Value>],
        merged: &'a [Map<String, Value>],
    ) -> impl Iterator<Item = Self> + 'a {
        let is_new =
            |comment: &&Map<String, Value>| ours.iter().all(|own| own.get("id") != comment.get("id"));
        let words = merged.iter().filter(is_new).filter_map(late_close_words);
        words.map(|(author, text)| Self {
            known: known.clone(),
            reason: text.to_owned(),
            by: Some(author.to_owned()),
        })
    }

    /// Keeps the reason as a late result of the task's hand-off, if that is over. Without `closed_by`, `by` counts as who closed the
    /// task: of a close that is no comment the file does not say more than the assignee.
    pub(super) fn keep(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        closed_by: Option<&str>,
    ) -> Result<(), Failure> {
        let by = closed_by.or(self.by.as_deref()).filter(|name| check_identity(name).is_ok());
        late_close::keep(tx, env, &self.known, by.unwrap_or(BOT), &self.reason)?;
        Ok(())
    }
}

/// The agent that has a task in progress without a claim of this ledger: another ledger on the same Beads file gave it out, or it was
/// set so by hand.
pub(crate) fn holder_elsewhere(task: &Task) -> Option<&str> {
    task.assignee.as_deref().filter(|_| task.claim.is_none() && task.status == "in_progress")
}

/// The task as a Beads file of the project on this machine has it, where another ledger has begun it and this one has not imported the
/// file since. A command that runs in another folder imports no file of this project.
pub(crate) fn begun_in_file(tx: &mut Tx<'_>, env: &Env<'_>, known: &Task) -> Result<Option<Task>, Failure> {
    if !known.is_open() || known.claim.is_some() || known.status == "in_progress" {
        return Ok(None);
    }
    let claims = file_claims(tx, env, &known.project_id)?;
    let newer = claims.into_iter().find(|claim| claim.is_newer(known));
    Ok(newer.map(|claim| Task {
        status: "in_progress".to_owned(),
        assignee: Some(claim.assignee),
        ..known.clone()
    }))
}

/// The tasks that the Beads files of a project's folders on this machine have in progress.
pub(crate) fn file_claims(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
) -> Result<Vec<FileClaim>, Failure> {
    let folders = project_root::folders(tx, project_id, &env.caller.location.machine)?;
    Ok(folders.iter().flat_map(|folder| env.host.file_claims(folder)).collect())
}

/// Refuses an agent whose task another ledger has given to another: this ledger has no claim of it, but it is in progress there.
pub(super) fn refuse_previous_agent(known: &Task, identity: &str) -> Result<(), Refusal> {
    let is_its = |name: &str| assignee_key(name) == assignee_key(identity);
    let Some(name) = known.assignee.as_deref().filter(|name| !is_its(name)) else { return Ok(()) };
    let is_previous = known.previous_agent.as_deref().is_some_and(is_its);
    if known.claim.is_some() || known.status != "in_progress" || !is_previous {
        return Ok(());
    }
    let id = &known.task_id;
    let what = format!("task {id} went on from {identity}, and is in progress with {name}");
    let hint = format!("`baton task claim {id} --force --why REASON` takes it over");
    Err(Refusal::new(refusal::Kind::Conflict, "task_claimed", what, hint)
        .with("task_id", id.clone())
        .with("holder", name.to_owned()))
}
