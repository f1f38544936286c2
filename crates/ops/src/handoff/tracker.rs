//! What a tracker outside says, brought into the ledger.

use baton_model::actor::{Actor, ActorType};
use baton_model::handoff::{Event, Handoff, LateWords, State};
use baton_model::issue::{Edit, TrackerResult, marker};
use baton_model::refusal::Refusal;
use baton_model::saga::{self, Kind, StepStage};
use baton_model::task::Task;
use baton_model::time::Millis;
use baton_model::tracker::github_task_id;
use baton_store::{Failure, Tx, handoff, handoff_step, task, tracker};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::details::{HandoffDetails, SeenIssue};
use super::edit::IssueChange;
use super::issue_text::{self, TextNews};
use super::steps::{SKEW, close_row, rewrite_note, task_of};
use super::tracker_input::repo_of;
use super::{Row, acceptor, closing_words, edit, isolation, late_words, moved, record};
use crate::ledger::Author;
use crate::op::{Cx, Env, Meta, Operation};
use crate::saga::{apply_event, comment_on_issue, plan_duplicate_check};
use crate::task::{insert as insert_task, update_without_delta};

/// The longest comment that is brought to an issue, in characters: GitHub takes 65,536 with what we add.
const MAX_COMMENT: usize = 65_000;

/// The most characters of what was said under an issue that become the result.
const MAX_WORDS: usize = 4_000;

/// Applies the result of a step's successful call to the hand-off and the task's row.
pub(crate) fn record_success(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &mut Handoff,
    kind: Kind,
    result: &TrackerResult,
) -> Result<(), Failure> {
    match result {
        // Nothing new: the issue that is known is the one that stays.
        TrackerResult::Issue { number, .. }
            if kind == Kind::DuplicateCheck && handoff.issue_number == Some(*number) =>
        {
            Ok(())
        }
        TrackerResult::Issue { number, url, .. } => {
            let is_new = handoff.issue_number.replace(*number) != Some(*number);
            moved::follow(tx, env, handoff, url)?;
            if let Some(repo) = handoff.issues_repo.as_deref().filter(|_| is_new) {
                // Polls and webhooks have skipped what people wrote and changed while its number was not known.
                tracker::rewind(tx, repo, handoff.created_at.saturating_sub(SKEW))?;
            }
            let details = HandoffDetails { url: Some(url.clone()), ..HandoffDetails::of(handoff) };
            handoff.plan = details.to_text();
            if kind == Kind::Publish {
                handoff.tracker = "github".into();
                return published(tx, env, handoff);
            }
            let repo = handoff.issues_repo.clone().unwrap_or_default();
            handoff.task_id = Some(github_task_id(&repo, *number));
            mirror(tx, env, handoff)
        }
        TrackerResult::Closed(answer) => {
            answer.iter().for_each(|answer| closing_words::note_answer(handoff, answer));
            // Whatever ended the hand-off has closed the row: an open one was reopened since.
            match handoff.state {
                State::Completed | State::Declined | State::Cancelled | State::Expired => Ok(()),
                _ => close_row(tx, env, handoff),
            }
        }
        TrackerResult::Edited(answer) => {
            answer.iter().for_each(|answer| closing_words::note_answer(handoff, answer));
            Ok(())
        }
        TrackerResult::Nothing | TrackerResult::Commented => Ok(()),
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
            update_without_delta(tx, &known, &open)
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
    update_without_delta(tx, &before, &known)
}

/// After a comment on the task: queues the same comment for its issue.
pub(crate) fn task_commented(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    task: &Task,
    (identity, text): (&str, &str),
) -> Result<(), Failure> {
    let Some(known) = handoff::by_task(tx, &task.project_id, &task.task_id)? else { return Ok(()) };
    let author = match isolation::is_separated(tx, &known)? {
        true => isolation::project_label(&known.to_project_id),
        false => identity.to_owned(),
    };
    let mut comment = format!("{author} says:\n\n{text}");
    if comment.chars().count() > MAX_COMMENT {
        let start: String = comment.chars().take(MAX_COMMENT).collect();
        comment = format!("{start}\n\n(shortened; the whole is in `baton task show {}`)", task.task_id);
    }
    comment_on_issue(tx, env, &known, &comment)
}

fn end(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: Handoff,
    event: Event,
    result: Option<String>,
    by: Actor<'_>,
) -> Result<Option<Handoff>, Failure> {
    let accepted = match (known.state, event) {
        (State::Offered, Event::Complete) => State::Accepted,
        (state, _) => state,
    };
    let Ok(state) = accepted.advance(event) else { return Ok(None) };
    let result = result.or(known.result.clone());
    let was = known.state;
    let mut after = Handoff { state, result, updated_at: env.now, ..known };
    let why = after.result.clone();
    acceptor::record_end(tx, env, (was, &mut after), by.into(), (why.as_deref(), None))?;
    record(tx, env, &after, by.name)?;
    apply_event(tx, env, &mut after, event)?;
    close_row(tx, env, &after)?;
    Ok(Some(after))
}

/// Takes what a tracker says about an issue.
pub struct TrackerEvent;

/// Input of `tracker_event`: what a poll or a webhook has seen.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrackerEventInput {
    /// `owner/repo`.
    pub repo: String,
    /// The issue.
    pub number: i64,
    /// `open` or `closed`.
    pub state: String,
    /// `completed`, `not_planned`, `duplicate`, `reopened`.
    #[serde(default)]
    pub state_reason: Option<String>,
    /// Who did it.
    #[serde(default)]
    pub by: Option<String>,
    /// The hidden line of a hand-off in its body.
    #[serde(default)]
    pub marker: Option<String>,
    /// Its page, which names the repository as it is called now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// When it was changed last, by GitHub's clock, in milliseconds: an event that is older than another says nothing new.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Millis>,
    /// When it was closed, by GitHub's clock, in milliseconds: one close of it is told from another so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_at: Option<Millis>,
    /// What the person who closed it said under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// Its title now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its text now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Its labels now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Who has just changed its title, text or labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_by: Option<String>,
}

/// Answer of `tracker_event`.
#[derive(Default, Serialize, Deserialize)]
pub struct TrackerEventOutput {
    /// Whether the issue is one of a hand-off's and something followed from it.
    pub changed: bool,
    /// The hand-off.
    pub handoff: Option<Row>,
    /// Something is on its way to the issue, so that nothing follows yet: the issue is to be looked at again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_held_back: bool,
}

impl Operation for TrackerEvent {
    const META: Meta = Meta::write("tracker_event", "Take what a tracker says about an issue");
    type Input = TrackerEventInput;
    type Output = TrackerEventOutput;

    fn run(input: TrackerEventInput, cx: &mut Cx<'_>) -> Result<TrackerEventOutput, Failure> {
        let repo = repo_of(cx, &input.repo)?;
        if !["open", "closed"].contains(&input.state.as_str()) {
            let what = "an issue is open or closed";
            return Err(Refusal::invalid("state_unknown", what, "pass what the tracker says").into());
        }
        let nothing = TrackerEventOutput::default();
        let Some(known) = cx.store.read(|tx| Ok(handoff::by_issue(tx, &repo, input.number)?))? else {
            return unknown(cx, &repo, &input);
        };
        let login = input.by.as_deref().filter(|name| baton_model::id::check_identity(name).is_ok());
        let by = match login {
            Some(login) => Actor { name: login, kind: ActorType::GithubUser },
            None => Actor { name: "GitHub", kind: ActorType::Tracker },
        };
        let Cx { store, env } = cx;
        let taken = store.read(|tx| moved::projects(tx, &known, input.url.as_deref()))?;
        store
            .write(&taken.iter().map(String::as_str).collect::<Vec<_>>(), |tx| {
                let Some(mut known) = handoff::by_issue(tx, &repo, input.number)? else { return Ok(None) };
                let is_moved = match input.url.as_deref() {
                    Some(url) => moved::follow(tx, env, &mut known, url)?,
                    None => false,
                };
                if is_moved {
                    handoff::put(tx, &known)?;
                    rewrite_note(tx, env, &known)?;
                }
                let text_news = issue_text::note(tx, &known, &input)?;
                if text_news == TextNews::Changed {
                    handoff::put(tx, &known)?;
                }
                let is_open = input.state == "open";
                let is_held_back = text_news == TextNews::HeldBack
                    || edit::is_held_back(tx, &known, is_open)?
                    || closing_words::is_held_back(tx, &known, is_open)?;
                let row = Row::of(&known, &[]);
                let handoff = follow(tx, env, known, &input, by)?
                    .or((is_moved || text_news == TextNews::Changed).then_some(row));
                Ok(Some(TrackerEventOutput { changed: handoff.is_some(), handoff, is_held_back }))
            })
            .map(|after| after.unwrap_or(nothing))
    }
}

/// An unknown open issue with the marker of a hand-off that has another one: perhaps a duplicate that arrived after all
/// checks.
fn unknown(cx: &mut Cx<'_>, repo: &str, input: &TrackerEventInput) -> Result<TrackerEventOutput, Failure> {
    let Some(marked) = input.marker.as_deref().filter(|_| input.state == "open") else {
        return Ok(TrackerEventOutput::default());
    };
    let with_issue = cx.store.read(|tx| Ok(handoff::with_issue(tx, repo)?))?;
    let Some(id) = with_issue.iter().find(|id| marker(id) == marked) else {
        return Ok(TrackerEventOutput::default());
    };
    let Cx { store, env } = cx;
    let known = store.read(|tx| Ok(handoff::get(tx, id)?))?;
    let projects = known.map(|known| (known.from_project_id, known.to_project_id)).unwrap_or_default();
    store.write(&[&projects.0, &projects.1], |tx| plan_duplicate_check(tx, env, id))?;
    Ok(TrackerEventOutput { changed: true, ..TrackerEventOutput::default() })
}

/// Opens the issue again where a retry has overtaken our own request to close it. Returns whether the issue is
/// being opened.
fn reopens_after_late_close(tx: &mut Tx<'_>, env: &Env<'_>, known: &Handoff) -> Result<bool, Failure> {
    if !matches!(known.state, State::Offered | State::Accepted) {
        return Ok(false);
    }
    let before = handoff_step::of(tx, &known.handoff_id)?;
    let reopen = json!(Edit { open: Some(true), ..Edit::default() }).to_string();
    if before.iter().any(|step| !step.is_over() && step.result.as_ref() == Some(&reopen)) {
        return Ok(true);
    }
    let mut steps = before.clone();
    if !saga::take_late_close(&mut steps, env.now) {
        return Ok(false);
    }
    saga::append_event(&mut steps, Kind::Edit, &reopen, env.now);
    handoff_step::put(tx, &known.handoff_id, &before, &steps)?;
    Ok(true)
}

/// Notes what is seen of the issue. Returns false where that was known before: an event that GitHub delivers again, or later than a
/// newer one, changes nothing.
fn note_seen(tx: &mut Tx<'_>, known: &mut Handoff, input: &TrackerEventInput) -> Result<bool, Failure> {
    let Some(at) = input.updated_at else { return Ok(true) };
    let seen = SeenIssue { at, is_open: input.state == "open" };
    let mut details = HandoffDetails::of(known);
    if details.issue_seen.as_ref().is_some_and(|before| seen.is_outdated_by(before)) {
        return Ok(false);
    }
    details.issue_seen = Some(seen);
    known.plan = details.to_text();
    handoff::put(tx, known)?;
    Ok(true)
}

/// Applies a change of the issue of a hand-off that has ended to its task, and keeps what the closer said where the sender looks.
fn follow_ended(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &Handoff,
    change: IssueChange<'_>,
    by: Actor<'_>,
) -> Result<Option<Row>, Failure> {
    if !edit::issue_changed(tx, env, known, change, by)? {
        return Ok(None);
    }
    if let IssueChange::Closed { words: Some(words), is_completed } = change
        && let Some(row) = handoff::get(tx, &known.handoff_id)?
    {
        let kind = if is_completed { LateWords::Result } else { LateWords::Reason };
        late_words::keep(tx, env, &row, by, (kind, words))?;
    }
    let after = handoff::get(tx, &known.handoff_id)?.unwrap_or_else(|| known.clone());
    Ok(Some(Row::of(&after, &handoff_step::of(tx, &known.handoff_id)?)))
}

fn follow(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    mut known: Handoff,
    input: &TrackerEventInput,
    by: Actor<'_>,
) -> Result<Option<Row>, Failure> {
    let reason = input.state_reason.as_deref();
    let is_declined = matches!(reason, Some("not_planned" | "duplicate"));
    let words = input.words.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let words: Option<String> = words.map(|words| words.chars().take(MAX_WORDS).collect());
    let is_settled = edit::is_settled(tx, &known)?;
    let kind = if is_declined { LateWords::Reason } else { LateWords::Result };
    let is_kept = match words.as_deref().filter(|_| input.state == "closed") {
        Some(words) => closing_words::keep(tx, env, &mut known, input.closed_at, (by, kind, words))?,
        None => false,
    };
    if let Some(closed_at) = input.closed_at.filter(|_| is_settled && input.state == "closed") {
        closing_words::note_read(tx, &mut known, closed_at)?;
    }
    if is_settled && !note_seen(tx, &mut known, input)? {
        return Ok(is_kept.then(|| Row::of(&known, &[])));
    }
    let change = match input.state.as_str() {
        "open" if reason == Some("reopened") => Some(IssueChange::Reopened),
        // An issue that was never closed carries no news.
        "open" => None,
        _ => Some(IssueChange::Closed { words: words.as_deref(), is_completed: !is_declined }),
    };
    if let Some(change) = change.filter(|_| is_settled)
        && let Some(row) = follow_ended(tx, env, &known, change, by)?
    {
        return Ok(Some(row));
    }
    if input.state == "open" {
        return Ok(None);
    }
    if reason == Some("not_planned") && reopens_after_late_close(tx, env, &known)? {
        let steps = handoff_step::of(tx, &known.handoff_id)?;
        return Ok(Some(Row::of(&known, &steps)));
    }
    let event = if is_declined { Event::Decline } else { Event::Complete };
    let Some(after) = end(tx, env, known, event, words, by)? else { return Ok(None) };
    // It is closed already.
    let before = handoff_step::of(tx, &after.handoff_id)?;
    let mut steps = before.clone();
    for step in steps.iter_mut().filter(|s| matches!(s.kind, Kind::Report | Kind::UndoTask) && !s.is_over()) {
        step.stage = StepStage::Skipped;
        step.updated_at = env.now;
    }
    handoff_step::put(tx, &after.handoff_id, &before, &steps)?;
    Ok(Some(Row::of(&after, &steps)))
}
