//! A transcript as listings show it.

use baton_model::time::Timestamp;
use baton_transcripts::{Complaint, Header};
use serde::{Deserialize, Serialize};

/// A transcript as listings show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The tool's own id of the session.
    pub id: String,
    /// The tool that wrote it: `claude`, `codex`, …
    pub agent: String,
    /// The file.
    pub path: String,
    /// Which of several conversations in the file.
    pub key: Option<String>,
    /// Working directory of the session.
    pub cwd: Option<String>,
    /// Address of the git repository, where the tool records it.
    pub repo: Option<String>,
    /// Git branch.
    pub branch: Option<String>,
    /// The model that answered last.
    pub model: Option<String>,
    /// The title given by user or tool, else the beginning of the first prompt.
    pub title: Option<String>,
    /// When its first entry was written.
    pub created_at: Option<Timestamp>,
    /// When its last entry was written, else when the file last changed.
    pub updated_at: Option<Timestamp>,
    /// Size of the file.
    pub bytes: u64,
    /// What could not be read.
    pub complaints: Vec<Complaint>,
    /// Whether it is one of the project in which it was asked for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub here: bool,
    /// Whether it is known that the process of its agent still runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_open: bool,
}

impl From<&Header> for Row {
    fn from(header: &Header) -> Self {
        header.clone().into()
    }
}

impl From<Header> for Row {
    fn from(header: Header) -> Self {
        Self {
            id: header.id,
            agent: header.tool_id,
            path: header.path.to_string_lossy().into_owned(),
            key: header.key,
            cwd: header.cwd,
            repo: header.repo,
            branch: header.branch,
            model: header.model,
            title: header.title,
            created_at: header.created_at_ms.map(Timestamp),
            updated_at: header.updated_at_ms.map(Timestamp),
            bytes: header.bytes,
            complaints: header.complaints,
            here: false,
            is_open: false,
        }
    }
}
