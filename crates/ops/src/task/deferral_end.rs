//! Deferrals that end by themselves: the time has come until which a task was put off.

use baton_model::delta::Kind;
use baton_model::task::Task;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx};
use serde_json::json;

use super::write::update_without_delta;
use crate::ledger::{Author, append_json};
use crate::op::Env;

/// Opens the tasks whose deferral has ended. Reads show it so before: see [`super::with_expiry_applied`].
pub(super) fn end_due_deferrals(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    due: Vec<Task>,
) -> Result<(), Failure> {
    for known in due {
        let Some(mut open) = known.after_deferral(env.now) else { continue };
        open.updated_at = env.now;
        update_without_delta(tx, &known, &open)?;
        let until = known.defer_until.map(rfc3339).unwrap_or_default();
        let what = format!("task {} is open again: it was put off until {until}", known.task_id);
        let body = json!({ "summary": what, "task_id": known.task_id });
        append_json(tx, env, author, Kind::Other, &body)?;
    }
    Ok(())
}
