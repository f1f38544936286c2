//! Tasks in the shape of Beads.

use serde_json::{Map, Value, json};

use crate::render::text;

/// Fields of ours that say nothing there.
const OURS: [&str; 8] =
    ["project_id", "identity", "session_id", "blocked", "claim", "unblocked", "set_off", "pending_message"];

/// An issue.
pub fn issue(task: &Value) -> Value {
    let mut row = Map::new();
    for (key, value) in task.as_object().into_iter().flatten() {
        if !OURS.contains(&key.as_str()) {
            row.insert(key.clone(), value.clone());
        }
    }
    Value::Object(row)
}

/// Issues.
pub fn issues(tasks: &Value) -> Value {
    tasks.as_array().into_iter().flatten().map(issue).collect()
}

/// An issue with the issues that it is linked with.
pub fn details(task: &Value) -> Value {
    let mut row = issue(task);
    for key in ["dependencies", "dependents"] {
        if task[key].is_array() {
            row[key] = issues(&task[key]);
        }
    }
    row
}

/// An issue in a line for people.
pub fn line(issue: &Value) -> String {
    let mark = match issue["status"].as_str() {
        Some("closed") => "✓",
        Some("in_progress") => "◐",
        Some("blocked") => "●",
        Some("deferred") => "❄",
        _ => "○",
    };
    let who = match text(issue, "assignee") {
        name if name.is_empty() => name,
        name => format!(" @{name}"),
    };
    let [id, priority, kind, title] = ["id", "priority", "issue_type", "title"].map(|key| text(issue, key));
    format!("{mark} {id} [P{priority}] [{kind}]{who} - {title}\n")
}

/// Groups of a count.
pub fn groups(counts: std::collections::BTreeMap<String, usize>, total: usize) -> Value {
    let groups: Vec<Value> =
        counts.into_iter().map(|(group, count)| json!({ "group": group, "count": count })).collect();
    json!({ "total": total, "groups": groups })
}
