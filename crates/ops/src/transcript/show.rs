//! `transcript_show`: what was said in a session, with secrets taken out.

use baton_store::Failure;
use baton_transcripts::event::{Event, EventKind};
use baton_transcripts::{Options, show_session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::find::{header_json, meant, refuse_empty};
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
    pub header: Value,
    /// Its messages.
    pub messages: Vec<Value>,
    /// What was left out, by name.
    pub left_out: usize,
    /// What could not be read.
    pub skipped: Value,
}

impl Operation for Show {
    const META: Meta = Meta::write("transcript_show", "Show what was said in a session of any coding agent")
        .reach(Reach::Everything)
        .on_callers_disk()
        .slow("reading the session");
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let meant = meant(cx, &input.id, input.agent.as_deref(), None, "baton transcripts show")?;
        let home = cx.env.host.transcript_env().home.to_string_lossy().into_owned();
        let options = Options { home: Some(home), ..Options::default() };
        let keep = match input.last.unwrap_or(0) {
            0 => usize::MAX,
            n => n,
        };
        let mut messages = std::collections::VecDeque::new();
        let mut left_out = 0;
        let report = show_session(&meant.path, meant.key.as_deref(), meant.format, &options, &mut |event| {
            if let Some(row) = row(event) {
                messages.push_back(row);
                if messages.len() > keep {
                    messages.pop_front();
                    left_out += 1;
                }
            }
        });
        let skipped = json!(report.complaints);
        if report.is_empty() {
            return Err(refuse_empty(&meant, &skipped).into());
        }
        Ok(ShowOutput { header: header_json(&meant.header), messages: messages.into(), left_out, skipped })
    }
}

fn row(event: &Event<'_>) -> Option<Value> {
    let (role, text) = match &event.what {
        EventKind::User(text) => ("user", text.to_string()),
        EventKind::Assistant(text) => ("assistant", text.to_string()),
        EventKind::Call(call) => ("tool", format!("{} {}", call.name, call.target)),
        EventKind::Outcome(outcome) => ("result", outcome_text(outcome.exit_code, &outcome.output)),
        EventKind::Compaction(text) => ("summary", text.to_string()),
        EventKind::Interrupted => ("user", "[interrupted]".to_owned()),
        _ => return None,
    };
    Some(json!({
        "role": role,
        "text": text,
        "line": event.place.line,
        "at": event.at_ms.map(baton_model::time::rfc3339),
        "subagent": event.agent,
    }))
}

fn outcome_text(exit_code: Option<i64>, output: &str) -> String {
    match exit_code {
        Some(code) if code != 0 => format!("exit {code}\n{output}"),
        _ => output.to_owned(),
    }
}
