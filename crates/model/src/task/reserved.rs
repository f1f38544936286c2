//! Free fields of a task: which names a caller cannot set among them, because Baton sets them itself or a field of their own has them.

use serde_json::{Map, Value};

use super::record::OWN;
use crate::id::visible;
use crate::refusal::Refusal;
use crate::time::parse_rfc3339;

/// Fields that a caller sets by a field of its own, and that field.
const TYPED: [(&str, &str); 29] = [
    ("id", "id"),
    ("title", "title"),
    ("description", "description"),
    ("design", "design"),
    ("acceptance_criteria", "acceptance_criteria"),
    ("notes", "notes"),
    ("status", "status"),
    ("close_reason", "close_reason"),
    ("result", "result"),
    ("priority", "priority"),
    ("issue_type", "issue_type"),
    ("assignee", "assignee"),
    ("claim", "assignee"),
    ("agent_role", AGENT_ROLE),
    ("labels", "labels"),
    ("specialist_tags", "specialist_tags"),
    ("estimated_minutes", "estimated_duration"),
    ("estimated_duration", "estimated_duration"),
    ("parent", "parent"),
    ("blocked", "status"),
    ("dependencies", "deps"),
    ("comments", "comment"),
    ("due", "due"),
    ("defer_until", "defer"),
    ("defer", "defer"),
    ("external_ref", "external_ref"),
    ("agent_context", "agent_context"),
    ("handoff_instructions", "handoff_instructions"),
    ("previous_agent", "previous_agent"),
];

/// Fields that Baton alone sets.
const OWN_FIELDS: [&str; 31] = [
    "_type",
    "attempts",
    "closed_at",
    "comment_count",
    "created_at",
    "created_by",
    "delete_reason",
    "deleted_at",
    "deleted_by",
    "dependency_count",
    "dependent_count",
    "failed_attempts",
    "github_issue",
    "github_repo",
    "github_url",
    "handoff_id",
    "links",
    "original_type",
    "pending_message",
    "pending_type",
    "project_id",
    "renamed_at",
    "renamed_from",
    "renamed_to",
    "route",
    "started_at",
    "test_failures",
    "tombstone_ttl",
    "updated_at",
    "woken",
    OWN,
];

/// Fields of a task that lead to its hand-off, and to the issue that a hand-off has on GitHub.
const HANDOFF_FIELDS: [&str; 4] = ["handoff_id", "github_repo", "github_issue", "github_url"];

const METADATA: &str = "metadata";
const AGENT_ROLE: &str = "agent_role";

/// Refuses free fields with names that have a meaning already.
pub fn check_extra(extra: &Map<String, Value>) -> Result<(), Refusal> {
    extra.keys().try_for_each(|name| check_name(name))?;
    // The timer of a gate has its end with the span.
    let is_time =
        |value: &Value| value.is_null() || value.as_str().is_some_and(|text| parse_rfc3339(text).is_some());
    if extra.get("due_at").is_some_and(|value| !is_time(value)) {
        return Err(reserved_refusal("due_at", Some("due")));
    }
    let metadata = match extra.get(METADATA) {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Object(metadata)) => metadata,
        Some(_) => return Err(no_object_refusal()),
    };
    for name in [OWN, AGENT_ROLE] {
        if metadata.contains_key(name) {
            return Err(reserved_refusal(&format!("{METADATA}.{name}"), typed_as(name)));
        }
    }
    Ok(())
}

/// The clocks of a task's fields stand in its metadata. Beside another kind of value they stand at the top of the line, where other
/// tools drop them.
fn no_object_refusal() -> Refusal {
    let hint = "give an object, such as {\"ticket\": \"J-1\"}; nothing was written";
    Refusal::invalid("metadata_invalid", "`metadata` is not a JSON object", hint).with("field", METADATA)
}

fn check_name(name: &str) -> Result<(), Refusal> {
    match typed_as(name) {
        None if !OWN_FIELDS.contains(&name) => Ok(()),
        field => Err(reserved_refusal(name, field)),
    }
}

fn typed_as(name: &str) -> Option<&'static str> {
    TYPED.iter().find(|(reserved, _)| *reserved == name).map(|(_, field)| *field)
}

fn reserved_refusal(name: &str, field: Option<&str>) -> Refusal {
    let (what, hint) = match field {
        Some(field) => (
            format!("`{}` is no free field: it has one of its own", visible(name)),
            format!("say it with `{field}`; nothing was written"),
        ),
        None => (
            format!("`{}` is set by Baton alone", visible(name)),
            "choose another name, for instance a key of `metadata`; nothing was written".to_owned(),
        ),
    };
    Refusal::invalid("extra_reserved", what, hint).with("field", name)
}

/// Gives a task the way to its hand-off that it had before; true where it was another.
pub fn keep_handoff(before: &Map<String, Value>, after: &mut Map<String, Value>) -> bool {
    let mut is_changed = false;
    for name in
        HANDOFF_FIELDS.iter().filter(|name| before.contains_key("handoff_id") || **name == "handoff_id")
    {
        if before.get(*name) == after.get(*name) {
            continue;
        }
        is_changed = true;
        match before.get(*name) {
            Some(value) => _ = after.insert((*name).to_owned(), value.clone()),
            None => _ = after.shift_remove(*name),
        }
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::task::Task;
    use crate::task::record::{Record, canonical, read};

    fn code_of(extra: Value) -> Option<&'static str> {
        check_extra(extra.as_object()?).err().map(|refusal| refusal.code)
    }

    #[test]
    fn names_with_a_meaning_are_no_free_fields() {
        for name in TYPED.iter().map(|(name, _)| *name).chain(OWN_FIELDS) {
            for value in [json!("x"), Value::Null] {
                assert_eq!(code_of(json!({ name: value })), Some("extra_reserved"), "{name}");
            }
        }
        for metadata in [json!({ "handoff.v1": {} }), json!({ "a": 1, "agent_role": "testing" })] {
            assert_eq!(code_of(json!({ "metadata": metadata })), Some("extra_reserved"));
        }
        let free =
            ["spec_id", "closed_by_session", "await_type", "await_id", "timeout", "ephemeral", "no_history"];
        for name in free.into_iter().chain(["wisp_type", "mol_type", "pinned", "owner", "payload", "x_team"])
        {
            assert_eq!(code_of(json!({ name: "x" })), None, "{name}");
        }
        assert_eq!(code_of(json!({ "due_at": "2026-01-01T00:00:00Z" })), None);
        assert_eq!(code_of(json!({ "due_at": "soon" })), Some("extra_reserved"));
        assert_eq!(code_of(json!({ "metadata": { "ticket": "J-1", "handoff": 1 } })), None);
        for value in [json!("x"), json!([1]), json!(7), json!(true)] {
            assert_eq!(code_of(json!({ "metadata": value })), Some("metadata_invalid"));
        }
        assert_eq!(code_of(json!({ "metadata": null })), None);
    }

    /// A free field that the reader of a line takes for something else would part the ledger and the file.
    #[test]
    fn what_a_line_has_a_field_for_is_no_free_field() {
        let line = include_str!("record/full.jsonl").lines().next().unwrap_or_default();
        let row: Value = serde_json::from_str(line).expect("a line");
        let known = read(row.as_object().expect("an object")).expect("a record");
        let named = canonical(&Record { task: Task { extra: Map::new(), ..known.task }, ..known });
        assert!(named.len() > 10, "{named:?}");
        for name in named.keys().filter(|name| *name != METADATA) {
            assert_eq!(code_of(json!({ name: "x" })), Some("extra_reserved"), "{name}");
        }
    }

    #[test]
    fn the_way_to_a_handoff_stays() {
        let fields = |value: Value| value.as_object().cloned().unwrap_or_default();
        let before = fields(json!({ "handoff_id": "h1", "github_issue": 3, "k": 1 }));
        for after in
            [json!({ "k": 2 }), json!({ "handoff_id": "h2", "github_issue": 3, "github_url": "u", "k": 2 })]
        {
            let mut after = fields(after);
            assert!(keep_handoff(&before, &mut after));
            assert_eq!(json!(after), json!({ "handoff_id": "h1", "github_issue": 3, "k": 2 }));
            assert!(!keep_handoff(&before, &mut after));
        }
    }
}
