//! Fields of a packet that a call of `session_wrap` names beside its summary: they are put together to one.

use baton_ops::op::Operation;
use baton_ops::session::Wrap;
use serde_json::{Map, Value};

/// The fields of a packet that the description of the tool names, and those of the same kind.
const FIELDS: &[&str] = &[
    "work_completed",
    "next_steps",
    "open_loops",
    "pending_tasks",
    "decisions",
    "failed_attempts",
    "constraints",
    "files_modified",
    "commands",
    "test_command",
    "test_status",
    "known_issues",
    "refs",
    "git",
    "environment",
    "metadata",
    "next_agent",
    "next_role",
];

/// Moves them to where the operation takes them.
pub(crate) fn collect(operation: &str, input: &mut Map<String, Value>) {
    if operation != Wrap::NAME {
        return;
    }
    let mut fields = match input.remove("fields") {
        Some(Value::Object(fields)) => fields,
        None => Map::new(),
        Some(other) => {
            input.insert("fields".into(), other);
            return;
        }
    };
    for name in FIELDS {
        if let Some(value) = input.remove(*name) {
            fields.insert((*name).to_owned(), value);
        }
    }
    if !fields.is_empty() {
        input.insert("fields".into(), Value::Object(fields));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_stands_beside_a_summary_is_part_of_the_packet() {
        let mut input =
            json!({ "summary": "s", "next_steps": ["go"], "decisions": [{ "what": "w" }], "sumary": "x" });
        let fields = input.as_object_mut().expect("an object");
        collect(Wrap::NAME, fields);
        let expected = json!({ "summary": "s", "sumary": "x",
            "fields": { "next_steps": ["go"], "decisions": [{ "what": "w" }] } });
        assert_eq!(input, expected);
    }
}
