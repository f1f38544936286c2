//! What `baton top` reads from the ledger: the rows of a view, and a thing in full.

use baton_model::accounting::plural;
use baton_model::id::{identity_key, visible};
use baton_ops::attention::{Attention, AttentionInput, AttentionOutput, MOST_OWN};
use baton_ops::op::Operation;
use baton_ops::{baton, handoff, lease, ledger, message, project, session, task, thread};

use super::super::{batons, handoff as handoff_text, lease as lease_text, mail, sessions, task as task_text};
use super::state::{Detail, Listing, Noun, Row, State, Target, View};
use super::{decisions, rows};
use crate::app::App;
use crate::error::AppError;

/// Rows of one page.
const PAGE: i64 = 100;

/// Projects whose sessions and tasks are counted, those that were wrapped in last.
const WITH_FIGURES: usize = 200;

/// An error in one line.
pub(super) fn error_line(error: &AppError) -> String {
    error.text().lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// The code of a refusal; nothing of another error.
pub(super) fn code(error: &AppError) -> &str {
    match error {
        AppError::Refused(refusal) => refusal.code,
        _ => "",
    }
}

/// The rows of the view, as many pages as were asked for.
pub(super) fn listing(app: &mut App, state: &State) -> Result<Listing, AppError> {
    let mut reader = Reader { app, scope: state.scope.clone(), pages: state.pages };
    let mut listing = match state.view {
        View::Inbox => reader.inbox(&state.identity),
        View::Agents => reader.agents(&identity_key(&state.identity)),
        View::Batons => reader.batons(&identity_key(&state.identity)),
        View::Handoffs => reader.handoffs(&identity_key(&state.identity)),
        View::Tasks => reader.tasks(&identity_key(&state.identity)),
        View::Mail => reader.mail(),
        View::Projects => reader.projects(),
        View::Threads => reader.threads(),
        View::Decisions => reader.decisions(&identity_key(&state.identity)),
    }?;
    let scope = app.scope();
    for row in &mut listing.rows {
        row.target.actions.retain(|one| one.is_within(scope));
    }
    Ok(listing)
}

struct Reader<'a> {
    app: &'a mut App,
    scope: Option<String>,
    pages: usize,
}

impl Reader<'_> {
    /// The answers of so many pages; whether there are more.
    fn pages<O: Operation>(
        &mut self,
        input: impl Fn(Option<String>) -> O::Input,
        next: impl Fn(&O::Output) -> Option<String>,
    ) -> Result<(Vec<O::Output>, bool), AppError> {
        let (mut answers, mut cursor) = (Vec::new(), None);
        for _ in 0..self.pages {
            let answer = self.app.run::<O>(&input(cursor.take()))?;
            cursor = next(&answer);
            answers.push(answer);
            if cursor.is_none() {
                break;
            }
        }
        Ok((answers, cursor.is_some()))
    }

    fn inbox(&mut self, identity: &str) -> Result<Listing, AppError> {
        let project = self.scope.clone();
        let identity = Some(identity.to_owned()).filter(|name| !name.is_empty());
        let (found, is_more) = self.pages::<Attention>(
            |cursor| AttentionInput {
                project: project.clone(),
                identity: identity.clone(),
                waiting: true,
                limit: Some(PAGE),
                cursor,
                reason: None,
                section: None,
            },
            |answer| answer.next.clone(),
        )?;
        let Some(first) = found.first() else { return Ok(Listing::default()) };
        let heading = self.scoped(&inbox_heading(first));
        let mine = first.mine.iter().map(|item| rows::attention_row(item, "* "));
        let others = found.iter().flat_map(|page| &page.items).filter(|item| !first.mine.contains(item));
        // What is on its way as it should be comes after what is not.
        let (fresh, concern): (Vec<_>, Vec<_>) = others.partition(|item| item.reason.is_fresh());
        let rows =
            mine.chain(concern.into_iter().chain(fresh).map(|item| rows::attention_row(item, ""))).collect();
        Ok(Listing { heading, columns: &["what", "age", "project", "who", "words"], rows, is_more })
    }

    fn agents(&mut self, viewer: &str) -> Result<Listing, AppError> {
        let (project, all) = (self.scope.clone(), self.scope.is_none());
        let (found, is_more) = self.pages::<session::History>(
            |cursor| session::HistoryInput {
                project: project.clone(),
                limit: Some(PAGE),
                all,
                open: true,
                cursor,
            },
            |answer| answer.next.clone(),
        )?;
        let rows: Vec<Row> = found
            .iter()
            .flat_map(|page| page.items.iter().map(|of| rows::agent(of, page.project_id.as_deref(), viewer)))
            .collect();
        let heading =
            self.scoped(&format!("{}, silent ones first", counted(rows.len(), is_more, "open session")));
        let columns = &["agent", "state", "project", "tool", "heard", "branch", "12 h", "words"];
        Ok(Listing { heading, columns, rows, is_more })
    }

    fn batons(&mut self, viewer: &str) -> Result<Listing, AppError> {
        let (project, all) = (self.scope.clone(), self.scope.is_none());
        let (found, is_more) = self.pages::<baton::List>(
            |cursor| baton::ListInput {
                project: project.clone(),
                all,
                limit: Some(PAGE),
                cursor,
                ..baton::ListInput::default()
            },
            |answer| answer.next.clone(),
        )?;
        let total = found.first().map_or(0, |page| page.total);
        let rows = found.iter().flat_map(|page| &page.items).map(|of| rows::baton_row(of, viewer)).collect();
        let heading = self.scoped(&format!("{total} can be picked up, the oldest first"));
        Ok(Listing { heading, columns: &["state", "age", "project", "from", "for", "words"], rows, is_more })
    }

    fn handoffs(&mut self, viewer: &str) -> Result<Listing, AppError> {
        let (project, all) = (self.scope.clone(), self.scope.is_none());
        let (found, is_more) = self.pages::<handoff::List>(
            |cursor| handoff::ListInput {
                project: project.clone(),
                all,
                limit: Some(PAGE),
                cursor,
                ..handoff::ListInput::default()
            },
            |answer| answer.next.clone(),
        )?;
        let total = found.first().map_or(0, |page| page.total);
        let rows =
            found.iter().flat_map(|page| &page.items).map(|of| rows::handoff_row(of, viewer)).collect();
        let heading = self.scoped(&format!("{total} hand-offs, the newest first"));
        Ok(Listing { heading, columns: &["state", "age", "from", "to", "words"], rows, is_more })
    }

    fn tasks(&mut self, viewer: &str) -> Result<Listing, AppError> {
        let project = self.scope.clone();
        let (found, is_more) = self.pages::<task::List>(
            |cursor| task::ListInput {
                project: project.clone(),
                limit: Some(PAGE),
                after: cursor.and_then(|after| after.parse().ok()).unwrap_or_default(),
                ..task::ListInput::default()
            },
            |answer| answer.next.map(|next| next.to_string()),
        )?;
        let project_id = found.first().map(|page| page.project_id.clone()).unwrap_or_default();
        let rows: Vec<Row> = found
            .iter()
            .flat_map(|page| &page.items)
            .map(|row| rows::task_row(row, &project_id, viewer))
            .collect();
        let heading = format!("{} of {}", counted(rows.len(), is_more, "open task"), visible(&project_id));
        Ok(Listing { heading, columns: &["id", "state", "prio", "role", "assignee", "title"], rows, is_more })
    }

    fn mail(&mut self) -> Result<Listing, AppError> {
        let limit = usize::try_from(PAGE).unwrap_or(100).saturating_mul(self.pages);
        let input = message::ThreadsInput { project: self.scope.clone(), limit, before: None };
        let found = self.app.run::<message::Threads>(&input)?;
        let rows = found.items.iter().map(|row| rows::thread_row(row, &found.project_id)).collect::<Vec<_>>();
        let is_more = found.more && found.items.len() == limit;
        let heading = format!("{} of {}", counted(rows.len(), is_more, "thread"), visible(&found.project_id));
        let columns = &["waiting", "age", "who", "subject"];
        Ok(Listing { heading, columns, rows, is_more })
    }

    fn projects(&mut self) -> Result<Listing, AppError> {
        let found = self.app.run::<project::List>(&project::ListInput {})?;
        let figures = self.app.run::<project::Overview>(&project::OverviewInput { limit: WITH_FIGURES })?;
        let row = |of: &project::Row| {
            let figures = figures.items.iter().find(|one| one.project_id == of.project.project_id);
            rows::project_row(of, figures)
        };
        let rows: Vec<Row> = found.items.iter().map(row).collect();
        let heading = self.scoped(&format!("{} {}", rows.len(), plural(rows.len(), "project")));
        Ok(Listing { heading, columns: &["project", "sessions", "tasks", "folder"], rows, is_more: false })
    }

    fn decisions(&mut self, viewer: &str) -> Result<Listing, AppError> {
        let (project, all) = (self.scope.clone(), self.scope.is_none());
        let (found, is_more) = self.pages::<ledger::Decisions>(
            |cursor| ledger::DecisionsInput { project: project.clone(), all, limit: Some(PAGE), cursor },
            |answer| answer.next.clone(),
        )?;
        let rows: Vec<Row> =
            found.iter().flat_map(|page| &page.items).map(|of| decisions::row(of, viewer)).collect();
        let way = if all { "" } else { " · 0 shows those of all projects" };
        let heading =
            self.scoped(&format!("{}, the newest first{way}", counted(rows.len(), is_more, "decision")));
        Ok(Listing { heading, columns: &["age", "project", "who", "words"], rows, is_more })
    }

    /// The pieces of work that the newest sessions of a project belong to, the one that was begun or passed on last first.
    fn threads(&mut self) -> Result<Listing, AppError> {
        let project = self.scope.clone();
        let (found, is_more) = self.pages::<session::History>(
            |cursor| session::HistoryInput {
                project: project.clone(),
                limit: Some(PAGE),
                all: false,
                open: false,
                cursor,
            },
            |answer| answer.next.clone(),
        )?;
        let project_id = found.first().and_then(|page| page.project_id.clone()).unwrap_or_default();
        let sessions: Vec<&session::HistoryRow> = found.iter().flat_map(|page| &page.items).collect();
        let rows = rows::threads(&sessions, &project_id);
        let heading = format!("{} of {}", counted(rows.len(), is_more, "thread"), visible(&project_id));
        Ok(Listing { heading, columns: &["sessions", "age", "who", "state", "words"], rows, is_more })
    }

    /// The heading with what is looked at.
    fn scoped(&self, heading: &str) -> String {
        match &self.scope {
            Some(project) => format!("{} · {heading}", visible(project)),
            None => format!("all projects · {heading}"),
        }
    }
}

/// A number of rows with what they are: where there are more than were read, `100+`.
fn counted(count: usize, is_more: bool, noun: &str) -> String {
    let plus = if is_more { "+" } else { "" };
    format!("{count}{plus} {}", plural(count, noun))
}

fn inbox_heading(found: &AttentionOutput) -> String {
    if found.total == 0 {
        return "nothing needs you".to_owned();
    }
    let counts: Vec<String> = found.counts.iter().map(|row| row.reason.count(row.count)).collect();
    // What is somebody's own is counted up to a number: from there on there may be more.
    let more = if found.sections.mine >= MOST_OWN { "+" } else { "" };
    let own = match found.mine.is_empty() {
        true => String::new(),
        false => format!(", {}{more} for you (*)", found.sections.mine),
    };
    format!("{} in all{own}: {}", found.total, counts.join(", "))
}

/// A thing in full, as its own command shows it.
pub(super) fn detail(app: &mut App, target: &Target) -> Result<Detail, AppError> {
    let (project, id) = (Some(target.project_id.clone()), target.id.clone());
    let (title, text) = match target.noun {
        Noun::Baton => {
            let shown =
                app.run::<baton::Show>(&baton::ShowInput { id, project: project.clone(), identity: None })?;
            let document = document(app, project, &shown.row.session_id)?;
            ("baton", format!("{}\n{document}", batons::facts(&shown)))
        }
        Noun::Session => {
            let input = session::ShowInput { session: id.clone(), project: project.clone() };
            let shown = app.run::<session::Show>(&input)?;
            let document = document(app, project, &id)?;
            ("session", format!("{}\n{document}", sessions::session_text(&shown)))
        }
        Noun::Handoff => {
            let input = handoff::ShowInput { id, ..handoff::ShowInput::default() };
            let shown = app.run::<handoff::Show>(&input)?;
            ("hand-off", handoff_text::shown(&shown))
        }
        Noun::Task => {
            let input = task::ShowInput { project, id, ..task::ShowInput::default() };
            ("task", task_text::shown(&app.run::<task::Show>(&input)?))
        }
        Noun::Message => {
            // Looking on marks nothing as read: the viewer is no receiver.
            let input = message::ThreadInput { project, identity: None, message_id: id };
            ("mail", mail::thread(&app.run::<message::Thread>(&input)?))
        }
        Noun::Paths => {
            let held = app.run::<lease::List>(&lease::ListInput { project, path: Some(id), holder: None })?;
            ("who works on these paths", lease_text::table(&held.items))
        }
        Noun::Thread => {
            let input = thread::ShowInput { id, project, ..thread::ShowInput::default() };
            ("thread", sessions::story(&app.run::<thread::Show>(&input)?))
        }
        Noun::Decision => ("decision", decisions::shown(app, project, &id)?),
        Noun::Project => ("", String::new()),
    };
    let lines = text.lines().map(visible).collect();
    Ok(Detail { title: title.to_owned(), lines, target: target.clone(), top: 0 })
}

fn document(app: &mut App, project: Option<String>, session_id: &str) -> Result<String, AppError> {
    let input = session::SessionDocumentInput {
        project,
        session: session_id.to_owned(),
        ..session::SessionDocumentInput::default()
    };
    Ok(app.run::<session::SessionDocument>(&input)?.document)
}
