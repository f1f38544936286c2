//! The life of a session: start, checkpoint, wrap, pickup, end.

mod accepted_handoffs;
mod activity;
mod applied_changes;
mod baton_place;
mod brought_work;
mod bundle_view;
mod carried_operations;
mod checkpoint;
mod commit_origin;
pub(crate) mod conversation;
mod end;
mod entrusted;
mod file_facts;
mod force;
mod gone_place;
mod handoff;
mod heartbeat;
mod history;
mod holder_questions;
mod late_words;
mod leave;
mod left_work;
mod named_documents;
mod pickup;
mod pickup_again;
mod pickup_bundle;
mod pickup_decide;
mod pickup_handoff;
mod pickup_reminders;
mod pickup_session;
mod pickup_within;
mod prior_changes;
mod reassign;
mod received_check;
mod received_handoff;
mod recovery;
mod resolve_state;
mod session_folder;
mod shared_copy;
mod show;
mod signal;
mod start;
mod status;
mod waiting_changes;
mod warning;
mod work_advice;
mod work_behind;
mod work_inspection;
mod work_location;
mod work_search;
mod working_copy;
mod working_copy_lookup;
mod wrap;
mod wrap_accounting;
mod wrap_packet;
mod wrap_text;

use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_model::id::{is_shared_name, short};
use baton_model::refusal::Refusal;
use baton_model::session::{Admission, AdmissionRequest, Release, ReleaseReason, Session, admit};
use baton_model::time::Millis;
use baton_store::{Failure, Tx, baton, project_root, session};
use serde_json::{Value, json};

use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::ownership::has_process_ended;
use crate::project::require_not_merged;
use crate::token_rights;
pub(crate) use accepted_handoffs::{of_session as accepted_of_session, unattended};
pub use activity::TokenUsage;
pub use baton_place::UncommittedPlace;
pub(crate) use baton_place::{WorkOfBaton, work_of_baton};
pub use bundle_view::{Ancestor, Context, InProgress, PickedBaton, PickupOutput};
pub use carried_operations::EarlierOperation;
pub use checkpoint::{Checkpoint, CheckpointInput, CheckpointOutput};
pub use commit_origin::{CommitOrigin, CommitOriginInput, CommitOriginOutput, OriginCommit, OriginRow};
pub use conversation::ConversationBaton;
pub use end::{End, EndInput, EndOutput};
pub(crate) use entrusted::on_top_of_sessions;
pub(crate) use file_facts::FileFacts;
pub use gone_place::note_gone_place;
pub use handoff::{SessionDocument, SessionDocumentInput, SessionDocumentOutput};
pub use heartbeat::{Heartbeat, HeartbeatInput, HeartbeatOutput};
pub(crate) use history::left_baton;
pub use history::{ClaimedTask, History, HistoryInput, HistoryOutput, HistoryRow, LastCheckpoint, LeftBaton};
pub use holder_questions::{HolderAnswer, HolderQuestion};
pub(crate) use late_words::brought_words_remarks;
pub(crate) use leave::{Address, LeaveResult, leave, spend};
pub(crate) use named_documents::first_of;
pub use named_documents::{Document, DocumentOwner, NamedDocument};
pub use pickup::{Pickup, PickupInput, PickupResult};
pub(crate) use pickup_handoff::{baton_of, is_abandoned};
pub(crate) use pickup_within::{PickupRequest, check_unclaimed, pick_within};
pub use reassign::{Reassign, ReassignInput, ReassignOutput};
pub(crate) use reassign::{entrusted_packet, saved_packet};
pub use received_check::{Check, CheckKind};
pub use received_handoff::{ReceivedHandoff, SessionState};
pub use recovery::Recovered;
pub(crate) use recovery::unwrapped_sessions;
pub use resolve_state::{Resolution, Resolve, ResolveInput, ResolveOutput};
pub use session_folder::SessionFolder;
pub(crate) use session_folder::{RecordedFolder, session_folder};
pub use show::{Show, ShowInput, ShowOutput};
pub(crate) use signal::{SignalAuthor, send_signal, send_signal_from};
pub use start::{Start, StartInput, StartOutput, StartRecord};
pub use status::{Status, StatusInput, StatusOutput};
pub use waiting_changes::{ApplyOutcome, WaitingChanges};
pub use warning::{BatonWarning, Warning, WarningKind};
pub use work_location::{EarlierLocation, OtherCheckout, WorkLocation};
pub(crate) use working_copy::refresh as refresh_working_copy;
pub(crate) use wrap::close;
pub use wrap::{UncommittedFiles, Wrap, WrapInput, WrapOutput};

/// Who releases a session, and the reason that they give.
pub(crate) struct Releaser<'a> {
    pub identity: &'a str,
    pub reason: ReleaseReason,
    pub why: Option<&'a str>,
    pub successor: Option<&'a str>,
}

/// Releases a session and records that in the ledger. A wrap is an entry of its own and does not come through here.
pub(crate) fn release(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    released: &mut Session,
    by: &Releaser<'_>,
) -> Result<(), Failure> {
    released.release = Some(Release {
        at: env.now,
        reason: by.reason,
        by: by.identity.to_owned(),
        successor: by.successor.map(str::to_owned),
    });
    session::put(tx, released)?;
    let body = json!({
        "reason": by.reason.as_str(),
        "released_by": by.identity,
        "why": by.why,
        "forced": matches!(by.reason, ReleaseReason::PreemptedByPickup | ReleaseReason::Operator),
        "successor_session_id": by.successor,
    });
    append_json(tx, env, &Author::session(released), Kind::Release, &body)?;
    crate::task::release_claims(tx, env, released, by.reason, by.successor)
}

/// Leaves a signal for the holder of a released session: the identity that took over, and why.
pub(crate) fn notify(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    released: &Session,
    by: &str,
    why: Option<&str>,
) -> Result<(), Failure> {
    let what = match &released.release {
        Some(release) if release.reason == ReleaseReason::Operator => "ended",
        Some(release) if release.reason == ReleaseReason::Wrapped => "wrapped",
        _ => "took over",
    };
    let subject = format!("{by} {what} your session {}", short(&released.session_id));
    let why = why.unwrap_or("no reason was given");
    send_signal(tx, env, (&released.project_id, by, &released.identity), (&subject, why))
}

/// A refusal of a second session in the words of a caller whose token is bound: no other name and no force is open to it.
fn for_token(env: &Env<'_>, refusal: Refusal) -> Refusal {
    let is_bound = env.caller.grant.bearer.as_ref().is_some_and(|bearer| bearer.identities.is_some());
    if !is_bound || refusal.code != "identity_conflict" {
        return refusal;
    }
    let id =
        refusal.details.get("holder").and_then(|holder| holder.get("session_id")).and_then(Value::as_str);
    let id = id.unwrap_or("ID");
    let hint = format!(
        "if that session is yours, go on in it or end it: `BATON_SESSION={id} baton end` (or `baton wrap`); else ask whoever runs the \
         server for a token of your own name, or to end it: `baton end --session {id} --force --why REASON`"
    );
    Refusal { hint, ..refusal }
}

/// What registering came to.
pub(crate) enum RegistrationOutcome {
    /// The caller's own open session.
    Existing(Session),
    /// A session that is still to be inserted, and the sessions it replaces.
    New(Session, Vec<(Session, ReleaseReason)>),
}

impl RegistrationOutcome {
    /// The identity of the session, as it was first given.
    pub(crate) fn identity(&self) -> String {
        let (Self::Existing(session) | Self::New(session, _)) = self;
        session.identity.clone()
    }

    /// The id of the session that is open already.
    pub(crate) fn existing_session_id(&self) -> Option<String> {
        match self {
            Self::Existing(session) => Some(session.session_id.clone()),
            Self::New(..) => None,
        }
    }

    /// The baton that the caller holds already: in its own session, or in one whose process is gone, which it stays with.
    pub(crate) fn held_baton(&self, tx: &mut Tx<'_>) -> Result<Option<String>, Failure> {
        let replaced = match self {
            Self::Existing(session) => return Ok(session.baton_id.clone()),
            Self::New(_, replaced) => replaced,
        };
        for (old, _) in replaced.iter().filter(|(_, reason)| *reason == ReleaseReason::Reconnect) {
            if let Some(held) = still_held(tx, old)? {
                return Ok(Some(held.baton_id));
            }
        }
        Ok(None)
    }

    /// Another session as it will stand once this one is registered: released, if this one replaces it.
    pub(crate) fn as_after_registration(&self, mut other: Session, now: Millis) -> Session {
        if let Self::New(new, replaced) = self
            && let Some((_, reason)) = replaced.iter().find(|(old, _)| old.session_id == other.session_id)
        {
            let successor = Some(new.session_id.clone());
            other.release = Some(Release { at: now, reason: *reason, by: new.identity.clone(), successor });
        }
        other
    }
}

/// How a caller wants to register.
pub(crate) struct SessionRegistration<'a> {
    pub project_id: &'a str,
    pub identity: &'a str,
    pub surface: Option<&'a str>,
    pub verb: &'a str,
    pub force: Option<ReleaseReason>,
}

/// Applies the same-identity rule. Nothing is written yet: the caller first checks everything else that may refuse.
pub(crate) fn admit_session(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    request: &SessionRegistration<'_>,
) -> Result<RegistrationOutcome, Failure> {
    tx.prefetch(|tx| {
        drop(project_root::of_project(tx, request.project_id));
        drop(session::open_of(tx, request.project_id, request.identity));
    });
    require_not_merged(tx, request.project_id)?;
    if request.force.is_none() {
        token_rights::require_unreserved(tx, env, request.project_id, request.identity)?;
    }
    let open = session::open_of(tx, request.project_id, request.identity)?;
    // Of one that is at work the same-identity rule says more.
    let is_others = |one: &Session| !token_rights::may_act_in(env, one) && one.is_fresh(env.now, env.limits);
    if request.force.is_none() && !open.iter().any(is_others) {
        token_rights::require_nothing_held(tx, env, (request.project_id, request.identity), &open)?;
    }
    let applicant = AdmissionRequest {
        identity: request.identity,
        location: &env.caller.location,
        now: env.now,
        limits: env.limits,
        force: request.force,
    };
    let is_own = |session: &Session| token_rights::may_act_in(env, session);
    let has_ended = |session: &Session| has_process_ended(env, session, &session.location);
    match admit(&open, &applicant, has_ended, is_own).map_err(|refusal| for_token(env, refusal))? {
        Admission::Existing(session) => Ok(RegistrationOutcome::Existing(*session)),
        Admission::New(replaced) => {
            let session_id = env.id();
            let known = session::first_name(tx, request.project_id, request.identity)?;
            let session = Session {
                project_id: request.project_id.to_owned(),
                thread_id: session_id.clone(),
                session_id,
                identity: known.unwrap_or_else(|| request.identity.to_owned()),
                surface: surface(request.surface, &env.caller.surface)?,
                location: env.caller.location.clone(),
                started_at: env.now,
                heartbeat_at: env.now,
                last_verb: request.verb.to_owned(),
                release: None,
                inherited_from: None,
                picked_up_session_id: None,
                baton_id: None,
                opened_by: token_rights::token_id(env),
                stale_after: env.limits.stale_after,
                working_copy: working_copy::of_caller(env),
            };
            Ok(RegistrationOutcome::New(session, replaced))
        }
    }
}

/// A repeated request that registered this session before: a process that came in place of the first goes on with its session.
/// While the first may be alive, the session stays where it is, and the retry gets the first answer and nothing else.
pub(crate) fn resume_registered(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    request: &SessionRegistration<'_>,
    mut known: Session,
) -> Result<Session, Failure> {
    if !known.is_open() || is_shared_name(request.identity) {
        return Ok(known);
    }
    // Callers of one name and place without a known process cannot be distinguished, so they count as one.
    if token_rights::may_act_in(env, &known) && known.location == env.caller.location {
        return Ok(known);
    }
    let unforced = SessionRegistration { force: None, ..*request };
    let registered = match admit_session(tx, env, &unforced) {
        Err(Failure::Refused(refusal)) if refusal.code == "identity_conflict" => return Ok(known),
        other => other?,
    };
    if let RegistrationOutcome::New(_, replaced) = registered
        && replaced
            .iter()
            .any(|(old, why)| old.session_id == known.session_id && *why == ReleaseReason::Reconnect)
    {
        known.location = env.caller.location.clone();
        session::relocate(tx, &known)?;
    }
    Ok(known)
}

/// Binds an open session whose process has ended to the process of the caller, who acts in it: what it saves from there is a sign of
/// life of the session.
pub(crate) fn follow_process(tx: &mut Tx<'_>, env: &Env<'_>, own: &mut Session) -> Result<(), Failure> {
    let here = &env.caller.location;
    let is_new = own.location != *here && !here.process.is_empty() && own.location.machine == here.machine;
    if !is_new || !own.is_open() || !token_rights::may_act_in(env, own) {
        return Ok(());
    }
    if has_process_ended(env, own, &own.location) {
        own.location = here.clone();
        session::relocate(tx, own)?;
    }
    Ok(())
}

fn surface(named: Option<&str>, from_caller: &str) -> Result<String, Refusal> {
    let name = named.unwrap_or(from_caller);
    let name = if name.is_empty() { "other" } else { name };
    baton_model::id::check_label("surface", name)?;
    Ok(name.to_owned())
}

/// Releases the sessions that a new one replaces. A baton held by one whose process was gone stays with its identity.
pub(crate) fn replace(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    new: &mut Session,
    replaced: Vec<(Session, ReleaseReason)>,
    why: Option<&str>,
) -> Result<(), Failure> {
    for (mut old, reason) in replaced {
        let by = Releaser { identity: &new.identity, reason, why, successor: Some(&new.session_id) };
        release(tx, env, &mut old, &by)?;
        if reason == ReleaseReason::Reconnect && new.baton_id.is_none() {
            inherit_baton(tx, env, &old, new)?;
        }
    }
    Ok(())
}

/// The baton of a session, unless it has moved on since.
fn still_held(tx: &mut Tx<'_>, holder: &Session) -> Result<Option<Baton>, Failure> {
    let Some(baton_id) = &holder.baton_id else { return Ok(None) };
    let held = baton::get(tx, &holder.project_id, baton_id)?;
    Ok(held.filter(|b| b.spent_by.is_none() && b.holder_session_id.as_ref() == Some(&holder.session_id)))
}

fn inherit_baton(tx: &mut Tx<'_>, env: &Env<'_>, old: &Session, new: &mut Session) -> Result<(), Failure> {
    let Some(mut held) = still_held(tx, old)? else { return Ok(()) };
    held.holder_session_id = Some(new.session_id.clone());
    held.held_at = Some(env.now);
    update_baton(tx, &held)?;
    new.baton_id = Some(held.baton_id);
    new.thread_id.clone_from(&old.thread_id);
    new.inherited_from = Some(old.session_id.clone());
    new.picked_up_session_id.clone_from(&old.picked_up_session_id);
    Ok(())
}

/// Writes who holds a baton; the version that was read must still stand.
pub(crate) fn update_baton(tx: &mut Tx<'_>, baton: &Baton) -> Result<(), Failure> {
    if baton::put(tx, baton)? {
        return Ok(());
    }
    let moved = "the baton moved while it was being claimed";
    Err(Refusal::new(baton_model::refusal::Kind::Conflict, "baton_moved", moved, "try again").into())
}
