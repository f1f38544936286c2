//! Whether a reader keeps to the form that `docs/readers.md` describes: what its author runs.

use baton_transcripts::EVENTS_FORMAT;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::EnabledReader;
use super::program::run;
use super::refresh::{READ, list};

/// Most findings that are told: one mistake shows in every line.
const MAX_FINDINGS: usize = 20;
/// An event as a reader prints it. Of which kind each field is, its type says.
#[derive(Debug, Default, Deserialize)]
struct PrintedEvent {
    event: String,
    format: Option<String>,
    id: Option<String>,
    role: Option<String>,
    text: Option<String>,
    tool: Option<String>,
    category: Option<String>,
    target: Option<String>,
    path: Option<String>,
    change: Option<String>,
    items: Option<Vec<IgnoredAny>>,
    at: Option<PrintedTime>,
}

/// A time as a reader may print it.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum PrintedTime {
    Number(f64),
    Text(String),
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
        let event: PrintedEvent = match serde_json::from_str(line) {
            Ok(event) => event,
            Err(error) => {
                add(format!("it is no event: {error}"));
                continue;
            }
        };
        has_conversation |= matches!(event.event.as_str(), "message" | "tool_call");
        if at == 0 {
            first_line(&event, id).into_iter().for_each(&mut add);
        }
        wrong_fields(&event).into_iter().for_each(&mut add);
        if !event.at.is_none_or(|at| at.is_time()) {
            add("`at` is no time: write 2026-11-20T11:00:00Z or milliseconds since 1970".to_owned());
        }
    }
    if !has_conversation {
        found.push(Finding { line: 0, what: "there is no message and no call".to_owned() });
    }
    found.truncate(MAX_FINDINGS);
    found
}

fn first_line(event: &PrintedEvent, id: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if event.event != "session" {
        wrong.push("the first event is not `session`".to_owned());
    }
    if event.format.as_deref() != Some(EVENTS_FORMAT) {
        wrong.push(format!("`format` is not \"{EVENTS_FORMAT}\""));
    }
    if event.id.as_deref() != Some(id) {
        wrong.push(format!("`id` is not {id:?}, which was asked for"));
    }
    wrong
}

/// The fields of an event that are missing or have a word which is not one of theirs.
fn wrong_fields(event: &PrintedEvent) -> Vec<String> {
    let missing = |fields: &[(&str, bool)]| {
        let missing = fields.iter().filter(|(_, is_there)| !is_there);
        missing.map(|(name, _)| format!("`{name}` is missing")).collect::<Vec<_>>()
    };
    match event.event.as_str() {
        "session" => missing(&[("id", event.id.is_some())]),
        "message" if !matches!(event.role.as_deref(), Some("user" | "assistant")) => {
            vec!["`role` is not `user` or `assistant`".to_owned()]
        }
        "message" | "thinking" | "compaction" | "provider_error" => {
            missing(&[("text", event.text.is_some())])
        }
        "tool_call" => missing(&[
            ("tool", event.tool.is_some()),
            ("category", event.category.is_some()),
            ("target", event.target.is_some()),
        ]),
        "edit" if !is_change(event.change.as_deref()) => {
            vec!["`change` is not `created`, `modified`, `deleted` or `renamed`".to_owned()]
        }
        "edit" => missing(&[("path", event.path.is_some())]),
        "todo" => missing(&[("items", event.items.is_some())]),
        "interrupted" => Vec::new(),
        name => vec![format!("there is no event `{name}`")],
    }
}

fn is_change(word: Option<&str>) -> bool {
    matches!(word, Some("created" | "modified" | "deleted" | "renamed"))
}

impl PrintedTime {
    fn is_time(&self) -> bool {
        match self {
            Self::Number(number) => *number > 0.0,
            Self::Text(text) => baton_model::time::parse_rfc3339(text).is_some(),
        }
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
        assert!(lines(&format!("{right}{{")).contains("3: it is no event"));
        let odd = "{\"event\":\"edit\",\"path\":\"a\",\"change\":\"odd\",\"at\":\"noon\"}\n";
        let text = lines(&format!("{right}{odd}"));
        assert!(text.contains("3: `change` is not") && text.contains("3: `at` is no time"), "{text}");
    }
}
