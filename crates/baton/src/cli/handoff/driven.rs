//! What a command says that has driven a hand-off.

use baton_ops::op::Operation;
use serde_json::{Value, json};

use crate::app::App;
use crate::driven::{SPAN, log, renew};
use crate::error::Ended;
use crate::render;

/// Drives a hand-off on and answers with how it then stands. What is not done yet is no success: it is tried again.
pub(super) fn driven(mut answer: Value, app: &mut App) -> Result<(), Ended> {
    let over = drive(&mut answer, app)?;
    app.answer(&answer, told)?;
    match answer["state"].as_str() {
        Some("failed") => Err(Ended::Told),
        Some("planned" | "pending") => Err(Ended::Unfinished),
        _ if !over => Err(Ended::Unfinished),
        _ => Ok(()),
    }
}

/// Drives the hand-off of an answer, which then says how it stands; says whether nothing is left to do.
pub fn drive(answer: &mut Value, app: &mut App) -> Result<bool, Ended> {
    let id = render::text(answer, "handoff_id");
    let over = app.drive(&id, SPAN)?;
    let now = app.call(baton_ops::handoff::Show::NAME, json!({ "id": id }))?;
    renew(answer, &now);
    log(answer);
    Ok(over)
}

/// What a person reads of it.
pub fn told(answer: &Value) -> String {
    let mut text = format!(
        "handed to {}: {} ({}), task {}\n",
        render::text(answer, "to_project_id"),
        render::text(answer, "handoff_id"),
        render::text(answer, "state"),
        render::text(&answer["task"], "id")
    );
    if let Some(url) = answer["task"]["url"].as_str() {
        text.push_str(&format!("  {}\n", baton_model::id::visible(url)));
    }
    if let Some(why) = answer["last_error"].as_str() {
        text.push_str(&format!("  {}\n", baton_model::id::visible(why)));
    }
    text.push_str(&render::warnings(answer));
    text
}

/// What a dry run would send to the three systems.
pub fn would(plan: &Value) -> String {
    let task = &plan["would_create_task"];
    let place = plan["resolved_issues_github_repo"].as_str().unwrap_or("the embedded tracker");
    let seed = &plan["would_seed_session"];
    let rows = vec![
        vec!["task".to_owned(), format!("{} in {place}", render::text(task, "subject"))],
        vec![
            "note".to_owned(),
            format!("in project {}", render::text(&plan["would_store_memory"], "project_id")),
        ],
        vec![
            "session".to_owned(),
            format!("{} / {}", render::text(seed, "agent_id"), render::text(seed, "task_id")),
        ],
    ];
    render::table(&rows)
}
