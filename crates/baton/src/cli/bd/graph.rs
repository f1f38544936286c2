//! Dependencies as graphs.

use std::collections::{BTreeMap, BTreeSet};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::task::record::{kind_of, owner_of, target_of};
use baton_model::task::view::View;
use baton_ops::task::{self as tasks, Row, TreeRow};
use serde::Serialize;
use serde_json::{Map, Value};

use super::annotate::show_task;
use super::list::{Selection, lines};
use super::{Out, shape};
use crate::error::AppError;

/// What `bd graph` shows.
#[derive(Clone, Copy)]
pub(super) struct GraphOptions {
    pub all: bool,
    pub dot: bool,
    pub open: bool,
}

/// Edges that a graph shows: the issue, what it depends on, and the type.
fn edges(issues: &[Row]) -> Vec<(&str, &str, &str)> {
    issues
        .iter()
        .flat_map(|row| row.dependencies.iter().map(move |edge| (row, edge)))
        .map(|(row, edge)| (row.task.id.as_str(), target_of(edge), kind_of(edge)))
        .filter(|(_, on, _)| !on.is_empty())
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
pub(super) struct Layers {
    pub layers: Vec<Vec<tasks::Row>>,
    /// Whether the issues of the last layer depend on each other.
    pub has_cycle: bool,
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
        let mut has_cycle = false;
        let (mut layers, mut rest, mut done) = (Vec::new(), issues, BTreeSet::new());
        while !rest.is_empty() {
            let is_free = |row: &Row| {
                waits.get(&row.task.id).is_none_or(|needed| needed.iter().all(|id| done.contains(id)))
            };
            let (layer, later): (Vec<Row>, Vec<Row>) = rest.into_iter().partition(is_free);
            if layer.is_empty() {
                // What is left stands in a circle.
                layers.push(later);
                has_cycle = true;
                break;
            }
            done.extend(layer.iter().map(|row| row.task.id.clone()));
            layers.push(layer);
            rest = later;
        }
        let layers = layers
            .into_iter()
            .map(|layer| layer.into_iter().map(|row| Row { task: shape::issue(row.task), ..row }).collect());
        Self { layers: layers.collect(), has_cycle }
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
struct GraphCheckOutput {
    clean: bool,
    cycles: Vec<Vec<String>>,
    missing: Vec<MissingTarget>,
    summary: CheckSummary,
}

#[derive(Serialize)]
struct CheckSummary {
    cycle_count: usize,
    missing_count: usize,
}

/// A dependency on an issue that is not there.
#[derive(Serialize)]
pub(super) struct MissingTarget {
    issue_id: String,
    depends_on_id: String,
}

pub(super) fn graph(id: Option<String>, look: GraphOptions, out: &mut Out<'_>) -> Result<(), AppError> {
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
    let dependencies = inner_edges(&issues);
    let layers = Layers::of(issues);
    match id {
        Some(id) => {
            let id = show_task(&id, out)?.task.id;
            let graph = Graph::of(&id, &layers, dependencies);
            out.print(&graph, |_| layers.text())
        }
        None => {
            let components = components(&layers, &dependencies);
            out.print(&components, |_| layers.text())
        }
    }
}

/// The dependencies of issues on others that are among them, each as it stands.
fn inner_edges(issues: &[Row]) -> Vec<Map<String, Value>> {
    let listed: BTreeSet<&str> = issues.iter().map(|row| row.task.id.as_str()).collect();
    let all = issues.iter().flat_map(|row| row.dependencies.iter());
    all.filter(|edge| ends(edge).is_some_and(|(_, on)| listed.contains(on))).cloned().collect()
}

/// The issue of a dependency, and what it depends on.
fn ends(edge: &Map<String, Value>) -> Option<(&str, &str)> {
    let ends = (owner_of(edge), target_of(edge));
    (!ends.0.is_empty() && !ends.1.is_empty()).then_some(ends)
}

/// An issue's place in a graph.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Node<'a> {
    issue: &'a View,
    layer: usize,
    position: usize,
    depends_on: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Layout<'a> {
    nodes: BTreeMap<&'a str, Node<'a>>,
    layers: Vec<Vec<&'a str>>,
    max_layer: usize,
    #[serde(rename = "RootID")]
    root_id: &'a str,
}

/// The graph around an issue.
#[derive(Serialize)]
struct Graph<'a> {
    root: Option<&'a View>,
    issues: Vec<&'a View>,
    layout: Layout<'a>,
    dependencies: Vec<Map<String, Value>>,
}

impl<'a> Graph<'a> {
    fn of(id: &str, layers: &'a Layers, dependencies: Vec<Map<String, Value>>) -> Self {
        let mut nodes = BTreeMap::new();
        for (layer, rows) in layers.layers.iter().enumerate() {
            for (position, row) in rows.iter().enumerate() {
                let blocks = dependencies.iter().filter(|edge| kind_of(edge) == "blocks");
                let own = blocks.filter_map(ends).filter(|(issue, _)| *issue == row.task.id);
                let depends_on = own.map(|(_, on)| on.to_owned()).collect();
                nodes.insert(row.task.id.as_str(), Node { issue: &row.task, layer, position, depends_on });
            }
        }
        let issues: Vec<&View> = layers.layers.iter().flatten().map(|row| &row.task).collect();
        let root = issues.iter().copied().find(|issue| issue.id == id);
        let ids = |rows: &'a Vec<Row>| rows.iter().map(|row| row.task.id.as_str()).collect();
        let layout = Layout {
            nodes,
            layers: layers.layers.iter().map(ids).collect(),
            max_layer: layers.layers.len().saturating_sub(1),
            root_id: root.map(|issue| issue.id.as_str()).unwrap_or_default(),
        };
        Self { root, issues, layout, dependencies }
    }
}

/// Issues that hang together.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Component<'a> {
    root: &'a View,
    issues: Vec<&'a View>,
    dependencies: Vec<&'a Map<String, Value>>,
}

/// The issues that hang together, largest first; the root of each is an epic, else the most urgent issue.
fn components<'a>(layers: &'a Layers, edges: &'a [Map<String, Value>]) -> Vec<Component<'a>> {
    let issues: Vec<&View> = layers.layers.iter().flatten().map(|row| &row.task).collect();
    let mut linked: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (issue, on) in edges.iter().filter_map(ends) {
        linked.entry(issue).or_default().push(on);
        linked.entry(on).or_default().push(issue);
    }
    let (mut met, mut found) = (BTreeSet::new(), Vec::new());
    for issue in &issues {
        let mut ids = BTreeSet::new();
        let mut waiting = vec![issue.id.as_str()];
        while let Some(id) = waiting.pop() {
            if met.insert(id) {
                ids.insert(id);
                waiting.extend(linked.get(id).into_iter().flatten());
            }
        }
        let members: Vec<&View> =
            issues.iter().copied().filter(|one| ids.contains(one.id.as_str())).collect();
        let root = members.iter().copied().min_by_key(|one| (one.issue_type != "epic", one.priority));
        let Some(root) = root else { continue };
        let is_inside = |edge: &&Map<String, Value>| ends(edge).is_some_and(|(issue, _)| ids.contains(issue));
        found.push(Component {
            root,
            issues: members,
            dependencies: edges.iter().filter(is_inside).collect(),
        });
    }
    found.sort_by_key(|component| std::cmp::Reverse(component.issues.len()));
    found
}

/// An issue with its parts and what it is linked with.
fn around(id: &str, out: &mut Out<'_>) -> Result<Vec<Row>, AppError> {
    let found = show_task(id, out)?;
    let linked =
        found.dependencies.iter().chain(&found.dependents).map(|other| shape::linked_id(other).to_owned());
    let mut ids: BTreeSet<String> = linked.collect();
    let parent = found.task.id;
    ids.insert(parent.clone());
    let (mut issues, _) = Selection::all(out).find(out)?;
    issues.retain(|row| ids.contains(&row.task.id) || row.task.parent.as_ref() == Some(&parent));
    Ok(issues)
}

/// The dependencies on issues that are not there.
pub(super) fn missing_targets(out: &mut Out<'_>) -> Result<Vec<MissingTarget>, AppError> {
    let (issues, _) = Selection::all(out).find(out)?;
    let known: BTreeSet<&str> = issues.iter().map(|row| row.task.id.as_str()).collect();
    let missing = edges(&issues)
        .into_iter()
        .filter(|(_, on, _)| !known.contains(on) && !on.starts_with("external:"))
        .map(|(issue, on, _)| MissingTarget { issue_id: issue.to_owned(), depends_on_id: on.to_owned() });
    Ok(missing.collect())
}

fn check(out: &mut Out<'_>) -> Result<(), AppError> {
    let cycles = out.app.run::<tasks::Cycles>(&tasks::CyclesInput { project: out.project() })?.items;
    let missing = missing_targets(out)?;
    let faults = cycles.len() + missing.len();
    let summary = CheckSummary { cycle_count: cycles.len(), missing_count: missing.len() };
    out.print(&GraphCheckOutput { clean: faults == 0, cycles, missing, summary }, |found| {
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
