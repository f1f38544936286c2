//! `task_close`: close a task with a result, and set off what follows from that.

use baton_model::id::{assignee_key, check_identity};
use baton_model::refusal::{Kind, Refusal};
use baton_model::route;
use baton_model::task::closing::{FollowerAction, Outcome, clear_failures};
use baton_model::task::{Task, check_context, patch, reason, sealed};
use baton_store::{Failure, Tx, message, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use task::dependency;

use super::answer::TaskAnswer;
use super::comment::LateComment;
use super::secret::{self, Secret, TaskWrite};
use super::write::{TaskRequest, answer, change, check_and_renew_lease, reload, write_or_keep};
use super::{by_id, by_id_to_change, comment, follow_up, readiness};
use crate::force_request::ForceRequest;
use crate::handoff::acceptor::require_task_acceptor;
use crate::handoff::claimant::require_unexpired;
use crate::handoff::{EndedHandoff, late_close};
use crate::ledger::Author;
use crate::op::{Cx, Env, Meta, Operation};
use crate::session::send_signal;

/// Closes a task.
pub struct Close;

/// Input of `task_close`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloseInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that closes it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Task id or a unique prefix of one.
    pub id: String,
    /// The fencing token of the claim: the write is refused when the lease is lost.
    #[serde(default)]
    pub token: Option<i64>,
    /// How it went. Without it the words of the reason decide where they are unambiguous; where something follows from the
    /// result and they are not, the call is refused.
    #[serde(default)]
    pub result: Option<CloseResult>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// What was done, found or logged: merged into `agent_context` key by key.
    #[serde(default)]
    pub context: Map<String, Value>,
    /// Close it although something holds it back.
    #[serde(default)]
    pub force: bool,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CloseResult {
    /// It went well.
    Pass,
    /// It went wrong.
    Fail,
}

impl CloseResult {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
        }
    }

    /// Reads the word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Pass, Self::Fail].into_iter().find(|result| result.as_str() == word)
    }
}

/// What a close caused at another task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowUp {
    /// That task.
    pub id: String,
    /// Which role it wants.
    pub agent_role: Option<String>,
    /// What happened to it.
    pub act: FollowerAction,
    /// The type of message that goes out with its next assignment.
    pub message: Option<String>,
    /// Where it stands now.
    pub status: String,
    /// How often it was tried.
    pub attempts: i64,
}

/// Answer of `task_close`: the task, what it made ready, and what it set off.
#[derive(Serialize, Deserialize)]
pub struct CloseOutput {
    /// The task.
    #[serde(flatten)]
    pub task: TaskAnswer,
    /// Tasks that are ready now.
    pub unblocked: Vec<String>,
    /// What the close caused.
    pub set_off: Vec<FollowUp>,
    /// The comment in which a reason is kept that came when the task was closed already.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_comment_id: Option<Value>,
    /// It was closed already: its result stays as it was, and nothing was set off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub was_closed: bool,
    /// The hand-off that the task came with, where that was over before: this close is not its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_handoff: Option<EndedHandoff>,
}

impl Operation for Close {
    const META: Meta = Meta::write("task_close", "Close a task with its result, and set off what follows")
        .changes_tasks()
        .reads_tasks()
        .encrypts(&["context"]);
    type Input = CloseInput;
    type Output = CloseOutput;

    fn run(input: CloseInput, cx: &mut Cx<'_>) -> Result<CloseOutput, Failure> {
        let (project, identity) = (input.project.as_deref(), input.identity.as_deref());
        let secret = match input.context.is_empty() {
            true => None,
            false => {
                let target = TaskWrite { project, identity, id: &input.id, sensitive: false };
                let change = |task: &mut Task| patch::merge(&mut task.agent_context, &input.context);
                let secret = secret::changed(cx, &target, change)?;
                secret.map(|secret| secret.with_given(cx, project, &input.context)).transpose()?
            }
        };
        let wanted = TaskRequest { project, identity, verb: Self::NAME, id: &input.id };
        let words = |tx: &mut Tx<'_>, author: &Author<'_>| {
            let known = by_id(tx, author.project_id, &input.id).ok();
            known.map(|known| late_comment(&input, &known, secret.as_ref())).unwrap_or_default()
        };
        write_or_keep(cx, &wanted, words, |tx, env, author| attempt(tx, env, author, &input, secret.as_ref()))
    }
}

pub(super) fn attempt(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    input: &CloseInput,
    secret: Option<&Secret>,
) -> Result<CloseOutput, Failure> {
    let known = by_id_to_change(tx, author.project_id, &input.id)?;
    let mut wanted = known.clone();
    check_and_renew_lease(tx, env, author, &mut wanted, input.token)?;
    let outcome = input.result.map(|outcome| match outcome {
        CloseResult::Pass => Outcome::Pass,
        CloseResult::Fail => Outcome::Fail,
    });
    if !known.is_open() {
        return closed_before(tx, env, author, &known, (outcome, input, secret));
    }
    require_unexpired(tx, env, &known)?;
    let force = ForceRequest { given: input.force, why: input.reason.as_deref() };
    require_task_acceptor(tx, env, &known, author.identity, force)?;
    if !input.force {
        refuse_held(tx, &known)?;
        refuse_open_parts(tx, &known)?;
    }
    match secret {
        Some(secret) => secret.put(&known, &mut wanted)?,
        None => {
            patch::merge(&mut wanted.agent_context, &input.context);
            // What was handed on makes room for what was done.
            if check_context("agent_context", &wanted.agent_context).is_err() {
                let tasks = follow_up::increment_of(tx, &known)?;
                tasks.make_room(&known.task_id, &mut wanted.agent_context, &input.context);
            }
        }
    }
    wanted.set_status("closed", env.now);
    wanted.close_reason.clone_from(&input.reason);
    let (task, off) = close(tx, env, author, &known, wanted, outcome)?;
    let task = answer(&task, env, author);
    let (unblocked, set_off) = (off.unblocked, off.steps);
    // A task that was opened again after its hand-off was over.
    let reason = input.reason.as_deref().unwrap_or_default();
    let ended_handoff = late_close::keep(tx, env, &known, author.identity, reason)?;
    Ok(CloseOutput { task, unblocked, set_off, kept_comment_id: None, was_closed: false, ended_handoff })
}

/// Closing once more changes nothing; with another result it is refused. A reason that was not given before is kept as a
/// comment.
fn closed_before(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    known: &Task,
    (outcome, input, secret): (Option<Outcome>, &CloseInput, Option<&Secret>),
) -> Result<CloseOutput, Failure> {
    if outcome.is_none_or(|outcome| known.result.as_deref() == Some(outcome.word())) {
        let words = comment::late_comments(tx, env, author, known, &late_comment(input, known, secret))?;
        return Ok(CloseOutput {
            task: answer(&reload(tx, known.clone())?, env, author),
            unblocked: Vec::new(),
            set_off: Vec::new(),
            kept_comment_id: words.comment_id,
            was_closed: true,
            ended_handoff: words.handoff,
        });
    }
    let was = known.result.as_deref().unwrap_or("pass");
    Err(Refusal::new(
        Kind::Conflict,
        "task_closed",
        format!("task {} is closed already, with the result {was}", known.task_id),
        format!("reopen it first: `baton task reopen {}`", known.task_id),
    )
    .with("task_id", known.task_id.clone())
    .into())
}

/// What a close that comes too late says: its reason and its result, unless the task has them already, and its context. That of a
/// sensitive task stays encrypted, in a comment of its own.
fn late_comment(input: &CloseInput, known: &Task, secret: Option<&Secret>) -> LateComment {
    let reason = input.reason.as_deref();
    let reason =
        reason.filter(|reason| !reason.trim().is_empty() && known.close_reason.as_deref() != Some(*reason));
    let is_shown = !input.context.is_empty() && !sealed::is_sensitive(known) && secret.is_none();
    let context = is_shown.then(|| format!("context: {}", Value::Object(input.context.clone())));
    let result = input.result.map(CloseResult::as_str).filter(|word| known.result.as_deref() != Some(*word));
    let result = result.map(|word| format!("result: {word}"));
    let words: Vec<String> = reason.map(str::to_owned).into_iter().chain(result).chain(context).collect();
    let plain = (!words.is_empty()).then(|| words.join("\n"));
    let encrypted = secret.and_then(Secret::encrypted_input).cloned();
    // A task that became sensitive just now has no encrypted form of the context: the reason alone is kept.
    let is_part = !input.context.is_empty() && !is_shown && encrypted.is_none();
    LateComment { texts: plain.into_iter().collect(), encrypted, is_part, is_end: true }
}

/// Notifies the assignee of a task that another caller closes.
fn notify_assignee(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (known, closed): (&Task, &Task),
) -> Result<(), Failure> {
    let worked_on = known.status == "in_progress" || known.claim.is_some();
    let by = known.claim.as_ref().map(|claim| &claim.by).or(known.assignee.as_ref());
    let Some(name) = by.filter(|name| worked_on && check_identity(name).is_ok()) else { return Ok(()) };
    if assignee_key(name) == assignee_key(author.identity) {
        return Ok(());
    }
    let subject = format!("{} closed task {}, which you work on", author.identity, closed.task_id);
    let reason = closed.close_reason.as_deref().unwrap_or("no reason was given");
    send_signal(tx, env, (author.project_id, author.identity, name), (&subject, reason))
}

fn refuse_held(tx: &mut Tx<'_>, known: &Task) -> Result<(), Failure> {
    let held: Vec<String> =
        readiness::holding(tx, known)?.into_iter().map(|edge| edge.depends_on_id).collect();
    if held.is_empty() {
        return Ok(());
    }
    Err(Refusal::new(
        Kind::Refused,
        "task_blocked",
        format!("task {} waits for {}", known.task_id, held.join(", ")),
        format!(
            "close what it waits for first; `baton task close {} --force --reason REASON` closes it all the same",
            known.task_id
        ),
    )
    .with("blocked_by", json!(held))
    .into())
}

/// The open parts of an epic; none of any other task.
pub(super) fn open_parts(tx: &mut Tx<'_>, known: &Task) -> Result<Vec<String>, Failure> {
    if known.issue_type != "epic" {
        return Ok(Vec::new());
    }
    let parts = task::children(tx, &known.project_id, &known.task_id)?;
    Ok(parts.into_iter().filter(Task::is_open).map(|part| part.task_id).collect())
}

/// Refuses to close an epic of which parts are open.
pub(super) fn refuse_open_parts(tx: &mut Tx<'_>, known: &Task) -> Result<(), Failure> {
    let open = open_parts(tx, known)?;
    if open.is_empty() {
        return Ok(());
    }
    let (id, count) = (&known.task_id, open.len());
    let what = format!(
        "cannot close epic {id}: {count} open child issue(s); close children first or use --force to override"
    );
    let hint = format!(
        "`baton task list --parent {id}` lists them; `baton task close {id} --force --reason REASON` closes it all the same"
    );
    Err(Refusal::new(Kind::Refused, "epic_open", what, hint).with("open_parts", json!(open)).into())
}

/// Refuses to guess how a task went on which others wait for that.
fn result_needed_refusal(known: &Task) -> Refusal {
    let id = &known.task_id;
    Refusal::invalid(
        "task_result_needed",
        format!(
            "what follows task {id} depends on how it went, and neither a result nor the reason says that"
        ),
        format!("`baton task close {id} --result pass` or `baton task close {id} --result fail`"),
    )
    .with("task_id", id.clone())
    .with("field", "result")
}

/// What closing a task led to.
pub(super) struct CloseEffects {
    unblocked: Vec<String>,
    steps: Vec<FollowUp>,
}

/// Writes the closed task, with its result, and does what the table of closing says to the tasks beside it.
pub(super) fn close(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    known: &Task,
    mut wanted: Task,
    result: Option<Outcome>,
) -> Result<(Task, CloseEffects), Failure> {
    let outcome = match result.or_else(|| wanted.close_reason.as_deref().and_then(reason::outcome)) {
        Some(outcome) => outcome,
        None if follow_up::depends_on_result(tx, known)? => return Err(result_needed_refusal(known).into()),
        None => Outcome::Pass,
    };
    if outcome == Outcome::Pass {
        clear_failures(known, &mut wanted);
    }
    wanted.result = Some(outcome.word().to_owned());
    (wanted.claim, wanted.pending_type, wanted.woken) = (None, None, false);
    let candidates = dependency::blocked_by_task(tx, author.project_id, &known.task_id)?;
    let was_ready = ready(tx, author.project_id, &candidates)?;
    let what = format!("is now {} ({})", wanted.status, outcome.word());
    let closed = change(tx, env, author, known, wanted, &what)?;
    notify_assignee(tx, env, author, (known, &closed))?;
    if let Some((_, message_id)) = route::last_sent(known) {
        // Its assignment asks for nothing any more: delivered later, it would come back as work.
        message::mark_delivered(tx, author.project_id, message_id, env.now)?;
    }
    let steps = follow_up::set_off(tx, env, author, &closed, outcome)?;
    crate::handoff::task_end::task_closed(tx, env, &closed, author.identity)?;
    let mut unblocked = ready(tx, author.project_id, &candidates)?;
    unblocked.retain(|id| !was_ready.contains(id));
    Ok((closed, CloseEffects { unblocked, steps }))
}

fn ready(tx: &mut Tx<'_>, project_id: &str, ids: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for id in ids {
        if task::get(tx, project_id, id)?.is_some_and(|task| task.readiness.ready) {
            found.push(id.clone());
        }
    }
    Ok(found)
}
