//! Whether a reader keeps to the form that `docs/readers.md` describes: what its author runs.

use baton_transcripts::EVENTS_FORMAT;
use serde::Serialize;
use serde_json::Value;

use super::EnabledReader;
use super::program::run;
use super::refresh::{READ, list};

/// Most findings that are told: one mistake shows in every line.
const MAX_FINDINGS: usize = 20;
/// The fields that each event has to have, and of which kind they are.
const FIELDS: [(&str, &[(&str, FieldKind)]); 9] = [
    ("session", &[("id", FieldKind::Text)]),
    ("message", &[("role", FieldKind::Role), ("text", FieldKind::Text)]),
    ("thinking", &[("text", FieldKind::Text)]),
    ("tool_call", &[("tool", FieldKind::Text), ("category", FieldKind::Text), ("target", FieldKind::Text)]),
    ("edit", &[("path", FieldKind::Text), ("change", FieldKind::Change)]),
    ("todo", &[("items", FieldKind::List)]),
    ("compaction", &[("text", FieldKind::Text)]),
    ("provider_error", &[("text", FieldKind::Text)]),
    ("interrupted", &[]),
];

/// What a field holds.
#[derive(Debug, Clone, Copy)]
enum FieldKind {
    Text,
    Role,
    Change,
    List,
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The line of what `read` printed, from 1; 0 for all of it.
    pub line: usize,
    /// What is wrong.
    pub what: String,
}

/// What a check came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CheckOutcome {
    /// Sessions in the list.
    pub sessions: usize,
    /// The session that was read.
    pub id: String,
    /// Its events.
    pub events: usize,
    /// What is wrong with them.
    pub findings: Vec<Finding>,
}

/// Lists the sessions of a reader and reads one of them, the first one where none is named.
pub(crate) fn check(reader: &EnabledReader, id: Option<&str>) -> Result<CheckOutcome, String> {
    let listed = list(reader)?;
    let first = listed.first().map(|session| session.id.as_str());
    let Some(id) = id.or(first) else { return Err("it lists no session".to_owned()) };
    let events = run(&reader.program, &["read", id], READ)?;
    let findings = findings(&events, id);
    Ok(CheckOutcome {
        sessions: listed.len(),
        id: id.to_owned(),
        events: events.lines().filter(|line| !line.trim().is_empty()).count(),
        findings,
    })
}

fn findings(events: &str, id: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut has_conversation = false;
    for (at, line) in events.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut add = |what: String| found.push(Finding { line: at + 1, what });
        let event: Value = match serde_json::from_str(line) {
            Ok(event) => event,
            Err(error) => {
                add(format!("it is no JSON: {error}"));
                continue;
            }
        };
        let name = event.get("event").and_then(Value::as_str).unwrap_or_default();
        has_conversation |= matches!(name, "message" | "tool_call");
        if at == 0 {
            first_line(&event, id).into_iter().for_each(&mut add);
        }
        match FIELDS.iter().find(|(known, _)| *known == name) {
            None => add(format!("there is no event `{name}`")),
            Some((_, fields)) => {
                fields.iter().filter_map(|field| wrong_field(&event, *field)).for_each(&mut add)
            }
        }
        if !is_time(event.get("at")) {
            add("`at` is no time: write 2026-11-20T11:00:00Z or milliseconds since 1970".to_owned());
        }
    }
    if !has_conversation {
        found.push(Finding { line: 0, what: "there is no message and no call".to_owned() });
    }
    found.truncate(MAX_FINDINGS);
    found
}

fn first_line(event: &Value, id: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if event.get("event").and_then(Value::as_str) != Some("session") {
        wrong.push("the first event is not `session`".to_owned());
    }
    if event.get("format").and_then(Value::as_str) != Some(EVENTS_FORMAT) {
        wrong.push(format!("`format` is not \"{EVENTS_FORMAT}\""));
    }
    if event.get("id").and_then(Value::as_str) != Some(id) {
        wrong.push(format!("`id` is not {id:?}, which was asked for"));
    }
    wrong
}

fn wrong_field(event: &Value, (name, kind): (&str, FieldKind)) -> Option<String> {
    let value = event.get(name);
    let text = value.and_then(Value::as_str);
    let (is_right, wanted) = match kind {
        FieldKind::Text => (text.is_some(), "a text"),
        FieldKind::Role => (matches!(text, Some("user" | "assistant")), "`user` or `assistant`"),
        FieldKind::Change => (
            matches!(text, Some("created" | "modified" | "deleted" | "renamed")),
            "`created`, `modified`, `deleted` or `renamed`",
        ),
        FieldKind::List => (value.is_some_and(Value::is_array), "a list"),
    };
    (!is_right).then(|| format!("`{name}` is not {wanted}"))
}

fn is_time(at: Option<&Value>) -> bool {
    match at {
        None | Some(Value::Null | Value::Number(_)) => true,
        Some(at) => serde_json::from_value::<baton_model::time::Timestamp>(at.clone()).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_is_told_with_its_line() {
        let right = "{\"event\":\"session\",\"format\":\"baton-events/1\",\"id\":\"s\"}\n{\"event\":\"message\",\"role\":\"user\",\"text\":\"Go\"}\n";
        assert_eq!(findings(right, "s"), []);
        let lines = |text: &str| {
            let found = findings(text, "s");
            found.into_iter().map(|one| format!("{}: {}", one.line, one.what)).collect::<Vec<_>>().join("; ")
        };
        assert!(lines("").contains("no message"));
        assert!(lines(&right.replace("/1", "/9")).contains("1: `format` is not"));
        assert!(lines(&format!("{right}{{\"event\":\"x-new\"}}\n")).contains("3: there is no event `x-new`"));
        assert!(lines(&format!("{right}{{")).contains("3: it is no JSON"));
        let odd = "{\"event\":\"edit\",\"path\":\"a\",\"change\":\"odd\",\"at\":\"noon\"}\n";
        let text = lines(&format!("{right}{odd}"));
        assert!(text.contains("3: `change` is not") && text.contains("3: `at` is no time"), "{text}");
    }
}
