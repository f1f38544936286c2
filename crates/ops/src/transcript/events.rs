//! `transcript_events`: a session as a stream of events, in order, each with its place, with secrets taken out.

use std::collections::HashMap;

use baton_model::time::rfc3339;
use baton_store::Failure;
use baton_transcripts::event::{Edit, Event, EventKind, Outcome};
use baton_transcripts::{Complaint, Options, show_session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::find::{FoundTranscript, find, refuse_empty};
use super::row::Row;
use crate::op::{Cx, Meta, Operation, Reach};

/// Gives the events of a transcript.
pub struct Events;

/// Input of `transcript_events`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsInput {
    /// Session id, a unique prefix of one, `latest`, or a path.
    pub id: String,
    /// The tool that wrote it.
    #[serde(default)]
    pub agent: Option<String>,
}

/// Answer of `transcript_events`: the first event is the session itself.
#[derive(Serialize, Deserialize)]
pub struct EventsOutput {
    /// The rows of this page.
    pub items: Vec<Value>,
    /// What could not be read.
    pub skipped: Vec<Complaint>,
}

impl Operation for Events {
    const META: Meta = Meta::write(
        "transcript_events",
        "Give a session as events: messages, tool calls with results, todo lists, edits, compactions",
    )
    .reach(Reach::Everything)
    .on_callers_disk()
    .slow("reading the session");
    type Input = EventsInput;
    type Output = EventsOutput;

    fn run(input: EventsInput, cx: &mut Cx<'_>) -> Result<EventsOutput, Failure> {
        let command = "baton handoff from-transcript --format jsonl";
        let transcript = find(cx, &input.id, input.agent.as_deref(), None, command)?;
        events(cx, &transcript)
    }
}

/// The events of a transcript, with secrets taken out.
pub(super) fn events(cx: &Cx<'_>, transcript: &FoundTranscript) -> Result<EventsOutput, Failure> {
    if let Some(copy) = &transcript.copy {
        return Ok(EventsOutput { items: copy.events.clone(), skipped: Vec::new() });
    }
    let home = cx.env.host.transcript_env().home.to_string_lossy().into_owned();
    let options = Options { home: Some(home), ..Options::default() };
    let mut first = json!(Row::from(&transcript.header));
    first["event"] = json!("session");
    let id = baton_transcripts::short_id(&transcript.header.id);
    let mut stream = EventStream::new(format!("{}:{id}", transcript.format.id()), first);
    let report =
        show_session(&transcript.path, transcript.key.as_deref(), transcript.format, &options, &mut |e| {
            stream.take(e)
        });
    if report.is_empty() {
        return Err(refuse_empty(transcript, &report.complaints).into());
    }
    Ok(EventsOutput { items: stream.items, skipped: report.complaints })
}

/// A call that has not ended yet: where its event stands, and what it would change.
struct OpenTranscript {
    at: usize,
    edits: Vec<Edit>,
}

struct EventStream {
    source: String,
    items: Vec<Value>,
    open: HashMap<(Option<String>, String), OpenTranscript>,
}

impl EventStream {
    fn new(source: String, first: Value) -> Self {
        Self { source, items: vec![first], open: HashMap::new() }
    }

    fn take(&mut self, event: &Event<'_>) {
        let mut row = match &event.what {
            EventKind::User(text) => json!({ "event": "message", "role": "user", "text": text }),
            EventKind::Assistant(text) => json!({ "event": "message", "role": "assistant", "text": text }),
            EventKind::Compaction(text) => json!({ "event": "compaction", "text": text }),
            EventKind::Interrupted => json!({ "event": "interrupted" }),
            EventKind::ProviderError(text) => json!({ "event": "provider_error", "text": text }),
            EventKind::Plan(items) => {
                let item = |item: &baton_transcripts::event::PlanItem| json!({ "title": item.title, "status": item.status, "id": item.id });
                json!({ "event": "todo", "items": items.iter().map(item).collect::<Vec<_>>() })
            }
            EventKind::Call(call) => {
                let key = (event.agent.as_deref().map(str::to_owned), call.id.to_string());
                self.open.insert(key, OpenTranscript { at: self.items.len(), edits: call.edits.clone() });
                json!({
                    "event": "tool_call", "tool": call.name, "category": call.category.name(), "target": call.target,
                    "ok": null, "exit_code": null, "result": null,
                })
            }
            EventKind::Outcome(outcome) => return self.end(event, outcome),
            EventKind::Session(_) | EventKind::Thinking(_) | EventKind::Usage(_) => return,
        };
        self.stamp(&mut row, event);
        self.items.push(row);
    }

    /// What a call came to is written where the call stands; what it changed follows as events of their own.
    fn end(&mut self, event: &Event<'_>, outcome: &Outcome<'_>) {
        let key = (event.agent.as_deref().map(str::to_owned), outcome.id.to_string());
        let mut edits = outcome.edits.clone();
        if let Some(open) = self.open.get_mut(&key)
            && let Some(row) = self.items.get_mut(open.at)
        {
            row["ok"] = json!(outcome.ok);
            row["exit_code"] = json!(outcome.exit_code);
            row["result"] = json!(outcome.output);
            row["ended"] = json!({ "line": event.place.line, "at": event.at_ms.map(rfc3339) });
            let planned = std::mem::take(&mut open.edits);
            if edits.is_empty() {
                edits = planned;
            }
        }
        if outcome.ok == Some(false) {
            return;
        }
        for edit in edits {
            let mut row = json!({
                "event": "edit", "path": edit.path, "change": edit.change.name(), "from": edit.from,
                "added": edit.added, "removed": edit.removed, "diff": edit.diff,
            });
            self.stamp(&mut row, event);
            self.items.push(row);
        }
    }

    fn stamp(&self, row: &mut Value, event: &Event<'_>) {
        let line = event.place.line;
        row["place"] = match &event.agent {
            Some(agent) => json!(format!("{}/{agent}#{line}", self.source)),
            None => json!(format!("{}#{line}", self.source)),
        };
        row["line"] = json!(line);
        row["offset"] = json!(event.place.offset);
        row["at"] = json!(event.at_ms.map(rfc3339));
        row["subagent"] = json!(event.agent);
    }
}
