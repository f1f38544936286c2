//! What a tracker outside says, brought into the ledger.

use baton_model::handoff::{Event, Handoff, State};
use baton_model::issue::Came;
use baton_model::refusal::Refusal;
use baton_model::saga::{self, Kind, Stage};
use baton_model::task::Task;
use baton_model::tracker::{github_task_id, parse_issues_repo};
use baton_store::{Failure, Tx, handoff, handoff_step, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::steps::{Plan, close_row, task_of};
use super::{answer, record};
use crate::ledger::Author;
use crate::op::{Access, Cx, Env, Operation};
use crate::saga::happened;
use crate::task::{change_quietly, insert as insert_task};

/// A step's call came back well: the hand-off and the task's row say so.
pub(crate) fn came(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &mut Handoff,
    kind: Kind,
    came: &Came,
) -> Result<(), Failure> {
    match came {
        // Nothing new: the issue that is known is the one that stays.
        Came::Issue { number, .. } if kind == Kind::Double && handoff.issue_number == Some(*number) => Ok(()),
        Came::Issue { number, url, .. } => {
            handoff.issue_number = Some(*number);
            let plan = Plan { url: Some(url.clone()), ..Plan::of(handoff) };
            handoff.plan = plan.to_text();
            if kind == Kind::Publish {
                handoff.tracker = "github".into();
                return published(tx, env, handoff);
            }
            let repo = handoff.issues_repo.clone().unwrap_or_default();
            handoff.task_id = Some(github_task_id(&repo, *number));
            mirror(tx, env, handoff)
        }
        Came::Closed => close_row(tx, env, handoff),
        Came::Nothing => Ok(()),
    }
}

/// The issue as a row of the receiver's ledger.
fn mirror(tx: &mut Tx<'_>, env: &mut Env<'_>, handoff: &Handoff) -> Result<(), Failure> {
    let wanted = task_of(handoff);
    match task::get(tx, &wanted.project_id, &wanted.task_id)? {
        None => {
            let author = Author {
                project_id: &handoff.to_project_id,
                identity: &handoff.from_identity,
                session: None,
            };
            insert_task(tx, env, &author, wanted).map(drop)
        }
        Some(known) if known.is_open() => Ok(()),
        Some(known) => {
            let mut open = Task { updated_at: env.now, ..known.clone() };
            open.set_status("open", env.now);
            change_quietly(tx, &known, &open)
        }
    }
}

/// A task of the embedded tracker has an issue now; its id stays.
fn published(tx: &mut Tx<'_>, env: &Env<'_>, handoff: &Handoff) -> Result<(), Failure> {
    let Some(id) = &handoff.task_id else { return Ok(()) };
    let Some(mut known) = task::get(tx, &handoff.to_project_id, id)? else { return Ok(()) };
    let before = known.clone();
    for (key, value) in task_of(handoff).extra {
        known.extra.insert(key, value);
    }
    known.updated_at = env.now;
    change_quietly(tx, &before, &known)
}

/// The receiver closed the task through the product: a step of the hand-off completes it, in both projects, as soon as somebody
/// drives.
pub(crate) fn task_closed(tx: &mut Tx<'_>, env: &Env<'_>, closed: &Task) -> Result<(), Failure> {
    let Some(known) = handoff::by_task(tx, &closed.project_id, &closed.task_id)? else { return Ok(()) };
    if !matches!(known.state, State::Offered | State::Accepted) {
        return Ok(());
    }
    let before = handoff_step::of(tx, &known.handoff_id)?;
    let mut steps = before.clone();
    saga::push(&mut steps, &[Kind::Closed], env.now);
    Ok(handoff_step::put(tx, &known.handoff_id, &before, &steps)?)
}

fn end(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: Handoff,
    event: Event,
    result: Option<String>,
    by: &str,
) -> Result<Option<Handoff>, Failure> {
    let accepted = match (known.state, event) {
        (State::Offered, Event::Complete) => State::Accepted,
        (state, _) => state,
    };
    let Ok(state) = accepted.advance(event) else { return Ok(None) };
    let result = result.or(known.result.clone());
    let mut after = Handoff { state, result, updated_at: env.now, ..known };
    record(tx, env, &after, by)?;
    happened(tx, env, &mut after, event)?;
    close_row(tx, env, &after)?;
    Ok(Some(after))
}

/// Takes what a tracker says about an issue.
pub(crate) struct TrackerEvent;

/// Input of `tracker_event`: what a poll or a webhook has seen.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// `owner/repo`.
    repo: String,
    /// The issue.
    number: i64,
    /// `open` or `closed`.
    state: String,
    /// `completed`, `not_planned`, `duplicate`, `reopened`.
    #[serde(default)]
    state_reason: Option<String>,
    /// Who did it.
    #[serde(default)]
    by: Option<String>,
}

/// Answer of `tracker_event`.
#[derive(Serialize)]
pub(crate) struct Output {
    /// Whether the issue is one of a hand-off's and something followed from it.
    changed: bool,
    handoff: Option<Value>,
}

impl Operation for TrackerEvent {
    const NAME: &'static str = "tracker_event";
    const DOC: &'static str = "Take what a tracker says about an issue";
    const ACCESS: Access = Access::Write;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        cx.env.caller.grant.require_everywhere()?;
        let repo = parse_issues_repo(&input.repo)?;
        if !["open", "closed"].contains(&input.state.as_str()) {
            let what = "an issue is open or closed";
            return Err(Refusal::invalid("state_unknown", what, "pass what the tracker says").into());
        }
        let nothing = Output { changed: false, handoff: None };
        let Some(known) = cx.store.read(|tx| Ok(handoff::by_issue(tx, &repo, input.number)?))? else {
            return Ok(nothing);
        };
        let by = input
            .by
            .as_deref()
            .filter(|name| baton_model::id::check_identity(name).is_ok())
            .unwrap_or("GitHub");
        let Cx { store, env } = cx;
        store
            .write(&[&known.from_project_id, &known.to_project_id], |tx| {
                let Some(known) = handoff::by_issue(tx, &repo, input.number)? else { return Ok(None) };
                follow(tx, env, known, &input, by)
            })
            .map(|after| after.map_or(nothing, |handoff| Output { changed: true, handoff: Some(handoff) }))
    }
}

fn follow(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: Handoff,
    input: &Input,
    by: &str,
) -> Result<Option<Value>, Failure> {
    if input.state == "open" {
        return Ok(None);
    }
    let declined = matches!(input.state_reason.as_deref(), Some("not_planned" | "duplicate"));
    let event = if declined { Event::Decline } else { Event::Complete };
    let result = format!("the issue was closed{}", if declined { " as not planned" } else { "" });
    let Some(after) = end(tx, env, known, event, Some(result), by)? else { return Ok(None) };
    // It is closed already.
    let before = handoff_step::of(tx, &after.handoff_id)?;
    let mut steps = before.clone();
    for step in steps.iter_mut().filter(|s| matches!(s.kind, Kind::Report | Kind::UndoTask) && !s.is_over()) {
        step.stage = Stage::Skipped;
        step.updated_at = env.now;
    }
    handoff_step::put(tx, &after.handoff_id, &before, &steps)?;
    Ok(Some(json!(answer(&after, &steps))))
}
