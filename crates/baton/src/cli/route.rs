//! `baton route`

use baton_ops::op::Operation;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::signal::ctrl_c;

use crate::app::App;
use crate::error::CliError;
use crate::{render, router};

/// Pause between two passes.
const EVERY: Duration = Duration::from_secs(1);

/// Assign ready tasks to the agents that fit best, each with a message
///
/// A task is routed if it asks for a role. The best agent is registered for that role, was heard from recently, has
/// most of the task's tags among its skills, and has the fewest tasks. A running `baton serve` does this on its own.
#[derive(clap::Args)]
pub struct Args {
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

pub fn run(args: Args, app: &mut App) -> Result<(), CliError> {
    let mut input = router::settings(&app.config.route);
    input["project"] = json!(app.project);
    input["id"] = json!(args.task);
    input["agent_role"] = json!(args.role);
    input["limit"] = json!(args.limit);
    input["explain"] = json!(args.explain);
    input["dry_run"] = json!(args.dry_run || args.explain);
    if !args.watch {
        let answer = app.call(baton_ops::task::Route::NAME, input)?;
        return app.answer(&answer, |a| pass_text(a, args.explain));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut interrupted = Box::pin(ctrl_c());
    loop {
        let answer = app.call(baton_ops::task::Route::NAME, input.clone())?;
        let did = ["items", "blocked", "given_back"].iter().any(|key| !render::list(&answer, key).is_empty());
        if did {
            app.answer(&answer, |a| pass_text(a, false))?;
        }
        let stop = runtime.block_on(async {
            tokio::select! { _ = &mut interrupted => true, () = tokio::time::sleep(EVERY) => false }
        });
        if stop {
            return Err(CliError::Interrupted);
        }
    }
}

/// A pass as people read it.
fn pass_text(answer: &Value, explain: bool) -> String {
    let mut text = String::new();
    let would = if answer["dry_run"] == true { "would go" } else { "goes" };
    for id in render::list(answer, "given_back").iter().filter_map(Value::as_str) {
        text.push_str(&format!("{} is free again: its lease ran out\n", baton_model::id::visible(id)));
    }
    for row in render::list(answer, "items") {
        let (agent, kind) = (render::text(row, "agent"), render::text(row, "message_type"));
        text.push_str(&format!("{} {would} to {agent} ({kind})\n", head(row)));
        text.push_str(&candidates(row));
    }
    for row in render::list(answer, "waiting") {
        let waits = if row["ready"] == false { "is not routed" } else { "waits" };
        text.push_str(&format!("{} {waits}: {}\n", head(row), render::text(row, "why")));
        text.push_str(&candidates(row));
    }
    for row in render::list(answer, "blocked") {
        let is = if answer["dry_run"] == true { "would be" } else { "is" };
        let attempts = match row["attempts"].as_i64() {
            Some(1) => "1 attempt".to_owned(),
            _ => format!("{} attempts", row["attempts"]),
        };
        text.push_str(&format!("{} {is} blocked after {attempts}\n", head(row)));
    }
    if text.is_empty() {
        text.push_str(if explain { "no task is ready for a role\n" } else { "nothing to route\n" });
    }
    text
}

fn head(row: &Value) -> String {
    let role = render::text(row, "agent_role");
    let role = if role.is_empty() { String::new() } else { format!(" [{role}]") };
    format!("{}{role} {}", render::text(row, "task_id"), render::text(row, "title"))
}

fn candidates(row: &Value) -> String {
    let lines: Vec<Vec<String>> = render::list(row, "candidates").iter().map(candidate).collect();
    if lines.is_empty() { String::new() } else { render::table(&lines) }
}

fn candidate(row: &Value) -> Vec<String> {
    let mark = if row["chosen"] == true { "→" } else { " " };
    let name = render::text(row, "agent");
    if row["no"].is_string() {
        return vec![mark.to_owned(), name, render::text(row, "no")];
    }
    let mut facts = vec![];
    if row["of_skills"] != 0 {
        facts.push(format!("{} of {} skills", row["skills"], row["of_skills"]));
    }
    facts.push(format!("{} of {} tasks", row["open_claims"], row["max_tasks"]));
    if row["failed_before"] != 0 {
        let times = if row["failed_before"] == 1 {
            "once".to_owned()
        } else {
            format!("{} times", row["failed_before"])
        };
        facts.push(format!("failed at it {times}"));
    }
    if row["generalist"] == true {
        facts.push("a generalist".to_owned());
    }
    vec![mark.to_owned(), name, facts.join(", ")]
}
