//! The rows of `baton top`: the cells of a thing, its words, what can be done about it, and the command that does the same.

use baton_model::attention::{AttentionItem, Reason};
use baton_model::id::visible;
use baton_model::row_action::{OfferedAction, RowAction, RowSubject, TaskState, Viewer, of_session};
use baton_ops::{baton, handoff, message, project, session, task};

use super::super::{attention, sessions};
use super::activity;
use super::state::{Noun, Row, Target};
use crate::render;

impl Target {
    /// The command of the first action that has one, else the one that shows the thing: what the text under a list says is what its
    /// first key does.
    fn command(&self, to: Option<&str>, otherwise: String) -> String {
        let subject = RowSubject { project_id: &self.project_id, id: &self.id, to };
        let first = self.actions.first().and_then(|first| first.command(&subject));
        first.as_deref().map(visible).unwrap_or(otherwise)
    }
}

pub(super) fn attention_row(item: &AttentionItem, mark: &str) -> Row {
    let [what, age, project, people, help, words] =
        attention::row(item).try_into().unwrap_or_else(|_| std::array::from_fn(|_| String::new()));
    let what = format!("{mark}{what}");
    let noun = match item.reason {
        Reason::SessionSilent | Reason::SessionQuiet | Reason::WorkingCopyShared => Noun::Session,
        Reason::HandoffFailed
        | Reason::HandoffStuck
        | Reason::HandoffStarving
        | Reason::HandoffWaiting
        | Reason::HandoffReturned => Noun::Handoff,
        Reason::BatonStarving | Reason::BatonWaiting => Noun::Baton,
        Reason::AckLate
        | Reason::MessageUnread
        | Reason::MessageWaiting
        | Reason::AnswerLate
        | Reason::AnswerWaiting => Noun::Message,
        Reason::TaskRetried | Reason::TaskBlocked => Noun::Task,
        Reason::LeaseConflict => Noun::Paths,
    };
    let id = if noun == Noun::Paths { &item.subject } else { &item.id };
    let target =
        Target { noun, project_id: item.project_id.clone(), id: id.clone(), actions: item.actions.clone() };
    Row {
        key: format!("{} {}", item.reason.as_str(), item.id),
        cells: vec![what, age, project, people, words.clone()],
        about: [words, target.command(item.to.as_deref(), help)],
        target,
    }
}

pub(super) fn agent(of: &session::HistoryRow, project_id: Option<&str>, viewer: &str) -> Row {
    let [_, _, identity, surface, state, heard, words] =
        sessions::row(of).try_into().unwrap_or_else(|_| std::array::from_fn(|_| String::new()));
    let project_id = of.project_id.as_deref().or(project_id).unwrap_or_default().to_owned();
    let session = &of.session;
    let branch = session.copy.as_ref().and_then(|copy| copy.branch.as_deref()).map(visible);
    let id = session.session_id.clone();
    let project = visible(&project_id);
    let actions = of_session(&session.identity, Viewer(viewer));
    let target = Target { noun: Noun::Session, project_id, id, actions };
    Row {
        key: target.id.clone(),
        cells: vec![
            identity,
            state,
            project,
            surface,
            heard,
            branch.unwrap_or_default(),
            activity::blocks(&of.activity),
            words.clone(),
        ],
        about: [activity::usage_line(of, words), target.command(None, String::new())],
        target,
    }
}

pub(super) fn baton_row(of: &baton::Row, viewer: &str) -> Row {
    let target = Target {
        noun: Noun::Baton,
        project_id: of.project_id.clone(),
        id: of.baton_id.clone(),
        actions: of.actions_for(viewer),
    };
    let words = visible(&of.summary);
    let show = format!("baton batons show {}", render::short_id(&of.baton_id));
    Row {
        key: target.id.clone(),
        cells: vec![
            of.state.as_str().to_owned(),
            render::time_ago(of.created_at),
            visible(&of.project_id),
            visible(&of.from),
            of.to.as_deref().map(visible).unwrap_or_default(),
            words.clone(),
        ],
        about: [words, target.command(None, show)],
        target,
    }
}

pub(super) fn handoff_row(of: &handoff::Row, viewer: &str) -> Row {
    let view = &of.handoff;
    let words = match view.last_error.as_ref().filter(|_| !view.state.is_over()) {
        Some(error) => format!("{}: {}", visible(&view.subject), visible(error)),
        None => visible(&view.subject),
    };
    let target = Target {
        noun: Noun::Handoff,
        project_id: view.to_project_id.clone(),
        id: view.handoff_id.clone(),
        actions: of.actions_for(viewer),
    };
    let show = format!("baton handoff show {}", render::short_id(&view.handoff_id));
    Row {
        key: target.id.clone(),
        cells: vec![
            view.state.as_str().to_owned(),
            render::time_ago(view.stands_since()),
            visible(view.sender_project()),
            visible(view.receiver_project()),
            words.clone(),
        ],
        about: [words, target.command(None, show)],
        target,
    }
}

pub(super) fn task_row(of: &task::Row, project_id: &str, viewer: &str) -> Row {
    let view = &of.task;
    let is_blocked = view.blocked == Some(true);
    let state = if is_blocked { "blocked" } else { view.status.as_str() };
    let title = visible(&view.title);
    let owner = view.assignee.as_deref().filter(|name| !name.is_empty());
    let is_at_work = view.status == "in_progress";
    let (holder, assignee) = (owner.filter(|_| is_at_work), owner.filter(|_| !is_at_work));
    let target = Target {
        noun: Noun::Task,
        project_id: project_id.to_owned(),
        id: view.id.clone(),
        actions: TaskState { status: &view.status, is_blocked, holder, assignee }.actions(Viewer(viewer)),
    };
    let show = format!("baton task show {} --project {}", visible(&view.id), visible(project_id));
    Row {
        key: target.id.clone(),
        cells: vec![
            visible(&view.id),
            visible(state),
            format!("P{}", view.priority),
            view.agent_role.as_deref().map(visible).unwrap_or_default(),
            view.assignee.as_deref().map(visible).unwrap_or_default(),
            title.clone(),
        ],
        about: [title, target.command(None, show)],
        target,
    }
}

pub(super) fn thread_row(of: &message::ThreadRow, project_id: &str) -> Row {
    let people: Vec<String> = of.people.iter().map(|name| visible(name)).collect();
    let subject = visible(&of.subject);
    // A notice that is no agent's takes no answer.
    let reply = of.last_from_type.is_agent().then(|| OfferedAction::from(RowAction::Reply));
    let target = Target {
        noun: Noun::Message,
        project_id: project_id.to_owned(),
        id: of.message_id.clone(),
        actions: reply.into_iter().collect(),
    };
    Row {
        key: of.thread_id.clone(),
        cells: vec![
            if of.waiting > 0 { of.waiting.to_string() } else { String::new() },
            render::time_ago(of.last_at),
            people.join(", "),
            subject.clone(),
        ],
        about: [subject, target.command(None, String::new())],
        target,
    }
}

/// Sessions by the thread that they belong to, in the order in which the threads are met: the newest session of each says how it stands.
pub(super) fn threads(sessions: &[&session::HistoryRow], project_id: &str) -> Vec<Row> {
    let mut threads: Vec<Vec<&session::HistoryRow>> = Vec::new();
    for &of in sessions {
        let thread_id = &of.session.thread_id;
        let known = threads
            .iter_mut()
            .find(|thread| thread.first().is_some_and(|first| first.session.thread_id == *thread_id));
        match known {
            Some(thread) => thread.push(of),
            None => threads.push(vec![of]),
        }
    }
    threads.iter().filter_map(|thread| thread_of_sessions(thread, project_id)).collect()
}

fn thread_of_sessions(thread: &[&session::HistoryRow], project_id: &str) -> Option<Row> {
    let newest = *thread.first()?;
    let [_, _, _, _, state, heard, words] =
        sessions::row(newest).try_into().unwrap_or_else(|_| std::array::from_fn(|_| String::new()));
    let mut people: Vec<String> = Vec::new();
    for name in thread.iter().rev().map(|of| visible(&of.session.identity)) {
        if !people.contains(&name) {
            people.push(name);
        }
    }
    let id = newest.session.thread_id.clone();
    let show = format!("baton sessions thread {} --project {}", render::short_id(&id), visible(project_id));
    let people = people.join(", ");
    Some(Row {
        key: id.clone(),
        cells: vec![thread.len().to_string(), heard, people.clone(), state, words.clone()],
        about: [if words.is_empty() { people } else { words }, show],
        target: Target { noun: Noun::Thread, project_id: project_id.to_owned(), id, actions: Vec::new() },
    })
}

/// A project, with how many sessions are open and how many tasks, where that is known.
pub(super) fn project_row(of: &project::Row, figures: Option<&project::OverviewRow>) -> Row {
    let id = of.project.project_id.clone();
    let count = |count: fn(&project::OverviewRow) -> usize| match figures {
        Some(one) if !one.is_isolated => count(one).to_string(),
        _ => String::new(),
    };
    Row {
        key: id.clone(),
        cells: vec![
            id.clone(),
            count(|one| one.sessions.len()),
            count(|one| one.open_tasks),
            of.roots.first().cloned().unwrap_or_default(),
        ],
        about: [String::new(), format!("baton status --project {id}")],
        target: Target {
            noun: Noun::Project,
            project_id: id.clone(),
            id,
            actions: vec![RowAction::Write.into()],
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_thread_whose_last_words_are_no_agents_offers_no_answer() {
        let row = |from_type: &str| {
            let thread = json!({
                "thread_id": "m1", "message_id": "m1", "subject": "hand-off 0199aaaa has failed", "type": "StatusUpdate",
                "people": ["Baton", "Ann"], "messages": 1, "waiting": 1, "last_from": "Baton", "last_from_type": from_type,
                "last_at": "2026-11-20T10:00:00Z",
            });
            thread_row(&serde_json::from_value(thread).expect("a thread"), "shop")
        };
        assert!(row("agent").about[1].contains("--reply-to m1"));
        let notice = row("system");
        assert!(notice.target.actions.is_empty() && notice.about[1].is_empty());
    }
}
