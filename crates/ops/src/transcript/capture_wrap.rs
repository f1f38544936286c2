//! What a capture leaves as a baton, and what it keeps where the conversation has one.

use baton_model::baton::State;
use baton_model::conversation::{ArrivalAction, Conversation, Origin, arrival};
use baton_model::packet::ValidatedPacket;
use baton_model::session::Session;
use baton_store::{Failure, Tx, session};
use serde_json::json;

use super::capture::{Capture, CaptureJob, CaptureOutput, registered_here};
use super::import::extent;
use crate::op::{Env, Operation};
use crate::resolve;
use crate::session::conversation::{self, BatonStanding, EarlierBaton};
use crate::session::{Address, close, entrusted_packet, leave, spend};

impl CaptureJob<'_> {
    /// Leaves the conversation's one baton. Where that was taken already, or the agent's own words wait in it, the session
    /// only ends.
    pub(super) fn wrap(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        own: &mut Session,
        talk: &Conversation,
    ) -> Result<CaptureOutput, Failure> {
        let earlier = conversation::earlier_baton(tx, env, talk)?;
        let follows = match &earlier {
            Some(earlier) => earlier.is_followed_by(own) && !registered_here(tx, own)?,
            None => false,
        };
        if let Some(earlier) = earlier.as_ref().filter(|_| !follows)
            && let Some(standing) = self.wrap_standing(tx, env, talk, earlier)?
        {
            spend(tx, own, &earlier.baton.baton_id)?;
            close(tx, env, own, Capture::NAME)?;
            let output = self.output(own, standing.kept_delta_id.clone(), None);
            return Ok(CaptureOutput { standing: Some(standing), ..output });
        }
        let waiting = earlier.filter(|earlier| earlier.state == State::Open);
        let (packet, to) = match &waiting {
            Some(before) => (conversation::replacing(tx, before, talk, self.packet)?, before.address()),
            None => (self.packet.clone(), Address::default()),
        };
        let packet = with_entrusted(tx, own, packet)?;
        let left = leave(tx, env, own, &packet, &to)?;
        if let Some(before) = &waiting {
            conversation::supersede(tx, before, &left.delta_id)?;
        }
        spend(tx, own, &left.delta_id)?;
        close(tx, env, own, Capture::NAME)?;
        conversation::keep(tx, env, talk, Some(&left.delta_id), extent(self.meant))?;
        Ok(self.output(own, Some(left.delta_id.clone()), Some(left.delta_id)))
    }

    /// How the earlier baton stands, where this capture does not come in its place; what is newer is kept for its holder.
    fn wrap_standing(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        talk: &Conversation,
        earlier: &EarlierBaton,
    ) -> Result<Option<BatonStanding>, Failure> {
        let (bytes, last) = extent(self.meant);
        let standing = match arrival(Some(earlier.facts()), Origin::Transcript, talk.is_behind(bytes, last)) {
            ArrivalAction::Leave | ArrivalAction::Supersede => return Ok(None),
            ArrivalAction::Present => earlier.baton_standing(),
            ArrivalAction::Late => {
                let by = resolve::identity(env.caller, None)?;
                conversation::keep_late(tx, env, earlier, self.packet, (&by, &self.key()))?
            }
        };
        conversation::keep(tx, env, talk, None, extent(self.meant))?;
        Ok(Some(standing))
    }

    /// The answer for a conversation without a session of its own, whose baton is not replaced.
    pub(super) fn present(
        &self,
        tx: &mut Tx<'_>,
        env: &mut Env<'_>,
        talk: &Conversation,
    ) -> Result<Option<CaptureOutput>, Failure> {
        let Some(earlier) = conversation::earlier_baton(tx, env, talk)? else { return Ok(None) };
        let Some(left_in) = session::get(tx, &talk.project_id, &earlier.baton.session_id)? else {
            return Ok(None);
        };
        let Some(standing) = self.wrap_standing(tx, env, talk, &earlier)? else { return Ok(None) };
        let output = self.output(&left_in, standing.kept_delta_id.clone(), None);
        Ok(Some(CaptureOutput { standing: Some(standing), ..output }))
    }
}

/// The packet of a transcript on top of what the session took over and what its agent saved, which stands in no transcript. Where
/// both do not fit into one packet, it says where the rest is.
fn with_entrusted(
    tx: &mut Tx<'_>,
    own: &Session,
    packet: ValidatedPacket,
) -> Result<ValidatedPacket, Failure> {
    let Some(entrusted) = entrusted_packet(tx, own)? else { return Ok(packet) };
    let mut view = packet.view().clone();
    let seen = view.summary.clone();
    view.summary = format!("{seen}\n\n{}", entrusted.view().summary);
    view.mark_summary_of_ledger();
    let whole = view.on_top_of(Some(&entrusted))?;
    if whole.check_size().is_ok() {
        return Ok(whole);
    }
    let id = &own.session_id;
    let rest = format!(
        "What was taken over and saved is too large for this: `baton handoff from-session {id}` shows it."
    );
    view.summary = format!("{seen}\n\n{rest}");
    view.metadata.insert("saved_in_session".into(), json!(id));
    if let Some(baton) = &own.baton_id {
        view.metadata.insert("previous_baton_id".into(), json!(baton));
    }
    Ok(ValidatedPacket::from_view(view)?)
}
