//! `project_overview`: who is at work and what waits, over all projects, in one answer.

use crate::card::Waiting;
use baton_model::project::LastWrapView;
use baton_model::session::View;
use baton_store::{Failure, project, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::isolation;
use crate::card;
use crate::op::{Cx, Meta, Operation};

/// Shows all projects at a glance.
pub struct Overview;

/// Input of `project_overview`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OverviewInput {
    /// At most so many projects, the last wrapped in first.
    #[serde(default = "default_limit")]
    pub limit: usize,
}

impl Default for OverviewInput {
    fn default() -> Self {
        Self { limit: default_limit() }
    }
}

fn default_limit() -> usize {
    60
}

/// A project at a glance.
#[derive(Serialize, Deserialize)]
pub struct OverviewRow {
    /// The project.
    pub project_id: String,
    /// Whether it is isolated, so that its content is not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_isolated: bool,
    /// Its sessions that were not released.
    pub sessions: Vec<View>,
    /// Batons and hand-offs that wait.
    pub handoffs: Vec<Waiting>,
    /// How many tasks are open.
    pub open_tasks: usize,
    /// The newest wrap.
    pub last_wrap: Option<LastWrapView>,
}

/// Answer of `project_overview`.
#[derive(Serialize, Deserialize)]
pub struct OverviewOutput {
    /// The project.
    pub project_id: Option<String>,
    /// Of each project: its sessions that were not released, what waits, how many tasks are open, the last wrap. Of an
    /// isolated one only that it is there.
    pub items: Vec<OverviewRow>,
    /// How many projects there are.
    pub total: usize,
}

impl Operation for Overview {
    const META: Meta = Meta::read("project_overview", "Show who is at work and what waits in all projects");
    type Input = OverviewInput;
    type Output = OverviewOutput;

    fn run(input: OverviewInput, cx: &mut Cx<'_>) -> Result<OverviewOutput, Failure> {
        let inside = isolation::isolated_project(cx)?;
        let Cx { store, env } = cx;
        store.read(|tx| {
            let mut projects = project::list(tx)?;
            projects.retain(|project| env.caller.grant.reaches(&project.project_id));
            projects.retain(|project| inside.as_ref().is_none_or(|own| *own == project.project_id));
            projects.sort_by_key(|project| std::cmp::Reverse(project.last_wrap.as_ref().map(|last| last.at)));
            let total = projects.len();
            let mut items = Vec::new();
            for project in projects.iter().take(input.limit) {
                if project.is_isolated && inside.is_none() {
                    items.push(outline(project.project_id.clone()));
                    continue;
                }
                let card = card::read(tx, env, &project.project_id)?;
                items.push(OverviewRow {
                    project_id: project.project_id.clone(),
                    is_isolated: false,
                    sessions: card.sessions,
                    handoffs: card.handoffs,
                    open_tasks: task::count_open(tx, &project.project_id)?,
                    last_wrap: project.last_wrap.as_ref().map(LastWrapView::from),
                });
            }
            Ok(OverviewOutput { project_id: None, items, total })
        })
    }
}

fn outline(project_id: String) -> OverviewRow {
    OverviewRow {
        project_id,
        is_isolated: true,
        sessions: Vec::new(),
        handoffs: Vec::new(),
        open_tasks: 0,
        last_wrap: None,
    }
}
