//! Names the conversations of a project that left no baton in the answers that say what waits.

use std::time::Duration;

use baton_model::accounting::Remark;
use baton_ops::card::Card;
use baton_ops::op::{Caller, Operation};
use baton_ops::session::{Pickup, Start, Status};
use baton_ops::transcript::{List, ListOutput, Unwrapped, UnwrappedOutput, UnwrappedQuery};
use serde_json::{Value, json};

use crate::backend::Backend;

/// How long an answer waits for it: a first look through many transcripts takes longer, and what it read is kept for the next.
const PATIENCE: Duration = Duration::from_secs(2);

/// Adds the remarks to the reminders of an answer. Transcripts that cannot be listed are no reason for less of an answer.
pub(crate) async fn add(backend: &dyn Backend, operation: &str, answer: &mut Value, caller: Caller) {
    let fields: &[&str] = match operation {
        Start::NAME => &["reminders", "rules_reminders"],
        Status::NAME => &["reminders"],
        Pickup::NAME if answer["baton"].is_null() && answer["handoff"].is_null() => &["rules_reminders"],
        _ => return,
    };
    let remarks = tokio::time::timeout(PATIENCE, remarks(backend, operation, answer, caller)).await;
    let Ok(Some(remarks)) = remarks else { return };
    for field in fields {
        if let Some(reminders) = answer[field].as_array_mut() {
            reminders.extend(remarks.iter().map(|remark| json!(remark)));
        }
    }
}

async fn remarks(
    backend: &dyn Backend,
    operation: &str,
    answer: &Value,
    caller: Caller,
) -> Option<Vec<Remark>> {
    let project_id = answer["project_id"].as_str()?;
    let card = match operation {
        Pickup::NAME => {
            backend.run(Status::NAME, json!({ "project": project_id }), caller.clone()).await.ok()?
        }
        _ => answer.clone(),
    };
    let card: Card = serde_json::from_value(card).ok()?;
    let surface = caller.surface.clone();
    let query = UnwrappedQuery {
        surface: &surface,
        session_id: answer["session_id"].as_str(),
        conversation: None,
        now: backend.now(),
    };
    let input = serde_json::to_value(query.listing(project_id)).ok()?;
    let listed = backend.run(List::NAME, input, caller.clone()).await.ok()?;
    let listed: ListOutput = serde_json::from_value(listed).ok()?;
    let question = serde_json::to_value(query.question(project_id, &listed.items)?).ok()?;
    let unwrapped = backend.run(Unwrapped::NAME, question, caller).await.ok()?;
    let unwrapped: UnwrappedOutput = serde_json::from_value(unwrapped).ok()?;
    Some(query.remarks(&listed.items, &unwrapped, &card))
}
