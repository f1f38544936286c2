//! Dependencies of an issue.

use std::collections::BTreeMap;

use baton_model::id::visible;
use baton_model::lossless_json;
use baton_model::refusal::Refusal;
use baton_model::task::view::View;
use baton_ops::task::{self as tasks, BatchResult, DependencyChange, LinkedTask};
use serde::{Deserialize, Serialize};

use super::annotate::show_task;
use super::args::Dep;
use super::list::{Selection, lines};
use super::{Out, batch, graph, shape};
use crate::cli::{read_input, task};
use crate::error::AppError;

/// A dependency that was added or removed.
#[derive(Serialize)]
struct Link {
    status: DependencyChange,
    issue_id: String,
    depends_on_id: String,
    #[serde(rename = "type")]
    kind: String,
}

/// A dependency in a line of JSON.
#[derive(Deserialize)]
struct Edge {
    #[serde(alias = "issue_id")]
    from: String,
    #[serde(alias = "depends_on_id")]
    to: String,
    #[serde(rename = "type", default = "blocks")]
    kind: String,
}

/// An issue at the other end of a dependency; of several issues that are asked about, with both ends.
#[derive(Serialize)]
struct ListedLink {
    #[serde(flatten)]
    other: LinkedTask,
    #[serde(skip_serializing_if = "Option::is_none")]
    issue_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depends_on_id: Option<String>,
}

/// So many dependencies, in words.
pub(super) fn dependencies(count: usize) -> String {
    format!("{count} {}", if count == 1 { "dependency" } else { "dependencies" })
}

impl Link {
    /// What a step came to.
    fn new(edge: Edge, done: BatchResult) -> Self {
        let known = Self::unchanged(edge);
        let status = done.dependency.unwrap_or(known.status);
        let depends_on_id = done.depends_on_id.unwrap_or(known.depends_on_id);
        Self { status, issue_id: done.id, depends_on_id, kind: known.kind }
    }

    fn unchanged(edge: Edge) -> Self {
        let status = DependencyChange::Unchanged;
        Self { status, issue_id: edge.from, depends_on_id: edge.to, kind: edge.kind }
    }
}

/// The usual type of a dependency.
pub(super) fn blocks() -> String {
    "blocks".to_owned()
}

pub(super) fn dep(
    verb: Option<Dep>,
    id: Option<String>,
    blocked: Option<String>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    match verb {
        Some(Dep::Add { file: Some(path), .. }) => add_from_file(&path, out),
        Some(Dep::Add { id, on, blocked_by, depends_on, kind, .. }) => {
            let on = on.or(blocked_by).or(depends_on).unwrap_or_default();
            link(&id.unwrap_or_default(), &on, &kind, out)
        }
        Some(Dep::Remove { id, on }) => {
            let found = show_task(&id, out)?.dependencies;
            let kind = found.iter().find(|other| shape::linked_id(other) == on);
            let kind = kind.map_or_else(blocks, |other| other.dependency_type.clone());
            let removed = depend(&id, &on, &kind, true, out)?;
            print_link(&removed, "Removed", out)
        }
        Some(Dep::Tree { id, direction, reverse, max_depth, status, format, .. }) => {
            let direction = if reverse { "up" } else { direction.as_str() };
            tree(&id, direction, max_depth, (status, format.is_some()), out)
        }
        Some(Dep::List { ids, direction, kind }) => list(&ids, direction == "up", kind.as_deref(), out),
        Some(Dep::Relate { id, other }) => relate(&id, &other, out),
        Some(Dep::Unrelate { id, other }) => unrelate(&id, &other, out),
        Some(Dep::Cycles) => {
            let found = out.app.run::<tasks::Cycles>(&tasks::CyclesInput { project: out.project() })?;
            out.print(&found.items, |cycles| task::cycles(cycles))
        }
        None => match (id, blocked) {
            (Some(id), Some(blocked)) => link(&blocked, &id, "blocks", out),
            _ => {
                let hint = "bd dep add ID ON, or bd dep ID --blocks ID";
                Err(Refusal::invalid("usage", "what is to be done?", hint).into())
            }
        },
    }
}

fn depend(id: &str, on: &str, kind: &str, remove: bool, out: &mut Out<'_>) -> Result<Link, AppError> {
    let (project, identity) = (out.project(), out.identity());
    let (id, on, kind) = (id.to_owned(), on.to_owned(), kind.to_owned());
    let input =
        tasks::DependInput { project, identity, id, on, kind, remove, ..tasks::DependInput::default() };
    let done = out.app.run::<tasks::Depend>(&input)?;
    let (issue_id, depends_on_id) = (done.issue_id, done.depends_on_id);
    Ok(Link { status: done.status, issue_id, depends_on_id, kind: done.kind })
}

fn print_link(link: &Link, word: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    out.print(link, |link| {
        format!("✓ {word} dependency: {} → {}\n", visible(&link.issue_id), visible(&link.depends_on_id))
    })
}

/// What there is to say of a dependency on what another repository is to publish: nothing here would notice that.
pub(super) fn external_refusal(on: &str, kind: &str) -> Option<Refusal> {
    let holds_back =
        matches!(kind, "blocks" | "blocked-by" | "conditional-blocks" | "waits-for" | "parent-child");
    (on.starts_with("external:") && holds_back).then(|| {
        let what = format!("`{}` is of another repository, and nothing here notices when it is shipped", visible(on));
        let hint = "use instead: `bd gate create --blocks ID --reason TEXT` holds the issue back until `bd gate resolve`; \
             `baton handoff create` asks the other repository for it and tells you its end";
        Refusal::invalid("not_supported", what, hint)
    })
}

/// `bd link`, `bd dep add`.
pub(super) fn link(id: &str, on: &str, kind: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let added = depend(id, on, kind, false, out)?;
    print_link(&added, "Added", out)
}

/// Links two issues in both directions.
pub(super) fn relate(id: &str, other: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let link = both_ways(id, other, false, out)?;
    print_link(&link, "Added", out)
}

/// Links two issues in both directions, or takes both links away; the link of the first.
fn both_ways(id: &str, other: &str, remove: bool, out: &mut Out<'_>) -> Result<Link, AppError> {
    let kind = "relates-to";
    let mut ways = vec![(other, id), (id, other)];
    if remove {
        // The link may stand on one side only.
        let stands = [is_linked(other, id, out)?, is_linked(id, other, out)?];
        if stands.contains(&true) {
            let mut stands = stands.into_iter();
            ways.retain(|_| stands.next() == Some(true));
        }
    }
    let steps = ways.into_iter().map(|(from, to)| batch::depend(from, to, kind, remove)).collect();
    let done = batch::carry_out(steps, |_| String::new(), out)?;
    let edge = Edge { from: id.to_owned(), to: other.to_owned(), kind: kind.to_owned() };
    Ok(match done.into_iter().next_back() {
        Some(done) => Link::new(edge, done),
        None => Link::unchanged(edge),
    })
}

/// Whether an issue has a link to another that holds nothing back.
fn is_linked(id: &str, to: &str, out: &mut Out<'_>) -> Result<bool, AppError> {
    let to = show_task(to, out)?.task.id;
    let mut links = show_task(id, out)?.dependencies.into_iter();
    Ok(links.any(|other| {
        shape::linked_id(&other) == to && matches!(other.dependency_type.as_str(), "relates-to" | "related")
    }))
}

pub(super) fn unrelate(id: &str, other: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let removed = both_ways(id, other, true, out)?;
    print_link(&removed, "Removed", out)
}

/// Adds dependencies from lines of JSON, all of them or none.
fn add_from_file(path: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let text = read_input(path)?;
    let (mut edges, mut numbers) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let edge: Edge = lossless_json::read(line.as_bytes()).map_err(|error| {
            let what = format!("line {} is no dependency: {error}", number + 1);
            let hint = "write {\"from\": \"ID\", \"to\": \"ID\", \"type\": \"blocks\"}";
            Refusal::invalid("json_invalid", what, hint)
        })?;
        if let Some(refusal) = external_refusal(&edge.to, &edge.kind) {
            let message = format!("line {}: {}; nothing was written", number + 1, refusal.message);
            return Err(Refusal { message, ..refusal }.into());
        }
        edges.push(edge);
        numbers.push(number + 1);
    }
    let steps = edges.iter().map(|edge| batch::depend(&edge.from, &edge.to, &edge.kind, false)).collect();
    let place = |at: usize| numbers.get(at).map(|number| format!("line {number}")).unwrap_or_default();
    let done = batch::carry_out(steps, place, out)?;
    let added: Vec<Link> = edges.into_iter().zip(done).map(|(edge, done)| Link::new(edge, done)).collect();
    out.print(&added, |all| format!("✓ Added {}\n", dependencies(all.len())))
}

fn list(ids: &[String], up: bool, kind: Option<&str>, out: &mut Out<'_>) -> Result<(), AppError> {
    let mut records: Vec<ListedLink> = Vec::new();
    for id in ids {
        let found = show_task(id, out)?;
        let own = found.task.id;
        let others = if up { found.dependents } else { found.dependencies };
        let wanted = others.into_iter().filter(|other| kind.is_none_or(|kind| other.dependency_type == kind));
        records.extend(wanted.map(|other| {
            let (own, other_id) = (own.clone(), shape::linked_id(&other).to_owned());
            let ends = if up { [other_id, own.clone()] } else { [own.clone(), other_id] };
            let ends = Some(ends).filter(|_| ids.len() > 1);
            let [issue_id, depends_on_id] = ends.map_or([None, None], |ends| ends.map(Some));
            ListedLink { issue_id, depends_on_id, other: shape::linked(other) }
        }));
    }
    out.print(&records, |records| {
        let line = |record: &ListedLink| {
            let line = shape::linked_line(&record.other);
            let of = if up { &record.depends_on_id } else { &record.issue_id };
            of.as_ref().map_or(line.clone(), |of| format!("{}: {line}", visible(of)))
        };
        lines(records.iter().map(line))
    })
}

fn tree(
    id: &str,
    direction: &str,
    max_depth: Option<usize>,
    (status, as_mermaid): (Option<String>, bool),
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let ways: &[bool] = match direction {
        "both" => &[true, false],
        "up" => &[true],
        _ => &[false],
    };
    let mut rows = Vec::new();
    for up in ways {
        let usual = tasks::TreeInput::default();
        let depth = max_depth.unwrap_or(usual.depth);
        let input = tasks::TreeInput { project: out.project(), id: id.to_owned(), up: *up, depth };
        rows.extend(out.app.run::<tasks::Tree>(&input)?.items);
    }
    if let Some(status) = status {
        rows.retain(|row| row.depth == 0 || row.status.as_ref() == Some(&status));
    }
    if as_mermaid {
        return out.text(&graph::mermaid(&rows));
    }
    let nodes = tree_nodes(&rows, max_depth, out)?;
    out.print(&nodes, |_| task::tree(&rows))
}

/// An issue of a tree of dependencies.
#[derive(Serialize)]
struct TreeNode {
    #[serde(flatten)]
    issue: View,
    depth: usize,
    /// The issue above it; empty at the root.
    parent_id: String,
    /// Whether what lies below it is not shown.
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    dependency_type: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    missing: bool,
    /// It came before in the tree.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    seen: bool,
}

/// The rows of a tree as whole issues, as Beads has them; an issue that is not there has an id only.
fn tree_nodes(
    rows: &[tasks::TreeRow],
    max_depth: Option<usize>,
    out: &mut Out<'_>,
) -> Result<Vec<TreeNode>, AppError> {
    if !out.json {
        return Ok(Vec::new());
    }
    let (issues, _) = Selection::all(out).find(out)?;
    let issues: BTreeMap<String, View> =
        issues.into_iter().map(|row| (row.task.id.clone(), shape::issue(row.task))).collect();
    let mut above: Vec<&str> = Vec::new();
    let mut nodes = Vec::with_capacity(rows.len());
    for row in rows {
        above.truncate(row.depth);
        let parent_id = above.last().map(|id| (*id).to_owned()).unwrap_or_default();
        above.push(&row.id);
        let unknown = || View { id: row.id.clone(), ..View::default() };
        nodes.push(TreeNode {
            issue: issues.get(&row.id).cloned().unwrap_or_else(unknown),
            depth: row.depth,
            parent_id,
            truncated: max_depth.is_some_and(|most| row.depth >= most),
            dependency_type: row.dependency_type.clone(),
            missing: row.missing,
            seen: row.seen,
        });
    }
    Ok(nodes)
}
