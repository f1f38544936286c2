//! `task_stats`: how many tasks stand where.

use baton_store::{Failure, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use task::count::{self, TaskCount};

use super::figures::{figures, leave_out_ephemeral};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Counts tasks.
pub struct Stats;

/// Input of `task_stats`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatsInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Leave out tasks that are kept for a short time only (`ephemeral`).
    #[serde(default)]
    pub durable: bool,
}

/// How many tasks stand where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct TaskFigures {
    /// All of them.
    pub total_issues: i64,
    /// Open.
    pub open_issues: i64,
    /// In progress.
    pub in_progress_issues: i64,
    /// Closed.
    pub closed_issues: i64,
    /// Held back by others: as many as `task_blocked` lists.
    pub blocked_issues: i64,
    /// Deferred by hand, or until a later time.
    pub deferred_issues: i64,
    /// Ready to be worked on.
    pub ready_issues: i64,
    /// Pinned.
    pub pinned_issues: i64,
    /// Epics whose parts are all closed.
    pub epics_eligible_for_closure: i64,
    /// Hours from creation to closing, in the mean of all closed tasks.
    pub average_lead_time_hours: f64,
}

/// Answer of `task_stats`.
#[derive(Serialize, Deserialize)]
pub struct StatsOutput {
    /// The project.
    pub project_id: String,
    /// How many stand where.
    pub summary: TaskFigures,
}

impl Operation for Stats {
    const META: Meta = Meta::read("task_stats", "Count tasks by where they stand").reads_tasks();
    type Input = StatsInput;
    type Output = StatsOutput;

    fn run(input: StatsInput, cx: &mut Cx<'_>) -> Result<StatsOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        let summary = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let (mut figures, _) = figures(tx, env, &project_id)?;
            if input.durable {
                leave_out_ephemeral(tx, env, &project_id, &mut figures)?;
            }
            let (lead, closed) = count::lead(tx, &project_id)?;
            let epics = count::epics_done(tx, &project_id)?;
            Ok(summary(&figures, hours(lead, closed), epics))
        })?;
        Ok(StatsOutput { project_id, summary })
    }
}

/// The mean in hours, to two places.
fn hours(total: i64, count: i64) -> f64 {
    let minutes = if count > 0 { total / count / 36_000 } else { 0 };
    f64::from(i32::try_from(minutes).unwrap_or(i32::MAX)) / 100.0
}

fn summary(figures: &[TaskCount], lead: f64, epics: i64) -> TaskFigures {
    let sum = |wanted: &dyn Fn(&TaskCount) -> bool| {
        figures.iter().filter(|f| wanted(f)).map(|f| f.count).sum::<i64>()
    };
    let status = |name: &'static str| sum(&move |f: &TaskCount| f.status == name);
    TaskFigures {
        total_issues: sum(&|_| true),
        open_issues: status("open"),
        in_progress_issues: status("in_progress"),
        closed_issues: status("closed"),
        // The rule of `task_blocked`.
        blocked_issues: sum(&|f| f.blocked && f.status != "closed"),
        deferred_issues: sum(&|f| f.status == "deferred" || (f.deferred && f.status == "open")),
        ready_issues: sum(&|f| f.ready && !f.deferred),
        pinned_issues: status("pinned"),
        epics_eligible_for_closure: epics,
        average_lead_time_hours: lead,
    }
}
