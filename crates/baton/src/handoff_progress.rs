//! A hand-off that was just planned is driven before its caller is answered, on every face for as long. What is not done then goes
//! on by itself, and the answer says how it stands.

use std::time::Duration;

use baton_ops::handoff::Row;
use serde::Deserialize as _;
use serde_json::Value;

/// How long a hand-off is driven before its caller is answered.
pub(crate) const SPAN: Duration = Duration::from_secs(10);

/// Brings an answer that shows a hand-off up to how it stands now. What it said of the hand-off and is not so any more goes.
pub(crate) fn renew(answer: &mut Value, now: &Row) {
    let before = Row::deserialize(&*answer).and_then(serde_json::to_value);
    let (Some(answer), Ok(Value::Object(now))) = (answer.as_object_mut(), serde_json::to_value(now)) else {
        return;
    };
    if let Ok(Value::Object(before)) = before {
        answer.retain(|name, _| now.contains_key(name) || !before.contains_key(name));
    }
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
