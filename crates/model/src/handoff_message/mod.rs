//! Typed hand-off messages from one specialist to the next: one Rust type for each, and with it one JSON Schema.
//!
//! [`check`] refuses a message that does not fit, with the path of the fault. [`build`](build::build) makes one from what
//! is known about a task.

pub mod build;
mod context;
pub(crate) mod fit;

use schemars::{JsonSchema, Schema, schema_for};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use context::{Assignment, Failure, FileRef, Fix, Handoff, TextOrList, Verification};

use crate::id::{identity_key, visible};
use crate::refusal::Refusal;
use crate::role::role_key;
use crate::suggest::suggestions;
use crate::time::parse_rfc3339;

/// The version that messages are written in.
pub const VERSION: &str = "1.0.0";

/// The types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// New work, with nothing done before.
    TaskAssignment,
    /// Work goes on with another specialist.
    TaskHandoff,
    /// A test failed: it is to be fixed.
    TestFailureReport,
    /// A fix is in: it is to be tested again.
    FixComplete,
    /// Tests pass: look at it and approve.
    VerificationRequest,
}

impl Kind {
    /// Every type, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::TaskAssignment,
        Self::TaskHandoff,
        Self::TestFailureReport,
        Self::FixComplete,
        Self::VerificationRequest,
    ];

    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TaskAssignment => "task_assignment",
            Self::TaskHandoff => "task_handoff",
            Self::TestFailureReport => "test_failure_report",
            Self::FixComplete => "fix_complete",
            Self::VerificationRequest => "verification_request",
        }
    }

    /// Reads the word, in any case.
    pub fn from_word(word: &str) -> Option<Self> {
        let folded = word.to_ascii_lowercase().replace('-', "_");
        Self::ALL.into_iter().find(|kind| kind.as_str() == folded)
    }

    /// Reads the word; an unknown one is refused with those that are near.
    pub fn parse(word: &str) -> Result<Self, Refusal> {
        Self::from_word(word).ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str);
            let similar = suggestions(word, all);
            let what = format!("`{}` is not a type of hand-off message", visible(word));
            let hint = match similar.first() {
                Some(nearest) => format!("did you mean {nearest}?"),
                None => format!("use one of {}", all.join(", ")),
            };
            Refusal::invalid("message_type_unknown", what, hint).with("near", json!(similar))
        })
    }

    /// Its JSON Schema.
    pub fn schema(self) -> Schema {
        let mut schema = match self {
            Self::TaskAssignment => schema_for!(Message<AssignmentTag, Assignment>),
            Self::TaskHandoff => schema_for!(Message<HandoffTag, Handoff>),
            Self::TestFailureReport => schema_for!(Message<FailureTag, Failure>),
            Self::FixComplete => schema_for!(Message<FixTag, Fix>),
            Self::VerificationRequest => schema_for!(Message<VerificationTag, Verification>),
        };
        schema.insert("title".into(), self.as_str().into());
        schema
    }
}

/// How pressing it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Urgency {
    /// When there is time.
    Low,
    /// In its turn.
    #[default]
    Normal,
    /// Before the others.
    High,
    /// At once.
    Critical,
}

impl Urgency {
    /// The stable word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Normal => "normal",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }

    /// Reads the word; refused when unknown.
    pub fn parse(word: &str) -> Result<Self, Refusal> {
        let all = [Self::Low, Self::Normal, Self::High, Self::Critical];
        all.into_iter().find(|urgency| urgency.as_str().eq_ignore_ascii_case(word)).ok_or_else(|| {
            let what = format!("`{}` is no importance", visible(word));
            Refusal::invalid("importance_unknown", what, "use low, normal, high or critical")
        })
    }

    /// Urgency of a task's priority: 0 is critical, 1 high, 2 normal.
    pub fn of_priority(priority: i64) -> Self {
        match priority {
            i64::MIN..=0 => Self::Critical,
            1 => Self::High,
            2 => Self::Normal,
            _ => Self::Low,
        }
    }
}

macro_rules! tags {
    ($($(#[$doc:meta])* $tag:ident = $word:literal;)+) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
            pub enum $tag {
                /// The only value.
                #[serde(rename = $word)]
                Is,
            }
        )+
    };
}

tags! {
    /// The type of a message about new work.
    AssignmentTag = "task_assignment";
    /// The type of a message that hands work over.
    HandoffTag = "task_handoff";
    /// The type of a message about a failed test.
    FailureTag = "test_failure_report";
    /// The type of a message about a fix.
    FixTag = "fix_complete";
    /// The type of a message that asks for approval.
    VerificationTag = "verification_request";
}

/// A hand-off message: an envelope that is the same for all types, and a context that is the type's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{T}")]
#[serde(deny_unknown_fields)]
pub struct Message<T, C> {
    /// Version of the format: `1.0.0`.
    pub version: String,
    /// When it was written, as RFC 3339.
    pub timestamp: String,
    /// The type.
    #[serde(rename = "type")]
    pub kind: T,
    /// Who sends it.
    pub from_agent: String,
    /// The receiver: a name, or `role:R` for the first agent of that role that takes it.
    pub to_agent: String,
    /// The task that it is about.
    pub task_id: String,
    /// The task's title.
    #[serde(default)]
    pub task_title: String,
    /// One line.
    #[serde(default)]
    pub subject: String,
    /// From which role to which: `implementation_to_testing`.
    pub handoff_type: String,
    /// What the receiver has to know.
    pub context: C,
    /// How often this was tried before.
    #[serde(default)]
    pub previous_attempts: u32,
    /// How pressing it is.
    #[serde(default)]
    pub urgency: Urgency,
}

/// The envelope that a message travels in: what it says about itself must agree with it.
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'a> {
    /// Who sends it.
    pub from: &'a str,
    /// Who is to get it: a name or `role:R`.
    pub to: &'a str,
    /// When it is sent, as RFC 3339.
    pub at: &'a str,
}

/// Writes into a message what its envelope says and it leaves out: version, timestamp, type, sender, receiver, subject.
pub fn complete(kind: Kind, mut message: Map<String, Value>, envelope: &Envelope<'_>) -> Map<String, Value> {
    let text_of = |field: &str| message.get(field).and_then(Value::as_str).filter(|text| !text.is_empty());
    let subject = match text_of("task_title").or_else(|| text_of("task_id")) {
        Some(task) => format!("{}: {task}", subject_prefix(kind)),
        None => subject_prefix(kind).to_owned(),
    };
    let known = [
        ("version", VERSION),
        ("timestamp", envelope.at),
        ("type", kind.as_str()),
        ("from_agent", envelope.from),
        ("to_agent", envelope.to),
        ("subject", &subject),
    ];
    for (field, value) in known {
        message.entry(field).or_insert_with(|| json!(value));
    }
    message
}

/// What a subject begins with.
fn subject_prefix(kind: Kind) -> &'static str {
    match kind {
        Kind::TaskAssignment => "Assignment",
        Kind::TaskHandoff => "Handoff",
        Kind::TestFailureReport => "Fix needed",
        Kind::FixComplete => "Fix complete",
        Kind::VerificationRequest => "Please verify",
    }
}

/// Refuses a message that does not fit its type or its envelope, with the path of the fault.
pub fn check(kind: Kind, message: &Value, envelope: &Envelope<'_>) -> Result<(), Refusal> {
    match kind {
        Kind::TaskAssignment => fits::<AssignmentTag, Assignment>(kind, message, envelope),
        Kind::TaskHandoff => fits::<HandoffTag, Handoff>(kind, message, envelope),
        Kind::TestFailureReport => fits::<FailureTag, Failure>(kind, message, envelope),
        Kind::FixComplete => fits::<FixTag, Fix>(kind, message, envelope),
        Kind::VerificationRequest => fits::<VerificationTag, Verification>(kind, message, envelope),
    }
}

fn fits<T: DeserializeOwned, C: DeserializeOwned>(
    kind: Kind,
    value: &Value,
    envelope: &Envelope<'_>,
) -> Result<(), Refusal> {
    let read: Result<Message<T, C>, _> = serde_path_to_error::deserialize(value);
    let message = read.map_err(|error| {
        let path = error.path().to_string();
        unfit_refusal(kind, if path == "." { "" } else { &path }, &error.inner().to_string())
    })?;
    let same_receiver = match (message.to_agent.strip_prefix("role:"), envelope.to.strip_prefix("role:")) {
        (Some(named), Some(expected)) => role_key(named) == role_key(expected),
        _ => identity_key(&message.to_agent) == identity_key(envelope.to),
    };
    let faults = [
        (message.version.split('.').next() != Some("1"), "version", "only version 1 is known"),
        (parse_rfc3339(&message.timestamp).is_none(), "timestamp", "this is no RFC 3339 time"),
        (
            identity_key(&message.from_agent) != identity_key(envelope.from),
            "from_agent",
            "the message is sent by somebody else",
        ),
        (!same_receiver, "to_agent", "the message is sent to somebody else"),
        (!is_line(&message.task_id, 200), "task_id", "this is to be the id of a task"),
        (
            !message.task_title.is_empty() && !is_line(&message.task_title, 500),
            "task_title",
            "this is to be one line",
        ),
        (!is_line(&message.subject, 500), "subject", "this is to be one line of 1 to 500 bytes"),
        (
            !is_way(&message.handoff_type),
            "handoff_type",
            "this is to say from which role to which, as implementation_to_testing",
        ),
    ];
    if let Some((_, path, what)) = faults.into_iter().find(|(wrong, ..)| *wrong) {
        return Err(unfit_refusal(kind, path, what));
    }
    let required = build::required(kind);
    let says = value["context"][required].as_str().is_some_and(|text| !text.trim().is_empty());
    match says || kind == Kind::TaskAssignment {
        true => Ok(()),
        false => Err(unfit_refusal(kind, &format!("context.{required}"), "this is to say something")),
    }
}

fn is_line(text: &str, most: usize) -> bool {
    !text.trim().is_empty() && text.len() <= most && !text.chars().any(char::is_control)
}

fn is_way(text: &str) -> bool {
    let word = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' '))
    };
    text.len() <= 150 && text.split_once("_to_").is_some_and(|(from, to)| word(from) && word(to))
}

fn unfit_refusal(kind: Kind, path: &str, what: &str) -> Refusal {
    let place = if path.is_empty() { String::new() } else { format!(" at `{}`", visible(path)) };
    Refusal::invalid(
        "content_invalid",
        format!("the {} does not fit{place}: {what}", kind.as_str()),
        format!("`baton mail schema {}` shows the fields", kind.as_str()),
    )
    .with("type", kind.as_str())
    .with("path", path)
}

#[cfg(test)]
mod tests;
