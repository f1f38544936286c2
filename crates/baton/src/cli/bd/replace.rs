//! An issue gives way to another: `bd duplicate`, `bd supersede`, and what hangs on a duplicate.

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::task::record::{kind_of, metadata_of, target_of};
use baton_ops::task::{BatchStep, Row};
use serde::Serialize;
use serde_json::{Map, Value};

use super::annotate::show_task;
use super::list::Selection;
use super::{Out, batch};
use crate::error::AppError;

/// Why an issue gives way to another.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Replacement {
    Duplicate,
    Superseded,
}

/// An issue that gave way to another, in the words of Beads.
#[derive(Serialize)]
#[serde(untagged)]
enum ReplaceOutput {
    Duplicate {
        duplicate: String,
        canonical: String,
        status: &'static str,
        /// The issues whose dependencies now lead to the one that stays.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        moved: Vec<String>,
    },
    Superseded {
        superseded: String,
        replacement: String,
        status: &'static str,
    },
}

impl ReplaceOutput {
    fn text(&self) -> String {
        let (id, what, other, moved) = match self {
            Self::Duplicate { duplicate, canonical, moved, .. } => {
                (duplicate, "a duplicate of", canonical, moved.as_slice())
            }
            Self::Superseded { superseded, replacement, .. } => {
                (superseded, "superseded by", replacement, &[][..])
            }
        };
        let other = visible(other);
        let moved = match moved {
            [] => String::new(),
            moved => format!("  {other} takes over what hung on it: {}\n", visible(&moved.join(", "))),
        };
        format!("✓ Closed {} as {what} {other}\n{moved}", visible(id))
    }
}

/// Closes an issue in favour of another, which has to be there.
pub(super) fn replaced(id: &str, other: &str, how: Replacement, out: &mut Out<'_>) -> Result<(), AppError> {
    let other = show_task(other, out)?.task.id;
    let id = show_task(id, out)?.task.id;
    if id == other {
        let what = "an issue cannot give way to itself";
        return Err(Refusal::new(Kind::Refused, "task_cycle", what, "name the issue that stays").into());
    }
    let replaced = match how {
        Replacement::Duplicate => {
            let moved = close_duplicate(&id, &other, out)?.all();
            ReplaceOutput::Duplicate { duplicate: id, canonical: other, status: "closed", moved }
        }
        Replacement::Superseded => {
            close_for(&id, &other, ("supersedes", format!("superseded by {other}")), Vec::new(), out)?;
            ReplaceOutput::Superseded { superseded: id, replacement: other, status: "closed" }
        }
    };
    out.print(&replaced, ReplaceOutput::text)
}

/// Closes an issue as a duplicate of another, and moves what hangs on it: its parts, what waits for it, and what it waits for.
pub(super) fn close_duplicate(id: &str, of: &str, out: &mut Out<'_>) -> Result<Moves, AppError> {
    let (rows, _) = Selection::all(out).find(out)?;
    let mut moves = Moves::of(id, of, &rows);
    let steps = std::mem::take(&mut moves.steps);
    close_for(id, of, ("duplicates", format!("duplicate of {of}")), steps, out)?;
    Ok(moves)
}

/// The issue that is closed depends on the one that stays, as Beads has it in both cases.
fn close_for(
    id: &str,
    other: &str,
    (kind, reason): (&str, String),
    before: Vec<BatchStep>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let steps = |force| {
        let (id, reason) = (id.to_owned(), Some(reason.clone()));
        let relation = batch::depend(&id, other, kind, false);
        let mut steps = before.clone();
        steps.extend([BatchStep::Close { id, reason, result: None, force }, relation]);
        steps
    };
    // What it still waits for does not matter any more; whose it is does.
    match batch::carry_out(steps(false), |_| String::new(), out) {
        Err(AppError::Refused(refusal)) if refusal.code == "task_blocked" => {
            batch::carry_out(steps(true), |_| String::new(), out).map(drop)
        }
        done => done.map(drop),
    }
}

/// What hangs on a duplicate, and the steps that move it to the issue that stays.
#[derive(Default)]
pub(super) struct Moves {
    /// Parts of the duplicate.
    pub(super) parts: Vec<String>,
    /// Issues that depended on it.
    dependents: Vec<String>,
    steps: Vec<BatchStep>,
}

impl Moves {
    fn of(id: &str, stays: &str, rows: &[Row]) -> Self {
        let mut moves = Self::default();
        for row in rows {
            match row.task.id.as_str() {
                own if own == id => moves.take_over(stays, row, rows),
                other => moves.turn(other, row, id, stays),
            }
        }
        moves
    }

    fn all(self) -> Vec<String> {
        let mut all = self.parts;
        all.extend(self.dependents);
        all.sort();
        all.dedup();
        all
    }

    /// The issue that stays waits for what the duplicate waits for.
    fn take_over(&mut self, stays: &str, duplicate: &Row, rows: &[Row]) {
        let own = rows.iter().find(|row| row.task.id == stays);
        for edge in duplicate.dependencies.iter().filter(|edge| is_moved(kind_of(edge))) {
            let (on, kind) = (target_of(edge), kind_of(edge));
            let is_there = own.is_some_and(|own| has_edge(own, on, kind));
            if on != stays && !is_there && kind != PART {
                self.steps.push(with_metadata(stays, on, edge));
            }
        }
    }

    /// An issue depends on the one that stays in place of the duplicate.
    fn turn(&mut self, id: &str, row: &Row, from: &str, stays: &str) {
        let edges = row.dependencies.iter().filter(|edge| target_of(edge) == from && is_moved(kind_of(edge)));
        for edge in edges {
            let kind = kind_of(edge);
            // The one that stays keeps its place in the other.
            if id == stays && kind == PART {
                continue;
            }
            self.steps.push(batch::depend(id, from, kind, true));
            if id != stays && !has_edge(row, stays, kind) {
                self.steps.push(with_metadata(id, stays, edge));
            }
            let moved = if kind == PART { &mut self.parts } else { &mut self.dependents };
            moved.push(id.to_owned());
        }
        let is_part_by_id = row.task.parent.as_deref() == Some(from)
            && id != stays
            && !row.dependencies.iter().any(|edge| kind_of(edge) == PART);
        if is_part_by_id {
            self.steps.push(batch::depend(id, stays, PART, false));
            self.parts.push(id.to_owned());
        }
    }
}

const PART: &str = "parent-child";

/// Whether a dependency goes over to the issue that stays: what else gave way to the duplicate keeps its own record of that.
fn is_moved(kind: &str) -> bool {
    !matches!(kind, "duplicates" | "supersedes")
}

fn has_edge(row: &Row, on: &str, kind: &str) -> bool {
    row.dependencies.iter().any(|edge| target_of(edge) == on && kind_of(edge) == kind)
}

/// The same dependency between two other issues.
fn with_metadata(id: &str, on: &str, edge: &Map<String, Value>) -> BatchStep {
    let mut step = batch::depend(id, on, kind_of(edge), false);
    let known = match metadata_of(edge) {
        Some(Value::String(text)) => serde_json::from_str(text).ok(),
        Some(Value::Object(fields)) => Some(fields.clone()),
        _ => None,
    };
    if let BatchStep::Depend { metadata, .. } = &mut step {
        *metadata = known.unwrap_or_default();
    }
    step
}
