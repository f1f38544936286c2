//! Issues are deleted and renamed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::task as tasks;
use serde::Serialize;

use super::annotate::show_task;
use super::args::Delete;
use super::list::Selection;
use super::{Out, link, shape};
use crate::cli::read_input;
use crate::error::AppError;

/// An issue that is to go, and the open issues that need it.
struct DeletionTarget {
    title: String,
    needed_by: Vec<String>,
    dependencies: usize,
}

/// What a deletion did, or would do.
#[derive(Serialize)]
struct DeletionReport {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    deleted: Vec<String>,
    deleted_count: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    would_delete: Vec<String>,
    dependencies_removed: usize,
    orphaned_issues: Vec<String>,
    dry_run: bool,
    #[serde(skip)]
    lines: String,
}

impl DeletionReport {
    fn text(&self) -> String {
        let links = format!("  {}, removed with the issue\n", link::dependencies(self.dependencies_removed));
        let links = if self.dependencies_removed == 0 { String::new() } else { links };
        let orphaned: String = self
            .orphaned_issues
            .iter()
            .map(|id| format!("  {} stays, without the dependency\n", visible(id)))
            .collect();
        format!("{}{links}{orphaned}", self.lines)
    }
}

pub(super) fn delete(args: &Delete, out: &mut Out<'_>) -> Result<(), AppError> {
    let found = doomed(&requested_ids(args)?, args.cascade, out)?;
    let left: BTreeSet<String> = found
        .values()
        .flat_map(|issue| issue.needed_by.iter())
        .filter(|id| !found.contains_key(*id))
        .cloned()
        .collect();
    let orphaned: Vec<String> = left.into_iter().collect();
    if !orphaned.is_empty() && !args.force {
        let what = format!("{} cannot go: {} depend on it", list(found.keys()), list(orphaned.iter()));
        let hint = "--cascade deletes those as well, --force leaves them without the dependency";
        return Err(Refusal::new(Kind::Refused, "task_needed", what, hint)
            .with("needed_by", orphaned)
            .into());
    }
    if args.dry_run || !args.force {
        return preview(&found, orphaned, args, out);
    }
    let (mut deleted, mut links, mut text) = (Vec::new(), 0, String::new());
    let mut refused = None;
    // What depends on others goes before them.
    for id in found.keys().rev() {
        let input = tasks::DeleteInput {
            project: out.project(),
            identity: out.identity(),
            id: id.clone(),
            reason: args.reason.clone(),
            force: true,
        };
        let done = match out.app.run::<tasks::Delete>(&input) {
            Ok(done) => done,
            // The others go all the same, and are named.
            Err(AppError::Refused(no)) => {
                text.push_str(&format!("✗ Not deleted {}: {}\n", visible(id), visible(&no.message)));
                refused = refused.or(Some(no));
                continue;
            }
            Err(error) => return Err(error),
        };
        links += done.removed_dependencies.len();
        text.push_str(&format!("✓ Deleted {}: {}\n", visible(id), visible(&done.task.view.title)));
        deleted.push(id.clone());
    }
    let done = DeletionReport {
        deleted_count: deleted.len(),
        deleted,
        would_delete: Vec::new(),
        dependencies_removed: links,
        orphaned_issues: orphaned,
        dry_run: false,
        lines: text,
    };
    if done.deleted_count > 0 || refused.is_none() {
        out.print(&done, DeletionReport::text)?;
    }
    refused.map_or(Ok(()), |no| Err(no.into()))
}

/// Issues that may go, and those that stay.
pub(super) struct DeletionPlan {
    /// Nothing needs them but others of them.
    pub(super) free: Vec<String>,
    /// The others, each with what needs it.
    pub(super) needed: BTreeMap<String, String>,
}

/// Which of these issues nothing needs.
pub(super) fn deletion_plan(ids: &[String], out: &mut Out<'_>) -> Result<DeletionPlan, AppError> {
    let mut found = doomed(ids, false, out)?;
    let mut needed = BTreeMap::new();
    loop {
        let needed_by =
            |issue: &DeletionTarget| issue.needed_by.iter().find(|id| !found.contains_key(*id)).cloned();
        let next = found.iter().find_map(|(id, issue)| Some((id.clone(), needed_by(issue)?)));
        let Some((id, by)) = next else { break };
        found.remove(&id);
        needed.insert(id, by);
    }
    Ok(DeletionPlan { free: found.into_keys().collect(), needed })
}

fn list<'a>(ids: impl Iterator<Item = &'a String>) -> String {
    ids.map(|id| visible(id)).collect::<Vec<_>>().join(", ")
}

/// Says what would go; nothing is written.
fn preview(
    found: &BTreeMap<String, DeletionTarget>,
    orphaned_issues: Vec<String>,
    args: &Delete,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let issues: String =
        found.iter().map(|(id, issue)| format!("  {}: {}\n", visible(id), visible(&issue.title))).collect();
    let cascade = if args.cascade { " --cascade" } else { "" };
    let next = match args.dry_run {
        true => "Nothing was deleted.\n".to_owned(),
        false => format!(
            "Nothing was deleted yet. To delete: bd delete {}{cascade} --force\n",
            found.keys().map(|id| visible(id)).collect::<Vec<_>>().join(" ")
        ),
    };
    let shown = DeletionReport {
        deleted: Vec::new(),
        deleted_count: 0,
        would_delete: found.keys().cloned().collect(),
        dependencies_removed: found.values().map(|issue| issue.dependencies).sum(),
        orphaned_issues,
        dry_run: true,
        lines: format!("Would delete:\n{issues}{next}"),
    };
    out.print(&shown, |shown| shown.lines.clone())
}

/// The ids of the command line and of the file.
fn requested_ids(args: &Delete) -> Result<Vec<String>, AppError> {
    let mut ids = args.ids.clone();
    if let Some(path) = &args.from_file {
        let text = read_input(path)?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        ids.extend(lines.map(str::to_owned));
    }
    if ids.is_empty() {
        let hint = "bd delete ID ..., or bd delete --from-file FILE with an id on each line";
        return Err(Refusal::invalid("usage", "no issue is named", hint).into());
    }
    Ok(ids)
}

/// The issues that go, by id; with `cascade` also those that need them.
fn doomed(
    ids: &[String],
    cascade: bool,
    out: &mut Out<'_>,
) -> Result<BTreeMap<String, DeletionTarget>, AppError> {
    let (mut found, mut queue) = (BTreeMap::new(), VecDeque::from(ids.to_vec()));
    while let Some(id) = queue.pop_front() {
        if found.contains_key(&id) {
            continue;
        }
        let issue = show_task(&id, out)?;
        let mut needed_by: BTreeSet<String> = issue
            .dependents
            .iter()
            .filter(|other| !["related", "relates-to"].contains(&other.dependency_type.as_str()))
            .map(|other| shape::linked_id(other).to_owned())
            .collect();
        let mut parts = Selection::all(out);
        parts.ledger.parent = Some(issue.task.id.clone());
        let is_open = |row: &tasks::Row| row.task.status != "closed" && row.task.status != "tombstone";
        let (parts, _) = parts.find(out)?;
        needed_by.extend(parts.iter().filter(|row| is_open(row)).map(|row| row.task.id.clone()));
        let mut open = Vec::new();
        for other in needed_by {
            if cascade || !matches!(show_task(&other, out)?.task.status.as_str(), "closed" | "tombstone") {
                open.push(other);
            }
        }
        if cascade {
            queue.extend(open.iter().cloned());
        }
        let dependencies = issue.dependencies.len() + issue.dependents.len();
        found
            .insert(issue.task.id, DeletionTarget { title: issue.task.title, needed_by: open, dependencies });
    }
    Ok(found)
}

/// What a new id led to.
#[derive(Serialize)]
struct RenameOutput {
    old_id: String,
    new_id: String,
    references_updated: usize,
}

pub(super) fn rename(id: String, to: String, out: &mut Out<'_>) -> Result<(), AppError> {
    let input = tasks::RenameInput { project: out.project(), identity: out.identity(), id, to };
    let done = out.app.run::<tasks::Rename>(&input)?;
    let renamed = RenameOutput {
        old_id: done.renamed_from,
        new_id: done.task.view.id,
        references_updated: done.dependents.iter().chain(&done.mentions).collect::<BTreeSet<_>>().len(),
    };
    out.print(&renamed, |renamed| {
        let dependents = match renamed.references_updated {
            0 => String::new(),
            1 => "  one issue names the new id in its place\n".to_owned(),
            count => format!("  {count} issues name the new id in its place\n"),
        };
        format!("✓ Renamed {} to {}\n{dependents}", visible(&renamed.old_id), visible(&renamed.new_id))
    })
}
