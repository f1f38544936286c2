//! What `handoff_advance` is asked to do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a person or an agent may do with a hand-off.
#[derive(Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Take it.
    Accept,
    /// Finish it: the sender's project hears the result, the task is closed.
    Complete,
    /// Say no.
    Decline,
    /// Take it back.
    Cancel,
}

impl Action {
    /// What a session is said to have done last.
    pub const fn verb(self) -> &'static str {
        match self {
            Self::Accept => "handoff_accept",
            Self::Decline => "handoff_decline",
            Self::Complete => "handoff_complete",
            Self::Cancel => "handoff_cancel",
        }
    }
}

/// Input of `handoff_advance`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdvanceInput {
    /// Hand-off id or a unique prefix of one.
    pub id: String,
    /// What to do.
    pub action: Action,
    /// Identity that does it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Result or reason, for the other side to read.
    #[serde(default)]
    pub result: Option<String>,
    /// Complete or decline what another has accepted, or cancel what another has sent; for operators.
    #[serde(default)]
    pub force: bool,
    /// Who has accepted it, as the caller knows; empty where none is expected. Refused before anything is written where another has it by now.
    #[serde(default)]
    pub holder: Option<String>,
    /// Why: with force, written into the ledger with who used it; without, the reason that the other side reads.
    #[serde(default)]
    pub why: Option<String>,
}

impl AdvanceInput {
    /// The reason of a caller that needs no force.
    pub(super) fn reason(&self) -> Option<&str> {
        self.why.as_deref().filter(|_| !self.force)
    }
}
