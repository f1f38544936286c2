//! Who wrote the summary of a packet.

use serde_json::{Value, json};

use super::Packet;

/// The key in the metadata.
const BY: &str = "summary_by";
/// Baton, out of facts that the packet tells elsewhere.
const FACTS: &str = "facts";
/// Baton, out of the ledger: what an agent saved that did not wrap.
const LEDGER: &str = "ledger";

impl Packet {
    /// Whether an agent, a person or a command wrote the summary, as far as the packet says.
    pub fn has_written_summary(&self) -> bool {
        self.metadata.get(BY).is_some_and(|by| by != FACTS && by != LEDGER)
    }

    /// Whether the summary repeats only what the packet tells elsewhere.
    pub fn has_summary_of_facts(&self) -> bool {
        self.metadata.get(BY).is_some_and(|by| by == FACTS)
    }

    /// Notes that the summary holds words out of the ledger, which stand nowhere else.
    pub fn mark_summary_of_ledger(&mut self) {
        self.metadata.insert(BY.into(), json!(LEDGER));
    }

    /// Notes that the summary is the one of an earlier packet, written by the same.
    pub fn mark_summary_as_of(&mut self, earlier: &Self) {
        let by = earlier.metadata.get(BY).filter(|_| earlier.has_written_summary());
        self.metadata.insert(BY.into(), by.cloned().unwrap_or_else(|| Value::from("agent")));
    }
}
