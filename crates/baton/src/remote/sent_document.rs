//! The text of a file as a client sends it: without secrets, by the rules of the machine on which the file lies.

use baton_ops::document::{CleanDocument, OmissionReason};
use serde::{Deserialize, Serialize};

/// The answer to a question for a document.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SentDocument {
    /// What it says.
    #[serde(rename = "Ok", skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// How many secrets were taken out of it.
    #[serde(skip_serializing_if = "is_zero")]
    secrets: usize,
    /// Why it is not sent.
    #[serde(rename = "Err", skip_serializing_if = "Option::is_none")]
    left_out: Option<OmissionReason>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl SentDocument {
    /// What was found, or why nothing is sent.
    pub(super) fn of(found: Result<CleanDocument, OmissionReason>) -> Self {
        match found {
            Ok(CleanDocument { text, secrets }) => Self { text: Some(text), secrets, left_out: None },
            Err(why) => Self { left_out: Some(why), ..Self::default() },
        }
    }

    /// What a client sent.
    pub(super) fn received(self) -> Result<CleanDocument, OmissionReason> {
        match self.text {
            Some(text) => Ok(CleanDocument { text, secrets: self.secrets }),
            None => Err(self.left_out.unwrap_or(OmissionReason::Missing)),
        }
    }
}
