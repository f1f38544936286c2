//! `transcript_events`: a session as a stream of events, in order, each with its place, with secrets taken out.

use std::borrow::Cow;
use std::collections::HashMap;

use baton_model::time::{Timestamp, rfc3339};
use baton_store::Failure;
use baton_transcripts::event::{Edit, Event, EventKind, Outcome, PlanItem};
use baton_transcripts::{Complaint, Options, show_session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::find::{find, refuse_empty};
use super::found_transcript::FoundTranscript;
use super::row::Row;
use super::show::Role;
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

/// What an event is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum EventBody<'a> {
    /// Something was said.
    Message {
        /// Who said it: the user or the agent.
        role: Role,
        /// What was said.
        text: Cow<'a, str>,
    },
    /// The conversation was compacted to this summary.
    Compaction {
        /// The summary.
        text: Cow<'a, str>,
    },
    /// The user stopped the agent.
    Interrupted,
    /// The provider refused a request or failed.
    ProviderError {
        /// What the tool wrote.
        text: Cow<'a, str>,
    },
    /// The plan as it stands.
    Todo {
        /// Its items.
        items: Vec<TodoItem<'a>>,
    },
    /// A tool was called.
    ToolCall(ToolCall<'a>),
    /// A file was changed.
    Edit(FileEdit<'a>),
    /// The session itself, or what another version knows.
    #[serde(other)]
    Other,
}

/// An item of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoItem<'a> {
    /// The item.
    pub title: Cow<'a, str>,
    /// `pending`, `in_progress`, `completed` or the tool's own word.
    pub status: Cow<'a, str>,
    /// Id in the tool's own list.
    pub id: Option<Cow<'a, str>>,
}

/// A call of a tool, with what it came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall<'a> {
    /// Name of the tool.
    pub tool: Cow<'a, str>,
    /// What kind of work it is.
    pub category: Cow<'a, str>,
    /// What it works on.
    pub target: Cow<'a, str>,
    /// Lines that it reads, such as `120-180`, where it reads a part of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Cow<'a, str>>,
    /// Whether it succeeded, where that is known.
    pub ok: Option<bool>,
    /// Exit code of a command.
    pub exit_code: Option<i64>,
    /// What it returned.
    pub result: Option<Cow<'a, str>>,
}

/// A change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEdit<'a> {
    /// Path as the tool gave it.
    pub path: Cow<'a, str>,
    /// What was done.
    pub change: Cow<'a, str>,
    /// The path before a rename.
    pub from: Option<Cow<'a, str>>,
    /// Lines added, where known.
    pub added: Option<u64>,
    /// Lines removed, where known.
    pub removed: Option<u64>,
    /// The change as the body of a unified diff, where known.
    pub diff: Option<Cow<'a, str>>,
}

/// A row of the answer as its readers have it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EventRow<'a> {
    /// What it is about.
    #[serde(flatten, borrow)]
    pub body: EventBody<'a>,
    /// When, where the transcript says it.
    #[serde(default)]
    pub at: Option<Timestamp>,
    /// The sub-agent that did it.
    #[serde(default)]
    pub subagent: Option<String>,
}

impl<'a> EventRow<'a> {
    /// Reads a row; nothing of one that another version wrote in another form.
    pub fn read(row: &'a Value) -> Option<Self> {
        Self::deserialize(row).ok()
    }
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
    first["format"] = json!(baton_transcripts::EVENTS_FORMAT);
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

impl<'a> From<&'a PlanItem> for TodoItem<'a> {
    fn from(item: &'a PlanItem) -> Self {
        let id = item.id.as_deref().map(Cow::from);
        Self { title: item.title.as_str().into(), status: item.status.as_str().into(), id }
    }
}

/// A call that has not ended yet: where its event stands, and what it would change.
struct PendingCall {
    at: usize,
    edits: Vec<Edit>,
}

struct EventStream {
    source: String,
    items: Vec<Value>,
    open: HashMap<(Option<String>, String), PendingCall>,
}

impl EventStream {
    fn new(source: String, first: Value) -> Self {
        Self { source, items: vec![first], open: HashMap::new() }
    }

    fn take(&mut self, event: &Event<'_>) {
        let body = match &event.what {
            EventKind::User(text) => EventBody::Message { role: Role::User, text: text.as_ref().into() },
            EventKind::Assistant(text) => {
                EventBody::Message { role: Role::Assistant, text: text.as_ref().into() }
            }
            EventKind::Compaction(text) => EventBody::Compaction { text: text.as_ref().into() },
            EventKind::Interrupted => EventBody::Interrupted,
            EventKind::ProviderError(text) => EventBody::ProviderError { text: text.as_ref().into() },
            EventKind::Plan(items) => EventBody::Todo { items: items.iter().map(TodoItem::from).collect() },
            EventKind::Call(call) => {
                let key = (event.subagent.as_deref().map(str::to_owned), call.id.to_string());
                self.open.insert(key, PendingCall { at: self.items.len(), edits: call.edits.clone() });
                EventBody::ToolCall(ToolCall {
                    tool: call.name.as_ref().into(),
                    category: call.category.name().into(),
                    target: call.target.as_ref().into(),
                    lines: call.lines.as_deref().map(Cow::from),
                    ok: None,
                    exit_code: None,
                    result: None,
                })
            }
            EventKind::Outcome(outcome) => return self.end(event, outcome),
            EventKind::Session(_) | EventKind::Thinking(_) | EventKind::Usage(_) | EventKind::Steering => {
                return;
            }
        };
        self.add(&body, event);
    }

    fn add(&mut self, body: &EventBody<'_>, event: &Event<'_>) {
        let mut row = json!(body);
        self.stamp(&mut row, event);
        self.items.push(row);
    }

    /// What a call came to is written where the call stands; what it changed follows as events of their own.
    fn end(&mut self, event: &Event<'_>, outcome: &Outcome<'_>) {
        let key = (event.subagent.as_deref().map(str::to_owned), outcome.id.to_string());
        let mut edits = outcome.edits.clone();
        if let Some(open) = self.open.get_mut(&key)
            && let Some(row) = self.items.get_mut(open.at)
        {
            row["ok"] = json!(outcome.ok);
            row["exit_code"] = json!(outcome.exit_code);
            row["result"] = json!(outcome.output);
            row["ended"] = json!({ "line": event.position.line, "at": event.at_ms.map(rfc3339) });
            let planned = std::mem::take(&mut open.edits);
            if edits.is_empty() {
                edits = planned;
            }
        }
        if outcome.ok == Some(false) {
            return;
        }
        for edit in edits {
            let body = FileEdit {
                path: edit.path.into(),
                change: edit.change.name().into(),
                from: edit.from.map(Cow::from),
                added: edit.added,
                removed: edit.removed,
                diff: edit.diff.map(Cow::from),
            };
            self.add(&EventBody::Edit(body), event);
        }
    }

    fn stamp(&self, row: &mut Value, event: &Event<'_>) {
        let line = event.position.line;
        row["place"] = match &event.subagent {
            Some(agent) => json!(format!("{}/{agent}#{line}", self.source)),
            None => json!(format!("{}#{line}", self.source)),
        };
        row["line"] = json!(line);
        row["offset"] = json!(event.position.offset);
        row["at"] = json!(event.at_ms.map(rfc3339));
        row["subagent"] = json!(event.subagent);
    }
}
