//! `task_tree`: what a task waits for, and what that waits for.

use std::collections::BTreeSet;

use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use task::dependency;

use super::by_id;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Shows a tree of dependencies.
pub struct Tree;

/// Input of `task_tree`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Task id or a unique prefix of one.
    pub id: String,
    /// What depends on it, in place of what it depends on.
    #[serde(default)]
    pub up: bool,
    /// At most so deep.
    #[serde(default = "deep")]
    pub depth: usize,
}

impl Default for TreeInput {
    fn default() -> Self {
        Self { project: Default::default(), id: Default::default(), up: Default::default(), depth: deep() }
    }
}

fn deep() -> usize {
    50
}

/// A task in a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeRow {
    /// Its id.
    pub id: String,
    /// One line, of a task that is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// 0 (now) to 4 (some day).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
    /// It is not there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// How deep it lies.
    pub depth: usize,
    /// Kind of the dependency that leads to it; none at the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependency_type: Option<String>,
    /// It came before in the tree.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen: bool,
}

/// Answer of `task_tree`: the tasks in the order of the tree, each with its depth; one that came before is `seen`.
#[derive(Serialize, Deserialize)]
pub struct TreeOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<TreeRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for Tree {
    const META: Meta = Meta::read("task_tree", "Show what a task depends on, as a tree").reads_tasks();
    type Input = TreeInput;
    type Output = TreeOutput;

    fn run(input: TreeInput, cx: &mut Cx<'_>) -> Result<TreeOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let items = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let root = by_id(tx, &project_id, &input.id)?.task_id;
            walk(tx, &project_id, root, &input)
        })?;
        Ok(TreeOutput { project_id, items, next: None })
    }
}

fn walk(tx: &mut Tx<'_>, project: &str, root: String, input: &TreeInput) -> Result<Vec<TreeRow>, Failure> {
    let (mut rows, mut seen) = (Vec::new(), BTreeSet::new());
    let mut stack = vec![(root, 0usize, String::new())];
    while let Some((id, depth, kind)) = stack.pop() {
        let fresh = seen.insert(id.clone());
        let found = task::get(tx, project, &id)?;
        let edges = match (fresh && found.is_some() && depth < input.depth, input.up) {
            (false, _) => Vec::new(),
            (true, false) => dependency::dependencies_of(tx, project, &id)?,
            (true, true) => dependency::dependents_of(tx, project, &id)?,
        };
        rows.push(TreeRow {
            id,
            missing: found.is_none(),
            priority: found.as_ref().map(|task| task.priority),
            status: found.as_ref().map(|task| task.status.clone()),
            title: found.map(|task| task.title),
            depth,
            dependency_type: Some(kind).filter(|kind| !kind.is_empty()),
            seen: !fresh,
        });
        for edge in edges.into_iter().rev() {
            stack.push((if input.up { edge.task_id } else { edge.depends_on_id }, depth + 1, edge.kind));
        }
    }
    Ok(rows)
}
