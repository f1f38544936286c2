//! In which session a capture is kept.

use baton_model::conversation::Conversation;
use baton_model::session::{ReleaseReason, Session};
use baton_store::{Failure, Tx, session, session_open};

use super::capture::{Capture, CaptureJob};
use super::capture_end::registered_here;
use crate::op::{Env, Operation};
use crate::{resolve, token_rights};

/// The session in which a capture is kept.
pub(super) enum CaptureTarget {
    /// The agent's own, or one that a capture registered before.
    Open(Session),
    /// One that is over, for a reason that is not the agent's own.
    Taken(Session),
    /// One that the agent ended itself: it has said what there was to say.
    Done(Session),
    /// None yet.
    None,
}

impl CaptureJob<'_> {
    /// The session of the process, or the one that the caller names.
    pub(super) fn target(
        &self,
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        project_id: &str,
    ) -> Result<CaptureTarget, Failure> {
        let place = &env.caller.location;
        if let Some(id) = &env.caller.session {
            match resolve::session_by_id(tx, project_id, id) {
                // It is one of the project in which the agent stands.
                Err(Failure::Refused(refusal)) if self.is_elsewhere && refusal.code == "session_unknown" => {}
                found => {
                    let own = found?;
                    token_rights::require_access(env, &own)?;
                    return Ok(if own.is_open() { CaptureTarget::Open(own) } else { self.over(own) });
                }
            }
        }
        if place.process.is_empty() {
            return Ok(CaptureTarget::None);
        }
        let (mut captured, mut own) = (Vec::new(), Vec::new());
        let is_here = |one: &Session| one.location == *place && token_rights::may_act_in(env, one);
        for open in session_open::at(tx, project_id, place)?.into_iter().filter(is_here) {
            if registered_here(tx, &open)? { captured.push(open) } else { own.push(open) }
        }
        // If the agent began several sessions, the one of the conversation is unknown: none of them is used.
        match (own.pop(), own.is_empty(), captured.pop()) {
            (Some(own), true, _) | (_, _, Some(own)) => return Ok(CaptureTarget::Open(own)),
            (Some(_), false, None) => return Ok(CaptureTarget::None),
            (None, ..) => {}
        }
        let mut newest = session::newest(tx, project_id, 100)?;
        newest.retain(|known| is_here(known) && !known.is_open());
        // What a capture ended itself is no word of the agent's: there may be more to keep since.
        let by_capture = |last: &Session| {
            let reason = last.release.as_ref().map(|release| release.reason);
            last.last_verb == Capture::NAME
                && matches!(reason, Some(ReleaseReason::Wrapped | ReleaseReason::Ended))
        };
        let last = newest.into_iter().next().filter(|last| !by_capture(last));
        Ok(last.map_or(CaptureTarget::None, |last| self.over(last)))
    }

    /// A session that was released: it counts for a conversation that had begun by then.
    fn over(&self, own: Session) -> CaptureTarget {
        let began = self.meant.header.created_at_ms.unwrap_or_default();
        match &own.release {
            Some(release) if release.at < began => CaptureTarget::None,
            // What another one wrapped in its place is no word of the agent's.
            Some(release)
                if matches!(release.reason, ReleaseReason::Wrapped | ReleaseReason::Ended)
                    && !own.is_preempted() =>
            {
                CaptureTarget::Done(own)
            }
            _ => CaptureTarget::Taken(own),
        }
    }

    /// The agent's own session that the transcript names, where the process tells none. What a capture ended says nothing.
    pub(super) fn named_session(
        &self,
        tx: &mut Tx<'_>,
        env: &Env<'_>,
        conversation: &Conversation,
    ) -> Result<CaptureTarget, Failure> {
        let Some(id) = conversation.session_id.as_ref().filter(|_| !self.meant.sessions.is_empty()) else {
            return Ok(CaptureTarget::None);
        };
        // One that began before the conversation is another agent's.
        let began = self.meant.header.created_at_ms.unwrap_or_default();
        let is_near =
            |own: &Session| own.location.machine == env.caller.location.machine && own.started_at >= began;
        let is_it = |own: &Session| is_near(own) && (own.is_open() || own.last_verb != Capture::NAME);
        let own = session::get(tx, &conversation.project_id, id)?.filter(is_it);
        Ok(own.map_or(CaptureTarget::None, |own| {
            if own.is_open() { CaptureTarget::Open(own) } else { self.over(own) }
        }))
    }
}
