//! `bd duplicates`: issues with the same content.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::id::visible;
use baton_ops::task::Row;
use serde::Serialize;

use super::args::{Arrangement, Filters};
use super::list::Selection;
use super::{Out, replace};
use crate::error::AppError;

/// One of several issues with the same content.
#[derive(Serialize)]
struct Duplicate {
    id: String,
    title: String,
    status: String,
    priority: i64,
    /// How many issues depend on it, its parts among them.
    dependents: i64,
    /// How many issues it depends on.
    dependencies: usize,
    /// How often the texts of other issues mention it.
    references: i64,
    weight: i64,
    is_merge_target: bool,
}

/// Issues with the same content.
#[derive(Serialize)]
struct Group {
    title: String,
    issues: Vec<Duplicate>,
    suggested_target: String,
    suggested_sources: Vec<String>,
    suggested_action: String,
    note: String,
}

#[derive(Serialize)]
struct Duplicates {
    duplicate_groups: usize,
    groups: Vec<Group>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge_commands: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merge_results: Option<Vec<MergeResult>>,
}

/// A group of which all but one were closed.
#[derive(Serialize)]
struct MergeResult {
    target: String,
    sources: Vec<String>,
    closed: Vec<String>,
    /// Those that now refer to the one that stays.
    linked: Vec<String>,
    /// Parts of them that are parts of the one that stays now.
    reparented: Vec<String>,
    /// Why one was not closed.
    errors: Vec<String>,
}

impl Group {
    fn text(&self) -> String {
        let issue = |issue: &Duplicate| {
            let mark = if issue.is_merge_target { "→" } else { " " };
            let (id, status) = (visible(&issue.id), visible(&issue.status));
            format!("  {mark} {id} ({status}, P{}, weight {})\n", issue.priority, issue.weight)
        };
        let issues: String = self.issues.iter().map(issue).collect();
        format!("{}:\n{issues}  {}\n", visible(&self.title), visible(&self.note))
    }
}

impl MergeResult {
    fn text(&self) -> String {
        let closed = self
            .closed
            .iter()
            .map(|id| format!("✓ Closed {} as a duplicate of {}\n", visible(id), visible(&self.target)));
        let parts = (!self.reparented.is_empty()).then(|| {
            format!("  parts of {} now: {}\n", visible(&self.target), visible(&self.reparented.join(", ")))
        });
        closed.chain(parts).chain(self.errors.iter().map(|error| format!("✗ {}\n", visible(error)))).collect()
    }
}

impl Duplicates {
    fn text(&self, args: Merge) -> String {
        if self.groups.is_empty() {
            return "No issues have the same content.\n".to_owned();
        }
        let groups: String = self.groups.iter().map(Group::text).collect();
        let end = match &self.merge_results {
            Some(merged) => merged.iter().map(MergeResult::text).collect(),
            None if args.auto_merge => "Nothing was closed: this is what --auto-merge would do.\n".to_owned(),
            None => "`bd duplicates --auto-merge` closes all but the one with the arrow.\n".to_owned(),
        };
        format!("{groups}{end}")
    }
}

/// What is done about duplicates.
#[derive(Clone, Copy)]
pub(super) struct Merge {
    pub auto_merge: bool,
    pub dry_run: bool,
}

pub(super) fn duplicates(args: Merge, out: &mut Out<'_>) -> Result<(), AppError> {
    let groups = groups(out)?;
    let merged = match args.auto_merge && !args.dry_run {
        true => groups.iter().map(|group| merge(group, out)).collect::<Result<_, _>>()?,
        false => Vec::new(),
    };
    let has_failed = merged.iter().any(|merged: &MergeResult| !merged.errors.is_empty());
    let commands = groups.iter().map(|group| group.suggested_action.clone()).collect();
    let answer = Duplicates {
        duplicate_groups: groups.len(),
        merge_commands: Some(commands).filter(|_| args.auto_merge || args.dry_run),
        merge_results: Some(merged).filter(|_| args.auto_merge && !args.dry_run),
        groups,
    };
    out.print(&answer, |all| all.text(args))?;
    if has_failed { Err(AppError::Reported) } else { Ok(()) }
}

/// Closes all issues of a group but the one that stays. One that is refused is named, and does not keep the others from it.
fn merge(group: &Group, out: &mut Out<'_>) -> Result<MergeResult, AppError> {
    let (mut closed, mut errors, mut reparented) = (Vec::new(), Vec::new(), Vec::new());
    for id in &group.suggested_sources {
        match replace::close_duplicate(id, &group.suggested_target, out) {
            Ok(moves) => {
                closed.push(id.clone());
                reparented.extend(moves.parts);
            }
            Err(AppError::Refused(refusal)) => errors.push(format!("{id}: {}", refusal.message)),
            Err(error) => return Err(error),
        }
    }
    let (target, sources) = (group.suggested_target.clone(), group.suggested_sources.clone());
    Ok(MergeResult { target, sources, linked: closed.clone(), closed, reparented, errors })
}

/// Open issues with the same title, texts and status; the one with the most connections stays, and one that is
/// claimed before one that is not.
fn groups(out: &mut Out<'_>) -> Result<Vec<Group>, AppError> {
    let filters = Filters { limit: Some(0), ..Filters::default() };
    let (issues, _) = Selection::new(filters, Arrangement::default(), out)?.find(out)?;
    let titles: BTreeSet<&str> = issues.iter().map(|row| row.task.title.as_str()).collect();
    let texts: Vec<Texts> = match titles.len() < issues.len() {
        true => Selection::all(out).find(out)?.0.iter().map(Texts::of).collect(),
        false => Vec::new(),
    };
    let mut groups: BTreeMap<[String; 5], Vec<Row>> = BTreeMap::new();
    for row in issues {
        let other = |key: &str| row.task.other_text(key).unwrap_or_default();
        let (design, criteria) = (other("design"), other("acceptance_criteria"));
        // An issue in progress is no duplicate of an open one.
        let status = row.task.status.clone();
        let key = [row.task.title.clone(), row.task.description.clone(), design, criteria, status];
        groups.entry(key).or_default().push(row);
    }
    Ok(groups
        .into_iter()
        .filter(|(_, issues)| issues.len() > 1)
        .map(|([title, ..], rows)| group(title, rows, &texts))
        .collect())
}

/// What an issue says, by its id.
struct Texts {
    id: String,
    text: String,
}

impl Texts {
    fn of(row: &Row) -> Self {
        let others = ["notes", "design", "acceptance_criteria"].map(|key| row.task.other_text(key));
        let own = [&row.task.title, &row.task.description].into_iter().cloned();
        let text = own.chain(others.into_iter().flatten()).collect::<Vec<String>>().join("\n");
        Self { id: row.task.id.clone(), text }
    }

    /// How often the text mentions an id: `a-1` is not in `a-12` or `a-1.1`.
    fn mentions(&self, id: &str) -> usize {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
        let found = self.text.match_indices(id).filter(|(at, _)| {
            let mut after = self.text[at + id.len()..].chars();
            let ends = match after.next() {
                Some('.') => !after.next().is_some_and(char::is_alphanumeric),
                next => !next.is_some_and(is_part),
            };
            ends && !self.text[..*at].chars().next_back().is_some_and(|c| is_part(c) || c == '.')
        });
        found.count()
    }
}

fn group(title: String, rows: Vec<Row>, texts: &[Texts]) -> Group {
    let duplicate = |row: Row| {
        let (dependents, dependencies) =
            (row.dependent_count.unwrap_or(0), row.dependency_count.unwrap_or(0));
        let others = texts.iter().filter(|other| other.id != row.task.id);
        let references: usize = others.map(|other| other.mentions(&row.task.id)).sum();
        let references = i64::try_from(references).unwrap_or(i64::MAX);
        let weight = dependents * 3 + i64::try_from(dependencies).unwrap_or(i64::MAX) + references;
        let (id, title, status, priority) = (row.task.id, row.task.title, row.task.status, row.task.priority);
        let is_merge_target = false;
        Duplicate {
            id,
            title,
            status,
            priority,
            dependents,
            dependencies,
            references,
            weight,
            is_merge_target,
        }
    };
    let claimed: BTreeSet<String> =
        rows.iter().filter(|row| row.task.claim.is_some()).map(|row| row.task.id.clone()).collect();
    let mut issues: Vec<Duplicate> = rows.into_iter().map(duplicate).collect();
    issues.sort_by_key(|issue| {
        (!claimed.contains(&issue.id), std::cmp::Reverse(issue.weight), issue.id.clone())
    });
    if let Some(first) = issues.first_mut() {
        first.is_merge_target = true;
    }
    let mut ids = issues.iter().map(|issue| issue.id.clone());
    let target = ids.next().unwrap_or_default();
    let sources: Vec<String> = ids.collect();
    let actions = sources.iter().map(|id| format!("bd duplicate {id} --of {target}"));
    Group {
        title,
        suggested_action: actions.collect::<Vec<_>>().join(" && "),
        note: format!("Duplicate: {} (same content as {target})", sources.join(" ")),
        suggested_sources: sources,
        suggested_target: target,
        issues,
    }
}

/// How many groups of issues have the same content.
pub(super) fn count(out: &mut Out<'_>) -> Result<usize, AppError> {
    Ok(groups(out)?.len())
}
