//! What a call says that leaves work for another project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

impl CreateInput {
    /// The links that an input names; empty where it names none.
    pub fn links_in(input: &Map<String, Value>) -> Map<String, Value> {
        input.get("links").and_then(Value::as_object).cloned().unwrap_or_default()
    }

    /// The hand-off that an input replaces.
    pub fn replaces_in(input: &Map<String, Value>) -> Option<&str> {
        input.get("replaces")?.as_str()
    }
}

/// Input of `handoff_create`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateInput {
    /// The sender's project; else from the working directory.
    #[serde(default)]
    pub from_project_id: Option<String>,
    /// The receiver's project; else that of the hand-off that this one replaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub to_project_id: String,
    /// Identity that sends it.
    #[serde(default)]
    pub identity: Option<String>,
    /// One line: the title of the task; else that of the hand-off that this one replaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// What is to be done.
    #[serde(default)]
    pub description: String,
    /// Labels of the task.
    #[serde(default)]
    pub tags: Vec<String>,
    /// `critical`, `high`, `normal`, `low`, or 0 to 4.
    #[serde(default)]
    pub priority: Option<Value>,
    /// Where it comes from; under `docs` paths of documents, whose words go along.
    #[serde(default)]
    pub links: Map<String, Value>,
    /// `owner/repo` of the issue tracker, in place of what the registry says.
    #[serde(default)]
    pub issues_github_repo: Option<String>,
    /// Keep the task in Baton's own ledger, whatever the registry says.
    #[serde(default)]
    pub local: bool,
    /// The session to be seeded.
    #[serde(default)]
    pub seed_session: Option<SeedSession>,
    /// A hand-off packet as an object. Clients may rewrite it; `packet_text` is exact.
    #[serde(default)]
    pub packet: Option<Value>,
    /// The exact text of a hand-off packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_text: Option<String>,
    /// The identity it is addressed to.
    #[serde(default)]
    pub to_identity: Option<String>,
    /// The role it is addressed to.
    #[serde(default)]
    pub to_role: Option<String>,
    /// Expires when no agent has taken it for so long, such as 7d.
    #[serde(default)]
    pub expires_in: Option<String>,
    /// Register the receiver's project as a placeholder although its name is near that of a known one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub create: bool,
    /// Check and show what would be written; write nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// The hand-off of this project that came back and that this one replaces: it leaves the inbox, and all that is not said anew is
    /// taken from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// Makes a retry return the same hand-off.
    #[serde(default)]
    pub request_id: Option<String>,
}

/// The session to be seeded.
#[derive(Serialize, Deserialize, JsonSchema, Default)]
#[serde(deny_unknown_fields)]
pub struct SeedSession {
    /// Whose session: an identity or a role.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// The task part of its key; else made from the hand-off's id.
    #[serde(default)]
    pub task_id: Option<String>,
    /// Phase to begin in.
    #[serde(default)]
    pub current_phase: Option<String>,
    /// Stage to begin in.
    #[serde(default)]
    pub current_stage: Option<String>,
}
