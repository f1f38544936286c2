//! The commands of `bd`, each as operations of ours and an answer in Beads' shape.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::task::view::View;
use baton_ops::project::{Init, InitInput};
use baton_ops::task as tasks;
use serde::Serialize;
use serde_json::Value;

use super::annotate::{comment, comments, label, shown};
use super::args::{Close, Command, Create, Filters, Update};
use super::count::{Grouping, count, stats};
use super::file::{export, import};
use super::link::dep;
use super::shape::{self, ClosedIssue};
use super::{Out, write};
use crate::cli::task;
use crate::error::AppError;

pub(super) fn run(command: Command, out: &mut Out<'_>) -> Result<(), AppError> {
    match command {
        Command::Init { prefix, .. } => init(prefix, out),
        Command::Create(args) => create(*args, out),
        Command::Increment { title, after, silent } => increment(title, after, silent, out),
        Command::Show { ids, full } => show(ids, full, out),
        Command::Update(args) => update(*args, out),
        Command::List { filters, status, no_assignee, all } => {
            let input = tasks::ListInput { status, unassigned: no_assignee, all, ..listing(filters, out) };
            let found = out.app.run::<tasks::List>(&input)?;
            listed(found.items, found.next, out)
        }
        Command::Ready { filters, unassigned, for_agent, claim, metadata_field, sort: _ } => {
            let filters = listing(filters, out);
            if claim {
                return claim_first(filters, for_agent, out);
            }
            ready(filters, (unassigned, for_agent, metadata_field), out)
        }
        Command::Blocked { limit } => blocked(limit, out),
        Command::Close(args) => close(args, out),
        Command::Reopen { ids, reason } => reopen(ids, reason, out),
        other => run_other(other, out),
    }
}

/// The commands round the tasks.
fn run_other(command: Command, out: &mut Out<'_>) -> Result<(), AppError> {
    match command {
        Command::Dep { verb, id, blocks } => dep(verb, id, blocks, out),
        Command::Comment { id, text } => comment(&id, &text.join(" "), out),
        Command::Comments { words } => comments(&words, out),
        Command::Label { verb, id, labels } => label(&verb, &id, labels, out),
        Command::Search { words, limit, status } => {
            let input = tasks::ListInput {
                project: out.project(),
                query: Some(words.join(" ")),
                limit: limit.map(i64::from),
                all: status.is_none(),
                status,
                edges: true,
                ..tasks::ListInput::default()
            };
            let found = out.app.run::<tasks::List>(&input)?;
            listed(found.items, found.next, out)
        }
        Command::Stats => stats(out),
        Command::Count { status, by_status, by_type, by_priority, by_assignee, by_label } => {
            let by = [
                (by_status, Grouping::Status),
                (by_type, Grouping::Type),
                (by_priority, Grouping::Priority),
                (by_assignee, Grouping::Assignee),
                (by_label, Grouping::Label),
            ];
            count(status, by.iter().find(|(wanted, _)| *wanted).map(|(_, by)| *by), out)
        }
        Command::Export { output } => export(output, out),
        Command::Import { input, path, dry_run } => import(input.or(path), dry_run, out),
        // The others were taken before.
        _ => Ok(()),
    }
}

pub(super) fn lines(lines: impl Iterator<Item = String>) -> String {
    let text: String = lines.collect();
    if text.is_empty() { "No issues found\n".to_owned() } else { text }
}

/// What several commands list.
fn listing(filters: Filters, out: &Out<'_>) -> tasks::ListInput {
    tasks::ListInput {
        project: out.project(),
        assignee: filters.assignee,
        priority: filters.priority,
        issue_type: filters.issue_type,
        labels: filters.labels,
        any_label: filters.label_any,
        agent_role: filters.agent_role,
        tags: filters.tags,
        parent: filters.parent,
        limit: filters.limit.map(i64::from),
        edges: true,
        ..tasks::ListInput::default()
    }
}

fn ready(
    filters: tasks::ListInput,
    (unassigned, for_agent, metadata): (bool, Option<String>, Option<String>),
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let input = tasks::ReadyInput {
        project: filters.project,
        assignee: filters.assignee,
        priority: filters.priority,
        issue_type: filters.issue_type,
        labels: filters.labels,
        any_label: filters.any_label,
        agent_role: filters.agent_role,
        tags: filters.tags,
        parent: filters.parent,
        limit: filters.limit,
        edges: filters.edges,
        for_agent,
        unassigned,
        metadata,
        ..tasks::ReadyInput::default()
    };
    let found = out.app.run::<tasks::Ready>(&input)?;
    listed(found.items, found.next, out)
}

/// Prints a list as a bare array; a remark on standard error says when there are more.
fn listed(items: Vec<tasks::Row>, next: Option<usize>, out: &Out<'_>) -> Result<(), AppError> {
    let issue = |row: tasks::Row| tasks::Row { task: shape::issue(row.task), ..row };
    let issues: Vec<tasks::Row> = items.into_iter().map(issue).collect();
    out.print(&issues, |issues| lines(issues.iter().map(|row| shape::line(&row.task))))?;
    say_more(issues.len(), next, out);
    Ok(())
}

fn blocked(limit: Option<u32>, out: &mut Out<'_>) -> Result<(), AppError> {
    let (project, limit) = (out.project(), limit.map(i64::from));
    let input = tasks::BlockedInput { project, limit, ..tasks::BlockedInput::default() };
    let found = out.app.run::<tasks::Blocked>(&input)?;
    let issue = |row: tasks::BlockedRow| tasks::BlockedRow { task: shape::issue(row.task), ..row };
    let issues: Vec<tasks::BlockedRow> = found.items.into_iter().map(issue).collect();
    out.print(&issues, |issues| lines(issues.iter().map(|row| shape::line(&row.task))))?;
    say_more(issues.len(), found.next, out);
    Ok(())
}

fn say_more(shown: usize, next: Option<usize>, out: &Out<'_>) {
    if next.is_some() {
        out.remark(&format!("{shown} are shown and there are more: -n 0 shows all"));
    }
}

fn claim_first(
    filters: tasks::ListInput,
    for_agent: Option<String>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let input = tasks::ClaimTaskInput {
        agent_role: filters.agent_role,
        tags: filters.tags,
        for_agent,
        ..claim(None, out)
    };
    let claimed = out.app.run::<tasks::ClaimTask>(&input)?.task.map(shape::claimed);
    let claimed: Vec<tasks::ClaimedTask> = claimed.into_iter().collect();
    out.print(&claimed, |claimed| lines(claimed.iter().map(shape::claimed_line)))
}

fn claim(id: Option<String>, out: &Out<'_>) -> tasks::ClaimTaskInput {
    let (project, identity) = (out.project(), out.identity());
    tasks::ClaimTaskInput { project, identity, id, ..tasks::ClaimTaskInput::default() }
}

/// A project that was registered.
#[derive(Serialize)]
struct Registered {
    project_id: String,
    prefix: String,
}

fn init(prefix: Option<String>, out: &mut Out<'_>) -> Result<(), AppError> {
    let made = out.app.run::<Init>(&InitInput { id: prefix, ..InitInput::default() })?;
    let made = Registered { project_id: made.project_id.clone(), prefix: made.project_id };
    out.print(&made, |made| format!("✓ Project {} is registered\n", visible(&made.project_id)))
}

fn create(args: Create, out: &mut Out<'_>) -> Result<(), AppError> {
    let Some(title) = args.title.or(args.named) else {
        return Err(Refusal::invalid("usage", "a title is needed", "bd create \"Title\"").into());
    };
    let mut input = tasks::CreateInput {
        project: out.project(),
        identity: out.identity(),
        title,
        id: args.id,
        deps: args.deps,
        ..args.fields.into_create()?
    };
    if args.ephemeral {
        input.extra.insert("ephemeral".to_owned(), Value::Bool(true));
    }
    let made = out.app.run::<tasks::Create>(&input)?.task.view;
    if args.silent && !out.json {
        return write(&format!("{}\n", visible(&made.id)));
    }
    out.print(&shape::issue(made), |made| {
        let [id, title, status] = [&made.id, &made.title, &made.status].map(|text| visible(text));
        format!(
            "✓ Created issue: {id}\n  Title: {title}\n  Priority: P{}\n  Status: {status}\n",
            made.priority
        )
    })
}

fn increment(title: String, after: Option<String>, silent: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let (project, identity) = (out.project(), out.identity());
    let input = tasks::IncrementInput { project, identity, title, after, ..tasks::IncrementInput::default() };
    let made = out.app.run::<tasks::Increment>(&input)?;
    if silent && !out.json {
        return write(&format!("{}\n", visible(&made.verify_id)));
    }
    let issues: Vec<View> = made.items.into_iter().map(shape::issue).collect();
    out.print(&issues, |issues| lines(issues.iter().map(shape::line)))
}

fn show(ids: Vec<String>, full: bool, out: &mut Out<'_>) -> Result<(), AppError> {
    let mut found = Vec::new();
    for id in ids {
        let full = full || out.json;
        let input = tasks::ShowInput { project: out.project(), id, full, budget: None };
        found.push(shape::details(out.app.run::<tasks::Show>(&input)?));
    }
    out.print(&found, |all| all.iter().map(task::details).collect())
}

fn update(args: Update, out: &mut Out<'_>) -> Result<(), AppError> {
    let mut input = tasks::UpdateInput {
        title: args.title,
        status: args.status,
        append_notes: args.append_notes,
        add_labels: args.add_label,
        remove_labels: args.remove_label,
        merge: args.merge,
        ..args.fields.into_update()?
    };
    input.labels = args.set_labels.or(input.labels);
    let only_claims = args.claim && input == tasks::UpdateInput::default();
    let mut updated = Vec::new();
    for id in args.ids {
        let mut changed = None;
        if args.claim {
            let claimed = out.app.run::<tasks::ClaimTask>(&claim(Some(id.clone()), out))?;
            changed = claimed.task.map(shape::claimed);
        }
        if !only_claims {
            let (project, identity) = (out.project(), out.identity());
            let input = tasks::UpdateInput { project, identity, id, ..input.clone() };
            changed = Some(shape::changed(out.app.run::<tasks::Update>(&input)?.task));
        }
        updated.extend(changed);
    }
    if args.silent && !out.json {
        return Ok(());
    }
    out.print(&updated, |all| {
        all.iter().map(|issue| format!("✓ Updated issue: {}\n", visible(shape::claimed_id(issue)))).collect()
    })
}

fn reopen(ids: Vec<String>, reason: Option<String>, out: &mut Out<'_>) -> Result<(), AppError> {
    let mut reopened = Vec::new();
    for id in ids {
        let (project, identity) = (out.project(), out.identity());
        let input = tasks::ReopenInput { project, identity, id, reason: reason.clone() };
        reopened.push(shape::issue(out.app.run::<tasks::Reopen>(&input)?.task.view));
    }
    out.print(&reopened, |issues| lines(issues.iter().map(shape::line)))
}

/// What a close answers: the closed issues alone, or with what was asked for beside them.
#[derive(Serialize)]
#[serde(untagged)]
enum Closed {
    Alone(Vec<ClosedIssue>),
    Next { closed: Vec<ClosedIssue>, claimed: Option<tasks::ClaimedTask> },
    Suggested { closed: Vec<ClosedIssue>, unblocked: Vec<tasks::ShowOutput> },
}

impl Closed {
    fn text(&self) -> String {
        let (closed, ready) = match self {
            Self::Alone(closed) | Self::Next { closed, .. } => (closed, &[][..]),
            Self::Suggested { closed, unblocked } => (closed, unblocked.as_slice()),
        };
        let line = |closed: &ClosedIssue| {
            let reason = closed.issue.close_reason.as_deref().map(visible).unwrap_or_default();
            format!("✓ Closed {}: {reason}\n", visible(&closed.issue.id))
        };
        let closed = closed.iter().map(line);
        let ready = ready.iter().map(|found| format!("  ready now: {}", shape::line(&found.task)));
        closed.chain(ready).collect()
    }
}

fn close(args: Close, out: &mut Out<'_>) -> Result<(), AppError> {
    let context = task::object("--context", args.context.as_deref())?.unwrap_or_default();
    let (mut closed, mut unblocked, mut failed) = (Vec::new(), Vec::new(), None);
    for id in &args.ids {
        let input = tasks::CloseInput {
            project: out.project(),
            identity: out.identity(),
            id: id.clone(),
            token: None,
            result: args.result.as_deref().and_then(tasks::CloseResult::from_word),
            reason: args.reason.clone(),
            context: context.clone(),
            force: args.force,
        };
        match out.app.run::<tasks::Close>(&input) {
            Ok(mut answer) => {
                unblocked.append(&mut answer.unblocked);
                closed.push(ClosedIssue::from(answer));
            }
            // One that cannot be closed does not keep the others from it.
            Err(ended @ AppError::Refused(_)) if args.ids.len() > 1 => {
                out.remark(&ended.text());
                failed = Some(ended);
            }
            Err(ended) => return Err(ended),
        }
    }
    if let (Some(ended), true) = (failed, closed.is_empty()) {
        return Err(ended);
    }
    let payload = if args.claim_next {
        let next = out.app.run::<tasks::ClaimTask>(&claim(None, out))?;
        Closed::Next { closed, claimed: next.task.map(shape::claimed) }
    } else if args.suggest_next && !unblocked.is_empty() {
        let mut next = Vec::new();
        for id in &unblocked {
            let found = shown(id, out)?;
            next.push(tasks::ShowOutput { task: shape::issue(found.task), ..found });
        }
        Closed::Suggested { closed, unblocked: next }
    } else {
        Closed::Alone(closed)
    };
    out.print(&payload, Closed::text)
}
