//! A task: work with its context kept in it. The names are those of a Beads issue, with the fields of a hand-off beside.

pub mod board_state;
pub mod bounded;
pub mod claim;
pub mod clock;
pub mod closing;
pub mod conflict;
pub mod coverage;
pub mod entry;
pub mod filter;
pub mod gate;
pub mod line;
pub mod merge;
pub mod patch;
mod reading;
pub mod reason;
pub mod receipt;
pub mod record;
pub mod renamed;
pub mod reserved;
pub mod sealed;
mod version;
pub mod view;
pub mod word;

use serde_json::{Map, Value, json};

use crate::refusal::Refusal;
use crate::time::{Millis, rfc3339};
use claim::Claim;
use clock::Clocks;
use view::View;

/// The most bytes that each of the two context objects may have as JSON.
pub const MAX_CONTEXT: usize = 16 * 1024;
/// The most bytes of one that is encrypted: the text grows by a third and has a part for each reader.
const MAX_SEALED: usize = 4 * MAX_CONTEXT;

/// Whether a task can be worked on, as it was worked out when something about it last changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Readiness {
    /// A blocker of its own, or one that an ancestor passes on, holds it back.
    pub blocked: bool,
    /// It holds its children back.
    pub passes: bool,
    /// Open, not blocked, and of a kind that is worked on.
    pub ready: bool,
    /// Not before this instant, its own or an ancestor's; 0 for at once.
    pub wait_until: Millis,
}

/// A task of a project.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Task {
    /// The project.
    pub project_id: String,
    /// `<prefix>-<hash>`, children `<id>.1`.
    pub task_id: String,
    /// One line.
    pub title: String,
    /// The work to do.
    pub description: String,
    /// One of [`word::STATUSES`]; what was imported may have another.
    pub status: String,
    /// 0 (now) to 4 (some day).
    pub priority: i64,
    /// `task`, `bug`, `feature`, …
    pub issue_type: String,
    /// Who works on it.
    pub assignee: Option<String>,
    /// Which role it wants.
    pub agent_role: Option<String>,
    /// Labels.
    pub labels: Vec<String>,
    /// Who wrote it down.
    pub created_by: String,
    /// When.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
    /// When it was closed.
    pub closed_at: Option<Millis>,
    /// Why it was closed.
    pub close_reason: Option<String>,
    /// The task that it is a part of.
    pub parent_id: Option<String>,
    /// Not to be offered before.
    pub defer_until: Option<Millis>,
    /// How long it may take, in minutes.
    pub estimated_minutes: Option<i64>,
    /// What its agent has to be good at.
    pub specialist_tags: Vec<String>,
    /// What was done, as recorded by the current or the previous assignee.
    pub agent_context: Map<String, Value>,
    /// What the next one needs to know.
    pub handoff_instructions: Map<String, Value>,
    /// Who did the work before.
    pub previous_agent: Option<String>,
    /// How often it was tried.
    pub attempts: i64,
    /// `pass` or `fail`, of a closed task.
    pub result: Option<String>,
    /// The type of message that goes out with its next assignment.
    pub pending_type: Option<String>,
    /// Woken by the closing of another task: conditions on other tasks do not hold it back.
    pub woken: bool,
    /// Who works on it, under a lease.
    pub claim: Option<Claim>,
    /// The newest fencing token that was given out for it.
    pub claim_token: i64,
    /// Worked out, never given.
    pub readiness: Readiness,
    /// Every other field, as given.
    pub extra: Map<String, Value>,
    /// When its fields and what hangs on it changed: what merges versions of it.
    pub clocks: Clocks,
}

impl Task {
    /// Validates a task. Fields that are unchanged since `before` are not checked, so that imported ones can stay.
    pub fn check(&self, before: Option<&Self>) -> Result<(), Refusal> {
        let same = |field: fn(&Self) -> &str| before.is_some_and(|old| field(old) == field(self));
        if !same(|t| &t.title) {
            check_title(&self.title)?;
        }
        if !(0..=4).contains(&self.priority) && before.is_none_or(|old| old.priority != self.priority) {
            return Err(invalid_refusal(
                format!("priority {} is not 0 to 4", self.priority),
                "0 is now, 2 is usual, 4 is some day",
            ));
        }
        // A status that only deleting gives a task.
        if !same(|t| &t.status) && self.status != "tombstone" {
            word::check_status(&self.status)?;
        }
        if !same(|t| &t.issue_type) {
            word::check_type(&self.issue_type)?;
        }
        if (self.status == "closed") != self.closed_at.is_some() && !same(|t| &t.status) {
            return Err(invalid_refusal(
                "a task is closed if and only if it says when".into(),
                "close it with `baton task close`",
            ));
        }
        if self.extra.get("ephemeral") == Some(&json!(true))
            && self.extra.get("no_history") == Some(&json!(true))
        {
            return Err(invalid_refusal(
                "`ephemeral` and `no_history` exclude each other".into(),
                "keep one of them",
            ));
        }
        if self.estimated_minutes.is_some_and(|minutes| minutes < 0) || self.attempts < 0 {
            return Err(invalid_refusal("minutes and attempts are not negative".into(), "give 0 or more"));
        }
        check_context("agent_context", &self.agent_context)?;
        check_context("handoff_instructions", &self.handoff_instructions)
    }

    /// Refuses a context that is too large, before it is encrypted. Where something encrypted stands in it for what only a client
    /// can decrypt, that takes more room than the plain text, which is for the client to check.
    pub fn check_context_sizes(&self) -> Result<(), Refusal> {
        let contexts =
            [("agent_context", &self.agent_context), ("handoff_instructions", &self.handoff_instructions)];
        contexts.into_iter().try_for_each(|(name, context)| match sealed::is_encrypted_context(context) {
            true => check_size(name, context, MAX_SEALED),
            false => check_context(name, context),
        })
    }

    /// Whether there is still something to do.
    pub fn is_open(&self) -> bool {
        !matches!(self.status.as_str(), "closed" | "tombstone")
    }

    /// Whether it blocks no other task: it is closed, or pinned.
    pub fn is_settled(&self) -> bool {
        !self.is_open() || self.status == "pinned" || self.is_marked("pinned")
    }

    /// Whether a mark of its record is set; some files have 1 for true.
    pub fn is_marked(&self, key: &str) -> bool {
        match self.extra.get(key) {
            Some(Value::Bool(set)) => *set,
            Some(Value::Number(number)) => number.as_i64().is_some_and(|n| n != 0),
            _ => false,
        }
    }

    /// Whether it is kept for a short time only.
    pub fn is_ephemeral(&self) -> bool {
        ["ephemeral", "wisp"].iter().any(|key| self.is_marked(key))
    }

    /// A text among its other fields.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.extra.get(key).and_then(Value::as_str)
    }

    /// Whether it is of a kind that agents work on.
    pub fn is_work(&self) -> bool {
        !word::NOT_WORK.contains(&self.issue_type.as_str())
            && !["pinned", "ephemeral", "wisp", "is_template"].iter().any(|key| self.is_marked(key))
    }

    /// The task once its deferral has ended by itself: it was put off until a time that has come. None where it stays as it is, which one
    /// that is put off without a time does.
    pub fn after_deferral(&self, now: Millis) -> Option<Self> {
        self.defer_until.filter(|until| self.status == "deferred" && *until <= now)?;
        let mut task = Self { status: "open".to_owned(), defer_until: None, ..self.clone() };
        task.readiness.ready = !task.readiness.blocked && task.is_work();
        Some(task)
    }

    /// Sets the status and what goes with it. The result is set by the caller that closes it.
    pub fn set_status(&mut self, status: &str, now: Millis) {
        let was_open = self.is_open();
        status.clone_into(&mut self.status);
        match (was_open, self.is_open()) {
            (true, false) => self.closed_at = Some(now),
            (false, true) => {
                self.closed_at = None;
                (self.close_reason, self.result) = (None, None);
            }
            _ => {}
        }
        if status == "in_progress" {
            self.extra.entry("started_at").or_insert_with(|| json!(rfc3339(now)));
        }
    }

    /// As answers show it: the fields that have a value.
    pub fn to_json(&self) -> Value {
        json!(View::from(self))
    }
}

/// Whether a field is left out: it says nothing.
pub fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

pub(crate) fn invalid_refusal(what: String, hint: &str) -> Refusal {
    Refusal::invalid("task_invalid", what, hint)
}

/// The most bytes of a title.
pub const MAX_TITLE: usize = 500;

fn check_title(title: &str) -> Result<(), Refusal> {
    if !title.trim().is_empty() && title.len() <= MAX_TITLE && !title.chars().any(char::is_control) {
        return Ok(());
    }
    Err(invalid_refusal(
        "the title is not one line of 1 to 500 bytes".into(),
        "shorten it; the rest goes into the description",
    ))
}

/// Refuses a context, plain or encrypted, that is too large. `name`: of the field, for the refusal.
pub fn check_context(name: &str, object: &Map<String, Value>) -> Result<(), Refusal> {
    check_size(name, object, if sealed::text(object).is_some() { MAX_SEALED } else { MAX_CONTEXT })
}

fn check_size(name: &str, object: &Map<String, Value>, most: usize) -> Result<(), Refusal> {
    let bytes = if object.is_empty() { 0 } else { json!(object).to_string().len() };
    if bytes <= most {
        return Ok(());
    }
    Err(Refusal::invalid(
        "context_too_large",
        format!(
            "{name} has {bytes} bytes as JSON, and {most} are the most: it was not cut, nothing is changed"
        ),
        "name files in place of quoting them, or put the text into the description or a comment",
    )
    .with("field", name)
    .with("bytes", bytes)
    .with("limit", most))
}

/// How many characters a new hash has, so that among this many tasks the chance of a clash is at most one in four.
pub fn hash_length(tasks: i64) -> usize {
    let n = tasks.max(0) as f64;
    (4..8)
        .find(|length| n * n <= 0.575 * 36f64.powi(*length))
        .map_or(8, |length| usize::try_from(length).unwrap_or(8))
}

/// Checks an id from outside: one word, as trackers write them (`shop-a3f`, `shop-a3f.1`, `.factory-abc123`). None can be
/// taken for an option, or for a way out of a folder.
pub fn check_id(id: &str) -> Result<(), Refusal> {
    let good = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if id.len() <= 128
        && id.chars().all(good)
        && !id.starts_with('-')
        && id.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && !id.contains("..")
    {
        return Ok(());
    }
    let short: String = id.chars().take(128).collect();
    Err(invalid_refusal(
        format!("`{}` is not a task id", crate::id::visible(&short)),
        "use up to 128 letters, digits, `.`, `_` and `-`; begin with a letter, a digit, `.` or `_`, and end with a letter or digit",
    ))
}

/// The parent that a dotted id implies: `a-1.2` is a child of `a-1`.
pub fn implied_parent(id: &str) -> Option<&str> {
    let (parent, number) = id.rsplit_once('.')?;
    (!parent.is_empty() && !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())).then_some(parent)
}

/// How deep a dotted id lies; a child may be made down to 3.
pub fn depth(id: &str) -> usize {
    std::iter::successors(Some(id), |id| implied_parent(id)).count() - 1
}

#[cfg(test)]
mod tests;
