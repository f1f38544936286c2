//! Dependencies as graphs.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::task::{self as tasks, Row, TreeRow};
use serde::Serialize;

use super::annotate::shown;
use super::list::{Selection, lines};
use super::{Out, shape};
use crate::error::AppError;

/// What `bd graph` shows.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub all: bool,
    pub dot: bool,
    pub open: bool,
}

/// Edges that a graph shows: the issue, what it depends on, and the type.
fn edges(issues: &[Row]) -> Vec<(&str, &str, &str)> {
    issues
        .iter()
        .flat_map(|row| row.dependencies.iter().map(move |edge| (row, edge)))
        .filter_map(|(row, edge)| {
            let on = edge.get("depends_on_id")?.as_str()?;
            let kind = edge.get("type").and_then(serde_json::Value::as_str).unwrap_or("blocks");
            Some((row.task.id.as_str(), on, kind))
        })
        .collect()
}

/// Graphviz: an arrow leads from what has to be done first.
pub(super) fn dot(issues: &[Row]) -> String {
    let node = |row: &Row| {
        let label = quoted(&format!("{}: {}", row.task.id, row.task.title));
        format!("  {} [label={label}];\n", quoted(&row.task.id))
    };
    let nodes: String = issues.iter().map(node).collect();
    let edges: String = edges(issues)
        .into_iter()
        .map(|(issue, on, kind)| {
            let style = if kind == "blocks" {
                String::new()
            } else {
                format!(" [style=dashed label={}]", quoted(kind))
            };
            format!("  {} -> {}{style};\n", quoted(on), quoted(issue))
        })
        .collect();
    format!("digraph issues {{\n  rankdir=LR;\n  node [shape=box];\n{nodes}{edges}}}\n")
}

/// Lines that `digraph` reads: an issue and what it depends on.
pub(super) fn digraph(issues: &[Row]) -> String {
    edges(issues).into_iter().map(|(issue, on, _)| format!("{} {}\n", visible(issue), visible(on))).collect()
}

/// A Mermaid flowchart of a tree of dependencies.
pub(super) fn mermaid(rows: &[TreeRow]) -> String {
    let mut text = String::from("flowchart TD\n");
    let mut above: Vec<&str> = Vec::new();
    let mut named = BTreeSet::new();
    for row in rows {
        if named.insert(&row.id) {
            let label = format!("{}: {}", row.id, row.title.as_deref().unwrap_or("(missing)"));
            text.push_str(&format!("  {}[{}]\n", node(&row.id), quoted(&label)));
        }
        above.truncate(row.depth);
        if let Some(parent) = above.last() {
            text.push_str(&format!("  {} --> {}\n", node(parent), node(&row.id)));
        }
        above.push(&row.id);
    }
    text
}

fn node(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(text).replace('\\', "\\\\").replace('"', "'"))
}

/// Issues by how many steps lie before them.
#[derive(Serialize)]
pub(super) struct Layers {
    pub layers: Vec<Vec<tasks::Row>>,
}

impl Layers {
    /// Sorts issues into layers: each stands behind everything that it waits for and that is among them.
    pub(super) fn of(issues: Vec<Row>) -> Self {
        let mut waits: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let listed: BTreeSet<String> = issues.iter().map(|row| row.task.id.clone()).collect();
        for (issue, on, kind) in edges(&issues) {
            if ["blocks", "conditional-blocks", "waits-for"].contains(&kind) && listed.contains(on) {
                waits.entry(issue.to_owned()).or_default().insert(on.to_owned());
            }
        }
        let (mut layers, mut rest, mut done) = (Vec::new(), issues, BTreeSet::new());
        while !rest.is_empty() {
            let is_free = |row: &Row| {
                waits.get(&row.task.id).is_none_or(|needed| needed.iter().all(|id| done.contains(id)))
            };
            let (layer, later): (Vec<Row>, Vec<Row>) = rest.into_iter().partition(is_free);
            if layer.is_empty() {
                // What is left stands in a circle.
                layers.push(later);
                break;
            }
            done.extend(layer.iter().map(|row| row.task.id.clone()));
            layers.push(layer);
            rest = later;
        }
        let layers = layers
            .into_iter()
            .map(|layer| layer.into_iter().map(|row| Row { task: shape::issue(row.task), ..row }).collect());
        Self { layers: layers.collect() }
    }

    /// The layers for people.
    pub(super) fn text(&self) -> String {
        let layer = |(number, layer): (usize, &Vec<Row>)| {
            let issues: String = layer.iter().map(|row| format!("  {}", shape::line(&row.task))).collect();
            format!("Layer {number}:\n{issues}")
        };
        lines(self.layers.iter().enumerate().map(layer))
    }
}

/// What a check of the graph found.
#[derive(Serialize)]
struct Checked {
    cycles: Vec<Vec<String>>,
    missing: Vec<MissingTarget>,
}

/// A dependency on an issue that is not there.
#[derive(Serialize)]
struct MissingTarget {
    issue_id: String,
    depends_on_id: String,
}

pub(super) fn graph(id: Option<String>, look: Look, out: &mut Out<'_>) -> Result<(), AppError> {
    let issues = match id.as_deref() {
        Some("check") => return check(out),
        Some(id) => around(id, out)?,
        None if look.all => {
            let selection = Selection::all(out);
            let ledger = tasks::ListInput { all: false, ..selection.ledger };
            Selection { ledger, ..selection }.find(out)?.0
        }
        None => {
            let what = "an issue is needed";
            return Err(Refusal::invalid("usage", what, "bd graph ID, or bd graph --all").into());
        }
    };
    let is_open = |row: &Row| !["closed", "deferred", "tombstone"].contains(&row.task.status.as_str());
    let issues: Vec<Row> = issues.into_iter().filter(|row| !look.open || is_open(row)).collect();
    if look.dot {
        return out.text(&dot(&issues));
    }
    out.print(&Layers::of(issues), Layers::text)
}

/// An issue with its parts and what it is linked with.
fn around(id: &str, out: &mut Out<'_>) -> Result<Vec<Row>, AppError> {
    let found = shown(id, out)?;
    let linked =
        found.dependencies.iter().chain(&found.dependents).map(|other| shape::linked_id(other).to_owned());
    let mut ids: BTreeSet<String> = linked.collect();
    let parent = found.task.id;
    ids.insert(parent.clone());
    let (mut issues, _) = Selection::all(out).find(out)?;
    issues.retain(|row| ids.contains(&row.task.id) || row.task.parent.as_ref() == Some(&parent));
    Ok(issues)
}

fn check(out: &mut Out<'_>) -> Result<(), AppError> {
    let cycles = out.app.run::<tasks::Cycles>(&tasks::CyclesInput { project: out.project() })?.items;
    let (issues, _) = Selection::all(out).find(out)?;
    let known: BTreeSet<&str> = issues.iter().map(|row| row.task.id.as_str()).collect();
    let missing: Vec<MissingTarget> = edges(&issues)
        .into_iter()
        .filter(|(_, on, _)| !known.contains(on) && !on.starts_with("external:"))
        .map(|(issue, on, _)| MissingTarget { issue_id: issue.to_owned(), depends_on_id: on.to_owned() })
        .collect();
    let faults = cycles.len() + missing.len();
    out.print(&Checked { cycles, missing }, |found| {
        let cycles = found.cycles.iter().map(|cycle| format!("cycle: {}\n", visible(&cycle.join(" → "))));
        let missing = found.missing.iter().map(|edge| {
            format!(
                "{} depends on {}, which is not there\n",
                visible(&edge.issue_id),
                visible(&edge.depends_on_id)
            )
        });
        let text: String = cycles.chain(missing).collect();
        if text.is_empty() { "The graph is sound.\n".to_owned() } else { text }
    })?;
    if faults == 0 {
        return Ok(());
    }
    let hint = "remove one dependency of each: bd dep remove ID ON";
    Err(Refusal::new(Kind::Refused, "graph_broken", format!("{faults} faults"), hint).into())
}
