//! The verbs that show issues.

use baton_model::refusal::Refusal;
use baton_ops::task as tasks;
use serde::Serialize;

use super::annotate::show_task;
use super::args::{Arrangement, View};
use super::count::{Grouping, count, stats};
use super::graph::GraphOptions;
use super::list::{self, ReadyFilters, Selection, lines};
use super::select;
use super::{EachIssue, Out, blocked, duplicates, explain, graph, history, report, shape};
use crate::cli::task;
use crate::error::AppError;

pub(super) fn run(verb: View, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        View::List { filters, more, look, sort, status, all, ready, format } => {
            let look = Arrangement { sort, ..look };
            list::list(list::List { filters: *filters, more: *more, look, status, all, ready, format }, out)
        }
        View::Children { id, look, sort } => {
            let look = Arrangement { sort, ..look };
            let parent = show_task(&id, out)?.task.id;
            let mut selection = Selection::all(out);
            selection.ledger.parent = Some(parent);
            Selection { look, ..selection }.print(out)
        }
        View::Ready {
            filters,
            look,
            sort,
            unassigned,
            for_agent,
            claim,
            explain,
            include_deferred,
            mol,
            ..
        } => {
            let look = Arrangement { sort, ..look };
            let mut selection = Selection::new(*filters, look, out)?;
            selection.ledger.parent = selection.ledger.parent.or(mol);
            if claim {
                return list::claim_first(selection, for_agent, out);
            }
            let filters = ReadyFilters { unassigned, for_agent, deferred: include_deferred };
            if explain {
                explain::explained(selection, filters, out)
            } else {
                list::ready(selection, filters, out)
            }
        }
        View::Blocked { limit, parent } => blocked::blocked(limit, parent, out),
        View::Show { ids, id, current, full, short, children, refs, local_time, .. } => {
            let ids: Vec<String> =
                if current { in_progress(out)? } else { ids.into_iter().chain(id).collect() };
            if current && ids.is_empty() && !out.json {
                let name = out.acting_name()?;
                let name = baton_model::id::visible(&name);
                return out
                    .text(&format!("{name} has no issue in progress; `bd ready` lists what can be taken\n"));
            }
            let part = match (children, refs) {
                (true, _) => Part::Children,
                (_, true) => Part::Dependents,
                _ => Part::Whole,
            };
            show(ids, ViewOptions { full, short, part, local_time }, out)
        }
        other => run_report(other, out),
    }
}

/// What there is to say of a query that was only parsed.
#[derive(Serialize)]
struct ParsedQuery<'a> {
    query: &'a str,
    valid: bool,
}

fn print_parsed(query: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    out.print(&ParsedQuery { query, valid: true }, |_| "The query can be read.\n".to_owned())
}

fn run_report(verb: View, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        View::Query { expression, all, limit, look, sort, parse_only } => {
            let look = Arrangement { sort, ..look };
            let expression = expression.join(" ");
            let condition = select::parse(&expression)?;
            if parse_only {
                return print_parsed(&expression, out);
            }
            let selection = Selection::all(out);
            let all = all || condition.names_status();
            let ledger = tasks::ListInput { all, ..selection.ledger };
            Selection { ledger, conditions: vec![condition], look, limit }.print(out)
        }
        View::Search { words, query, filters, more, look, sort, status } => {
            let look = Arrangement { sort, ..look };
            let conditions = select::filter_conditions(&more)?;
            let durable = list::hides_ephemeral(&more, filters.wisp_type.is_some());
            let mut selection = Selection::new(*filters, look, out)?.and(conditions);
            selection.ledger.durable = durable;
            selection.ledger.query = Some(query.unwrap_or_else(|| words.join(" ")));
            selection.with_status(status).print(out)
        }
        View::Stats { assigned, .. } => match assigned {
            true => {
                let ids = in_progress(out)?;
                show(ids, ViewOptions { full: false, short: true, part: Part::Whole, local_time: false }, out)
            }
            false => stats(out),
        },
        View::Count { filters, more, status, by_status, by_type, by_priority, by_assignee, by_label } => {
            let by = single_grouping([
                (by_status, Grouping::Status),
                (by_type, Grouping::Type),
                (by_priority, Grouping::Priority),
                (by_assignee, Grouping::Assignee),
                (by_label, Grouping::Label),
            ])?;
            let conditions = select::filter_conditions(&more)?;
            let durable = list::hides_ephemeral(&more, filters.wisp_type.is_some());
            let mut selection = Selection::new(*filters, Arrangement::default(), out)?.and(conditions);
            selection.ledger.durable = durable;
            selection.ledger.all = status.is_none();
            selection.limit = Some(0);
            count(selection.with_status(status), by, out)
        }
        View::Stale { days, limit, status } => report::stale(days, limit, status, out),
        View::Lint { ids, status, issue_type } => report::lint(ids, status, issue_type, out),
        View::Orphans { details, labels, label_any } => report::orphans(details, labels, label_any, out),
        View::History { id, limit, .. } => history::history(&id, limit, out),
        View::Duplicates { auto_merge, dry_run } => {
            duplicates::duplicates(duplicates::Merge { auto_merge, dry_run }, out)
        }
        View::Statuses => report::statuses(out),
        View::Types { sections } => report::types(sections, out),
        View::Graph { id, all, dot, open, .. } => graph::graph(id, GraphOptions { all, dot, open }, out),
        // The others were taken before.
        _ => Ok(()),
    }
}

/// The grouping that is asked for; two are refused, as Beads does.
fn single_grouping(options: [(bool, Grouping); 5]) -> Result<Option<Grouping>, Refusal> {
    let mut groupings = options.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, grouping)| grouping);
    let grouping = groupings.next();
    match groupings.next() {
        None => Ok(grouping),
        Some(_) => {
            let hint = "issues are counted in one kind of groups: call it once for each";
            Err(Refusal::invalid("usage", "only one --by-* option can be given", hint))
        }
    }
}

/// The ids of the issues that the caller has in progress.
pub(super) fn in_progress(out: &mut Out<'_>) -> Result<Vec<String>, AppError> {
    let name = out.acting_name()?;
    Ok(in_progress_of(name, out)?.into_iter().map(|row| row.task.id).collect())
}

/// The issues of an assignee that are in progress.
pub(super) fn in_progress_of(name: String, out: &mut Out<'_>) -> Result<Vec<tasks::Row>, AppError> {
    let mut selection = Selection::all(out);
    selection.ledger.status = Some("in_progress".to_owned());
    selection.ledger.assignee = Some(name);
    Ok(selection.find(out)?.0)
}

/// Refuses a call that names no issue; the hint names those that the caller has in progress.
pub(super) fn check_named(ids: &[String], verb: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    if !ids.is_empty() {
        return Ok(());
    }
    let mine = in_progress(out)?;
    let mine = match mine.as_slice() {
        [] => "`bd ready` and `bd list` show ids".to_owned(),
        mine => format!("you have in progress: {}", baton_model::id::visible(&mine.join(", "))),
    };
    let what =
        format!("an issue id is needed: Baton does not guess the issue that was touched last; bd {verb} ID");
    Err(Refusal::invalid("usage", what, mine).into())
}

/// Which part of an issue is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    Children,
    Dependents,
}

#[derive(Clone, Copy)]
struct ViewOptions {
    full: bool,
    short: bool,
    part: Part,
    local_time: bool,
}

/// The text of an issue with its times in the time zone of this machine.
fn in_local_time(text: &str) -> String {
    let Some(zone) = crate::time_zone::find(None) else { return text.to_owned() };
    let local = |line: &str| {
        let is_time = ["due ", "deferred to "].iter().any(|name| line.trim_start().starts_with(name));
        let (head, time) = line.rsplit_once(' ').filter(|_| is_time)?;
        let at = baton_model::time::parse_rfc3339(time.trim_end())?;
        Some(format!("{head} {}\n", zone.rfc3339(at)?))
    };
    text.split_inclusive('\n').map(|line| local(line).unwrap_or_else(|| line.to_owned())).collect()
}

fn show(ids: Vec<String>, look: ViewOptions, out: &mut Out<'_>) -> Result<(), AppError> {
    let found = EachIssue::try_all(&ids, out, |id, out| {
        let full = look.full || out.json || look.part != Part::Whole;
        let (project, id) = (out.project(), id.clone());
        let input = tasks::ShowInput { project, id, full, ..tasks::ShowInput::default() };
        Ok(shape::details(out.app.run::<tasks::Show>(&input)?))
    })?;
    let found = found.or_none_of("the issues")?;
    if look.part != Part::Whole {
        let is_part = |other: &&tasks::LinkedTask| {
            look.part == Part::Dependents || other.dependency_type == "parent-child"
        };
        let others: Vec<&tasks::LinkedTask> =
            found.iter().flat_map(|found| found.dependents.iter().filter(is_part)).collect();
        return out.print(&others, |others| lines(others.iter().map(|other| shape::linked_line(other))));
    }
    out.print(&found, |all| match look.short {
        true => lines(all.iter().map(|found| shape::line(&found.task))),
        false if look.local_time => all.iter().map(|found| in_local_time(&task::details(found))).collect(),
        false => all.iter().map(task::details).collect(),
    })
}
