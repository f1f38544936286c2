//! Text of an item: what its session said last, and with what its provider stopped its agent.

use baton_model::attention::{AttentionItem, Reason, SuggestedCommand, reopen_command};
use baton_model::delta::{Delta, Kind};
use baton_model::printable::excerpt;
use baton_model::route;
use baton_model::row_action::{TaskState, Viewer, of_blocker};
use baton_model::task::Task;
use baton_store::{Failure, Tx, delta, message, task};

use crate::op::Env;
use crate::transcript::provider_stop;

/// The most entries of a session among which its last words are looked for.
const MAX_SCANNED_ENTRIES: i64 = 20;

/// The most characters of what blocks a task.
const MAX_BLOCKER: usize = 160;

/// Adds the text of an item that its row does not have.
pub(super) fn add(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    item: &mut AttentionItem,
    viewer: &str,
) -> Result<(), Failure> {
    let stop = match item.reason {
        Reason::SessionSilent | Reason::SessionQuiet => {
            let entries = delta::newest_of_session(tx, &item.project_id, &item.id, MAX_SCANNED_ENTRIES)?;
            item.subject = last_text(tx, item, &entries)?;
            stop_of_session(&entries)
        }
        Reason::BatonStarving | Reason::BatonWaiting => {
            let wrap = delta::get(tx, &item.project_id, &item.id)?;
            wrap.and_then(|wrap| provider_stop::stopped_in(&wrap.body))
        }
        Reason::TaskRetried | Reason::TaskBlocked => {
            add_status(tx, item, Viewer(viewer))?;
            None
        }
        Reason::MessageUnread
        | Reason::MessageWaiting
        | Reason::AnswerLate
        | Reason::AnswerWaiting
        | Reason::AckLate => {
            add_sender_project(tx, item, viewer)?;
            None
        }
        _ => None,
    };
    if let Some(stop) = stop {
        let summary = std::mem::replace(&mut item.subject, provider_stop::stop_text(&stop, env.now));
        let parts = [Some(summary), item.detail.take()];
        let parts: Vec<String> = parts.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        item.detail = Some(parts.join(", ")).filter(|text| !text.is_empty());
    }
    Ok(())
}

/// Says to who wrote a message to another from which project it was sent: there they go on writing, and take it back.
fn add_sender_project(tx: &mut Tx<'_>, item: &mut AttentionItem, viewer: &str) -> Result<(), Failure> {
    if !item.is_sent_by(viewer) || item.is_for(viewer) {
        return Ok(());
    }
    let sent_from = message::get(tx, &item.project_id, &item.id)?.and_then(|found| found.from_project_id);
    let project_id = sent_from.unwrap_or_else(|| item.project_id.clone());
    item.actions.iter_mut().for_each(|one| one.project_id = Some(project_id.clone()));
    Ok(())
}

/// Says of a task that was given up how it goes on. One that waits for another goes on with that one.
fn add_status(tx: &mut Tx<'_>, item: &mut AttentionItem, viewer: Viewer<'_>) -> Result<(), Failure> {
    let found = task::get(tx, &item.project_id, &item.id)?;
    let Some(task) = found else { return Ok(()) };
    item.actions = TaskState::of(&task).actions(viewer);
    let awaited = match &item.blocker {
        Some(blocker) => task::get(tx, &item.project_id, &blocker.id)?,
        None => None,
    };
    if let Some(awaited) = &awaited {
        item.actions.splice(0..0, of_blocker(awaited, viewer));
        let show = SuggestedCommand {
            reason: Reason::TaskBlocked,
            project_id: &item.project_id,
            id: &awaited.task_id,
            subject: "",
            to: None,
        };
        item.help = show.command();
    }
    if task.status == "blocked" {
        item.blocked = true;
        let state = match blocker(tx, &task)? {
            Some(why) => format!("blocked: {why}"),
            None => "blocked".to_owned(),
        };
        let detail = item.detail.take();
        item.detail = Some(match (detail, &awaited) {
            (Some(waits), Some(_)) => format!("{state}; it {waits}"),
            (Some(tried), None) => format!("{tried}, now {state}"),
            (None, _) => state,
        });
        if awaited.is_none() {
            item.help = reopen_command(&item.project_id, &item.id);
        }
    }
    Ok(())
}

/// By what a task is blocked: the reason for which it was given up, else its last comment, else why it failed last.
fn blocker(tx: &mut Tx<'_>, task: &Task) -> Result<Option<String>, Failure> {
    if let Some(why) = route::routing_reason(task) {
        return Ok(Some(excerpt(why, MAX_BLOCKER)));
    }
    let comments = task::comment::of(tx, &task.project_id, &task.task_id)?;
    let last = comments.last().and_then(|comment| comment.get("text")?.as_str());
    let failure = || route::attempts(task).last()?.get("why")?.as_str();
    Ok(last.or_else(failure).map(|text| excerpt(text, MAX_BLOCKER)).filter(|text| !text.is_empty()))
}

/// With what the agent of a session was stopped, where it has written nothing since.
fn stop_of_session(newest: &[Delta]) -> Option<provider_stop::Stopped> {
    // A hook that comes late writes down the failure itself.
    let is_of_stop = |one: &&Delta| one.kind == Kind::Note && one.body.contains("\"event\":\"failure\"");
    provider_stop::stopped_in(&newest.iter().find(|one| !is_of_stop(one))?.body)
}

/// What a session said last: its last checkpoint, else its last entry with words, else the task that it has claimed.
fn last_text(tx: &mut Tx<'_>, item: &AttentionItem, newest: &[Delta]) -> Result<String, Failure> {
    let (project_id, session_id) = (&item.project_id, &item.id);
    if let Some(last) = delta::last_of_session(tx, project_id, session_id, Kind::Checkpoint)? {
        return Ok(last.headline());
    }
    let is_said = |kind: Kind| !matches!(kind, Kind::Start | Kind::Pickup | Kind::Other);
    let headlines = newest.iter().filter(|one| is_said(one.kind)).map(Delta::headline);
    if let Some(words) = headlines.into_iter().find(|words| !words.is_empty()) {
        return Ok(words);
    }
    let claimed = task::claimed_in(tx, project_id, session_id)?;
    Ok(claimed.into_iter().next().map(|task| task.title).unwrap_or_default())
}
