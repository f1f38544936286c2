//! Many tasks at once, as people see them: the board, figures, trees.

use baton_model::id::visible;
use baton_ops::task::{self as ops, BoardCell, BoardRow, BoardState};

use super::query::{joined, or_empty};
use crate::render;

/// Tasks by role and state.
pub(super) fn board(rows: &[BoardRow]) -> String {
    let text: String = rows.iter().map(render_board_row).collect();
    if text.is_empty() {
        "no tasks yet: `baton task create TITLE` or `baton task increment TITLE`\n".into()
    } else {
        text
    }
}

fn render_board_row(role: &BoardRow) -> String {
    let count = |state: BoardState| role.counts.get(&state).copied().unwrap_or(0);
    let counts: Vec<String> = [
        (BoardState::InProgress, "in progress"),
        (BoardState::Ready, "ready"),
        (BoardState::Blocked, "blocked"),
        (BoardState::Deferred, "deferred"),
        (BoardState::Other, "set aside"),
        (BoardState::Closed, "closed"),
    ]
    .iter()
    .filter(|(state, _)| count(*state) > 0)
    .map(|(state, name)| format!("{} {name}", count(*state)))
    .collect();
    let name = if role.role.is_empty() { "no role".to_owned() } else { visible(&role.role) };
    let shelves = [
        (BoardState::InProgress, "in progress", &role.in_progress, "●"),
        (BoardState::Ready, "ready", &role.ready, "○"),
        (BoardState::Blocked, "blocked", &role.blocked, "·"),
    ];
    let mut rows = Vec::new();
    for (state, name, cells, mark) in shelves {
        let cells = cells.as_deref().unwrap_or_default();
        rows.extend(cells.iter().map(|task| cell(task, mark, state)));
        let more = count(state) - i64::try_from(cells.len()).unwrap_or(i64::MAX);
        if more > 0 {
            rows.push(vec![mark.to_owned(), format!("and {more} more {name}")]);
        }
    }
    let tasks: String = render::table(&rows).lines().map(|line| format!("  {line}\n")).collect();
    format!("{name}: {}\n{tasks}", counts.join(" · "))
}

fn cell(task: &BoardCell, mark: &str, state: BoardState) -> Vec<String> {
    let tried = if task.attempts > 0 { format!("tried {}×", task.attempts) } else { String::new() };
    let who = match (state, or_empty(task.assignee.as_deref())) {
        (_, name) if name.is_empty() => String::new(),
        (BoardState::InProgress, name) => format!("with {name}"),
        (_, name) => format!("for {name}"),
    };
    vec![
        mark.to_owned(),
        visible(&task.id),
        format!("P{}", task.priority),
        visible(&task.title),
        [who, tried, or_empty(task.why.as_deref())]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", "),
    ]
}

pub(super) fn stats(answer: &ops::StatsOutput) -> String {
    let rows = figures(&answer.summary).map(|(name, figure)| vec![name.to_owned(), figure]);
    render::table(&rows)
}

/// How many tasks stand where, by name.
fn figures(figures: &ops::TaskFigures) -> [(&'static str, String); 10] {
    [
        ("total issues", figures.total_issues.to_string()),
        ("open issues", figures.open_issues.to_string()),
        ("in progress issues", figures.in_progress_issues.to_string()),
        ("closed issues", figures.closed_issues.to_string()),
        ("blocked issues", figures.blocked_issues.to_string()),
        ("deferred issues", figures.deferred_issues.to_string()),
        ("ready issues", figures.ready_issues.to_string()),
        ("pinned issues", figures.pinned_issues.to_string()),
        ("epics eligible for closure", figures.epics_eligible_for_closure.to_string()),
        // With its point, as in JSON.
        ("average lead time hours", format!("{:?}", figures.average_lead_time_hours)),
    ]
}

pub(crate) fn tree(rows: &[ops::TreeRow]) -> String {
    let line = |row: &ops::TreeRow| {
        let kind = row.dependency_type.as_deref().map(|kind| format!("{} ", visible(kind)));
        let state = if row.missing { "missing".to_owned() } else { or_empty(row.status.as_deref()) };
        let seen = if row.seen { " (see above)" } else { "" };
        let (indent, kind) = ("  ".repeat(row.depth), kind.unwrap_or_default());
        format!("{indent}{kind}{} {state} {}{seen}\n", visible(&row.id), or_empty(row.title.as_deref()))
    };
    rows.iter().map(line).collect()
}

pub(crate) fn cycles(found: &[Vec<String>]) -> String {
    match found {
        [] => "no circles\n".to_owned(),
        found => found.iter().map(|cycle| format!("{}\n", joined(cycle, " → "))).collect(),
    }
}
