//! Tasks: write down, list, claim, change, close, and what follows from that.

mod answer;
mod assign;
mod assignee;
mod batch;
mod beads_circles;
mod beads_export;
mod beads_file;
mod beads_import;
mod beads_memory;
mod beads_merge;
mod beads_published;
mod beads_renames;
mod beads_rows;
mod blocked;
mod board;
mod claim;
mod claim_elsewhere;
mod claim_expiry;
mod claim_filter;
mod claim_right;
mod close;
mod comment;
mod create;
mod cycle;
mod cycles;
mod deferral_end;
mod delete;
mod depend;
mod early_closes;
mod figures;
mod follow_up;
mod increment;
mod json_line;
mod line_facts;
mod line_guard;
mod lines;
mod list;
mod merged_claims;
mod older_lines;
mod readiness;
mod ready;
mod release;
mod rename;
mod reopen;
mod route;
mod route_plan;
mod route_row;
mod route_step;
mod secret;
mod show;
mod stats;
mod surroundings;
mod tree;
mod untimed_lines;
mod update;
mod write;

use baton_model::moment::{Direction, parse_moment};
use baton_model::refusal::{self, Refusal};
use baton_model::task::{self as model, Task};
use baton_store::{Failure, Tx, task};

use crate::op::Env;
use crate::resolve;
pub use answer::{ClaimedTask, LinkTarget, LinkedTask, TaskAnswer};
pub use batch::{Batch, BatchInput, BatchOutput, BatchResult, BatchStep};
pub use beads_export::{BeadsExport, BeadsExportInput, BeadsExportOutput, ExportLine};
pub use beads_file::Complaint;
pub use beads_import::{
    BeadsImport, BeadsImportInput, BeadsImportOutput, EmptiedText, ImportRequest, import_lines,
};
pub use beads_memory::{
    BeadsFileMemory, BeadsMemory, BeadsMemoryInput, BeadsMemoryOutput, memory as beads_file_memory,
};
pub use beads_published::{BeadsPublished, BeadsPublishedInput, BeadsPublishedOutput, Published};
pub(crate) use beads_renames::successor;
pub use blocked::{Blocked, BlockedInput, BlockedOutput, BlockedRow};
pub use board::{Board, BoardCell, BoardInput, BoardOutput, BoardRow, BoardState};
pub use claim::{ClaimTask, ClaimTaskInput, ClaimTaskOutput};
pub(crate) use claim_elsewhere::{begun_in_file, holder_elsewhere};
pub(crate) use claim_expiry::{is_claim_live, release_claims, with_expiry_applied};
pub use close::{Close, CloseInput, CloseOutput, CloseResult, FollowUp};
pub use comment::{Comment, CommentInput, CommentOutput};
pub use create::{Create, CreateInput, CreateOutput};
pub(crate) use create::{add, insert};
pub use cycles::{Cycles, CyclesInput, CyclesOutput};
pub use delete::{Delete, DeleteInput, DeleteOutput};
pub use depend::{Depend, DependInput, DependOutput, DependencyChange, RemovedDependency};
pub use increment::{CreateIncrementInput, Increment, IncrementOutput};
pub use lines::Lines;
pub use list::{List, ListInput, ListOutput, Row};
pub(crate) use merged_claims::{free_unbegun, require_unclaimed, require_unclaimed_in_file};
pub use ready::{Ready, ReadyInput, ReadyOutput};
pub use release::{Release, ReleaseInput, ReleaseOutput};
pub use rename::{Rename, RenameInput, RenameOutput};
pub use reopen::{Reopen, ReopenInput, ReopenOutput};
pub use route::{Route, RouteInput, RouteOutput};
pub use route_row::{Assignment, BlockedTask, RoutedTask, WaitState, WaitingTask};
pub use show::{Show, ShowInput, ShowOutput};
pub use stats::{Stats, StatsInput, StatsOutput, TaskFigures};
pub use tree::{Tree, TreeInput, TreeOutput, TreeRow};
pub use update::{Update, UpdateInput, UpdateOutput};
pub(crate) use write::{require_unheld, update_without_delta};

/// The task named by an id, a unique prefix of one, or the part of an id after the project's name.
pub(crate) fn by_id(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<Task, Failure> {
    if let Some(task) = task::get(tx, project_id, id)? {
        return Ok(task);
    }
    if let Some(task) = task::get(tx, project_id, &format!("{}-{id}", prefix(project_id)))? {
        return Ok(task);
    }
    let usable = !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let mut ids = if usable { beginning_with(tx, project_id, id)? } else { Vec::new() };
    if usable && ids.is_empty() {
        ids = beginning_with(tx, project_id, &format!("{}-{id}", prefix(project_id)))?;
    }
    // Its parts begin with the id of the whole.
    let whole =
        ids.iter().find(|one| ids.iter().all(|other| other == *one || other.starts_with(&format!("{one}."))));
    let found = match (whole.cloned(), ids.is_empty()) {
        (Some(one), _) => task::get(tx, project_id, &one)?,
        (None, true) => None,
        (None, false) => return Err(resolve::ambiguous_id_refusal("task", id, &ids).into()),
    };
    found.ok_or_else(|| unknown_refusal(project_id, id).into())
}

/// Ids that begin with a text. `shop-1` is no beginning of `shop-12`: that is another task's number.
fn beginning_with(tx: &mut Tx<'_>, project_id: &str, text: &str) -> Result<Vec<String>, Failure> {
    let mut ids = task::by_prefix(tx, project_id, text)?;
    let ends_in_number = text.rsplit(['-', '.']).next().is_some_and(is_number);
    let goes_on = |id: &String| id.strip_prefix(text)?.split(['-', '.']).next().map(is_number);
    ids.retain(|id| !(ends_in_number && goes_on(id) == Some(true)));
    Ok(ids)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit())
}

/// The task that is to be changed, commented on or claimed, or on which another is to depend: not one that was deleted.
pub(crate) fn by_id_to_change(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<Task, Failure> {
    let found = by_id(tx, project_id, id)?;
    if found.status != "tombstone" {
        return Ok(found);
    }
    if let Some(refusal) = rename::renamed(&found) {
        return Err(refusal.into());
    }
    let message = format!("task {} was deleted", found.task_id);
    let hint = "a deleted task stays deleted: write down a new one with `baton task create`";
    Err(Refusal::new(refusal::Kind::Conflict, "task_deleted", message, hint)
        .with("task_id", found.task_id)
        .into())
}

/// The refusal for a task that is not there.
fn unknown_refusal(project_id: &str, id: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::NotFound,
        "task_unknown",
        format!("project {project_id} has no task `{}`", baton_model::id::visible(id)),
        "`baton task list` names them",
    )
}

/// What the ids of a project's tasks begin with.
fn prefix(project_id: &str) -> String {
    project_id.chars().take(24).collect()
}

/// A deadline, as people write it.
fn instant(what: &'static str, text: &str, now: i64) -> Result<i64, Refusal> {
    parse_moment(text, now, Direction::Ahead).ok_or_else(|| {
        Refusal::invalid(
            "time_invalid",
            format!("`{}` is not a time for {what}", baton_model::id::visible(text)),
            "write 2026-11-20, 2026-11-20T10:00:00Z, a span from now such as 3d (at most 3650d), tomorrow, or next monday",
        )
    })
}

/// How many: what was asked for, 0 for all, else the usual number.
fn at_most(limit: Option<i64>, usual: usize) -> usize {
    match limit {
        None => usual,
        Some(0) => usize::MAX,
        Some(n) => usize::try_from(n).unwrap_or(usize::MAX),
    }
}

/// So many rows are in memory at once before they are tasks.
const LARGE_PAGE: i64 = 2000;

/// The tasks of a list that a filter takes, from `after` on, and whether there are more.
fn collect(
    tx: &mut Tx<'_>,
    project_id: &str,
    env: &Env<'_>,
    (shelf, filter): (task::TaskList, &model::filter::Filter),
    (after, limit): (usize, usize),
) -> Result<(Vec<Task>, bool), Failure> {
    let wanted = after.saturating_add(limit).saturating_add(1);
    let page = match (filter.is_open(), shelf) {
        // There is an index for each list but that of all tasks, of which every page would sort all.
        (true, task::TaskList::All | task::TaskList::Wholes) => i64::try_from(wanted).unwrap_or(i64::MAX),
        (true, _) => i64::try_from(wanted).unwrap_or(i64::MAX).min(LARGE_PAGE),
        (false, _) => 500,
    };
    let (mut found, mut skipped, mut last): (Vec<Task>, usize, Option<Task>) = (Vec::new(), 0, None);
    loop {
        let tasks = task::page(tx, project_id, shelf, last.as_ref(), page)?;
        let full = i64::try_from(tasks.len()).unwrap_or(i64::MAX) == page;
        last = tasks.last().cloned();
        for task in tasks {
            let task = with_expiry_applied(tx, env, task)?;
            if !filter.takes(&task) {
                continue;
            }
            if skipped < after {
                skipped += 1;
            } else if found.len() == limit {
                return Ok((found, true));
            } else {
                found.push(task);
            }
        }
        if !full {
            return Ok((found, false));
        }
    }
}
