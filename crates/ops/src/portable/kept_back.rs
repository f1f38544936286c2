//! What was written before a baton was left and its file does not hold.

use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_store::{Failure, Tx, delta};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Notes and decisions of the session that left a baton which its packet does not repeat: they stay in the ledger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptBack {
    /// How many notes.
    pub notes: usize,
    /// How many decisions.
    pub decisions: usize,
}

impl KeptBack {
    /// Whether everything goes along.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Of the session that left a baton with this packet.
    pub(super) fn of(tx: &mut Tx<'_>, left: &Baton, packet: &str) -> Result<Self, Failure> {
        let mut counts = Self::default();
        for entry in delta::of_session(tx, &left.project_id, &left.session_id)? {
            let (field, count) = match entry.kind {
                Kind::Note => ("text", &mut counts.notes),
                Kind::Decision => ("what", &mut counts.decisions),
                _ => continue,
            };
            let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
            let words = body[field].as_str().unwrap_or_default();
            // As the text of a packet has it.
            let quoted = Value::from(words).to_string();
            let is_told = packet.contains(quoted.trim_matches('"'));
            if entry.seq < left.seq && !words.trim().is_empty() && !is_told {
                *count += 1;
            }
        }
        Ok(counts)
    }
}
