//! Makes notifications of what is new in a ledger.

use baton_model::attention::{AttentionItem, Reason};
use baton_model::delta::{BodyFields, Kind, Row};
use baton_model::handoff::{State, View};
use baton_model::id::{identity_key, short, visible};
use baton_model::notification::{Notification, Topic, wants_answer};
use baton_model::packet_from_ledger::STOP_TAG;
use baton_model::printable::quotable;
use baton_ops::attention::{Attention, AttentionInput};
use baton_ops::ledger::{LedgerList, LedgerListInput};
use baton_ops::message::{Inbox, InboxInput};

use crate::app::App;
use crate::error::AppError;
use crate::notify_marks::{LimitMark, Marks, Memory};

/// How far before its mark an entry may have been written, in milliseconds: the mark comes after it.
const BEFORE_MARK: i64 = 60_000;
/// The longest subject, in characters.
const SUBJECT: usize = 120;

/// Everything that is new since the last time in the projects that were marked.
pub(super) fn collect(
    app: &mut App,
    marks: &Marks,
    memory: &mut Memory,
) -> Result<Vec<Notification>, AppError> {
    let topics = app.config.notify.topics.clone();
    let mut found: Vec<Notification> = marks.limits.iter().map(of_limit).collect();
    for (project_id, at) in &marks.projects {
        let rows = new_rows(app, project_id, *at, memory)?;
        if rows.iter().any(|row| row.kind == Kind::Wrap) {
            found.extend(batons(app, project_id, &rows)?);
        }
        found.extend(rows.iter().filter_map(|row| of_row(project_id, row)));
        if topics.contains(&Topic::Question) {
            found.extend(questions(app, project_id)?);
        }
    }
    found.retain(|one| topics.contains(&one.topic) && !memory.is_sent(&one.key));
    Ok(found)
}

/// The entries of a project's ledger that were not looked at; of one that is new here, those since its mark.
fn new_rows(app: &mut App, project_id: &str, at: i64, memory: &mut Memory) -> Result<Vec<Row>, AppError> {
    let seen = memory.seen.get(project_id).copied();
    let mut input = LedgerListInput {
        project: Some(project_id.to_owned()),
        after: seen.unwrap_or(0),
        since_ms: seen.is_none().then(|| at.saturating_sub(BEFORE_MARK)),
        ..LedgerListInput::default()
    };
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let page = match app.run::<LedgerList>(&input) {
            Ok(page) => page,
            // It was removed or merged since.
            Err(AppError::Refused(_)) => return Ok(rows),
            Err(ended) => return Err(ended),
        };
        rows.extend(page.items);
        if let Some(last) = rows.last() {
            memory.seen.insert(project_id.to_owned(), last.seq);
        }
        let Some(next) = page.next else { return Ok(rows) };
        input.after = next;
    }
}

/// Everything that waits in a project, on all pages.
fn waiting_items(app: &mut App, project_id: &str) -> Result<Vec<AttentionItem>, AppError> {
    let mut input = AttentionInput {
        project: Some(project_id.to_owned()),
        waiting: true,
        limit: Some(200),
        ..AttentionInput::default()
    };
    let mut items = Vec::new();
    loop {
        let page = app.run::<Attention>(&input)?;
        items.extend(page.items);
        if page.next.is_none() {
            return Ok(items);
        }
        input.cursor = page.next;
    }
}

/// The batons among these entries that still wait and are not addressed to another identity.
fn batons(app: &mut App, project_id: &str, rows: &[Row]) -> Result<Vec<Notification>, AppError> {
    let me = app.config.notify.me.clone();
    let waiting = waiting_items(app, project_id)?;
    let is_mine = |to: &Option<String>| match (to, &me) {
        (Some(to), Some(me)) if !to.contains(':') => identity_key(to) == identity_key(me),
        _ => true,
    };
    let new = waiting.into_iter().filter(|item| {
        matches!(item.reason, Reason::BatonWaiting | Reason::BatonStarving)
            && rows.iter().any(|row| row.delta_id == item.id)
            && is_mine(&item.to)
    });
    Ok(new
        .map(|item| Notification {
            topic: Topic::Baton,
            project_id: project_id.to_owned(),
            key: format!("baton:{}", item.id),
            title: format!("A baton waits in {}", visible(project_id)),
            text: format!(
                "“{}” from {}. `{}`",
                quotable(&item.subject, SUBJECT),
                item.from.as_deref().map_or_else(|| "an agent".to_owned(), visible),
                item.help
            ),
        })
        .collect())
}

/// What an entry says of a hand-off between projects, or of an agent that stopped.
fn of_row(project_id: &str, row: &Row) -> Option<Notification> {
    match row.kind {
        Kind::Handoff => of_handoff(project_id, &row.fields().handoff?, &row.identity),
        Kind::Note => {
            let BodyFields { text, tags, .. } = row.fields();
            let is_stop = tags.iter().any(|tag| tag == STOP_TAG);
            Some(limit(project_id, &row.delta_id, "An agent", &text.filter(|_| is_stop)?))
        }
        _ => None,
    }
}

fn of_handoff(project_id: &str, handoff: &View, by: &str) -> Option<Notification> {
    let subject = quotable(&handoff.subject, SUBJECT);
    let (from, to) = (visible(&handoff.from_project_id), visible(&handoff.to_project_id));
    let id = short(&handoff.handoff_id);
    let is_sender = project_id == handoff.from_project_id;
    let (title, text) = match handoff.state {
        State::Offered if project_id == handoff.to_project_id => {
            let text = format!("“{subject}” from {from}. `baton pickup --handoff {id} --project {to}`");
            (format!("Work for {to} waits"), text)
        }
        State::Accepted | State::Completed | State::Declined | State::Expired | State::Failed
            if is_sender =>
        {
            let state = handoff.state.as_str();
            let why = handoff.result.as_deref().or(handoff.last_error.as_deref());
            let why = why.map(|why| format!(": {}", quotable(why, SUBJECT))).unwrap_or_default();
            let by = if by.is_empty() { String::new() } else { format!(" by {}", visible(by)) };
            (
                format!("Your hand-off to {to} is {state}"),
                format!("“{subject}”{by}{why}. `baton handoff show {id}`"),
            )
        }
        _ => return None,
    };
    Some(Notification {
        topic: Topic::Handoff,
        project_id: project_id.to_owned(),
        key: format!("handoff:{}:{}:{project_id}", handoff.handoff_id, handoff.state.as_str()),
        title,
        text,
    })
}

fn of_limit(mark: &LimitMark) -> Notification {
    limit(&mark.project_id, &mark.key, &mark.tool, &mark.text)
}

fn limit(project_id: &str, key: &str, tool: &str, text: &str) -> Notification {
    Notification {
        topic: Topic::Limit,
        project_id: project_id.to_owned(),
        key: format!("limit:{key}"),
        title: format!("{} stopped in {}", visible(tool), visible(project_id)),
        text: format!("{}. `baton continue` goes on in another tool", quotable(text, 2 * SUBJECT)),
    }
}

/// Messages to the user that want an answer. Without `notify.me` there are none.
fn questions(app: &mut App, project_id: &str) -> Result<Vec<Notification>, AppError> {
    let Some(me) = app.config.notify.me.clone() else { return Ok(Vec::new()) };
    let input =
        InboxInput { project: Some(project_id.to_owned()), identity: Some(me), ..InboxInput::default() };
    let rows = match app.run::<Inbox>(&input) {
        Ok(inbox) => inbox.items,
        Err(AppError::Refused(_)) => return Ok(Vec::new()),
        Err(ended) => return Err(ended),
    };
    let asks = rows.into_iter().filter(|row| wants_answer(&row.message));
    Ok(asks
        .map(|row| Notification {
            topic: Topic::Question,
            project_id: project_id.to_owned(),
            key: format!("question:{}", row.message.message_id),
            title: format!("{} asks you in {}", visible(&row.message.from), visible(project_id)),
            text: format!(
                "“{}”. `baton mail read {} --project {project_id}`",
                quotable(&row.message.subject, SUBJECT),
                short(&row.message.message_id)
            ),
        })
        .collect())
}
