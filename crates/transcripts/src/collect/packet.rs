//! What a summary is: as JSON it is a hand-off packet.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::event::PlanItem;

/// A session in short. Its JSON is a hand-off packet; every fact points back into the transcript by `at`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// What was asked and where it stands.
    pub summary: String,
    /// The tool, its session and its file.
    pub source: Source,
    /// The tool's own id of the session.
    pub session_id: String,
    /// RFC 3339 time of the last entry: no clock is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The user's first and last request.
    pub requests: Requests,
    /// The agent's last answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_answer: Option<Text>,
    /// The last command that failed and did not succeed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_failure: Option<Failure>,
    /// Items of the plan that are done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub work_completed: Vec<Text>,
    /// What comes next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<Text>,
    /// What was left hanging.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub open_loops: Vec<Text>,
    /// The plan with the state of every item.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending_tasks: Vec<Task>,
    /// Decisions with reasons and rejected options.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decision>,
    /// What did not work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_attempts: Vec<Attempt>,
    /// What the user insisted on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Text>,
    /// Files changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<FileChange>,
    /// Files that were read, those that matter most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_read: Vec<FileChange>,
    /// Names that were searched for or defined, the latest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub searched: Vec<Text>,
    /// The last state of every step that was run, those that matter most first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Command>,
    /// Commands run, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<Command>,
    /// The last command that ran tests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_command: Option<String>,
    /// `pass` or `fail`, where its exit code is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_status: Option<String>,
    /// Tool calls by category.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_activity: Vec<Activity>,
    /// What else was said that may matter, in its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// The last turns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recent_messages: Vec<Message>,
    /// State of the working copy, as far as the transcript tells.
    pub git: Git,
    /// Working directory and version of the tool.
    pub environment: Map<String, Value>,
    /// Model, tokens, complaints, redactions, what was left out.
    pub metadata: Map<String, Value>,
}

/// Where the summary comes from.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Source {
    /// Id of the format.
    pub agent: String,
    /// Id of the session.
    pub id: String,
    /// The file, with the home directory as `~`.
    pub path: String,
}

/// The user's own words.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Requests {
    /// What was asked first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Text>,
    /// What was asked last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Text>,
}

/// A sentence and its place.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Text {
    /// The sentence.
    pub text: String,
    /// Its place.
    pub at: String,
}

/// An item of the plan.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Task {
    /// The item.
    pub title: String,
    /// Its state.
    pub status: String,
    /// Place of the plan.
    pub at: String,
}

/// A decision.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Decision {
    /// The sentence.
    pub what: String,
    /// Its reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What was not chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<String>,
    /// Its place.
    pub at: String,
}

/// Something that did not work.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Attempt {
    /// What was tried.
    pub tried: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_failed: Option<String>,
    /// Its place.
    pub at: String,
}

/// A file that was changed or read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FileChange {
    /// Path, relative to the session's directory where it lies in it.
    pub path: String,
    /// What was done, and by which sub-agent if by one.
    pub change: String,
    /// `+12 -3`, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// The last edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// How much it seems to matter, among the files of one packet.
    #[serde(skip_serializing_if = "is_zero")]
    pub weight: i64,
    /// Place of the last edit or read.
    pub at: String,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// A command.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Command {
    /// The command line.
    pub command: String,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// A remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Its place.
    pub at: String,
}

/// A command that failed.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Failure {
    /// The command line.
    pub command: String,
    /// Its exit code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// The end of its output.
    pub output: String,
    /// Its place.
    pub at: String,
}

/// Tool calls of one category.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Activity {
    /// The category.
    pub category: String,
    /// How many calls.
    pub count: u64,
    /// The most telling ones.
    pub samples: Vec<String>,
}

/// A passage that belongs to no other field.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Remark {
    /// `user` or `assistant`.
    pub role: String,
    /// What was said.
    pub text: String,
    /// How much it seems to say, among the remarks of one packet.
    pub weight: u8,
    /// Its place.
    pub at: String,
}

/// A turn.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Message {
    /// `user` or `assistant`.
    pub role: String,
    /// What was said.
    pub text: String,
    /// Its place.
    pub at: String,
}

/// What the transcript shows of git.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Git {
    /// Branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The last commit that the session made, else the one it began with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether there were changes that are not committed, as far as it showed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
}

impl Task {
    pub(super) fn new(item: &PlanItem, title: String, at: &str) -> Self {
        Self { title, status: item.status.clone(), at: at.to_owned() }
    }
}
