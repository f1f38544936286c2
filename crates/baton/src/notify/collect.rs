//! Makes notifications of what is new in a ledger.

use baton_model::attention::{AttentionItem, Reason};
use baton_model::delta::{BodyFields, Kind, Row};
use baton_model::handoff::{Ending, State, View};
use baton_model::id::{identity_key, short, visible};
use baton_model::notification::{Notification, Topic, wants_answer};
use baton_model::packet_from_ledger::STOP_TAG;
use baton_model::printable::{quotable, sentence};
use baton_ops::attention::{Attention, AttentionInput};
use baton_ops::ledger::{LedgerList, LedgerListInput};
use baton_ops::message::{Inbox, InboxInput};
use baton_ops::project::{Show, ShowInput};

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
    let limits = marks.limits.iter().map(|mark| of_limit(app, mark));
    let mut found = limits.collect::<Result<Vec<Notification>, AppError>>()?;
    for (project_id, at) in &marks.projects {
        let rows = new_rows(app, project_id, *at, memory)?;
        let me = app.config.notify.me.clone();
        let place = &Source { project_id, is_isolated: is_isolated(app, project_id)?, me };
        if rows.iter().any(|row| row.kind == Kind::Wrap) {
            found.extend(batons(app, place, &rows)?);
        }
        found.extend(rows.iter().filter_map(|row| of_row(place, row)));
        if topics.contains(&Topic::Question) {
            found.extend(questions(app, place)?);
        }
    }
    found.retain(|one| topics.contains(&one.topic) && !memory.is_sent(&one.key));
    Ok(found)
}

/// The project that a notification is about.
struct Source<'a> {
    project_id: &'a str,
    is_isolated: bool,
    /// The name of the user.
    me: Option<String>,
}

impl Source<'_> {
    /// The text of a notification. The words of an isolated project leave it by no chat: there the command says where to read them.
    fn text(&self, words: &str, command: &str) -> String {
        if self.is_isolated { command.to_owned() } else { format!("{} {command}", sentence(words)) }
    }

    fn is_me(&self, identity: &str) -> bool {
        self.me.as_deref().is_some_and(|me| identity_key(me) == identity_key(identity))
    }
}

fn is_isolated(app: &mut App, project_id: &str) -> Result<bool, AppError> {
    let input = ShowInput { project: Some(project_id.to_owned()) };
    match app.run::<Show>(&input) {
        Ok(shown) => Ok(shown.project.is_isolated),
        // It was removed since: nothing of it is told.
        Err(AppError::Refused(_)) => Ok(true),
        Err(error) => Err(error),
    }
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
            Err(error) => return Err(error),
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
fn batons(app: &mut App, place: &Source<'_>, rows: &[Row]) -> Result<Vec<Notification>, AppError> {
    let project_id = place.project_id;
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
            text: place.text(
                &format!(
                    "“{}” from {}",
                    quotable(&item.subject, SUBJECT),
                    item.from.as_deref().map_or_else(|| "an agent".to_owned(), visible)
                ),
                &format!("`{}`", item.help),
            ),
        })
        .collect())
}

/// What an entry says of a hand-off between projects, or of an agent that stopped.
fn of_row(place: &Source<'_>, row: &Row) -> Option<Notification> {
    match row.kind {
        Kind::Handoff => of_handoff(place, &row.fields().handoff?, &row.identity),
        Kind::Note => {
            let BodyFields { text, tags, .. } = row.fields();
            let is_stop = tags.iter().any(|tag| tag == STOP_TAG);
            Some(limit(place, &row.delta_id, "An agent", &text.filter(|_| is_stop)?))
        }
        _ => None,
    }
}

fn of_handoff(place: &Source<'_>, handoff: &View, by: &str) -> Option<Notification> {
    let project_id = place.project_id;
    let subject = quotable(&handoff.subject, SUBJECT);
    let (from, to) = (visible(&handoff.from_project_id), visible(&handoff.to_project_id));
    let id = short(&handoff.handoff_id);
    let is_sender = project_id == handoff.from_project_id;
    let (title, text) = match handoff.state {
        // Who sent it knows.
        State::Offered if project_id == handoff.to_project_id && !place.is_me(&handoff.from_identity) => {
            let command = format!("`baton pickup --handoff {id} --project {to}`");
            (format!("Work for {to} waits"), place.text(&format!("“{subject}” from {from}"), &command))
        }
        State::Accepted | State::Completed | State::Declined | State::Expired | State::Failed
            if is_sender =>
        {
            let (verb, state) = match handoff.state {
                // Time or a tracker did it, and no agent.
                State::Expired | State::Failed => ("has", handoff.state.as_str()),
                _ => ("was", handoff.state.as_str()),
            };
            let why = handoff.result.as_deref().or(handoff.last_error.as_deref());
            let why = why.map(|why| format!(": {}", quotable(why, 2 * SUBJECT))).unwrap_or_default();
            let actor = handoff.ended.as_ref().map_or_else(|| by.to_owned(), Ending::actor);
            let is_named = verb == "was" && !actor.is_empty();
            let by = if is_named { format!(" by {}", visible(&actor)) } else { String::new() };
            (
                format!("Your hand-off to {to} {verb} {state}"),
                place.text(&format!("“{subject}”{by}{why}"), &format!("`baton handoff show {id}`")),
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

fn of_limit(app: &mut App, mark: &LimitMark) -> Result<Notification, AppError> {
    let is_isolated = is_isolated(app, &mark.project_id)?;
    let place = Source { project_id: &mark.project_id, is_isolated, me: None };
    Ok(limit(&place, &mark.key, &mark.tool, &mark.text))
}

fn limit(place: &Source<'_>, key: &str, tool: &str, text: &str) -> Notification {
    Notification {
        topic: Topic::Limit,
        project_id: place.project_id.to_owned(),
        key: format!("limit:{key}"),
        title: format!("{} stopped in {}", visible(tool), visible(place.project_id)),
        text: place.text(&quotable(text, 2 * SUBJECT), "`baton continue` goes on in another tool"),
    }
}

/// Messages to the user that want an answer. Without `notify.me` there are none.
fn questions(app: &mut App, place: &Source<'_>) -> Result<Vec<Notification>, AppError> {
    let project_id = place.project_id;
    let Some(me) = app.config.notify.me.clone() else { return Ok(Vec::new()) };
    let input =
        InboxInput { project: Some(project_id.to_owned()), identity: Some(me), ..InboxInput::default() };
    let rows = match app.run::<Inbox>(&input) {
        Ok(inbox) => inbox.items,
        Err(AppError::Refused(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let asks = rows.into_iter().filter(|row| wants_answer(&row.message));
    Ok(asks
        .map(|row| Notification {
            topic: Topic::Question,
            project_id: project_id.to_owned(),
            key: format!("question:{}", row.message.message_id),
            title: format!("{} asks you in {}", visible(&row.message.from), visible(project_id)),
            text: place.text(
                &format!("“{}”", quotable(&row.message.subject, SUBJECT)),
                &format!("`baton mail read {} --project {project_id}`", short(&row.message.message_id)),
            ),
        })
        .collect())
}
