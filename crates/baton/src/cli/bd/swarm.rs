//! `bd swarm`: how the parts of an epic can be worked on at the same time.

use baton_model::id::visible;
use baton_ops::task::Row;
use serde::Serialize;

use super::args::SwarmVerb;
use super::blocked::blocked_issues;
use super::graph::Layers;
use super::list::lines;
use super::part::{progress, progress_of, ready_parts};
use super::{Out, shape};
use crate::error::AppError;

/// A part of an epic, as short as Beads has it there.
#[derive(Serialize)]
struct Part {
    id: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignee: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_at: Option<baton_model::time::Timestamp>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocked_by: Vec<String>,
    #[serde(skip)]
    line: String,
}

impl Part {
    fn of(row: Row) -> Self {
        let task = shape::issue(row.task);
        let line = shape::line(&task);
        let (assignee, closed_at) = (task.assignee, task.closed_at);
        Self { id: task.id, title: task.title, assignee, closed_at, blocked_by: Vec::new(), line }
    }
}

/// The parts of an epic by state.
#[derive(Serialize)]
struct SwarmStatus {
    epic_id: String,
    epic_title: String,
    total_issues: usize,
    completed: Vec<Part>,
    active: Vec<Part>,
    ready: Vec<Part>,
    blocked: Vec<Part>,
    progress_percent: f64,
    active_count: usize,
    ready_count: usize,
    blocked_count: usize,
}

/// An epic that is worked on, and how far it is.
#[derive(Serialize)]
struct Swarm {
    id: String,
    title: String,
    epic_id: String,
    epic_title: String,
    status: String,
    total_issues: usize,
    completed_issues: usize,
    progress_percent: f64,
    #[serde(skip)]
    line: String,
}

#[derive(Serialize)]
struct Swarms {
    swarms: Vec<Swarm>,
}

/// Parts that can be worked on at the same time.
#[derive(Serialize)]
struct ReadyFront {
    wave: usize,
    issues: Vec<String>,
    titles: Vec<String>,
}

/// In which order the parts of an epic can be worked on.
#[derive(Serialize)]
struct Analysis {
    epic_id: String,
    epic_title: String,
    total_issues: usize,
    closed_issues: usize,
    ready_fronts: Vec<ReadyFront>,
    max_parallelism: usize,
    estimated_sessions: usize,
    warnings: Vec<String>,
    errors: Vec<String>,
    swarmable: bool,
}

#[allow(clippy::cast_precision_loss, reason = "an epic has few parts")]
pub(super) fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64) * 100.0 / (whole as f64) }
}

pub(super) fn swarm(verb: SwarmVerb, out: &mut Out<'_>) -> Result<(), AppError> {
    match verb {
        SwarmVerb::List => {
            let swarms = progress(true, out)?.into_iter().map(|found| Swarm {
                line: found.line(),
                progress_percent: percent(found.closed_children, found.total_children),
                total_issues: found.total_children,
                completed_issues: found.closed_children,
                id: found.epic.id.clone(),
                title: found.epic.title.clone(),
                epic_id: found.epic.id,
                epic_title: found.epic.title,
                status: found.epic.status,
            });
            out.print(&Swarms { swarms: swarms.collect() }, |all| {
                lines(all.swarms.iter().map(|swarm| swarm.line.clone()))
            })
        }
        SwarmVerb::Status { id } => status(&id, out),
        SwarmVerb::Validate { id } => validate(&id, out),
    }
}

fn validate(id: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let (progress, mut parts) = progress_of(id, out)?;
    parts.retain(|part| part.task.status != "closed");
    let open = parts.len();
    let layers = Layers::of(parts);
    let errors: Vec<String> = match layers.has_cycle {
        true => vec!["its last parts depend on each other: `bd dep cycles` names them".to_owned()],
        false => Vec::new(),
    };
    let front = |(wave, layer): (usize, &Vec<Row>)| ReadyFront {
        wave,
        issues: layer.iter().map(|row| row.task.id.clone()).collect(),
        titles: layer.iter().map(|row| row.task.title.clone()).collect(),
    };
    let ready_fronts: Vec<ReadyFront> = layers.layers.iter().enumerate().map(front).collect();
    let warnings =
        if progress.total_children == 0 { vec!["the epic has no parts".to_owned()] } else { vec![] };
    let analysis = Analysis {
        epic_id: progress.epic.id,
        epic_title: progress.epic.title,
        total_issues: progress.total_children,
        closed_issues: progress.closed_children,
        max_parallelism: ready_fronts.iter().map(|front| front.issues.len()).max().unwrap_or_default(),
        ready_fronts,
        estimated_sessions: open,
        warnings,
        swarmable: errors.is_empty(),
        errors,
    };
    out.print(&analysis, |found| {
        let remarks = found.errors.iter().chain(&found.warnings).map(|text| format!("{text}\n"));
        layers.text() + &remarks.collect::<String>()
    })
}

fn status(id: &str, out: &mut Out<'_>) -> Result<(), AppError> {
    let (progress, parts) = progress_of(id, out)?;
    let ready = ready_parts(&progress.epic.id, out)?;
    let (waiting, _) = blocked_issues(Some(progress.epic.id.clone()), 0, out)?;
    let total_issues = parts.len();
    let [mut completed, mut active, mut free, mut blocked] = [const { Vec::new() }; 4];
    for row in parts {
        let shelf = match row.task.status.as_str() {
            "closed" => &mut completed,
            "in_progress" | "hooked" => &mut active,
            _ if ready.contains(&row.task.id) => &mut free,
            _ => &mut blocked,
        };
        let mut part = Part::of(row);
        let held = waiting.iter().find(|row| row.task.id == part.id);
        part.blocked_by = held.map(|row| row.blocked_by.clone()).unwrap_or_default();
        shelf.push(part);
    }
    let status = SwarmStatus {
        epic_id: progress.epic.id,
        epic_title: progress.epic.title,
        total_issues,
        progress_percent: percent(completed.len(), total_issues),
        active_count: active.len(),
        ready_count: free.len(),
        blocked_count: blocked.len(),
        completed,
        active,
        ready: free,
        blocked,
    };
    out.print(&status, SwarmStatus::text)
}

impl SwarmStatus {
    fn text(&self) -> String {
        let shelves = [
            ("Completed", &self.completed),
            ("Active", &self.active),
            ("Ready", &self.ready),
            ("Blocked", &self.blocked),
        ];
        let shelf = |(name, parts): &(&str, &Vec<Part>)| {
            let issues: String = parts.iter().map(|part| format!("  {}", part.line)).collect();
            format!("{name}: {}\n{issues}", parts.len())
        };
        let head = format!("{}: {}\n", visible(&self.epic_id), visible(&self.epic_title));
        head + &shelves.iter().map(shelf).collect::<String>()
    }
}
