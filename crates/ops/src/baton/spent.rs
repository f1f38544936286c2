//! Why a baton is spent: offered to no agent any more.

use baton_model::baton::Baton;
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx};
use serde::{Deserialize, Serialize};

use super::withdraw::withdrawal;
use crate::portable::export_of;

/// What a baton was spent by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpentReason {
    /// The work went on, and its holder left the next baton.
    Continued,
    /// Its wrap said that nothing is left to do.
    Finished,
    /// It was taken back.
    Withdrawn,
    /// It left for another ledger as a file.
    Exported,
}

/// That a baton is spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// By what.
    pub reason: SpentReason,
    /// Who took it back or exported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

impl Spending {
    /// How a baton is spent, in place of its state.
    pub fn word(&self) -> &'static str {
        match self.reason {
            SpentReason::Continued | SpentReason::Finished => "spent",
            SpentReason::Withdrawn => "withdrawn",
            SpentReason::Exported => "exported",
        }
    }
}

/// Why a baton is spent; none of one that can still be taken.
pub(crate) fn spending(tx: &mut Tx<'_>, of: &Baton) -> Result<Option<Spending>, Failure> {
    if of.spent_by.is_none() {
        return Ok(None);
    }
    let plain = |reason| Spending { reason, by: None, at: None };
    if of.is_finished() {
        let taken_back = withdrawal(tx, of)?;
        return Ok(Some(match taken_back {
            Some(by) => Spending { reason: SpentReason::Withdrawn, by: Some(by.by), at: Some(by.at) },
            None => plain(SpentReason::Finished),
        }));
    }
    Ok(Some(match export_of(tx, of)? {
        Some((by, record)) => {
            Spending { reason: SpentReason::Exported, by: Some(by), at: Some(record.exported_at) }
        }
        None => plain(SpentReason::Continued),
    }))
}
