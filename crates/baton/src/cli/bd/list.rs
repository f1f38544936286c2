//! Lists of issues.

use baton_model::refusal::Refusal;
use baton_ops::task::{self as tasks, Row};

use super::args::{Arrangement, Filters, MoreFilters};
use super::blocked::Blockers;
use super::select::{self, Condition};
use super::{Out, graph, shape};
use crate::cli::task;
use crate::error::AppError;

/// How many issues a list shows when nothing is said.
const USUAL: u32 = 50;

/// How many of those that can be worked on are shown when nothing is said.
const USUAL_READY: u32 = 100;

/// What is asked of the ledger, and what is looked at here.
pub(super) struct Selection {
    /// The filters that the ledger knows.
    pub ledger: tasks::ListInput,
    /// Those that it does not know.
    pub conditions: Vec<Condition>,
    /// Order and look.
    pub look: Arrangement,
    /// At most so many; 0 for all.
    pub limit: Option<u32>,
}

impl Selection {
    /// The issues that these filters take.
    pub(super) fn new(filters: Filters, look: Arrangement, out: &Out<'_>) -> Result<Self, Refusal> {
        let conditions = select::filtered(&filters)?;
        let by_name = filters.assignee.as_deref().is_none_or(|name| super::identity(name) == name);
        let ledger = tasks::ListInput {
            project: out.project(),
            assignee: filters.assignee.filter(|_| by_name),
            priority: filters.priority.first().copied().filter(|_| filters.priority.len() == 1),
            issue_type: filters.issue_type,
            labels: filters.labels,
            any_label: filters.label_any,
            agent_role: filters.agent_role,
            tags: filters.tags,
            parent: filters.parent,
            edges: true,
            ..tasks::ListInput::default()
        };
        Ok(Self { ledger, conditions, look, limit: filters.limit })
    }

    /// All issues.
    pub(super) fn all(out: &Out<'_>) -> Self {
        let ledger = tasks::ListInput {
            project: out.project(),
            all: true,
            edges: true,
            ..tasks::ListInput::default()
        };
        Self { ledger, conditions: Vec::new(), look: Arrangement::default(), limit: Some(0) }
    }

    /// Every open issue.
    pub(super) fn all_open(out: &Out<'_>) -> Self {
        let every = Self::all(out);
        let ledger = tasks::ListInput { all: false, ..every.ledger };
        Self { ledger, ..every }
    }

    /// With these conditions as well.
    pub(super) fn and(mut self, conditions: impl IntoIterator<Item = Condition>) -> Self {
        self.conditions.extend(conditions);
        self
    }

    /// With one of these statuses; `all` stands for every one.
    pub(super) fn with_status(mut self, status: Option<String>) -> Self {
        match status.as_deref() {
            Some("all") => self.ledger.all = true,
            _ => self.ledger.status = status,
        }
        self
    }

    /// With one of these statuses; the open ones where none is named.
    pub(super) fn with_status_or_open(mut self, status: Option<String>) -> Self {
        self.ledger.all = false;
        self.with_status(status)
    }

    fn is_plain(&self) -> bool {
        self.conditions.is_empty() && self.look.sort.is_none() && !self.look.reverse
    }

    /// The issues, and whether there are more than the limit.
    pub(super) fn find(mut self, out: &mut Out<'_>) -> Result<(Vec<Row>, bool), AppError> {
        let plain = self.is_plain();
        self.ledger.limit = if plain { self.limit.map(i64::from) } else { Some(0) };
        let found = out.app.run::<tasks::List>(&self.ledger)?;
        let more = found.next.is_some();
        Ok(self.pick(found.items, more, USUAL))
    }

    /// Of these issues those that the conditions take, in order, and whether there are more.
    fn pick(&self, mut items: Vec<Row>, more: bool, usual: u32) -> (Vec<Row>, bool) {
        if self.is_plain() {
            return (items, more);
        }
        items.retain(|row| self.conditions.iter().all(|condition| condition.holds(&row.task)));
        select::sort(&mut items, self.look.sort, self.look.reverse, crate::clock::now());
        let limit = match self.limit.unwrap_or(usual) {
            0 => usize::MAX,
            limit => usize::try_from(limit).unwrap_or(usize::MAX),
        };
        let more = items.len() > limit;
        items.truncate(limit);
        (items, more)
    }

    /// Finds the issues and prints them.
    pub(super) fn print(mut self, out: &mut Out<'_>) -> Result<(), AppError> {
        // A line for people shows none of them.
        self.ledger.edges = out.json;
        let look = self.look.clone();
        let (items, more) = self.find(out)?;
        print(items, more, &look, out)
    }
}

/// Prints issues as a bare array, or as text; a remark on standard error says when there are more.
pub(super) fn print(
    items: Vec<Row>,
    more: bool,
    look: &Arrangement,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let blockers = if out.json || out.quiet { Blockers::default() } else { Blockers::of(&items, out)? };
    let issues: Vec<Row> = items.into_iter().map(|row| Row { task: shape::issue(row.task), ..row }).collect();
    if look.long && !out.json && !issues.is_empty() {
        for row in &issues {
            let found = super::annotate::show_task(&row.task.id, out)?;
            out.text(&task::details(&shape::details(found)))?;
        }
    } else if look.tree {
        out.print_list(&issues, |issues| shape::tree(issues, &blockers))?;
    } else {
        out.print_list(&issues, |issues| lines(issues.iter().map(|row| blockers.line(&row.task))))?;
    }
    if more {
        out.remark(&format!("{} are shown and there are more: -n 0 shows all", issues.len()));
    }
    Ok(())
}

pub(super) fn lines(lines: impl Iterator<Item = String>) -> String {
    let text: String = lines.collect();
    if text.is_empty() { "No issues found\n".to_owned() } else { text }
}

/// `bd list`.
pub(super) struct List {
    pub filters: Filters,
    pub more: MoreFilters,
    pub look: Arrangement,
    pub status: Option<String>,
    pub all: bool,
    pub ready: bool,
    pub format: Option<String>,
}

pub(super) fn list(args: List, out: &mut Out<'_>) -> Result<(), AppError> {
    let conditions = select::filter_conditions(&args.more)?;
    let has_wisp_type = args.filters.wisp_type.is_some();
    if args.ready {
        let filters = ReadyFilters { unassigned: args.more.no_assignee, ..ReadyFilters::default() };
        return ready(Selection::new(args.filters, args.look, out)?.and(conditions), filters, out);
    }
    // What is put off, or was closed at a time, is not in the usual list.
    let other_types = hidden_types(&args.more, args.filters.issue_type.is_some());
    let times = &args.more.times;
    let closed = times.closed_after.is_some() || times.closed_before.is_some();
    let mut selection =
        Selection::new(args.filters, args.look, out)?.and(conditions).with_status(args.status);
    selection.ledger.all |= args.all || closed;
    selection.ledger.unassigned = args.more.no_assignee;
    selection.ledger.durable = hides_ephemeral(&args.more, has_wisp_type);
    selection.ledger.other_types = other_types;
    let Some(format) = args.format else { return selection.print(out) };
    let (items, _) = selection.find(out)?;
    out.text(&match format.as_str() {
        "dot" => graph::dot(&items),
        _ => graph::digraph(&items),
    })
}

/// Types of issues that are no work, which programs keep there.
const INFRASTRUCTURE: [&str; 4] = ["agent", "message", "rig", "role"];

/// The types that a list leaves out: gates, and what programs keep, unless they are asked for.
fn hidden_types(more: &MoreFilters, has_type: bool) -> Vec<String> {
    if has_type || !more.id.is_empty() {
        return Vec::new();
    }
    let gates = [super::gate::GATE].into_iter().filter(|_| !more.include_gates);
    let infrastructure = INFRASTRUCTURE.into_iter().filter(|_| !more.include_infra);
    gates.chain(infrastructure).map(str::to_owned).collect()
}

/// Whether short-lived issues stay out of a list: they are shown where they are asked for.
pub(super) fn hides_ephemeral(more: &MoreFilters, has_wisp_type: bool) -> bool {
    !more.include_ephemeral && !has_wisp_type && more.id.is_empty()
}

/// What only `bd ready` is filtered by.
#[derive(Default)]
pub(super) struct ReadyFilters {
    pub unassigned: bool,
    pub for_agent: Option<String>,
    /// With those that are put off until later.
    pub deferred: bool,
}

/// Issues that can be worked on.
pub(super) fn ready_issues(
    selection: &Selection,
    filters: ReadyFilters,
    out: &mut Out<'_>,
) -> Result<(Vec<Row>, bool), AppError> {
    let plain = selection.is_plain();
    let ledger = selection.ledger.clone();
    let input = tasks::ReadyInput {
        project: ledger.project,
        assignee: ledger.assignee,
        priority: ledger.priority,
        issue_type: ledger.issue_type,
        labels: ledger.labels,
        any_label: ledger.any_label,
        agent_role: ledger.agent_role,
        tags: ledger.tags,
        parent: ledger.parent,
        edges: ledger.edges,
        limit: if plain { selection.limit.map(i64::from) } else { Some(0) },
        for_agent: filters.for_agent,
        unassigned: filters.unassigned,
        deferred: filters.deferred,
        // The order of `bd` is its own.
        assigned_first: Some(String::new()),
        ..tasks::ReadyInput::default()
    };
    let found = out.app.run::<tasks::Ready>(&input)?;
    Ok(selection.pick(found.items, found.next.is_some(), USUAL_READY))
}

pub(super) fn ready(
    mut selection: Selection,
    filters: ReadyFilters,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    selection.ledger.edges = out.json;
    let look = selection.look.clone();
    let (items, more) = ready_issues(&selection, filters, out)?;
    print(items, more, &look, out)
}

/// Claims the first issue that can be worked on.
pub(super) fn claim_first(
    selection: Selection,
    for_agent: Option<String>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let simple = {
        let ledger = &selection.ledger;
        let others = [&ledger.assignee, &ledger.issue_type, &ledger.parent];
        selection.is_plain()
            && others.iter().all(|field| field.is_none())
            && ledger.priority.is_none()
            && ledger.labels.is_empty()
            && ledger.any_label.is_empty()
    };
    let claimed = if simple {
        let (agent_role, tags) = (selection.ledger.agent_role, selection.ledger.tags);
        let input = tasks::ClaimTaskInput { agent_role, tags, for_agent, ..super::change::claim(None, out) };
        out.app.run::<tasks::ClaimTask>(&input)?.task
    } else {
        first_of(&selection, for_agent, out)?
    };
    let claimed: Vec<tasks::ClaimedTask> = claimed.into_iter().map(shape::claimed).collect();
    out.print(&claimed, |claimed| lines(claimed.iter().map(shape::claimed_line)))
}

/// Claims the first issue of a selection that no other agent takes meanwhile.
fn first_of(
    selection: &Selection,
    for_agent: Option<String>,
    out: &mut Out<'_>,
) -> Result<Option<tasks::ClaimedTask>, AppError> {
    let filters = ReadyFilters { for_agent, ..ReadyFilters::default() };
    for row in ready_issues(selection, filters, out)?.0 {
        match out.app.run::<tasks::ClaimTask>(&super::change::claim(Some(row.task.id), out)) {
            Ok(answer) => return Ok(answer.task),
            Err(AppError::Refused(refusal)) if refusal.code == "task_claimed" => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
