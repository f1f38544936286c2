//! Circles that two ledgers close through one file: each gave one of two tasks up for the other, or made one a part of the other. Neither
//! ledger could refuse its half, and a merge keeps both; a complaint names the circle and the command that opens it.

use baton_model::id::visible;
use baton_model::task::Task;
use baton_model::task::record::{Record, kind_of};
use baton_store::{Failure, Tx, task};
use task::dependency;

use super::beads_file::Complaint;
use super::cycle::{self, is_replacement};
use super::readiness::line_of;

/// How many circles of one import are named.
const MAX_CIRCLES: usize = 20;
/// The type of the dependency of a part on its whole.
const PART: &str = "parent-child";
/// The status of a deleted task.
const DELETED: &str = "tombstone";

/// Lines whose tasks give way to others, are parts of others, or are deleted.
#[derive(Default)]
pub(super) struct LinkedLines(Vec<(usize, String)>);

impl LinkedLines {
    /// Notes a line that has changed its task, or is new.
    pub(super) fn note(&mut self, number: usize, record: &Record) {
        let mut kinds = record.dependencies.iter().map(kind_of);
        if record.task.status == DELETED || kinds.any(|kind| is_replacement(kind) || kind == PART) {
            self.0.push((number, record.task.task_id.clone()));
        }
    }

    /// The complaints about what is a circle once every line was read; each circle is named once.
    pub(super) fn complaints(self, tx: &mut Tx<'_>, project: &str) -> Result<Vec<Complaint>, Failure> {
        let mut found: Vec<(NamedCircle, usize)> = Vec::new();
        for (line, id) in self.0 {
            if found.len() == MAX_CIRCLES {
                break;
            }
            let Some(task) = task::get(tx, project, &id)? else { continue };
            let named = match task.status.as_str() {
                DELETED => gave_way_to_deleted(tx, &task)?,
                _ => [replacement(tx, &task)?, parts(tx, &task)?].into_iter().flatten().collect(),
            };
            for mut circle in named {
                circle.members.sort_unstable();
                let is_same = |(known, _): &(NamedCircle, usize)| {
                    known.link == circle.link && known.members == circle.members
                };
                if !found.iter().any(is_same) {
                    found.push((circle, line));
                }
            }
        }
        let complaint = |(NamedCircle { text, .. }, line): (NamedCircle, usize)| Complaint {
            line,
            path: String::new(),
            text,
            unreadable: false,
        };
        Ok(found.into_iter().map(complaint).collect())
    }
}

/// What goes round in a circle.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Link {
    Replacement,
    Part,
}

/// A circle, and the sentence about it.
struct NamedCircle {
    link: Link,
    members: Vec<String>,
    text: String,
}

/// A closed task that gave way to one that gave way to it, or to one that is deleted: the work is in no list.
fn replacement(tx: &mut Tx<'_>, task: &Task) -> Result<Option<NamedCircle>, Failure> {
    let id = &task.task_id;
    if task.is_open() || task.status == DELETED {
        return Ok(None);
    }
    if let Some(line) = cycle::replaced_by_itself(tx, &task.project_id, id)? {
        let text = format!(
            "each of these gave way to the next, and none is open: {}; open the one that is to stay: `baton task reopen {}`",
            visible(&line.join(" → ")),
            visible(id)
        );
        let members = line.get(1..).unwrap_or_default().to_vec();
        return Ok(Some(NamedCircle { link: Link::Replacement, members, text }));
    }
    for edge in dependency::dependencies_of(tx, &task.project_id, id)? {
        let on = &edge.depends_on_id;
        if is_replacement(&edge.kind)
            && task::get(tx, &task.project_id, on)?.is_some_and(|other| other.status == DELETED)
        {
            return Ok(Some(deleted(id, on)));
        }
    }
    Ok(None)
}

/// The closed tasks that gave way to a deleted one.
fn gave_way_to_deleted(tx: &mut Tx<'_>, task: &Task) -> Result<Vec<NamedCircle>, Failure> {
    let mut found = Vec::new();
    for edge in dependency::dependents_of(tx, &task.project_id, &task.task_id)? {
        let is_closed = |one: &Task| one.status == "closed";
        if is_replacement(&edge.kind)
            && task::get(tx, &task.project_id, &edge.task_id)?.as_ref().is_some_and(is_closed)
        {
            found.push(deleted(&edge.task_id, &task.task_id));
        }
    }
    Ok(found)
}

fn deleted(id: &str, on: &str) -> NamedCircle {
    let (id, on) = (visible(id), visible(on));
    let text = format!("{id} gave way to {on}, which is deleted: `baton task reopen {id}` opens it again");
    NamedCircle { link: Link::Replacement, members: vec![id.to_string(), on.to_string()], text }
}

/// A task that is a part of itself by way of others.
fn parts(tx: &mut Tx<'_>, task: &Task) -> Result<Option<NamedCircle>, Failure> {
    let line = line_of(tx, &task.project_id, &task.task_id)?;
    let top = match line.last() {
        Some(last) => task::get(tx, &task.project_id, last)?.and_then(|last| last.parent_id),
        None => None,
    };
    if top.as_deref() != Some(task.task_id.as_str()) {
        return Ok(None);
    }
    let text = format!(
        "each of these is a part of the next: {} → {}; take one out of it: `baton task update {} --parent \"\"`",
        visible(&line.join(" → ")),
        visible(&task.task_id),
        visible(&task.task_id)
    );
    Ok(Some(NamedCircle { link: Link::Part, members: line, text }))
}
