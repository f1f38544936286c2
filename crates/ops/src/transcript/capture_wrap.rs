//! What a capture leaves as a baton, and what it keeps where the conversation has one.

use baton_model::baton::State;
use baton_model::conversation::{ArrivalAction, Conversation, Origin, Progress, arrival};
use baton_model::session::Session;
use baton_store::{Failure, Tx, session};

use super::capture::{Capture, CaptureJob, CaptureOutput};
use super::capture_end::registered_here;
use super::foreign_transcript::ForeignTranscript;
use super::import::extent;
use super::progress::progress;
use crate::op::{Env, Operation};
use crate::resolve;
use crate::session::conversation::{self, ConversationBaton, EarlierBaton};
use crate::session::{Address, close, leave, on_top_of_sessions, spend};

impl CaptureJob<'_> {
    /// Leaves the conversation's one baton. Where that was taken already, or the agent's own words wait in it, the session
    /// only ends.
    pub(super) fn wrap(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        own: &mut Session,
        conversation: &Conversation,
    ) -> Result<CaptureOutput, Failure> {
        let earlier = conversation::earlier_baton(tx, env, conversation)?;
        let follows = match &earlier {
            Some(earlier) => earlier.is_followed_by(own) && !registered_here(tx, own)?,
            None => false,
        };
        // What the session holds besides stays in no note: it goes on in a baton of the session's own.
        let holds_another = |earlier: &EarlierBaton| {
            own.baton_id.as_ref().is_some_and(|held| *held != earlier.baton.baton_id)
        };
        let is_present = |earlier: &&EarlierBaton| match earlier.is_replaceable(env) {
            true => !follows,
            false => !holds_another(earlier) && (!follows || earlier.state == State::Open),
        };
        if let Some(earlier) = earlier.as_ref().filter(is_present)
            && let Some(existing_baton) = self.existing_of_wrap(tx, env, conversation, earlier)?
        {
            spend(tx, own, &earlier.baton.baton_id)?;
            close(tx, env, own, Capture::NAME)?;
            let output = self.output(own, existing_baton.kept_delta_id.clone(), None);
            return Ok(CaptureOutput { existing_baton: Some(existing_baton), ..output });
        }
        let waiting = earlier.filter(|earlier| earlier.state == State::Open && earlier.is_replaceable(env));
        let (packet, to) = match &waiting {
            Some(before) => {
                (conversation::replacing(tx, before, conversation, self.packet)?, before.address())
            }
            None => (Some(self.packet.clone()), Address::default()),
        };
        let ids = [own.session_id.clone()];
        let packet = match packet {
            Some(packet) => on_top_of_sessions(tx, &own.project_id, &ids, packet)?,
            None => None,
        };
        let Some(packet) = packet else { return self.end_without_baton(tx, env, own, conversation) };
        let left = leave(tx, env, own, &packet, &to)?;
        if let Some(before) = &waiting {
            conversation::supersede(tx, before, &left.delta_id)?;
        }
        spend(tx, own, &left.delta_id)?;
        close(tx, env, own, Capture::NAME)?;
        conversation::keep(tx, env, conversation, Some(&left.delta_id), extent(self.meant))?;
        Ok(self.output(own, Some(left.delta_id.clone()), Some(left.delta_id)))
    }

    /// Ends the session with the transcript as a checkpoint. The next pickup gets the packet that it held, and all that was saved
    /// since: together they are too large for one packet, and nothing of either is cut.
    fn end_without_baton(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        own: &mut Session,
        conversation: &Conversation,
    ) -> Result<CaptureOutput, Failure> {
        let output = self.checkpoint(tx, env, own, conversation)?;
        super::capture_end::end(tx, env, own, &self.input.event)?;
        Ok(output)
    }

    /// Whether more was asked for or done after the agent wrapped this session: a baton is left that has it, too, or, before a
    /// compaction, a checkpoint.
    pub(super) fn goes_on_after(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        conversation: &mut Conversation,
        own: &Session,
    ) -> Result<bool, Failure> {
        conversation::join(tx, conversation, own)?;
        let Some(earlier) = conversation::earlier_baton(tx, env, conversation)? else { return Ok(false) };
        let has_work =
            progress(tx, env.now, (conversation, &earlier), (self.meant, self.packet))? == Progress::Work;
        // A checkpoint leaves the earlier baton as it is.
        Ok(has_work
            && (!self.input.wrap || self.existing_of_wrap(tx, env, conversation, &earlier)?.is_none()))
    }

    /// How the earlier baton stands, where this capture does not come in its place; what is newer is kept for its holder.
    fn existing_of_wrap(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        conversation: &Conversation,
        earlier: &EarlierBaton,
    ) -> Result<Option<ConversationBaton>, Failure> {
        if !earlier.is_replaceable(env) {
            let by = resolve::identity(env.caller, None)?;
            let foreign = ForeignTranscript { transcript: self.meant, packet: self.packet, by: &by };
            return foreign.keep(tx, env, (conversation, earlier), &self.idempotency_key());
        }
        let progress = progress(tx, env.now, (conversation, earlier), (self.meant, self.packet))?;
        let existing_baton = match arrival(Some(earlier.facts()), Origin::Transcript, progress) {
            ArrivalAction::Leave => return Ok(None),
            ArrivalAction::Supersede => return Ok(None),
            ArrivalAction::Present => earlier.existing_baton(),
            ArrivalAction::Late => {
                let by = resolve::identity(env.caller, None)?;
                conversation::keep_late(tx, env, earlier, self.packet, (&by, &self.idempotency_key()))?
            }
        };
        conversation::keep(tx, env, conversation, None, extent(self.meant))?;
        Ok(Some(existing_baton))
    }

    /// The answer for a conversation without a session of its own, whose baton is not replaced, or holds all that would be saved: the
    /// hook of a compaction may come after that of the end.
    pub(super) fn present(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        conversation: &Conversation,
    ) -> Result<Option<CaptureOutput>, Failure> {
        let Some(earlier) = conversation::earlier_baton(tx, env, conversation)? else { return Ok(None) };
        let Some(left_in) = session::get(tx, &conversation.project_id, &earlier.baton.session_id)? else {
            return Ok(None);
        };
        if !self.input.wrap {
            let has_all =
                progress(tx, env.now, (conversation, &earlier), (self.meant, self.packet))? == Progress::None;
            return Ok(has_all.then(|| self.output(&left_in, None, None)));
        }
        let Some(existing_baton) = self.existing_of_wrap(tx, env, conversation, &earlier)? else {
            return Ok(None);
        };
        let output = self.output(&left_in, existing_baton.kept_delta_id.clone(), None);
        Ok(Some(CaptureOutput { existing_baton: Some(existing_baton), ..output }))
    }
}
