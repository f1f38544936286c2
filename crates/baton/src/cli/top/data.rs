//! What `baton top` reads from the ledger: the rows of a view, and a thing in full.

use baton_model::accounting::plural;
use baton_model::attention::{AttentionItem, Reason};
use baton_model::handoff::State as HandoffState;
use baton_model::id::visible;
use baton_ops::attention::{Attention, AttentionInput, AttentionOutput};
use baton_ops::op::Operation;
use baton_ops::{baton, handoff, lease, message, project, session, task};

use super::super::{
    attention, batons, handoff as handoff_text, lease as lease_text, mail, sessions, task as task_text,
};
use super::activity;
use super::state::{Detail, Listing, Row, State, Target, View};
use crate::app::App;
use crate::error::AppError;
use crate::render;

/// Rows of one page.
const PAGE: i64 = 100;

/// An error in one line.
pub(super) fn error_line(error: &AppError) -> String {
    error.text().lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// The rows of the view, as many pages as were asked for.
pub(super) fn listing(app: &mut App, state: &State) -> Result<Listing, AppError> {
    let mut reader = Reader { app, scope: state.scope.clone(), pages: state.pages };
    match state.view {
        View::Inbox => reader.inbox(&state.identity),
        View::Agents => reader.agents(),
        View::Batons => reader.batons(),
        View::Handoffs => reader.handoffs(),
        View::Tasks => reader.tasks(),
        View::Mail => reader.mail(),
        View::Projects => reader.projects(),
    }
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
        let mine = first.mine.iter().map(|item| matter(item, "* "));
        let others = found.iter().flat_map(|page| &page.items).filter(|item| !first.mine.contains(item));
        // What is on its way as it should be comes after what is not.
        let (fresh, concern): (Vec<_>, Vec<_>) = others.partition(|item| item.reason.is_fresh());
        let rows = mine.chain(concern.into_iter().chain(fresh).map(|item| matter(item, ""))).collect();
        Ok(Listing { heading, columns: &["what", "age", "project", "who", "words"], rows, is_more })
    }

    fn agents(&mut self) -> Result<Listing, AppError> {
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
            .flat_map(|page| page.items.iter().map(|of| agent(of, page.project_id.as_deref())))
            .collect();
        let more = if is_more { " and more" } else { "" };
        let heading = self.scoped(&format!(
            "{}{more} open {}, silent ones first",
            rows.len(),
            plural(rows.len(), "session")
        ));
        let columns = &["agent", "state", "project", "tool", "heard", "branch", "12 h", "words"];
        Ok(Listing { heading, columns, rows, is_more })
    }

    fn batons(&mut self) -> Result<Listing, AppError> {
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
        let rows = found.iter().flat_map(|page| &page.items).map(baton_row).collect();
        let heading = self.scoped(&format!("{total} can be picked up, the oldest first"));
        Ok(Listing { heading, columns: &["state", "age", "project", "from", "for", "words"], rows, is_more })
    }

    fn handoffs(&mut self) -> Result<Listing, AppError> {
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
        let rows = found.iter().flat_map(|page| &page.items).map(handoff_row).collect();
        let heading = self.scoped(&format!("{total} hand-offs, the newest first"));
        Ok(Listing { heading, columns: &["state", "age", "from", "to", "words"], rows, is_more })
    }

    fn tasks(&mut self) -> Result<Listing, AppError> {
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
        let rows: Vec<Row> =
            found.iter().flat_map(|page| &page.items).map(|row| task_row(row, &project_id)).collect();
        let more = if is_more { " and more" } else { "" };
        let heading = format!("{}{more} open tasks of {}", rows.len(), visible(&project_id));
        Ok(Listing { heading, columns: &["id", "state", "prio", "role", "assignee", "title"], rows, is_more })
    }

    fn mail(&mut self) -> Result<Listing, AppError> {
        let limit = usize::try_from(PAGE).unwrap_or(100).saturating_mul(self.pages);
        let input = message::ThreadsInput { project: self.scope.clone(), limit };
        let found = self.app.run::<message::Threads>(&input)?;
        let rows = found.items.iter().map(|row| thread_row(row, &found.project_id)).collect::<Vec<_>>();
        let heading =
            format!("{} {} of {}", rows.len(), plural(rows.len(), "thread"), visible(&found.project_id));
        let columns = &["waiting", "age", "who", "subject"];
        Ok(Listing { heading, columns, rows, is_more: found.more && found.items.len() == limit })
    }

    fn projects(&mut self) -> Result<Listing, AppError> {
        let found = self.app.run::<project::List>(&project::ListInput {})?;
        let row = |of: &project::Row| Row {
            key: of.project.project_id.clone(),
            cells: vec![of.project.project_id.clone(), of.roots.first().cloned().unwrap_or_default()],
            about: [String::new(), format!("baton status --project {}", of.project.project_id)],
            target: Target::Project { id: of.project.project_id.clone() },
        };
        let rows: Vec<Row> = found.items.iter().map(row).collect();
        let heading = self.scoped(&format!("{} projects", rows.len()));
        Ok(Listing { heading, columns: &["project", "folder"], rows, is_more: false })
    }

    /// The heading with what is looked at.
    fn scoped(&self, heading: &str) -> String {
        match &self.scope {
            Some(project) => format!("{} · {heading}", visible(project)),
            None => format!("all projects · {heading}"),
        }
    }
}

fn inbox_heading(found: &AttentionOutput) -> String {
    if found.total == 0 {
        return "nothing needs you".to_owned();
    }
    let counts: Vec<String> = found.counts.iter().map(|row| row.reason.count(row.count)).collect();
    let own =
        if found.mine.is_empty() { String::new() } else { format!(", {} for you (*)", found.sections.mine) };
    format!("{} in all{own}: {}", found.total, counts.join(", "))
}

fn matter(item: &AttentionItem, mark: &str) -> Row {
    let [what, age, project, people, help, words] =
        attention::row(item).try_into().unwrap_or_else(|_| std::array::from_fn(|_| String::new()));
    let what = format!("{mark}{what}");
    let (project_id, id) = (item.project_id.clone(), item.id.clone());
    let target = match item.reason {
        Reason::SessionSilent | Reason::SessionQuiet => Target::Session { project_id, id },
        Reason::HandoffFailed => Target::Handoff { id, state: HandoffState::Failed },
        Reason::HandoffStuck => Target::Handoff { id, state: HandoffState::Pending },
        Reason::HandoffStarving | Reason::HandoffWaiting => {
            Target::Handoff { id, state: HandoffState::Offered }
        }
        Reason::HandoffReturned => Target::Handoff { id, state: HandoffState::Declined },
        Reason::BatonStarving | Reason::BatonWaiting => Target::Baton { project_id, id },
        Reason::AckLate | Reason::MessageUnread | Reason::MessageWaiting => {
            Target::Message { project_id, id, is_asked: true }
        }
        Reason::TaskRetried | Reason::TaskBlocked => Target::Task { project_id, id },
        Reason::LeaseConflict => Target::Paths { project_id, pattern: item.subject.clone() },
    };
    Row {
        key: format!("{} {}", item.reason.as_str(), item.id),
        cells: vec![what, age, project, people, words.clone()],
        about: [words, help],
        target,
    }
}

fn agent(of: &session::HistoryRow, project_id: Option<&str>) -> Row {
    let [_, _, identity, surface, state, heard, words] =
        sessions::row(of).try_into().unwrap_or_else(|_| std::array::from_fn(|_| String::new()));
    let project_id = of.project_id.as_deref().or(project_id).unwrap_or_default().to_owned();
    let session = &of.session;
    let branch = session.copy.as_ref().and_then(|copy| copy.branch.as_deref()).map(visible);
    let id = session.session_id.clone();
    let help = format!("baton reassign {} --to NAME", render::short_id(&id));
    Row {
        key: id.clone(),
        cells: vec![
            identity,
            state,
            visible(&project_id),
            surface,
            heard,
            branch.unwrap_or_default(),
            activity::blocks(&of.activity),
            words.clone(),
        ],
        about: [activity::usage_line(of, words), help],
        target: Target::Session { project_id, id },
    }
}

fn baton_row(of: &baton::Row) -> Row {
    let (project_id, id) = (of.project_id.clone(), of.baton_id.clone());
    let words = visible(&of.summary);
    let help = format!("baton pickup --handoff {} --project {}", render::short_id(&id), visible(&project_id));
    Row {
        key: id.clone(),
        cells: vec![
            of.state.as_str().to_owned(),
            render::time_ago(of.created_at),
            visible(&project_id),
            visible(&of.from),
            of.to.as_deref().map(visible).unwrap_or_default(),
            words.clone(),
        ],
        about: [words, help],
        target: Target::Baton { project_id, id },
    }
}

fn handoff_row(of: &handoff::Row) -> Row {
    let view = &of.handoff;
    let words = match &view.last_error {
        Some(error) => format!("{}: {}", visible(&view.subject), visible(error)),
        None => visible(&view.subject),
    };
    Row {
        key: view.handoff_id.clone(),
        cells: vec![
            view.state.as_str().to_owned(),
            render::time_ago(view.created_at),
            visible(&view.from_project_id),
            visible(&view.to_project_id),
            words.clone(),
        ],
        about: [words, format!("baton handoff show {}", render::short_id(&view.handoff_id))],
        target: Target::Handoff { id: view.handoff_id.clone(), state: view.state },
    }
}

fn task_row(of: &task::Row, project_id: &str) -> Row {
    let view = &of.task;
    let state = if view.blocked == Some(true) { "blocked" } else { view.status.as_str() };
    let title = visible(&view.title);
    Row {
        key: view.id.clone(),
        cells: vec![
            visible(&view.id),
            visible(state),
            format!("P{}", view.priority),
            view.agent_role.as_deref().map(visible).unwrap_or_default(),
            view.assignee.as_deref().map(visible).unwrap_or_default(),
            title.clone(),
        ],
        about: [title, format!("baton task show {}", visible(&view.id))],
        target: Target::Task { project_id: project_id.to_owned(), id: view.id.clone() },
    }
}

fn thread_row(of: &message::ThreadRow, project_id: &str) -> Row {
    let people: Vec<String> = of.people.iter().map(|name| visible(name)).collect();
    let subject = visible(&of.subject);
    Row {
        key: of.thread_id.clone(),
        cells: vec![
            if of.waiting > 0 { of.waiting.to_string() } else { String::new() },
            render::time_ago(of.last_at),
            people.join(", "),
            subject.clone(),
        ],
        about: [subject, format!("baton mail thread {}", render::short_id(&of.message_id))],
        target: Target::Message {
            project_id: project_id.to_owned(),
            id: of.message_id.clone(),
            is_asked: false,
        },
    }
}

/// A thing in full, as its own command shows it.
pub(super) fn detail(app: &mut App, target: &Target) -> Result<Detail, AppError> {
    let (title, text) = match target {
        Target::Baton { project_id, id } => {
            let project = Some(project_id.clone());
            let input = baton::ShowInput { id: id.clone(), project: project.clone() };
            let shown = app.run::<baton::Show>(&input)?;
            let document = document(app, project, &shown.row.session_id)?;
            ("baton", format!("{}\n{document}", batons::facts(&shown)))
        }
        Target::Session { project_id, id } => {
            let project = Some(project_id.clone());
            let input = session::ShowInput { session: id.clone(), project: project.clone() };
            let shown = app.run::<session::Show>(&input)?;
            let document = document(app, project, id)?;
            ("session", format!("{}\n{document}", sessions::session_text(&shown)))
        }
        Target::Handoff { id, .. } => {
            let input = handoff::ShowInput { id: id.clone(), ..handoff::ShowInput::default() };
            let shown = app.run::<handoff::Show>(&input)?;
            ("hand-off", handoff_text::shown(&shown))
        }
        Target::Task { project_id, id } => {
            let (project, id) = (Some(project_id.clone()), id.clone());
            let input = task::ShowInput { project, id, ..task::ShowInput::default() };
            ("task", task_text::shown(&app.run::<task::Show>(&input)?))
        }
        Target::Message { project_id, id, .. } => {
            let (project, message_id) = (Some(project_id.clone()), id.clone());
            // Looking on marks nothing as read: who looks is nobody's receiver.
            let input = message::ThreadInput { project, identity: None, message_id };
            ("mail", mail::thread(&app.run::<message::Thread>(&input)?))
        }
        Target::Paths { project_id, pattern } => {
            let (project, path) = (Some(project_id.clone()), Some(pattern.clone()));
            let held = app.run::<lease::List>(&lease::ListInput { project, path, holder: None })?;
            ("who works on these paths", lease_text::table(&held.items))
        }
        Target::Project { .. } => ("", String::new()),
    };
    let lines = text.lines().map(visible).collect();
    Ok(Detail { title: title.to_owned(), lines, target: target.clone(), top: 0 })
}

fn document(app: &mut App, project: Option<String>, session_id: &str) -> Result<String, AppError> {
    let input =
        session::HandoffInput { project, session: session_id.to_owned(), ..session::HandoffInput::default() };
    Ok(app.run::<session::SessionDocument>(&input)?.document)
}
