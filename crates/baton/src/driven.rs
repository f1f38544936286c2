//! A hand-off that was just planned is driven before its caller is answered, on every face for as long. What is not done then goes
//! on by itself, and the answer says how it stands.

use std::time::{Duration, Instant};

use baton_ops::op::{Caller, Operation};
use serde_json::{Value, json};

use crate::workers::Pool;

/// How long a hand-off is driven before its caller is answered.
pub const SPAN: Duration = Duration::from_secs(10);
/// Pause between two looks at what others drive.
const LOOK: Duration = Duration::from_millis(25);

/// Whether an operation's hand-off is driven before its caller is answered.
pub fn is_driven(operation: &str) -> bool {
    baton_ops::all::meta(operation).is_some_and(|meta| meta.drives_transfer)
}

/// Whether the hand-off of an answer is still on its way.
pub fn is_on_its_way(answer: &Value) -> bool {
    let published = |step: &Value| {
        step["step"] == "publish" && matches!(step["state"].as_str(), Some("pending" | "running"))
    };
    matches!(answer["state"].as_str(), Some("planned" | "pending"))
        || answer["steps"].as_array().is_some_and(|steps| steps.iter().any(published))
}

/// Brings an answer up to how its hand-off stands now.
pub fn renew(answer: &mut Value, now: &Value) {
    for key in [
        "state",
        "task",
        "memory",
        "memory_id",
        "seeded_session",
        "session_id",
        "steps",
        "last_error",
        "updated_at",
    ] {
        answer[key] = now[key].clone();
    }
}

/// Writes into the log what a hand-off has made: task, memory, session.
pub fn log(answer: &Value) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let seeded = &answer["seeded_session"];
    tracing::info!(
        handoff_id = text(&answer["handoff_id"]),
        state = text(&answer["state"]),
        task_id = text(&answer["task"]["id"]),
        task_url = text(&answer["task"]["url"]),
        memory_id = text(&answer["memory"]["memory_id"]),
        session_project_id = text(&seeded["project_id"]),
        session_agent_id = text(&seeded["agent_id"]),
        session_task_id = text(&seeded["task_id"]),
        session_id = text(&seeded["session_id"]),
        "hand-off"
    );
}

/// Waits while the server's lanes drive the hand-off of an answer.
pub async fn wait(pool: &Pool, answer: &mut Value) {
    let begun = Instant::now();
    let id = answer["handoff_id"].clone();
    while is_on_its_way(answer) && begun.elapsed() < SPAN {
        tokio::time::sleep(LOOK).await;
        let Ok(now) = pool.run(baton_ops::handoff::Show::NAME, json!({ "id": id }), Caller::default()).await
        else {
            return;
        };
        renew(answer, &now);
    }
    if answer["dry_run"] != true {
        log(answer);
    }
}
