//! `task_cycles`: circles among dependencies, which only an import can bring: of what waits, of parts, and of closed tasks of which each
//! gave way to the next.

use std::collections::BTreeMap;

use baton_store::{Failure, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use task::dependency;

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Looks for circles.
pub struct Cycles;

/// Input of `task_cycles`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CyclesInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
}

/// Answer of `task_cycles`: each circle as the ids along it.
#[derive(Serialize, Deserialize)]
pub struct CyclesOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Vec<String>>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for Cycles {
    const META: Meta =
        Meta::read("task_cycles", "Look for dependencies that go round in a circle").reads_tasks();
    type Input = CyclesInput;
    type Output = CyclesOutput;

    fn run(input: CyclesInput, cx: &mut Cx<'_>) -> Result<CyclesOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let edges = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            Ok([
                dependency::gates(tx, &project_id)?,
                dependency::part_pairs(tx, &project_id)?,
                dependency::closed_replacements(tx, &project_id)?,
            ])
        })?;
        let items = edges.into_iter().flat_map(circles).collect();
        Ok(CyclesOutput { project_id, items, next: None })
    }
}

/// One circle for each edge that leads back to where the search has come through.
fn circles(edges: Vec<(String, String)>) -> Vec<Vec<String>> {
    let mut next: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (from, on) in edges {
        next.entry(from).or_default().push(on);
    }
    let mut done: BTreeMap<&str, bool> = BTreeMap::new();
    let mut found = Vec::new();
    for start in next.keys() {
        // Each frame: a task, and how many of its edges were followed.
        let mut path: Vec<(&str, usize)> =
            if done.contains_key(start.as_str()) { vec![] } else { vec![(start, 0)] };
        while let Some((id, at)) = path.last_mut() {
            let (id, edge) = (*id, next.get(*id).and_then(|edges| edges.get(*at)));
            *at += 1;
            done.entry(id).or_insert(false);
            match edge {
                None => {
                    done.insert(id, true);
                    path.pop();
                }
                Some(on) => match done.get(on.as_str()) {
                    None => path.push((on, 0)),
                    Some(false) => {
                        let from = path.iter().position(|(one, _)| one == on).unwrap_or(0);
                        found.push(path[from..].iter().map(|(one, _)| (*one).to_owned()).collect());
                    }
                    Some(true) => {}
                },
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_once_and_nothing_else_is() {
        let edges =
            |text: &str| text.split(' ').map(|e| (e[..1].to_owned(), e[1..].to_owned())).collect::<Vec<_>>();
        assert_eq!(circles(edges("ab bc ac cd")), Vec::<Vec<String>>::new());
        assert_eq!(circles(edges("ab bc ca cd")), [["a", "b", "c"]]);
        assert_eq!(circles(edges("ab ba cd dc ee")).len(), 3);
    }
}
