//! Who calls, as a request says it: written by the client, read by a server.

use axum::http::HeaderMap;
use baton_model::refusal::Refusal;
use baton_model::repository::Repository;
use baton_model::session::ProcessLocation;
use baton_model::time::Millis;
use baton_ops::op::Caller;
use serde::{Deserialize, Serialize};

/// Who calls, as the header `Baton-Caller` says: a JSON object with any of these fields. What a later client adds is left alone.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallerHeader {
    identity: Option<String>,
    project: Option<String>,
    session: Option<String>,
    surface: String,
    machine: String,
    process: String,
    folders: Vec<String>,
    git_root: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<Repository>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_fault: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_after: Option<Millis>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    hides_subjects: bool,
}

impl CallerHeader {
    /// What a caller says of itself.
    pub(crate) fn of(caller: &Caller) -> Self {
        Self {
            identity: caller.identity.clone(),
            project: caller.project.clone(),
            session: caller.session.clone(),
            surface: caller.surface.clone(),
            machine: caller.location.machine.clone(),
            process: caller.location.process.clone(),
            folders: caller.folders.clone(),
            git_root: caller.git_root.clone(),
            repository: caller.repository.clone(),
            git_fault: caller.git_fault.clone(),
            stale_after: caller.stale_after,
            hides_subjects: caller.hides_subjects,
        }
    }

    /// The caller, with a grant that is still to be filled in.
    pub(crate) fn caller(self) -> Caller {
        Caller {
            identity: self.identity,
            project: self.project,
            session: self.session,
            surface: self.surface,
            location: ProcessLocation { machine: self.machine, process: self.process },
            folders: self.folders,
            git_root: self.git_root,
            repository: self.repository,
            git_fault: self.git_fault,
            stale_after: self.stale_after,
            hides_subjects: self.hides_subjects,
            ..Caller::default()
        }
    }
}

/// Parses the header `Baton-Caller`; the default caller if the header is missing.
pub(crate) fn caller_of(headers: &HeaderMap) -> Result<Caller, Refusal> {
    let Some(text) = headers.get("baton-caller") else { return Ok(Caller::default()) };
    let header: CallerHeader = serde_json::from_slice(text.as_bytes()).map_err(|error| {
        Refusal::invalid(
            "caller_invalid",
            format!("the header Baton-Caller is malformed: {error}"),
            "give a JSON object or leave it out",
        )
    })?;
    Ok(header.caller())
}
