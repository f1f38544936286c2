//! What each step of a hand-off does: in the ledger, or as a call to the tracker outside.

use baton_model::delta::Kind as Delta;
use baton_model::handoff::{Event, Handoff, State};
use baton_model::issue::{Draft, TrackerCall, body, comment_marker, labels, marker};
use baton_model::memory::Memory;
use baton_model::packet::ValidatedPacket;
use baton_model::refusal::Refusal;
use baton_model::saga::{Kind, Step, is_still_planned};
use baton_model::task::Task;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, memory, task};
use serde_json::{Map, Value, json};

use super::details::HandoffDetails;
use super::issue_text::note_sent;
use super::seeding::{seed, unseed};
use super::{record, task_end};
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::task::{add as add_task, update_without_delta};

/// How far the clocks of two machines may differ, in milliseconds.
pub(super) const SKEW: i64 = 3_600_000;
/// How important a hand-off's note is, in thousandths.
const IMPORTANCE: i64 = 400;

/// How a step in the ledger ended.
pub(crate) enum LocalStepOutcome {
    /// Done, with what undoing needs.
    Done(Option<Value>),
    /// Not yet, for this reason.
    Wait(String),
}

/// Whether a step speaks to a tracker outside.
pub(crate) fn is_outside(handoff: &Handoff, step: &Step) -> bool {
    let there = handoff.issue_number.is_some();
    match step.kind {
        Kind::Task => handoff.tracker == "github",
        Kind::Publish | Kind::DuplicateCheck => true,
        // What was never made needs not be closed.
        Kind::UndoTask | Kind::Report | Kind::Comment | Kind::Edit => there,
        _ => false,
    }
}

/// What a step is about to ask of the tracker outside; the text of an issue is kept as it is sent. A task that is published goes out as it
/// is now, not as it was handed over.
pub(crate) fn call(tx: &mut Tx<'_>, handoff: &Handoff, step: &Step) -> Result<TrackerCall, Failure> {
    let call = if step.kind == Kind::Publish {
        let draft = draft_of_task(tx, handoff)?;
        TrackerCall::Create(Box::new(Draft { may_exist: step.is_unknown, known: None, ..draft }))
    } else {
        call_of(handoff, step)?
    };
    if let TrackerCall::Create(draft) = &call {
        note_sent(tx, handoff, (&draft.body, step.is_unknown))?;
    }
    Ok(call)
}

fn call_of(handoff: &Handoff, step: &Step) -> Result<TrackerCall, Refusal> {
    let repo = handoff.issues_repo.clone().unwrap_or_default();
    let id = handoff.handoff_id.as_str();
    let close = |what: &str, reason, comment: String| TrackerCall::Close {
        repo: repo.clone(),
        number: handoff.issue_number.unwrap_or_default(),
        marker: content_marker(id, what, &comment),
        comment,
        reason,
        may_exist: step.is_unknown || step.attempts > 0,
    };
    match step.kind {
        Kind::UndoTask => {
            let why =
                handoff.result.as_deref().or(handoff.last_error.as_deref()).unwrap_or("no reason was given");
            Ok(close("undo", "not_planned", format!("This hand-off is {}: {why}", handoff.state.as_str())))
        }
        Kind::Report => {
            let result = step.result.as_deref().or(handoff.result.as_deref()).unwrap_or("done");
            Ok(close("result", "completed", format!("This hand-off is completed: {result}")))
        }
        Kind::Comment => Ok(TrackerCall::Comment {
            repo: repo.clone(),
            number: handoff.issue_number.unwrap_or_default(),
            marker: content_marker(
                id,
                &format!("comment-{}", step.no),
                step.result.as_deref().unwrap_or_default(),
            ),
            comment: step.result.clone().unwrap_or_default(),
            may_exist: step.is_unknown,
        }),
        Kind::Edit => Ok(TrackerCall::Edit {
            repo,
            number: handoff.issue_number.unwrap_or_default(),
            edit: step.result.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
        }),
        _ => {
            let known = handoff.issue_number.filter(|_| step.kind == Kind::DuplicateCheck);
            let draft = Box::new(Draft { may_exist: step.is_unknown, known, ..draft(handoff)? });
            let forward = step.kind == Kind::Task && is_still_planned(handoff.state);
            Ok(if forward { TrackerCall::Create(draft) } else { TrackerCall::Find(draft) })
        }
    }
}

/// The mark of a comment. It names the text as well: after a restore, numbers of steps are given out again, and another text
/// under the same mark would be taken for the one that is there.
fn content_marker(handoff_id: &str, what: &str, text: &str) -> String {
    let digest: String = crate::idempotency::request::hash(text).chars().take(12).collect();
    comment_marker(handoff_id, &format!("{what}-{digest}"))
}

/// The issue of a hand-off.
pub(crate) fn draft(handoff: &Handoff) -> Result<Draft, Refusal> {
    let details = HandoffDetails::of(handoff);
    Ok(Draft {
        repo: handoff.issues_repo.clone().unwrap_or_default(),
        title: handoff.subject.clone(),
        body: body(&details.description, &handoff.packet, &details.links, &handoff.handoff_id)?,
        labels: labels(&details.tags, details.priority),
        marker: marker(&handoff.handoff_id),
        since: handoff.created_at.saturating_sub(SKEW),
        may_exist: false,
        known: None,
    })
}

/// The issue that a local task becomes: title, description, labels and priority are the task's.
pub(crate) fn draft_of_task(tx: &mut Tx<'_>, handoff: &Handoff) -> Result<Draft, Failure> {
    let task = match &handoff.task_id {
        Some(id) => task::get(tx, &handoff.to_project_id, id)?,
        None => None,
    };
    let Some(task) = task else { return Ok(draft(handoff)?) };
    let details = HandoffDetails {
        description: task.description,
        tags: task.labels,
        priority: task.priority,
        ..HandoffDetails::of(handoff)
    };
    Ok(draft(&Handoff { subject: task.title, plan: details.to_text(), ..handoff.clone() })?)
}

/// Does a step in the ledger.
pub(crate) fn run_local(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &mut Handoff,
    step: &Step,
    steps: &[Step],
) -> Result<LocalStepOutcome, Failure> {
    let done = |kind| steps.iter().rev().find(|s| s.kind == kind).and_then(|s| s.result.clone());
    match step.kind {
        Kind::Task => make_task(tx, env, handoff),
        Kind::Memory => remember(tx, env, handoff),
        Kind::Session => seed(tx, env, handoff, step),
        Kind::Offer => {
            handoff.state = handoff.state.advance(Event::Offer)?;
            handoff.last_error = None;
            handoff.updated_at = env.now;
            let offered_at = Some(rfc3339(env.now));
            handoff.plan = HandoffDetails { offered_at, ..HandoffDetails::of(handoff) }.to_text();
            record(tx, env, handoff, &handoff.from_identity.clone())?;
            Ok(LocalStepOutcome::Done(None))
        }
        Kind::UndoSession => unseed(tx, env, handoff, done(Kind::Session)),
        Kind::UndoMemory => withdraw(tx, env, handoff),
        Kind::Closed => task_end::end(tx, env, handoff),
        Kind::UndoTask | Kind::Report | Kind::Publish | Kind::DuplicateCheck => {
            close_row(tx, env, handoff)?;
            Ok(LocalStepOutcome::Done(None))
        }
        // The task is the ledger's own: what was said and changed stands there.
        Kind::Comment | Kind::Edit => Ok(LocalStepOutcome::Done(None)),
    }
}

/// The task row that a hand-off's task has in the receiver's ledger, whichever tracker it lives in.
pub(crate) fn task_of(handoff: &Handoff) -> Task {
    let details = HandoffDetails::of(handoff);
    let mut extra = Map::new();
    extra.insert("handoff_id".into(), json!(handoff.handoff_id));
    if !details.links.is_empty() {
        extra.insert("links".into(), json!(details.links));
    }
    if let (Some(repo), Some(number)) = (&handoff.issues_repo, handoff.issue_number) {
        extra.insert("github_repo".into(), json!(repo));
        extra.insert("github_issue".into(), json!(number));
        extra.insert("github_url".into(), json!(handoff.task_url()));
    }
    Task {
        project_id: handoff.to_project_id.clone(),
        task_id: handoff.task_id.clone().unwrap_or_default(),
        title: handoff.subject.clone(),
        description: details.description,
        status: "open".into(),
        priority: details.priority,
        issue_type: "task".into(),
        assignee: handoff.to_identity.clone(),
        agent_role: handoff.to_role.clone(),
        labels: details.tags,
        created_by: handoff.from_identity.clone(),
        extra,
        ..Task::default()
    }
}

fn make_task(tx: &mut Tx<'_>, env: &mut Env<'_>, handoff: &mut Handoff) -> Result<LocalStepOutcome, Failure> {
    if let Some(id) = &handoff.task_id
        && let Some(mut known) = task::get(tx, &handoff.to_project_id, id)?
    {
        let before = known.clone();
        known.set_status("open", env.now);
        known.updated_at = env.now;
        update_without_delta(tx, &before, &known)?;
        return Ok(LocalStepOutcome::Done(None));
    }
    let author =
        Author { project_id: &handoff.to_project_id, identity: &handoff.from_identity, session: None };
    let made = add_task(tx, env, &author, task_of(handoff))?;
    handoff.task_id = Some(made.task_id);
    Ok(LocalStepOutcome::Done(None))
}

/// Closes the row of the task, if it is still open.
pub(crate) fn close_row(tx: &mut Tx<'_>, env: &Env<'_>, handoff: &Handoff) -> Result<(), Failure> {
    let Some(id) = &handoff.task_id else { return Ok(()) };
    let Some(known) = task::get(tx, &handoff.to_project_id, id)?.filter(Task::is_open) else { return Ok(()) };
    // A hand-off that was taken back has no result; its task says why, also to another ledger on its Beads file.
    let why = HandoffDetails::of(handoff).ended.and_then(|ended| ended.why);
    let reason = handoff.result.clone().or(why).unwrap_or_else(|| handoff.state.as_str().to_owned());
    close_as(tx, env, &known, (&reason, handoff.state == State::Completed))
}

/// Closes a task for this reason, as one that was carried out or not. It ends every claim.
pub(super) fn close_as(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Task,
    (reason, is_completed): (&str, bool),
) -> Result<(), Failure> {
    let mut closed = Task {
        updated_at: env.now,
        result: Some(if is_completed { "pass" } else { "fail" }.to_owned()),
        claim: None,
        close_reason: Some(reason.to_owned()),
        ..known.clone()
    };
    closed.set_status("closed", env.now);
    update_without_delta(tx, known, &closed)
}

/// What the receiver's project remembers of it: why, constraints, and where everything is.
pub(crate) fn note_text(handoff: &Handoff) -> String {
    let details = HandoffDetails::of(handoff);
    let sender = details.sent_as.as_ref().unwrap_or(&handoff.from_project_id);
    let from = format!("{} of project {sender}", handoff.from_identity);
    let mut lines = vec![format!("Hand-off from {from}: {}", handoff.subject)];
    if !details.description.trim().is_empty() {
        lines.push(format!("Why: {}", details.description.trim()));
    }
    if let Ok(packet) = ValidatedPacket::parse_stored(handoff.packet.clone()) {
        lines.push(format!("Where it stands: {}", packet.view().summary));
        let texts = serde_json::to_value(&packet.view().constraints).unwrap_or_default();
        lines.extend(
            texts.as_array().into_iter().flatten().map(|c| format!("Constraint: {}", status_text(c))),
        );
    }
    if let Some(id) = &handoff.task_id {
        let page = handoff.task_url().map(|url| format!(" ({url})")).unwrap_or_default();
        lines.push(format!("Task: {id}{page}"));
    }
    lines.extend(
        details.links.iter().map(|(key, value)| format!("{key}: {}", baton_model::issue::plain(value))),
    );
    let mut text = lines.join("\n");
    if text.len() > baton_model::memory::MAX_TEXT {
        let more = format!("\n(shortened; the whole is in `baton handoff show {}`)", handoff.handoff_id);
        let room = baton_model::memory::MAX_TEXT - more.len();
        let cut = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(cut);
        text.push_str(&more);
    }
    text
}

fn status_text(value: &Value) -> String {
    let text = value.as_str().or_else(|| value["text"].as_str());
    text.map_or_else(|| value.to_string(), str::to_owned)
}

/// The note's tags.
pub(crate) fn note_tags(details: &HandoffDetails) -> Vec<String> {
    let mut tags = details.tags.clone();
    if !tags.iter().any(|tag| tag == "handoff") {
        tags.push("handoff".into());
    }
    tags
}

fn remember(tx: &mut Tx<'_>, env: &mut Env<'_>, handoff: &mut Handoff) -> Result<LocalStepOutcome, Failure> {
    let memory_id = handoff.memory_id.get_or_insert_with(|| env.id()).clone();
    let note = Memory {
        project_id: handoff.to_project_id.clone(),
        memory_id,
        kind: "note".into(),
        text: note_text(handoff),
        tags: note_tags(&HandoffDetails::of(handoff)),
        importance: IMPORTANCE,
        identity: handoff.from_identity.clone(),
        handoff_id: Some(handoff.handoff_id.clone()),
        created_at: env.now,
        ..Memory::default()
    };
    match memory::get(tx, &note.project_id, &note.memory_id)? {
        Some(_) => memory::restore(tx, &note)?,
        None => memory::insert(tx, &note)?,
    }
    let author = Author { project_id: &note.project_id, identity: &note.identity, session: None };
    let body = json!({ "summary": format!("note of the hand-off: {}", handoff.subject),
        "memory_id": note.memory_id, "handoff_id": handoff.handoff_id });
    let delta = append_json(tx, env, &author, Delta::Remember, &body)?;
    crate::memory::enqueue_index(tx, env, &note, delta.seq)?;
    Ok(LocalStepOutcome::Done(None))
}

/// Writes the note of a hand-off anew whose issue has another address, unless it was withdrawn.
pub(super) fn rewrite_note(tx: &mut Tx<'_>, env: &mut Env<'_>, handoff: &Handoff) -> Result<(), Failure> {
    let Some(id) = &handoff.memory_id else { return Ok(()) };
    let known = memory::get(tx, &handoff.to_project_id, id)?.filter(|note| note.withdrawn_at.is_none());
    let text = note_text(handoff);
    let Some(known) = known.filter(|note| note.text != text) else { return Ok(()) };
    let note = Memory { text, ..known };
    memory::restore(tx, &note)?;
    let seq = tx.next_seq(&note.project_id)?;
    crate::memory::enqueue_index(tx, env, &note, seq)
}

fn withdraw(tx: &mut Tx<'_>, env: &mut Env<'_>, handoff: &Handoff) -> Result<LocalStepOutcome, Failure> {
    if let Some(id) = &handoff.memory_id {
        let why = format!("the hand-off is {}", handoff.state.as_str());
        let project = handoff.to_project_id.as_str();
        if memory::withdraw(tx, (project, id), &handoff.from_identity, Some(&why), env.now)? {
            let seq = tx.next_seq(project)?;
            crate::memory::enqueue_removal(tx, env, project, id, seq)?;
        }
    }
    Ok(LocalStepOutcome::Done(None))
}
