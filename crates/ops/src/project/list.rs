//! `project_list`: every registered project.

use baton_model::project::View;
use baton_store::{Failure, project, project_root};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::isolation;
use crate::op::{Cx, Meta, Operation};

/// Lists projects.
pub struct List;

/// Input of `project_list`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {}

/// A registered project.
#[derive(Serialize, Deserialize)]
pub struct Row {
    /// The project.
    #[serde(flatten)]
    pub project: View,
    /// Its folders on the caller's machine.
    pub roots: Vec<String>,
}

/// Answer of `project_list`: registrations, each with its folders on the caller's machine. Of an isolated project there is no
/// phase, focus, webhook or last wrap outside of it, nor of others inside.
#[derive(Serialize, Deserialize)]
pub struct ListOutput {
    /// The project.
    pub project_id: Option<String>,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for List {
    const META: Meta = Meta::read("project_list", "List the registered projects");
    type Input = ListInput;
    type Output = ListOutput;

    fn run(_: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        let caller = cx.env.caller;
        let inside = isolation::isolated_project(cx)?;
        let items = cx.store.read(|tx| {
            let mut items = Vec::new();
            for project in project::list(tx)? {
                if caller.grant.reaches(&project.project_id) {
                    let is_own = inside.as_ref() == Some(&project.project_id);
                    let is_outline = !is_own && (project.is_isolated || inside.is_some());
                    // A client that reads transcripts for itself tells by the folders whose those are.
                    let is_foreign = caller.grant.bearer.is_some() && !cx.env.host.client_answers();
                    let roots = match is_outline && is_foreign {
                        true => Vec::new(),
                        false => project_root::roots(tx, &project.project_id, &caller.location.machine)?,
                    };
                    let shown = if is_outline { project.outline() } else { project };
                    let shown = isolation::shown_to(&caller.grant, shown);
                    items.push(Row { project: View::from(&shown), roots });
                }
            }
            Ok(items)
        })?;
        Ok(ListOutput { project_id: None, items, next: None })
    }
}
