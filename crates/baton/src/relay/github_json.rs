//! GitHub's JSON: what is read of an answer, and what is sent.

use baton_model::issue::IssueAnswer;
use baton_model::time::parse_rfc3339;
use baton_ops::handoff::TrackerComment;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An issue as GitHub writes it: what is read of it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Issue {
    pub(super) number: Option<i64>,
    pub(super) html_url: Option<String>,
    pub(super) state: Option<String>,
    pub(super) state_reason: Option<String>,
    pub(super) title: Option<String>,
    pub(super) body: Option<String>,
    pub(super) closed_by: Option<Account>,
    pub(super) updated_at: Option<String>,
    pub(super) closed_at: Option<String>,
    pub(super) labels: Vec<Label>,
    pub(super) comments: Option<i64>,
    /// There where it is no issue but a pull request.
    pub(super) pull_request: Option<IgnoredAny>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Account {
    pub(crate) login: Option<String>,
}

/// A label comes as an object, of old issues as its name alone.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum Label {
    Object { name: Option<String> },
    Name(String),
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Comment {
    pub(super) id: Option<i64>,
    pub(super) body: Option<String>,
    pub(super) user: Option<Account>,
    pub(super) created_at: Option<String>,
    pub(super) updated_at: Option<String>,
    /// The address of its issue, which ends in the number.
    pub(super) issue_url: Option<String>,
}

impl Comment {
    /// As it goes to the ledger; none where the answer lacks what tells it from others.
    pub(crate) fn into_comment(self) -> Option<TrackerComment> {
        let created_at = parse_rfc3339(self.created_at.as_deref()?)?;
        Some(TrackerComment {
            id: self.id?,
            author: self.user.and_then(|user| user.login),
            body: self.body.unwrap_or_default(),
            created_at,
            updated_at: self.updated_at.as_deref().and_then(parse_rfc3339).unwrap_or(created_at),
        })
    }

    /// The same with the number of its issue.
    pub(super) fn under_issue(self) -> Option<(i64, TrackerComment)> {
        let (_, number) = self.issue_url.as_deref()?.rsplit_once('/')?;
        Some((number.parse().ok()?, self.into_comment()?))
    }
}

/// What GitHub says of an error.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Problem {
    pub(super) message: Option<String>,
    pub(super) errors: Vec<ProblemDetail>,
}

/// What is wrong with a field of a request that GitHub refuses.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ProblemDetail {
    pub(super) field: Option<String>,
    pub(super) code: Option<String>,
    pub(super) message: Option<String>,
}

impl Problem {
    /// The message with what is wrong in detail.
    pub(super) fn text(&self) -> String {
        let message = self.message.as_deref().unwrap_or_default();
        let details: Vec<String> =
            self.errors.iter().map(ProblemDetail::text).filter(|text| !text.is_empty()).collect();
        if details.is_empty() { message.to_owned() } else { format!("{message} ({})", details.join("; ")) }
    }
}

impl ProblemDetail {
    fn text(&self) -> String {
        let words = self.message.as_deref().or(self.code.as_deref());
        [self.field.as_deref(), words].into_iter().flatten().collect::<Vec<_>>().join(": ")
    }
}

#[derive(Serialize)]
pub(super) struct NewIssue<'a> {
    pub(super) title: &'a str,
    pub(super) body: &'a str,
    pub(super) labels: &'a [String],
}

#[derive(Serialize)]
pub(super) struct NewComment<'a> {
    pub(super) body: &'a str,
}

/// The fields of an issue to change; the others stay.
#[derive(Default, Serialize)]
pub(super) struct Change<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) state_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<Vec<String>>,
}

impl Issue {
    pub(super) fn is_open(&self) -> bool {
        self.state.as_deref() == Some("open")
    }

    /// Who closed it.
    pub(super) fn closer(&self) -> Option<&str> {
        self.closed_by.as_ref()?.login.as_deref()
    }

    /// What the answer to a change says of it. None where it does not say when that was.
    pub(super) fn answer(&self, is_own_close: bool) -> Option<IssueAnswer> {
        let closed_at = self.closed_at.as_deref().and_then(parse_rfc3339).filter(|_| !self.is_open());
        let updated_at = parse_rfc3339(self.updated_at.as_deref()?)?;
        Some(IssueAnswer { updated_at, closed_at, is_own_close })
    }
}

impl Label {
    pub(crate) fn into_name(self) -> Option<String> {
        match self {
            Self::Object { name } => name,
            Self::Name(name) => Some(name),
        }
    }
}

impl Change<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.state.is_none() && self.title.is_none() && self.labels.is_none()
    }
}

/// What can be read of an answer. One that is cut off, or of another shape, has nothing.
pub(super) fn read<T: DeserializeOwned + Default>(answer: &Value) -> T {
    T::deserialize(answer).unwrap_or_default()
}

/// A body to send.
pub(super) fn json(body: &impl Serialize) -> Value {
    serde_json::to_value(body).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_shown_with_its_details() {
        let answer = serde_json::json!({ "message": "Validation Failed", "errors": [
            { "resource": "Issue", "field": "title", "code": "missing_field" },
            { "resource": "Issue", "code": "custom", "message": "body is too long" },
        ] });
        let problem: Problem = read(&answer);
        assert_eq!(problem.text(), "Validation Failed (title: missing_field; body is too long)");
        assert_eq!(read::<Problem>(&serde_json::json!({ "message": "Not Found" })).text(), "Not Found");
    }
}
