//! What a tracker outside says, brought into the ledger.

use baton_model::handoff::{Event, Handoff, State};
use baton_model::issue::Came;
use baton_model::refusal::Refusal;
use baton_model::saga::{Kind, Stage};
use baton_model::task::Task;
use baton_model::tracker::{github_task_id, parse_issues_repo};
use baton_store::{Failure, Tx, handoff, handoff_step, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::steps::{Plan, close_row, task_of};
use super::{answer, record};
use crate::op::{Access, Cx, Env, Operation};
use crate::saga::happened;

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
fn mirror(tx: &mut Tx<'_>, env: &Env<'_>, handoff: &Handoff) -> Result<(), Failure> {
    let wanted = Task { created_at: env.now, updated_at: env.now, ..task_of(handoff) };
    match task::get(tx, &wanted.project_id, &wanted.task_id)? {
        None => Ok(task::insert(tx, &wanted)?),
        Some(known) if known.is_open() => Ok(()),
        Some(known) => {
            let open = Task {
                status: "open".into(),
                closed_at: None,
                close_reason: None,
                updated_at: env.now,
                ..known
            };
            Ok(task::put(tx, &open)?)
        }
    }
}

/// A task of the embedded tracker has an issue now; its id stays.
fn published(tx: &mut Tx<'_>, env: &Env<'_>, handoff: &Handoff) -> Result<(), Failure> {
    let Some(id) = &handoff.task_id else { return Ok(()) };
    let Some(mut known) = task::get(tx, &handoff.to_project_id, id)? else { return Ok(()) };
    for (key, value) in task_of(handoff).extra {
        known.extra.insert(key, value);
    }
    known.updated_at = env.now;
    Ok(task::put(tx, &known)?)
}

/// The receiver closed the task through the product: the hand-off is completed, and the issue follows.
pub(crate) fn task_closed(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    closed: &Task,
    by: &str,
) -> Result<(), Failure> {
    let Some(known) = handoff::by_task(tx, &closed.project_id, &closed.task_id)? else { return Ok(()) };
    if !tx.has_project(&known.from_project_id) {
        return Ok(());
    }
    let reason = closed.close_reason.clone();
    end(tx, env, known, Event::Complete, reason, by).map(drop)
}

/// The project that hears when this task is closed: the sender of its hand-off, if it has one.
pub(crate) fn sender_of(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Option<String>, Failure> {
    let known = match handoff::by_task(tx, project_id, task_id)? {
        None => match task::by_prefix(tx, project_id, task_id)?.as_slice() {
            [one] => handoff::by_task(tx, project_id, one)?,
            _ => None,
        },
        known => known,
    };
    Ok(known.map(|handoff| handoff.from_project_id))
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
