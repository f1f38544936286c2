//! `transcript_show`: what was said in a session, with secrets taken out.

use baton_model::time::Timestamp;
use baton_store::Failure;
use baton_transcripts::event::{Event, EventKind};
use baton_transcripts::{Complaint, Options, show_session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::find::{find, refuse_empty};
use super::row::Row;
use crate::op::{Cx, Meta, Operation, Reach};

/// Shows a transcript.
pub struct Show;

/// Input of `transcript_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Session id, a unique prefix of one, `latest`, or a path.
    pub id: String,
    /// The tool that wrote it.
    #[serde(default)]
    pub agent: Option<String>,
    /// Only the last so many entries; 0 for all.
    #[serde(default)]
    pub last: Option<usize>,
}

/// Answer of `transcript_show`: the header, and what was said.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// What its tool wrote at its head.
    #[serde(flatten)]
    pub header: Row,
    /// Its messages.
    pub messages: Vec<Message>,
    /// What was left out, by name.
    pub left_out: usize,
    /// What could not be read.
    pub skipped: Vec<Complaint>,
}

/// An entry of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks, or what it is.
    pub role: Role,
    /// What is said.
    pub text: String,
    /// Its line in the file.
    pub line: u64,
    /// When it was written.
    pub at: Option<Timestamp>,
    /// The sub-agent that it belongs to.
    pub subagent: Option<String>,
}

/// Who speaks in a transcript, or what an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user.
    User,
    /// The agent.
    Assistant,
    /// A call of a tool.
    Tool,
    /// What a call came to.
    Result,
    /// What came before, summed up.
    Summary,
    /// The provider, which refused a request or failed.
    Error,
}

impl Role {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Result => "result",
            Self::Summary => "summary",
            Self::Error => "error",
        }
    }
}

impl Operation for Show {
    const META: Meta = Meta::write("transcript_show", "Show what was said in a session of any coding agent")
        .reach(Reach::Everything)
        .on_callers_disk()
        .slow("reading the session");
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let transcript = find(cx, &input.id, input.agent.as_deref(), None, "baton transcripts show")?;
        let keep = match input.last.unwrap_or(0) {
            0 => usize::MAX,
            n => n,
        };
        if let Some(copy) = &transcript.copy {
            let mut messages: Vec<Message> = copy.events.iter().flat_map(rows_of_event).collect();
            let left_out = messages.len().saturating_sub(keep);
            messages.drain(..left_out);
            return Ok(ShowOutput {
                header: Row::from(&copy.header),
                messages,
                left_out,
                skipped: Vec::new(),
            });
        }
        let home = cx.env.host.transcript_env().home.to_string_lossy().into_owned();
        let options = Options { home: Some(home), ..Options::default() };
        let mut messages = std::collections::VecDeque::new();
        let mut left_out = 0;
        let report = show_session(
            &transcript.path,
            transcript.key.as_deref(),
            transcript.format,
            &options,
            &mut |event| {
                if let Some(row) = row(event) {
                    messages.push_back(row);
                    if messages.len() > keep {
                        messages.pop_front();
                        left_out += 1;
                    }
                }
            },
        );

        if report.is_empty() {
            return Err(refuse_empty(&transcript, &report.complaints).into());
        }
        let (header, skipped) = (Row::from(&transcript.header), report.complaints);
        Ok(ShowOutput { header, messages: messages.into(), left_out, skipped })
    }
}

fn row(event: &Event<'_>) -> Option<Message> {
    let (role, text) = match &event.what {
        EventKind::User(text) => (Role::User, text.to_string()),
        EventKind::Assistant(text) => (Role::Assistant, text.to_string()),
        EventKind::Call(call) => (Role::Tool, format!("{} {}", call.name, call.target)),
        EventKind::Outcome(outcome) => (Role::Result, outcome_text(outcome.exit_code, &outcome.output)),
        EventKind::Compaction(text) => (Role::Summary, text.to_string()),
        EventKind::ProviderError(text) => (Role::Error, text.to_string()),
        EventKind::Interrupted => (Role::User, "[interrupted]".to_owned()),
        _ => return None,
    };
    Some(Message {
        role,
        text,
        line: event.position.line,
        at: event.at_ms.map(Timestamp),
        subagent: event.subagent.as_deref().map(str::to_owned),
    })
}

/// The entries of an event as `transcript_events` gives it: a call has its result with it.
fn rows_of_event(event: &Value) -> Vec<Message> {
    let text = |key: &str| event.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let role = match text("event").as_str() {
        "message" if text("role") == "user" => Role::User,
        "message" => Role::Assistant,
        "compaction" => Role::Summary,
        "provider_error" => Role::Error,
        "interrupted" => Role::User,
        "tool_call" => Role::Tool,
        _ => return Vec::new(),
    };
    let label = match role {
        Role::Tool => format!("{} {}", text("tool"), text("target")),
        Role::User if text("event") == "interrupted" => "[interrupted]".to_owned(),
        _ => text("text"),
    };
    let message = |role, text| Message {
        role,
        text,
        line: event.get("line").and_then(Value::as_u64).unwrap_or_default(),
        at: event.get("at").and_then(|at| serde_json::from_value(at.clone()).ok()),
        subagent: event.get("subagent").and_then(Value::as_str).map(str::to_owned),
    };
    let result = event.get("result").and_then(Value::as_str).filter(|_| role == Role::Tool);
    let exit_code = event.get("exit_code").and_then(Value::as_i64);
    let result = result.map(|output| message(Role::Result, outcome_text(exit_code, output)));
    std::iter::once(message(role, label)).chain(result).collect()
}

fn outcome_text(exit_code: Option<i64>, output: &str) -> String {
    match exit_code {
        Some(code) if code != 0 => format!("exit {code}\n{output}"),
        _ => output.to_owned(),
    }
}
