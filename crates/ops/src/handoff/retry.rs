//! `handoff_retry`: try again what failed, or drive on what waits.

use baton_model::access::Scope;
use baton_model::handoff::{Event, Handoff, State};
use baton_model::refusal::{Kind, Refusal};
use baton_model::saga::{self, Kind as StepKind, NOT_YET, Step, StepStage, is_still_planned};
use baton_model::tracker::{Warning, WarningKind, is_same_repo, parse_issues_repo};
use baton_store::{Failure, Tx, handoff, handoff_step, project, tracker};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::details::HandoffDetails;
use super::{Progress, Row, by_id, isolation, record, require_reach, steps, with_id};
use crate::op::{Cx, Env, Meta, Operation};
use crate::project::refuse_merged;
use crate::resolve;
use crate::saga::{advance, apply_event};

/// Drives a hand-off on.
pub struct Retry;

/// Input of `handoff_retry`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryInput {
    /// Hand-off id or a unique prefix of one.
    pub id: String,
    /// Identity that wants it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Another issues repository, `owner/repo`, for one whose issue is not made yet.
    #[serde(default)]
    pub repo: Option<String>,
}

impl Operation for Retry {
    const META: Meta = Meta::write("handoff_retry", "Try a failed hand-off again, or drive a pending one on")
        .changes_tasks()
        .begins_handoff();
    type Input = RetryInput;
    type Output = Progress;

    fn run(input: RetryInput, cx: &mut Cx<'_>) -> Result<Progress, Failure> {
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let repo = input.repo.as_deref();
        let repo = repo.map(|text| parse_issues_repo(text, cx.env.host.github_enterprise())).transpose()?;
        let known = cx.store.read(|tx| by_id(tx, &cx.env.caller.grant, &input.id))?;
        if repo.is_some() {
            // Where the sender's words go is the sender's to say.
            require_reach(&cx.env.caller.grant, &known.from_project_id)?;
        }
        if let Some(repo) = &repo {
            require_registered(cx, &known, repo)?;
        }
        let here = resolve::project_id(cx.store, &cx.env, None).ok();
        let Cx { store, env } = cx;
        store.write(&[&known.from_project_id, &known.to_project_id], |tx| {
            let mut after = by_id(tx, &env.caller.grant, &known.handoff_id)?;
            resolve::admit_and_beat(tx, env, &known.from_project_id, &identity, Self::NAME)?;
            let to = repo.clone().map_or_else(|| registered_since(tx, &after), |repo| Ok(Some(repo)))?;
            if let Some(repo) = to {
                redirect(&mut after, repo)?;
            }
            if repo.is_some() {
                let details = HandoffDetails { follows_registry: Some(false), ..HandoffDetails::of(&after) };
                after.plan = details.to_text();
            }
            if after.state == State::Failed {
                refuse_merged(tx, &after.to_project_id)?;
                after = Handoff { state: after.state.advance(Event::Retry)?, updated_at: env.now, ..after };
                record(tx, env, &after, &identity)?;
                apply_event(tx, env, &mut after, Event::Retry)?;
            } else {
                let before = handoff_step::of(tx, &after.handoff_id)?;
                let mut steps = before.clone();
                saga::rebuild(&mut steps, &after, env.now);
                if HandoffDetails::of(&after).repository_missing && !after.state.is_over() {
                    ask_again(tx, &after)?;
                } else if !steps.iter().any(|step| is_retriable(after.state, step)) {
                    // Nothing waits: its state says why.
                    after.state.advance(Event::Retry).map_err(|no| with_id(no, &known.handoff_id))?;
                }
                let state = after.state;
                let retriable = steps.iter_mut().filter(|step| is_retriable(state, step));
                retriable.for_each(|step| at_once(step, env.now));
                advance(tx, env, &mut after, &mut steps)?;
                handoff_step::put(tx, &after.handoff_id, &before, &steps)?;
                handoff::put(tx, &after)?;
            }
            let steps = handoff_step::of(tx, &after.handoff_id)?;
            let row = Row::of(&after, &steps);
            let viewer = isolation::Viewer { project: here.as_deref(), grant: Some(&env.caller.grant) };
            let row = isolation::shown_to(tx, viewer, &after, row)?.with_names(tx, &env.caller.grant)?;
            let identity = identity.clone();
            let warnings = without_access(env, &after, &steps).map(|warning| vec![warning]);
            Ok(Progress { row, project_id: after.from_project_id, identity, replayed: false, warnings })
        })
    }
}

/// Has the next look ask the tracker for the repository that was not to be found.
fn ask_again(tx: &mut Tx<'_>, known: &Handoff) -> Result<(), Failure> {
    let Some(repo) = &known.issues_repo else { return Ok(()) };
    if let Some(polled) = tracker::poll(tx, repo)? {
        tracker::put_poll(tx, repo, &tracker::Poll { due_at: 0, ..polled })?;
    }
    Ok(())
}

/// Refuses a token without the scope operator that names another repository than the receiver's registered one: the issue is made with
/// the server's own login. What is registered for a project that the token does not reach is not compared.
fn require_registered(cx: &mut Cx<'_>, known: &Handoff, repo: &str) -> Result<(), Failure> {
    let grant = &cx.env.caller.grant;
    if grant.is_operator() {
        return Ok(());
    }
    let registered = match grant.reaches(&known.to_project_id) {
        true => cx.store.read(|tx| Ok(project::get(tx, &known.to_project_id)?))?,
        false => None,
    };
    let registered = registered.and_then(|target| target.issues_github_repo);
    if !registered.is_some_and(|own| own.eq_ignore_ascii_case(repo)) {
        grant.require(Scope::Operator)?;
    }
    Ok(())
}

/// A warning where the next step asks GitHub and this process has no access to it: the error that is shown is an earlier one.
fn without_access(env: &Env<'_>, handoff: &Handoff, steps: &[Step]) -> Option<Warning> {
    let waits = |step: &Step| matches!(step.stage, StepStage::Pending | StepStage::Running);
    let asks_github = |step: &Step| waits(step) && steps::is_outside(handoff, step);
    if env.host.github_access() || !steps.iter().any(asks_github) {
        return None;
    }
    let message = "nothing was tried now: no access to GitHub is configured here. Set BATON_GITHUB_TOKEN (or GITHUB_TOKEN, or log \
        in with `gh`) and retry; a `baton serve` on the same ledger that has access tries it by itself";
    Some(Warning { kind: WarningKind::GithubUnconfigured, message: message.to_owned() })
}

/// The repository to which the receiver's registration was changed after the hand-off was written down and before its issue
/// was made.
fn registered_since(tx: &mut Tx<'_>, known: &Handoff) -> Result<Option<String>, Failure> {
    if known.tracker != "github"
        || known.issue_number.is_some()
        || HandoffDetails::of(known).follows_registry == Some(false)
    {
        return Ok(None);
    }
    let target = project::get(tx, &known.to_project_id)?;
    let target = target.filter(|target| target.updated_at > known.created_at);
    let repo = target.and_then(|target| target.issues_github_repo);
    let is_same = |repo: &String| known.issues_repo.as_ref().is_some_and(|own| is_same_repo(own, repo));
    Ok(repo.filter(|repo| !is_same(repo)))
}

/// Before an issue is made: it goes to where the receiver's issues are registered by now. One that an earlier try may have made is looked
/// for where that was. Of an old hand-off nothing says whether its sender has named the repository: only a retry moves it.
pub(crate) fn follow_registry(tx: &mut Tx<'_>, known: &mut Handoff, step: &Step) -> Result<(), Failure> {
    if step.kind == StepKind::Task
        && !step.is_unknown
        && is_still_planned(known.state)
        && HandoffDetails::of(known).follows_registry == Some(true)
        && let Some(repo) = registered_since(tx, known)?
    {
        known.issues_repo = Some(repo);
    }
    Ok(())
}

/// Sends the issue to another repository. One that is made stays where it is.
fn redirect(known: &mut Handoff, repo: String) -> Result<(), Refusal> {
    if known.tracker == "github" && known.issue_number.is_none() {
        known.issues_repo = Some(repo);
        return Ok(());
    }
    if known.issues_repo.as_ref() == Some(&repo) {
        return Ok(());
    }
    let id = &known.handoff_id;
    let hint = match HandoffDetails::of(known).repository_missing {
        true => format!(
            "give the token access to it, then `baton handoff retry {id}` asks again; or `baton handoff cancel {id}`, and leave it anew \
             once `baton project set --issues-repo OWNER/NAME` in the receiving project names the right one"
        ),
        false => format!(
            "`baton handoff show {id}` says where it is; `baton handoff publish {id} --repo OWNER/NAME` makes an issue of a local task"
        ),
    };
    let what = "its task is made already, so it goes to no other repository";
    Err(Refusal::new(Kind::Conflict, "tracker_conflict", what, hint))
}

/// Whether a retry has something to do with a step. Of a hand-off that is over, only what may have been made all the same is looked for
/// on the way forward.
fn is_retriable(state: State, step: &Step) -> bool {
    match step.stage {
        StepStage::Done | StepStage::Skipped => false,
        StepStage::Failed if state.is_over() && saga::is_forward_step(step.kind) => step.is_unknown,
        _ => true,
    }
}

/// A step that waits for its next try, or was given up on the way back, is due now.
fn at_once(step: &mut Step, now: i64) {
    if step.stage == StepStage::Failed {
        step.stage = StepStage::Pending;
    }
    if step.stage == StepStage::Pending && step.due_at != NOT_YET {
        step.due_at = now;
    }
}
