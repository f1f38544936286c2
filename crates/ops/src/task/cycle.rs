//! Dependencies that would go round in a circle are refused, and the circle is shown.
//!
//! A task waits for what holds it back, and for what its ancestors wait for outside of themselves. So a part that waits
//! for something that waits for the whole is a circle too.

use std::collections::{BTreeMap, VecDeque};

use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, Tx, task};
use serde_json::json;
use task::dependency;

use super::readiness::{is_within, line_of};

/// Refuses a dependency of `from` on `on` when `on` waits for `from` already, or for a part of it.
pub(super) fn check(tx: &mut Tx<'_>, project: &str, from: &str, on: &str) -> Result<(), Failure> {
    if from == on {
        return Err(cycle_refusal(&[from.to_owned(), on.to_owned()]).into());
    }
    let inner = is_within(tx, project, on, from)?;
    if let Some(mut path) = path(tx, project, on, from, !inner)? {
        path.insert(0, from.to_owned());
        return Err(cycle_refusal(&path).into());
    }
    Ok(())
}

/// Refuses to make a task a part of another that is a part of it, or whose blockers wait for it.
pub(super) fn check_parent(tx: &mut Tx<'_>, project: &str, child: &str, parent: &str) -> Result<(), Failure> {
    let mut line = line_of(tx, project, parent)?;
    if let Some(at) = line.iter().position(|ancestor| ancestor == child) {
        line.truncate(at + 1);
        line.insert(0, child.to_owned());
        return Err(cycle_refusal(&line).into());
    }
    for ancestor in line {
        for edge in dependency::dependencies_of(tx, project, &ancestor)?
            .into_iter()
            .filter(|edge| edge.gate.is_some())
        {
            let on = &edge.depends_on_id;
            if is_within(tx, project, on, &ancestor)? || is_within(tx, project, on, child)? {
                continue;
            }
            if let Some(mut path) = path(tx, project, on, child, true)? {
                path.splice(0..0, [child.to_owned(), ancestor]);
                return Err(cycle_refusal(&path).into());
            }
        }
    }
    Ok(())
}

/// Refuses that a task gives way to one that is closed because it gave way to this one: the work would be in no list any more.
pub(super) fn check_replacement(tx: &mut Tx<'_>, project: &str, from: &str, on: &str) -> Result<(), Failure> {
    match replaced_by(tx, project, on, from)? {
        Some(mut line) => {
            line.insert(0, from.to_owned());
            Err(given_way_refusal(&line).into())
        }
        None => Ok(()),
    }
}

/// The way from a closed task back to itself along those to which each gave way, all of them closed.
pub(super) fn replaced_by_itself(
    tx: &mut Tx<'_>,
    project: &str,
    id: &str,
) -> Result<Option<Vec<String>>, Failure> {
    replaced_by(tx, project, id, id)
}

/// The way from a closed task to another along those to which each gave way, all of them closed.
fn replaced_by(tx: &mut Tx<'_>, project: &str, from: &str, to: &str) -> Result<Option<Vec<String>>, Failure> {
    let mut line = vec![from.to_owned()];
    while let Some(last) = line.last().cloned() {
        if task::get(tx, project, &last)?.is_none_or(|task| task.is_open()) {
            return Ok(None);
        }
        let edges = dependency::dependencies_of(tx, project, &last)?;
        let gave_way = edges.into_iter().find(|edge| {
            let on = &edge.depends_on_id;
            is_replacement(&edge.kind) && (on == to || !line.contains(on))
        });
        let Some(edge) = gave_way else { return Ok(None) };
        line.push(edge.depends_on_id);
        if line.last().is_some_and(|id| id == to) {
            return Ok(Some(line));
        }
    }
    Ok(None)
}

/// Whether a task gives way by a dependency of this type.
pub(super) fn is_replacement(kind: &str) -> bool {
    matches!(kind, "duplicates" | "supersedes")
}

fn given_way_refusal(line: &[String]) -> Refusal {
    let [from, on, ..] = line else { return cycle_refusal(line) };
    Refusal::new(
        Kind::Refused,
        "dependency_cycle",
        format!("{on} is closed because it gave way to {from} itself: {}", line.join(" → ")),
        format!("open the one that is to stay first: `baton task reopen {on}`"),
    )
    .with("cycle", json!(line))
}

fn cycle_refusal(path: &[String]) -> Refusal {
    Refusal::new(
        Kind::Refused,
        "dependency_cycle",
        format!("that would go round in a circle: {}", path.join(" → ")),
        "take one of these dependencies away with `baton task dep remove`, or leave this one out",
    )
    .with("cycle", json!(path))
}

/// The way from one task along what it waits for to another (or, if parts count, to a part of it).
fn path(
    tx: &mut Tx<'_>,
    project: &str,
    from: &str,
    to: &str,
    parts: bool,
) -> Result<Option<Vec<String>>, Failure> {
    let mut previous: BTreeMap<String, String> = BTreeMap::new();
    let mut queue = VecDeque::from([from.to_owned()]);
    while let Some(id) = queue.pop_front() {
        if id == to || (parts && is_within(tx, project, &id, to)?) {
            return Ok(Some(way(&previous, from, id)));
        }
        for next in waits_for(tx, project, &id)? {
            if next != from && !previous.contains_key(&next) {
                previous.insert(next.clone(), id.clone());
                queue.push_back(next);
            }
        }
    }
    Ok(None)
}

fn way(previous: &BTreeMap<String, String>, from: &str, to: String) -> Vec<String> {
    let mut way = vec![to];
    while let Some(last) = way.last()
        && last != from
        && let Some(before) = previous.get(last)
    {
        way.push(before.clone());
    }
    way.reverse();
    way
}

/// What a task cannot begin before: its own gates, and those that its ancestors pass on.
fn waits_for(tx: &mut Tx<'_>, project: &str, id: &str) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for (depth, one) in line_of(tx, project, id)?.into_iter().enumerate() {
        for edge in dependency::dependencies_of(tx, project, &one)? {
            let Some(gate) = edge.gate else { continue };
            if depth > 0 && is_within(tx, project, &edge.depends_on_id, &one)? {
                continue;
            }
            if gate.is_of_children() {
                found
                    .extend(task::children(tx, project, &edge.depends_on_id)?.into_iter().map(|c| c.task_id));
            } else {
                found.push(edge.depends_on_id);
            }
        }
    }
    Ok(found)
}
