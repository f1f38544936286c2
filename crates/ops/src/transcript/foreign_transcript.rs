//! What another than who left a conversation's baton brings of that conversation. Who wrote a transcript is not known: it takes no place of
//! the baton, and is not lost either.

use baton_model::baton::State;
use baton_model::conversation::Conversation;
use baton_model::packet::ValidatedPacket;
use baton_store::{Failure, Tx};

use super::found_transcript::FoundTranscript;
use super::import::extent;
use crate::op::Env;
use crate::session::conversation::{self, ConversationBaton, EarlierBaton};

/// A transcript and the packet made of it, and who brings it.
pub(super) struct ForeignTranscript<'a> {
    pub(super) transcript: &'a FoundTranscript,
    pub(super) packet: &'a ValidatedPacket,
    pub(super) by: &'a str,
}

impl ForeignTranscript<'_> {
    /// Keeps it beside the baton, once for each `key` and name, unless the ledger knows the conversation just as far. None where the
    /// baton is spent: then a baton of its own is left.
    pub(super) fn keep(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        (known, earlier): (&Conversation, &EarlierBaton),
        key: &str,
    ) -> Result<Option<ConversationBaton>, Failure> {
        let is_known = (known.bytes, known.last_entry_at) == extent(self.transcript);
        if is_known && !self.packet.view().has_written_summary() {
            return Ok(Some(earlier.existing_baton()));
        }
        if earlier.state == State::Spent {
            return Ok(None);
        }
        let key = format!("{key} by {}", self.by);
        conversation::keep_late(tx, env, earlier, self.packet, (self.by, &key)).map(Some)
    }
}
