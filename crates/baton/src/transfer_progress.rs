//! A hand-off that was just planned is driven before its caller is answered, on every face for as long. What is not done then goes
//! on by itself, and the answer says how it stands.

use std::time::{Duration, Instant};

use baton_ops::handoff::{HandoffOrBaton, Progress, Row, Show, ShowInput};
use baton_ops::op::Caller;
use serde::Deserialize;
use serde_json::Value;

use crate::store_pool::Pool;

/// How long a hand-off is driven before its caller is answered.
pub(crate) const SPAN: Duration = Duration::from_secs(10);
/// Pause between two looks at what others drive.
const LOOK: Duration = Duration::from_millis(25);

/// Whether an operation's hand-off is driven before its caller is answered.
pub(crate) fn is_driven(operation: &str) -> bool {
    baton_ops::all::meta(operation).is_some_and(|meta| meta.drives_transfer)
}

/// Brings an answer that shows a hand-off up to how it stands now.
pub(crate) fn renew(answer: &mut Value, now: &Row) {
    let (Some(answer), Ok(Value::Object(now))) = (answer.as_object_mut(), serde_json::to_value(now)) else {
        return;
    };
    answer.extend(now);
}

/// Writes into the log what a hand-off has made: task, memory, session.
pub(crate) fn log(row: &Row) {
    let task = row.handoff.task.as_ref();
    let seeded = row.seeded_session.as_ref();
    let text = |text: Option<&String>| text.cloned().unwrap_or_default();
    tracing::info!(
        handoff_id = row.handoff.handoff_id,
        state = row.handoff.state.as_str(),
        task_id = text(task.map(|task| &task.id)),
        task_url = text(task.and_then(|task| task.url.as_ref())),
        memory_id = text(row.memory.as_ref().map(|memory| &memory.memory_id)),
        session_project_id = text(seeded.map(|seeded| &seeded.project_id)),
        session_agent_id = text(seeded.and_then(|seeded| seeded.agent_id.as_ref())),
        session_task_id = text(seeded.and_then(|seeded| seeded.task_id.as_ref())),
        session_id = text(seeded.map(|seeded| &seeded.session_id)),
        "hand-off"
    );
}

/// Waits while the server's lanes drive the hand-off of an answer; says whether it is still on its way. A preview has none.
pub(crate) async fn wait(pool: &Pool, answer: &mut Value) -> bool {
    let Ok(Progress { mut row, .. }) = Progress::deserialize(&*answer) else { return false };
    let begun = Instant::now();
    while row.is_on_its_way() && begun.elapsed() < SPAN {
        tokio::time::sleep(LOOK).await;
        let input = ShowInput { id: row.handoff.handoff_id.clone(), project: None };
        let Ok(now) = pool.ask::<Show>(&input, Caller::default()).await else { return true };
        if let HandoffOrBaton::Handoff(now) = now.handoff {
            row = *now;
            renew(answer, &row);
        }
    }
    log(&row);
    row.is_on_its_way()
}
