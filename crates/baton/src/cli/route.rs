//! `baton route`

use std::time::Duration;

use baton_model::id::visible;
use baton_model::route::{Judgement, Verdict};
use baton_ops::task::{Route, RouteInput, RouteOutput, RoutedTask, WaitState};
use tokio::signal::ctrl_c;

use crate::app::App;
use crate::error::AppError;
use crate::{render, router};

/// Pause between two passes.
const PASS_INTERVAL: Duration = Duration::from_secs(1);

/// Assign ready tasks to the agents that fit best, each with a message
///
/// A task is routed if it asks for a role. The best agent is registered for that role, was heard from recently, has
/// most of the task's tags among its skills, and has the fewest tasks. A running `baton serve` does this on its own.
#[derive(clap::Args)]
pub(super) struct Args {
    /// Task to route; all ready tasks if omitted
    task: Option<String>,
    /// Run one pass (the default)
    #[arg(long, conflicts_with = "watch")]
    once: bool,
    /// Run a pass every second until interrupted
    #[arg(long)]
    watch: bool,
    /// Show how every agent scores, or what rules it out, without changing anything
    #[arg(long, conflicts_with = "watch")]
    explain: bool,
    /// Show what would be done without changing anything
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// Only tasks for this role
    #[arg(long, value_name = "R")]
    role: Option<String>,
    /// Maximum number of assignments per pass; defaults to 100
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    let input = RouteInput {
        project: app.project.clone(),
        id: args.task,
        agent_role: args.role,
        limit: args.limit,
        explain: args.explain,
        dry_run: args.dry_run || args.explain,
        ..router::settings(&app.config.route)
    };
    if !args.watch {
        let pass = app.run::<Route>(&input)?;
        return app.show(&pass, |pass| pass_text(pass, args.explain));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut interrupted = Box::pin(ctrl_c());
    loop {
        let pass = app.run::<Route>(&input)?;
        if !(pass.items.is_empty() && pass.blocked.is_empty() && pass.given_back.is_empty()) {
            app.show(&pass, |pass| pass_text(pass, false))?;
        }
        let stop = runtime.block_on(async {
            tokio::select! { _ = &mut interrupted => true, () = tokio::time::sleep(PASS_INTERVAL) => false }
        });
        if stop {
            return Err(AppError::Interrupted);
        }
    }
}

/// A pass as people read it.
fn pass_text(pass: &RouteOutput, explain: bool) -> String {
    let mut text = String::new();
    let would = if pass.dry_run { "would go" } else { "goes" };
    for id in &pass.given_back {
        text.push_str(&format!("{} is free again: its lease ran out\n", visible(id)));
    }
    for row in &pass.items {
        let (agent, kind) = (visible(&row.agent), row.message_type.as_str());
        text.push_str(&format!("{} {would} to {agent} ({kind})\n", head(&row.task)));
        text.push_str(&candidates(row.candidates.as_deref()));
    }
    for row in &pass.waiting {
        let waits = match row.state {
            WaitState::Unready { .. } => "is not routed",
            WaitState::Queued { .. } => "waits",
        };
        text.push_str(&format!("{} {waits}: {}\n", head(&row.task), visible(&row.why)));
        text.push_str(&candidates(row.candidates.as_deref()));
    }
    for row in &pass.blocked {
        let is = if pass.dry_run { "would be" } else { "is" };
        let attempts = match row.task.attempts {
            1 => "1 attempt".to_owned(),
            attempts => format!("{attempts} attempts"),
        };
        text.push_str(&format!("{} {is} blocked after {attempts}\n", head(&row.task)));
    }
    if text.is_empty() {
        text.push_str(if explain { "no task is ready for a role\n" } else { "nothing to route\n" });
    }
    text
}

fn head(task: &RoutedTask) -> String {
    let role = task.agent_role.as_deref().filter(|role| !role.is_empty());
    let role = role.map(|role| format!(" [{}]", visible(role))).unwrap_or_default();
    format!("{}{role} {}", visible(&task.task_id), visible(&task.title))
}

fn candidates(judged: Option<&[Judgement]>) -> String {
    let lines: Vec<Vec<String>> = judged.unwrap_or_default().iter().map(candidate).collect();
    if lines.is_empty() { String::new() } else { render::table(&lines) }
}

fn candidate(judged: &Judgement) -> Vec<String> {
    let mark = if judged.chosen { "→" } else { " " };
    let facts = match &judged.verdict {
        Verdict::Unable { no } => visible(no),
        Verdict::Able { skills, of_skills, open_claims, max_tasks, failed_before, generalist } => {
            let mut facts = vec![];
            if *of_skills != 0 {
                facts.push(format!("{skills} of {of_skills} skills"));
            }
            facts.push(format!("{open_claims} of {max_tasks} tasks"));
            match failed_before {
                0 => {}
                1 => facts.push("failed at it once".to_owned()),
                times => facts.push(format!("failed at it {times} times")),
            }
            if *generalist {
                facts.push("a generalist".to_owned());
            }
            facts.join(", ")
        }
    };
    vec![mark.to_owned(), visible(&judged.agent), facts]
}
