//! Names the conversations of a project that left no baton in the answers that say what waits.

use std::time::Duration;

use baton_model::accounting::Remark;
use baton_ops::card::Card;
use baton_ops::op::{Caller, Operation};
use baton_ops::session::{Pickup, PickupOutput, Start, StartOutput, Status, StatusInput, StatusOutput};
use baton_ops::transcript::{List, Unwrapped, UnwrappedQuery};
use serde::Deserialize;
use serde_json::Value;

use crate::backend::{Backend, run_typed};

/// How long an answer waits for it: a first look through many transcripts takes longer, and what it read is kept for the next.
const SCAN_TIMEOUT: Duration = Duration::from_secs(2);

/// Adds the remarks to the reminders of an answer. Transcripts that cannot be listed are no reason for less of an answer.
pub(crate) async fn add(backend: &dyn Backend, operation: &str, answer: &mut Value, caller: Caller) {
    let with_reminders =
        tokio::time::timeout(SCAN_TIMEOUT, with_reminders(backend, operation, answer, caller)).await;
    if let Ok(Some(with_reminders)) = with_reminders {
        *answer = with_reminders;
    }
}

/// The answer with the remarks, where it is one that says what waits.
async fn with_reminders(
    backend: &dyn Backend,
    operation: &str,
    answer: &Value,
    caller: Caller,
) -> Option<Value> {
    let output = match operation {
        Start::NAME => {
            let mut started = StartOutput::deserialize(answer).ok()?;
            let session = (started.project_id.as_str(), Some(started.session_id.as_str()));
            let remarks = remarks(backend, session, &started.card, caller).await?;
            started.card.reminders.extend(remarks.iter().cloned());
            started.rules_reminders.extend(remarks);
            serde_json::to_value(started)
        }
        Status::NAME => {
            let mut shown = StatusOutput::deserialize(answer).ok()?;
            let remarks = remarks(backend, (&shown.project_id, None), &shown.card, caller).await?;
            shown.card.reminders.extend(remarks);
            serde_json::to_value(shown)
        }
        Pickup::NAME => {
            let nothing = |picked: &PickupOutput| picked.baton.is_none() && picked.handoff.is_none();
            let mut picked = PickupOutput::deserialize(answer).ok().filter(nothing)?;
            let input = StatusInput { project: Some(picked.project_id.clone()), ..StatusInput::default() };
            let card = run_typed::<Status>(backend, &input, caller.clone()).await.ok()?.card;
            let session = (picked.project_id.as_str(), picked.session_id.as_deref());
            picked.rules_reminders.extend(remarks(backend, session, &card, caller).await?);
            serde_json::to_value(picked)
        }
        _ => return None,
    };
    output.ok()
}

/// The remarks for a session of a project, of which the card says what waits.
async fn remarks(
    backend: &dyn Backend,
    (project_id, session_id): (&str, Option<&str>),
    card: &Card,
    caller: Caller,
) -> Option<Vec<Remark>> {
    let surface = caller.surface.clone();
    let query = UnwrappedQuery { surface: &surface, session_id, conversation: None, now: backend.now() };
    let listed = run_typed::<List>(backend, &query.listing(project_id), caller.clone()).await.ok()?;
    let question = query.question(project_id, &listed.items)?;
    let unwrapped = run_typed::<Unwrapped>(backend, &question, caller).await.ok()?;
    Some(query.remarks(&listed.items, &unwrapped, card))
}
