//! The one way to change a task: check, write, update which tasks are ready, record it in the ledger.

use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
use baton_model::session::Session;
use baton_model::task::Task;
use baton_model::task::claim::{Claim, Claimant, check_lease, held_elsewhere_refusal};
use baton_model::task::view::View;
use baton_model::task::{merge, sealed};
use baton_store::{Failure, Tx, request, session, task};
use serde_json::{Map, Value, json};

use super::answer::TaskAnswer;
use super::claim_elsewhere::refuse_previous_agent;
use super::claim_expiry::liveness;
use super::comment::{LateComment, keep_late};
use super::deferral_end::end_due_deferrals;
use super::readiness;
use crate::force_request::ForceRequest;
use crate::handoff::acceptor::require_task_acceptor;
use crate::handoff::claimant::require_unexpired;
use crate::handoff::edit::task_changed;
use crate::handoff::expiry::settle;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env};
use crate::project::refuse_merged;
use crate::{ownership, resolve};

/// Writes a changed task with its delta and returns it as it stands now; one that is the same as before is not written.
pub(super) fn change(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    before: &Task,
    wanted: Task,
    what: &str,
) -> Result<Task, Failure> {
    let is_changed = wanted != *before;
    let after = write_change(tx, env, author, before, wanted, what)?;
    if is_changed { reload(tx, after) } else { Ok(after) }
}

/// Writes a changed task with its delta, for a caller that reloads the task itself.
pub(super) fn write_change(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    before: &Task,
    wanted: Task,
    what: &str,
) -> Result<Task, Failure> {
    wanted.check(Some(before))?;
    if wanted == *before {
        return Ok(wanted);
    }
    if begins(before, &wanted) {
        refuse_merged(tx, &before.project_id)?;
        require_unexpired(tx, env, before)?;
    }
    let after = Task { updated_at: env.now, ..wanted };
    let replaced = put_changed(tx, before, &after)?;
    append_json(tx, env, author, Kind::Other, &delta_body(&after, what, replaced))?;
    task_changed(tx, env, before, &after)?;
    Ok(after)
}

/// Whether a change claims, assigns, starts or reopens a task: in a project that was merged nothing is begun.
pub(super) fn begins(before: &Task, wanted: &Task) -> bool {
    let token = |task: &Task| task.claim.as_ref().map(|claim| claim.token);
    let is_claimed = wanted.claim.is_some() && token(wanted) != token(before);
    let is_assigned = wanted.assignee.is_some() && wanted.assignee != before.assignee;
    let is_started =
        wanted.status != before.status && matches!(wanted.status.as_str(), "in_progress" | "hooked");
    let is_reopened =
        wanted.status == "open" && !matches!(before.status.as_str(), "open" | "in_progress" | "hooked");
    wanted.is_open() && (is_reopened || is_claimed || is_assigned || is_started || !before.is_open())
}

/// What the ledger says of a change. Texts that it replaces stay there.
fn delta_body(after: &Task, what: &str, replaced: Map<String, Value>) -> Value {
    let mut body = json!({ "summary": format!("task {} {what}", after.task_id), "task_id": after.task_id });
    if !replaced.is_empty() {
        body["replaced"] = Value::Object(replaced);
    }
    body
}

/// A task that is changed by what happened to another one.
pub(super) struct Consequence<'a> {
    pub(super) before: &'a Task,
    pub(super) after: &'a Task,
    /// What happens to it, after its id in a sentence.
    pub(super) what: &'a str,
}

/// Writes such a task. It has a delta only where the change replaces texts.
pub(super) fn update_dependent(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    change: &Consequence<'_>,
) -> Result<(), Failure> {
    let replaced = put_changed(tx, change.before, change.after)?;
    if replaced.is_empty() {
        return Ok(());
    }
    append_json(tx, env, author, Kind::Other, &delta_body(change.after, change.what, replaced)).map(drop)
}

/// Writes a changed task without a delta of its own.
pub(crate) fn update_without_delta(tx: &mut Tx<'_>, before: &Task, after: &Task) -> Result<(), Failure> {
    put_changed(tx, before, after).map(drop)
}

/// Writes a changed task, and returns the texts that were replaced. Its clocks say which of its fields changed; they do not go back, even
/// when the machine's does.
fn put_changed(tx: &mut Tx<'_>, before: &Task, after: &Task) -> Result<Map<String, Value>, Failure> {
    let now = after.updated_at.max(before.updated_at);
    let mut after = Task { updated_at: now, ..after.clone() };
    let replaced = merge::touch(before, &mut after, now);
    task::put(tx, &after)?;
    task::line::outdate(tx, &after.project_id, &after.task_id)?;
    if sealed::is_sensitive(&after) && !sealed::is_sensitive(before) {
        forget_plain(tx, &after)?;
    }
    readiness::update_readiness(tx, Some(before), &after)?;
    Ok(replaced)
}

/// Takes the plain contexts of a task that has become sensitive out of kept answers and out of the remembered lines of the file.
fn forget_plain(tx: &mut Tx<'_>, after: &Task) -> Result<(), Failure> {
    request::rewrite(tx, &after.project_id, &after.task_id, |answer| {
        let mut answer: Value = serde_json::from_str(answer).ok()?;
        sealed::redact_answer(&mut answer, after);
        Some(answer.to_string())
    })?;
    let known = task::line::known_lines(tx, &after.project_id, &after.task_id)?;
    let earlier = known.earlier.iter().map(|line| sealed::without_plain(line)).collect();
    if known.last.is_some() {
        let known = task::line::KnownLines { earlier, ..known };
        task::line::put(tx, &after.project_id, &after.task_id, &known, true)?;
    }
    Ok(())
}

/// Reads the task again after the readiness of dependent tasks was updated.
pub(super) fn reload(tx: &mut Tx<'_>, known: Task) -> Result<Task, Failure> {
    Ok(task::get(tx, &known.project_id, &known.task_id)?.unwrap_or(known))
}

/// Refuses a writer that has lost its lease, or a write to a task that another holds under a live one. Renews the writer's own lease
/// in `known`, which the caller writes.
pub(super) fn check_and_renew_lease(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    author: &Author<'_>,
    known: &mut Task,
    token: Option<i64>,
) -> Result<(), Failure> {
    let is_live = check_live_lease(tx, env, author, known, token)?;
    if let Some(claim) = known.claim.as_mut().filter(|_| is_live) {
        claim.base_expiry = claim.base_expiry.max(env.now.saturating_add(claim.lease_span));
    }
    Ok(())
}

/// Refuses a writer that has lost its lease, or a write to a task that another holds under a live one. Renews nothing.
pub(super) fn check_writer(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    author: &Author<'_>,
    known: &Task,
) -> Result<(), Failure> {
    check_live_lease(tx, env, author, known, None).map(|_| ())
}

/// Returns whether the caller holds a live lease. Refuses a write token on the task of a hand-off that another identity has accepted,
/// with a lease or without.
fn check_live_lease(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    author: &Author<'_>,
    known: &Task,
    token: Option<i64>,
) -> Result<bool, Failure> {
    let is_live = check_own_lease(tx, env, author, known, token)?;
    if !env.caller.grant.is_operator() {
        require_task_acceptor(tx, env, known, author.identity, ForceRequest::default())?;
    }
    Ok(is_live)
}

fn check_own_lease(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    author: &Author<'_>,
    known: &Task,
    token: Option<i64>,
) -> Result<bool, Failure> {
    let asker = Claimant { token, ..claimant(env, author) };
    let holder_ended = token.is_some() && has_holder_ended(env, known, &asker);
    let asker = Claimant { holder_ended, ..asker };
    let liveness = liveness(tx, env, known)?;
    check_lease(known, &asker, liveness, env.now)?;
    let Some(live) = known.claim.as_ref().filter(|claim| claim.expires_at(liveness) > env.now) else {
        return Ok(refuse_previous_agent(known, author.identity).map(|()| false)?);
    };
    if token.is_none() {
        refuse_elsewhere(env, author, known, live)?;
    }
    Ok(true)
}

/// Refuses what would take a task from another agent that holds it under a live claim.
pub(crate) fn require_unheld(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    author: &Author<'_>,
    known: &Task,
) -> Result<(), Failure> {
    let liveness = liveness(tx, env, known)?;
    Ok(check_lease(known, &claimant(env, author), liveness, env.now)?)
}

/// Who asks for a claim, without a token.
pub(super) fn claimant<'a>(env: &'a Env<'_>, author: &'a Author<'_>) -> Claimant<'a> {
    Claimant {
        identity: author.identity,
        session_id: author.session.map(|session| session.session_id.as_str()),
        location: Some(&env.caller.location),
        token: None,
        is_local: env.caller.grant.bearer.is_none(),
        holder_ended: false,
    }
}

/// Whether the process that claimed the task is known to have ended. What the client of an access token says of the processes of
/// others counts for nothing.
fn has_holder_ended(env: &Env<'_>, known: &Task, asker: &Claimant<'_>) -> bool {
    known.claim.as_ref().is_some_and(|claim| {
        let is_own = asker.is_local || claim.by == asker.identity;
        is_own && claim.location.as_ref().is_some_and(|place| env.host.has_process_ended(place))
    })
}

/// Refuses what another process of the caller's name has claimed in its session and is known to be at work on.
pub(super) fn refuse_elsewhere(
    env: &Env<'_>,
    author: &Author<'_>,
    known: &Task,
    claim: &Claim,
) -> Result<(), Refusal> {
    match author.session.filter(|own| is_elsewhere(env, own, claim)) {
        Some(own) => Err(held_elsewhere_refusal(known, claim, own.heartbeat_at)),
        None => Ok(()),
    }
}

/// Whether a claim is held by another live process of the session's identity.
pub(super) fn is_elsewhere(env: &Env<'_>, own: &Session, claim: &Claim) -> bool {
    let in_it = claim.session_id.as_ref() == Some(&own.session_id);
    in_it && claim.location.as_ref().is_some_and(|place| ownership::is_held_elsewhere(env, own, place))
}

/// A write to a project's tasks: resolves who asks, takes the project, and counts as a sign of life.
pub(super) fn write<T>(
    cx: &mut Cx<'_>,
    (named, identity, verb): (Option<&str>, Option<&str>, &str),
    mut f: impl FnMut(&mut Tx<'_>, &mut Env<'_>, &Author<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let project_id = resolve::project_id(cx.store, &cx.env, named)?;
    let identity = resolve::identity(cx.env.caller, identity)?;
    let Cx { store, env } = cx;
    let done = store.write(&[&project_id], |tx| {
        let due = due_deferrals(tx, env, &project_id, &identity)?;
        resolve::require(tx, &project_id)?;
        resolve::admit_and_beat(tx, env, &project_id, &identity, verb)?;
        let own = resolve::default_session(tx, env, &project_id, &identity)?;
        let author = Author { project_id: &project_id, identity: &identity, session: own.as_ref() };
        end_due_deferrals(tx, env, &author, due)?;
        f(tx, env, &author)
    });
    settle(store, env, done)
}

/// The tasks whose deferral is over, read in the round trip that asks for the caller's sessions: a write drops what was read ahead.
fn due_deferrals(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    identity: &str,
) -> Result<Vec<Task>, Failure> {
    tx.prefetch(|tx| {
        match &env.caller.session {
            Some(id) => drop(session::get(tx, project_id, id)),
            None => drop(session::open_of(tx, project_id, identity)),
        }
        drop(task::due_deferrals(tx, project_id, env.now));
    });
    Ok(task::due_deferrals(tx, project_id, env.now)?)
}

/// A closing write to a task (close, release, update), whose text is kept as a note where it is refused.
pub(super) struct TaskRequest<'a> {
    pub(super) project: Option<&'a str>,
    pub(super) identity: Option<&'a str>,
    pub(super) verb: &'static str,
    /// The task.
    pub(super) id: &'a str,
}

/// A write to a task whose words are kept beside a refusal that comes too late for them: the task is another's by now, or over, or
/// another has ended the caller's session.
pub(super) fn write_or_keep<T>(
    cx: &mut Cx<'_>,
    wanted: &TaskRequest<'_>,
    words: impl Fn(&mut Tx<'_>, &Author<'_>) -> LateComment,
    mut attempt: impl FnMut(&mut Tx<'_>, &mut Env<'_>, &Author<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let project_id = resolve::project_id(cx.store, &cx.env, wanted.project)?;
    let identity = resolve::identity(cx.env.caller, wanted.identity)?;
    let Cx { store, env } = cx;
    let done = store.write(&[&project_id], |tx| {
        let due = due_deferrals(tx, env, &project_id, &identity)?;
        resolve::require(tx, &project_id)?;
        let own = resolve::admit_and_beat(tx, env, &project_id, &identity, wanted.verb)
            .and_then(|()| resolve::default_session(tx, env, &project_id, &identity));
        let (session, ousted) = match own {
            Ok(own) => (own, None),
            Err(failure) => (None, Some(failure)),
        };
        let author = Author { project_id: &project_id, identity: &identity, session: session.as_ref() };
        let done = match ousted {
            None => end_due_deferrals(tx, env, &author, due).and_then(|()| attempt(tx, env, &author)),
            Some(failure) => Err(failure),
        };
        match done {
            Ok(output) => Ok(Ok(output)),
            Err(failure) => {
                let words = words(tx, &author);
                keep_late(tx, env, &author, (wanted.id, &words), failure).map(Err)
            }
        }
    });
    settle(store, env, done.and_then(|done| done.map_err(Failure::from)))
}

/// A task as this caller sees it: the token of its claim is shown to the holder of the claim only.
pub(super) fn view_for(task: &Task, asker: &Claimant<'_>) -> View {
    let mut view = View::from(task);
    if let Some(claim) = task.claim.as_ref().filter(|claim| claim.is_proven_of(asker)) {
        view.claim = Some(claim.view_with_token());
    }
    view
}

/// A task as the answer of a verb: with who did it, and in which session.
pub(super) fn answer(task: &Task, env: &Env<'_>, author: &Author<'_>) -> TaskAnswer {
    TaskAnswer {
        view: view_for(task, &claimant(env, author)),
        identity: Some(author.identity.to_owned()),
        session_id: author.session.map(|session| session.session_id.clone()),
    }
}
