//! The session of an imported conversation: it was over before the ledger heard of it.

use baton_model::session::{ProcessLocation, Release, ReleaseReason, Session};

use super::Import;
use super::found_transcript::FoundTranscript;
use crate::op::{Env, Operation};
use crate::token_rights;

/// A session that is over as soon as it is registered: it stands for the one in the transcript.
pub(super) fn over_session(
    env: &mut Env<'_>,
    transcript: &FoundTranscript,
    project_id: &str,
    identity: &str,
) -> Session {
    let session_id = env.id();
    // A transcript lies where its tool ran; of one that was pushed the machine is not known. No process goes on with it.
    let machine = match transcript.copy {
        None => env.caller.location.machine.clone(),
        Some(_) => String::new(),
    };
    let location = ProcessLocation { machine, ..ProcessLocation::default() };
    Session {
        project_id: project_id.to_owned(),
        thread_id: session_id.clone(),
        session_id,
        identity: identity.to_owned(),
        surface: transcript.surface().to_owned(),
        location,
        started_at: env.now,
        heartbeat_at: env.now,
        last_verb: Import::NAME.to_owned(),
        release: Some(Release {
            at: env.now,
            reason: ReleaseReason::Wrapped,
            by: identity.to_owned(),
            successor: None,
        }),
        inherited_from: None,
        picked_up_session_id: None,
        opened_by: token_rights::token_id(env),
        stale_after: env.limits.stale_after,
        baton_id: None,
        working_copy: transcript.working_copy(env.host),
    }
}
