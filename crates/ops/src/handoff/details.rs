//! What is kept with a hand-off beside its columns.

use baton_model::handoff::{Ending, Handoff, LateResult, Rename};
use baton_model::session::ProcessLocation;
use baton_model::time::Millis;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::linked_documents::LinkedDocument;

/// What is kept with a hand-off beside its columns, as JSON: what its steps need, who accepted it, who ended it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct HandoffDetails {
    /// What it is about.
    pub description: String,
    /// Labels.
    pub tags: Vec<String>,
    /// Priority, 0 is the highest.
    pub priority: i64,
    /// Related addresses.
    pub links: Map<String, Value>,
    /// The documents that it links, as its sender had them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<LinkedDocument>,
    /// Phase of the work.
    pub phase: Option<String>,
    /// Stage of the work.
    pub stage: Option<String>,
    /// The issue's page, as GitHub says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The session that accepted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_by: Option<String>,
    /// Where it was accepted: what tells one unnamed acceptor from another.
    #[serde(rename = "accepted_place", skip_serializing_if = "Option::is_none")]
    pub accepted_location: Option<ProcessLocation>,
    /// The access token with which it was accepted, by its id.
    #[serde(rename = "accepted_bearer", skip_serializing_if = "Option::is_none")]
    pub accepted_access_token: Option<String>,
    /// The identity that accepted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_as: Option<String>,
    /// When it was accepted by that one, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_at: Option<String>,
    /// When it was offered last, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_at: Option<String>,
    /// Who ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ending>,
    /// Its task was closed in the Beads file, which does not say by whom.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub closed_in_file: bool,
    /// Who closed its task through Baton: the hand-off ends a step later, in that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed_by: Option<String>,
    /// Results that came when another stood, or from one who had not accepted it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late_results: Vec<LateResult>,
    /// What was seen last of its issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_seen: Option<SeenIssue>,
    /// The close of its issue that the answer to a change of our own told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issue_close: Option<IssueClose>,
    /// The close of its issue whose words were read, by its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words_read_of: Option<Millis>,
    /// The project from which it was sent, where that one was merged into its sender since: the receiver knows this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent_as: Option<String>,
    /// The names that the repository of its issue had before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub renames: Vec<Rename>,
    /// The hand-off that was left anew in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// Whether its issue goes to where the registry says when it is made: not where its sender has named the repository. A hand-off that
    /// was written down before this was kept does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows_registry: Option<bool>,
    /// The repository of its issue is not to be found: polls are answered so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repository_missing: bool,
}

/// A state of an issue, and when it had it by GitHub's clock. An event that is older, or was seen already, says nothing new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SeenIssue {
    /// In milliseconds.
    pub at: Millis,
    /// Whether it was open.
    pub is_open: bool,
}

/// A close of an issue, by GitHub's clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IssueClose {
    /// In milliseconds.
    pub at: Millis,
    /// Whether Baton has closed it.
    pub is_own: bool,
}

impl SeenIssue {
    /// Whether this was known before `earlier` was seen, or with it.
    pub(crate) fn is_outdated_by(&self, earlier: &Self) -> bool {
        self.at < earlier.at || self == earlier
    }
}

impl HandoffDetails {
    pub(crate) fn of(handoff: &Handoff) -> Self {
        serde_json::from_str(&handoff.plan).unwrap_or_default()
    }

    /// The project from which a hand-off with this details was sent, where that one was merged since.
    pub(crate) fn former_sender(text: &str) -> Option<String> {
        serde_json::from_str::<Self>(text).ok()?.sent_as
    }

    pub(crate) fn to_text(&self) -> String {
        json!(self).to_string()
    }
}
