//! Every "no" that Baton says: a stable code, a sentence, and what to do next.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Which kind of "no" a refusal is. The kind decides the exit code and the HTTP status; the code is what scripts match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The request cannot be carried out as it stands.
    Refused,
    /// The input is malformed: nothing was looked up and nothing was written.
    Invalid,
    /// What was named does not exist.
    NotFound,
    /// The caller is not authenticated.
    Unauthorized,
    /// Who asks may not.
    Forbidden,
    /// Another caller holds it, or it has changed since.
    Conflict,
    /// A system outside Baton failed; the work is kept and tried again.
    Outside,
}

/// A "no" with its reason. `code` is stable across versions; `details` holds what a program may want to read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// Stable snake_case code, for instance `baton_claimed`.
    pub code: &'static str,
    /// Which kind of "no".
    pub kind: Kind,
    /// One sentence for a person: what was wrong, and where.
    pub message: String,
    /// What to do next, naming a command where there is one.
    pub hint: String,
    /// Facts for programs, merged into the JSON error object. Boxed, because refusals travel in results.
    pub details: Box<Map<String, Value>>,
}

impl Refusal {
    /// A refusal without details.
    pub fn new(kind: Kind, code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, kind, message: message.into(), hint: hint.into(), details: Box::default() }
    }

    /// Malformed input.
    pub fn invalid(code: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, code, message, hint)
    }

    /// The same refusal with one more fact for programs.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// The JSON error object: `{"code", "message", "hint", …details}`.
    pub fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("code".into(), self.code.into());
        object.insert("message".into(), self.message.clone().into());
        object.insert("hint".into(), self.hint.clone().into());
        for (key, value) in self.details.iter() {
            object.entry(key.clone()).or_insert_with(|| value.clone());
        }
        Value::Object(object)
    }
}

/// A "no" on its way to a caller elsewhere: what a [`Refusal`] says, and of a fault as much as that caller may know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorObject {
    /// Its code.
    pub code: String,
    /// What was wrong.
    pub message: String,
    /// What to do next.
    #[serde(default)]
    pub hint: String,
    /// Facts for programs, beside the others. Boxed as those of a refusal are.
    #[serde(flatten)]
    pub details: Box<Map<String, Value>>,
}

impl ErrorObject {
    /// An error without details.
    pub fn new(code: impl Into<String>, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into(), hint: hint.into(), details: Box::default() }
    }
}

impl From<&Refusal> for ErrorObject {
    fn from(refusal: &Refusal) -> Self {
        let is_own = |key: &str| ["code", "message", "hint"].contains(&key);
        let details = refusal.details.iter().filter(|(key, _)| !is_own(key));
        let details = Box::new(details.map(|(key, value)| (key.clone(), value.clone())).collect());
        Self { details, ..Self::new(refusal.code, &refusal.message, &refusal.hint) }
    }
}
