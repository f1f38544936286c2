//! A baton or a hand-off that waits, as the card shows it.

use baton_model::time::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use super::{WaitingKind, WaitingState};
use crate::baton::RowLocation;
use crate::transcript::Stopped;

/// What waits to be picked up: a baton of the project, or a hand-off from another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its id, whichever of the two it is.
    pub id: String,
    /// The id of a baton.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baton_id: Option<String>,
    /// The id of a hand-off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff_id: Option<String>,
    /// Which of the two it is.
    pub kind: WaitingKind,
    /// Where it stands.
    pub state: WaitingState,
    /// What it is about, in the sender's words: cleaned and shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Who left it; of a hand-off, `PROJECT/IDENTITY`.
    pub from: String,
    /// Of a hand-off: what the project is called since it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_project_name: Option<String>,
    /// The addressee: a name, or the address of a role.
    pub to: Option<String>,
    /// Of a baton: who holds it.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub holder: Option<Option<String>>,
    /// When it was left.
    pub created_at: Timestamp,
    /// A hook kept it at a limit, a failure or an end; its agent did not wrap.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// With what its provider stopped the agent whose work was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stopped>,
    /// What was not committed goes with it: `baton changes show ID`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_changes: bool,
    /// Of a baton: where the work was left, if in another folder than the caller's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<RowLocation>,
    /// Of a hand-off that was accepted: no session at work has it, and the reader may go on with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nobody_at_work: bool,
}

impl Waiting {
    /// Who left it, as people call the project.
    pub fn sender(&self) -> String {
        match (&self.from_project_name, self.from.split_once('/')) {
            (Some(name), Some((_, identity))) => format!("{name}/{identity}"),
            _ => self.from.clone(),
        }
    }

    /// Who holds it.
    pub fn holder(&self) -> Option<&str> {
        self.holder.as_ref()?.as_deref()
    }
}

/// Reads a field that is there: `null` is a value of it.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
