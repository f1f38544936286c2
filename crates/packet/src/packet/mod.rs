//! The hand-off packet: the one schema for every hand-off in the product.
//!
//! A packet is a JSON object. It is stored and given back as the same bytes, so the text is kept beside the typed view
//! ([`ValidatedPacket`]). Every field but `summary` is optional; fields unknown to us are kept; sizes are checked and refused
//! over the limit, never cut.

mod command;
mod fields;
mod file;
mod number;
mod overlay;
mod proposal;
mod remark;
mod shape;
mod summary;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::refusal::Refusal;
pub use command::Command;
pub use fields::FIELDS;
pub use file::{FileChange, is_source};
pub use proposal::Proposal;
pub use remark::Remark;
use shape::{item, items, pending};

/// The largest packet accepted, in bytes of JSON text.
pub const MAX_BYTES: usize = 256 * 1024;
/// The bytes by which a packet that Baton puts together may be larger: what was accepted, and who held it since.
pub const ROOM: usize = 32 * 1024;

/// The typed view of a packet. Lists accept a single value in place of a list, and items that are objects accept a
/// plain string for their main field, because agents write both.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Packet {
    /// What happened and where it stands, in a few sentences. The only required field.
    pub summary: String,
    /// Who hands over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Party>,
    /// Who is meant to continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Party>,
    /// The session that the packet describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// RFC 3339 time at which the packet was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The user's own words: first and last request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Requests>,
    /// The agent's last answer, as far as it matters.
    #[serde(deserialize_with = "item", skip_serializing_if = "Option::is_none")]
    pub last_answer: Option<Text>,
    /// The last command that failed, with the tail of its output.
    #[serde(deserialize_with = "item", skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<Failure>,
    /// What is done.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub work_completed: Vec<Text>,
    /// What comes next, the most urgent first.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<Text>,
    /// Questions without an answer.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub open_loops: Vec<Text>,
    /// What a session wrote down that asks nothing.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub session_notes: Vec<Text>,
    /// The plan: items done, in progress and open.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub pending_tasks: Vec<PlanItem>,
    /// The plan in prose that was put before the user last.
    #[serde(deserialize_with = "item", skip_serializing_if = "Option::is_none")]
    pub proposal: Option<Proposal>,
    /// Decisions with reasons and rejected options.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// What was tried and did not work.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub failed_attempts: Vec<Attempt>,
    /// What the user insisted on.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Text>,
    /// Files changed, and how.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<FileChange>,
    /// Files that were read, those that matter most first.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub files_read: Vec<FileChange>,
    /// Names that were searched for or defined, the latest first.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub searched: Vec<Text>,
    /// The last state of every step that was run, those that matter most first.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Command>,
    /// Commands that mattered, oldest first.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
    /// How to verify.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_command: Option<String>,
    /// `pass`, `fail`, `pending` or a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_status: Option<String>,
    /// Known faults that remain.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub known_issues: Vec<Text>,
    /// Tags of what the work is about.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub focus: Vec<String>,
    /// The identity that should continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_agent: Option<String>,
    /// The role that should continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_role: Option<String>,
    /// Commits, branches, issues, documents.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub refs: Vec<Text>,
    /// Tool calls by category.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub tool_activity: Vec<ToolActivity>,
    /// What else was said that may matter and belongs to no other field, oldest first.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// The last turns.
    #[serde(deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub recent_messages: Vec<Message>,
    /// State of the working copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    /// Whatever describes the machine and tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Value>,
    /// Anything else the sender wants to keep.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Fields that this version does not know.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// One side of a hand-off.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Party {
    /// The tool: `claude`, `codex`, …, or `human`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Identity or native session id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where the transcript lies, with the home directory as `~`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// First and last request of the user, in the user's words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requests {
    /// What the user asked for first.
    #[serde(deserialize_with = "item", skip_serializing_if = "Option::is_none")]
    pub first: Option<Text>,
    /// What the user asked for last.
    #[serde(deserialize_with = "item", skip_serializing_if = "Option::is_none")]
    pub last: Option<Text>,
}

/// A sentence, with the place in the transcript that it came from (`agent:id#line`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// The sentence.
    #[serde(alias = "content", alias = "title", alias = "description")]
    pub text: String,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// An item of a plan or todo list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanItem {
    /// The item.
    #[serde(alias = "content", alias = "step", alias = "text", alias = "description", alias = "subject")]
    pub title: String,
    /// `pending`, `in_progress`, `completed`, or the sender's own word.
    #[serde(default = "pending")]
    pub status: String,
    /// Id of a task in a tracker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// A decision with its reason and what was rejected.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// What was decided.
    #[serde(alias = "decision", alias = "text")]
    pub what: String,
    /// The reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Options that were rejected.
    #[serde(default, deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<String>,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Something that was tried and did not work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// What was tried.
    #[serde(alias = "what", alias = "text")]
    pub tried: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_failed: Option<String>,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// A command that failed, with the tail of what it printed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The command line.
    #[serde(alias = "cmd")]
    pub command: String,
    /// Its exit code, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The end of its output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Tool calls of one category.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolActivity {
    /// `shell`, `edit`, `write`, `read`, `search`, `fetch`, `task`, `ask`, `mcp:<server>` or `other`.
    pub category: String,
    /// How many calls.
    #[serde(default)]
    pub count: i64,
    /// The most telling calls, each with its outcome: `npm test → exit 1`.
    #[serde(default, deserialize_with = "items", skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<String>,
}

/// A turn of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// `user`, `assistant` or `tool`.
    #[serde(default)]
    pub role: String,
    /// What was said.
    #[serde(alias = "content")]
    pub text: String,
    /// Where it stands in the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// State of a git working copy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Git {
    /// Branch name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Commit id of HEAD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether there were uncommitted changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// Whether `docs/PROJECT.md`, as `baton init` wrote it, is all that is not committed: no work, and `dirty` is left out then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub new_document: bool,
    /// Whether all that is not committed lay there when the session began, and holds what it held then. Packets of older versions do not say.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unchanged_since_begin: bool,
    /// Commits that upstream does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<i64>,
    /// What git has begun and not ended: `merge`, `rebase`, `cherry-pick`, `revert`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_progress: Option<String>,
}

/// A packet together with the exact text it came as. The text is what is stored and given back.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidatedPacket {
    text: String,
    view: Packet,
}

impl ValidatedPacket {
    /// Reads a packet. Refuses text over [`MAX_BYTES`], text that is not a JSON object, and fields of a wrong type,
    /// naming the path of the fault.
    pub fn parse(text: String) -> Result<Self, Refusal> {
        overlay::check_size(&text)?;
        Self::read(text)
    }

    /// Reads a packet that is in the ledger or came out of one: Baton may have put it together, so it has [`ROOM`].
    pub fn parse_stored(text: String) -> Result<Self, Refusal> {
        overlay::check_limit(&text, MAX_BYTES + ROOM)?;
        Self::read(text)
    }

    /// Reads a packet of any size.
    fn read(text: String) -> Result<Self, Refusal> {
        if text.contains("\\u0000") && serde_json::from_str::<Value>(&text).is_ok_and(|v| has_nul(&v)) {
            return Err(refusal("the packet holds a NUL character", "remove it: no tool can show it"));
        }
        let shown = number::quote_oversized_numbers(&text);
        let mut reader = serde_json::Deserializer::from_str(&shown);
        let view: Packet = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let path = error.path().to_string();
            let inner = error.into_inner();
            let place = if path == "." || path == "?" { String::new() } else { format!(" at `{path}`") };
            refusal(
                &format!("the packet is malformed{place}: {}", fields::fault(&inner)),
                "see `baton wrap --help` for the fields",
            )
            .with("path", path)
        })?;
        reader.end().map_err(|error| {
            refusal(&format!("text follows the packet: {error}"), "give one JSON object and nothing else")
        })?;
        if view.summary.trim().is_empty() {
            return Err(fields::no_summary_refusal(&view));
        }
        Ok(Self { text, view })
    }

    /// A packet made from its typed view.
    pub fn from_view(view: Packet) -> Result<Self, Refusal> {
        let text = serde_json::to_string(&view).map_err(|error| {
            refusal(&format!("the packet cannot be written as JSON: {error}"), "report this with the packet")
        })?;
        Self::parse(text)
    }

    /// The exact text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The typed view.
    pub fn view(&self) -> &Packet {
        &self.view
    }
}

fn refusal(message: &str, hint: &str) -> Refusal {
    Refusal::invalid("packet_invalid", message, hint)
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(fields) => fields.iter().any(|(key, value)| key.contains('\0') || has_nul(value)),
        _ => false,
    }
}

/// The first line of a summary, at most 200 characters; what is left out is shown by an ellipsis.
pub fn one_line(summary: &str) -> String {
    let line = summary.trim().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(200) {
        None => line.to_owned(),
        Some(_) => {
            let cut = line.char_indices().nth(199).map_or(line.len(), |(at, _)| at);
            format!("{}…", line[..cut].trim_end())
        }
    }
}

#[cfg(test)]
mod tests;
