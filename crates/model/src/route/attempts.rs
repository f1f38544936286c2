//! The failed attempts that a task remembers.

use serde_json::{Value, json};

use super::remembered;
use crate::task::Task;
use crate::time::{Millis, parse_rfc3339, rfc3339};

/// The most attempts that a task's list of them keeps; the number of all stays in `attempts`.
pub(super) const KEPT_ATTEMPTS: usize = 20;

/// How many workers died at it without another end of their work between, since a human opened it again.
pub(super) fn deaths(task: &Task) -> usize {
    let number = |key| remembered(task, key).and_then(Value::as_i64).unwrap_or(0);
    let before = number("deaths_before").max(number("attempts_before"));
    let is_death = |attempt: &&Value| {
        attempt["died"] == true && attempt["attempt"].as_i64().is_some_and(|number| number > before)
    };
    attempts(task).iter().rev().take_while(is_death).count()
}

/// Marks the last failed attempt as one at which the worker itself ended.
pub fn mark_death(task: &mut Task) {
    if let Some(Value::Array(items)) = task.extra.get_mut("failed_attempts")
        && let Some(Value::Object(last)) = items.last_mut()
    {
        last.insert("died".into(), json!(true));
    }
}

/// Adds a failed attempt to the task's list.
pub fn failed(task: &mut Task, by: &str, why: &str, now: Millis) {
    task.attempts += 1;
    let entry = json!({ "attempt": task.attempts, "by": by, "at": rfc3339(now), "why": why });
    let list = task.extra.entry("failed_attempts").or_insert_with(|| json!([]));
    if let Value::Array(items) = list {
        items.push(entry);
        let over = items.len().saturating_sub(KEPT_ATTEMPTS);
        items.drain(..over);
    }
}

/// When it failed last, where that is known.
pub fn last_failure(task: &Task) -> Option<Millis> {
    parse_rfc3339(attempts(task).last()?.get("at")?.as_str()?)
}

/// The task's failed attempts, oldest first.
pub fn attempts(task: &Task) -> &[Value] {
    task.extra.get("failed_attempts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn failed_by(task: &Task) -> Vec<String> {
    attempts(task).iter().filter_map(|attempt| Some(attempt["by"].as_str()?.to_owned())).collect()
}
