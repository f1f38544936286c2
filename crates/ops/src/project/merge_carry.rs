//! Batons of a project that is merged, left anew in the project that goes on: what waits, and what sessions saved without a wrap.

use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_model::packet::{Packet, ValidatedPacket, one_line};
use baton_model::refusal::Refusal;
use baton_model::session::{Release, ReleaseReason, Session};
use baton_store::{Failure, Tx, baton, delta, session};
use serde_json::json;

use super::merge::CarriedBaton;
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::session::{Address, LeaveResult, entrusted_packet, leave, saved_packet, update_baton};

/// Leaves a baton anew in another project.
pub(super) fn carry(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    mut left: Baton,
    into: &str,
) -> Result<CarriedBaton, Failure> {
    let missing = || {
        Refusal::invalid(
            "baton_unknown",
            format!("baton {} has no wrap", left.baton_id),
            "run `baton doctor`",
        )
    };
    let packet = carried_packet(tx, &left)?.ok_or_else(missing)?;
    let before = session::get(tx, &left.project_id, &left.session_id)?.ok_or_else(missing)?;
    let to = Address { identity: left.to_identity.as_deref(), role: left.to_role.as_deref() };
    let held = carry_lineage(tx, env, &left, into)?;
    let past = PastSession { before, held: held.as_ref().map(|held| held.baton_id.clone()) };
    let anew = leave_in(tx, env, (past, into), &packet, &to)?;
    crate::changes::carry(tx, (&left.project_id, &left.baton_id), (into, &anew.delta_id))?;
    spend(tx, held, &anew.delta_id)?;
    let carried = CarriedBaton {
        from: left.baton_id.clone(),
        is_session: false,
        to: Some(anew.delta_id.clone()),
        summary: anew.summary,
    };
    left.spent_by = Some(anew.delta_id);
    update_baton(tx, &left)?;
    Ok(carried)
}

/// The packet of a baton as it is left anew: what its holders saved without a wrap goes along. None where the baton has no wrap.
fn carried_packet(tx: &mut Tx<'_>, left: &Baton) -> Result<Option<ValidatedPacket>, Failure> {
    let Some(wrap) = delta::get(tx, &left.project_id, &left.baton_id)? else { return Ok(None) };
    let holder = match &left.holder_session_id {
        Some(holder) => session::get(tx, &left.project_id, holder)?,
        None => None,
    };
    Ok(Some(match holder {
        Some(holder) => whole_packet(tx, &holder, wrap.body)?,
        None => ValidatedPacket::parse_stored(wrap.body)?,
    }))
}

/// What would be carried of a baton, for a preview.
pub(super) fn preview_baton(tx: &mut Tx<'_>, left: Baton) -> Result<CarriedBaton, Failure> {
    let packet = carried_packet(tx, &left)?;
    let summary = packet.map_or(left.summary, |packet| one_line(&packet.view().summary));
    Ok(CarriedBaton { from: left.baton_id, is_session: false, to: None, summary })
}

/// Leaves the earlier batons of a line anew whose changes no session applied: a pickup names them, and they can be applied there as
/// before. Returns the newest of them; the next one spends it.
fn carry_lineage(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    left: &Baton,
    into: &str,
) -> Result<Option<Baton>, Failure> {
    let from = left.project_id.as_str();
    let earlier = crate::changes::with_earlier(tx, from, &left.baton_id)?.earlier;
    let mut held: Option<Baton> = None;
    for changes in earlier.iter().rev() {
        let past = baton::get(tx, from, &changes.baton_id)?;
        let Some(past) = past else { continue };
        let (wrap, before) =
            (delta::get(tx, from, &past.baton_id)?, session::get(tx, from, &past.session_id)?);
        let (Some(wrap), Some(before)) = (wrap, before) else { continue };
        let packet = ValidatedPacket::parse_stored(wrap.body)?;
        let past = PastSession { before, held: held.as_ref().map(|held| held.baton_id.clone()) };
        let anew = leave_in(tx, env, (past, into), &packet, &Address::default())?;
        crate::changes::carry(tx, (from, &changes.baton_id), (into, &anew.delta_id))?;
        spend(tx, held, &anew.delta_id)?;
        held = baton::get(tx, into, &anew.delta_id)?;
        env.now += 1;
    }
    Ok(held)
}

/// Marks a baton of the line as continued by the next one.
fn spend(tx: &mut Tx<'_>, held: Option<Baton>, next: &str) -> Result<(), Failure> {
    match held {
        Some(held) => update_baton(tx, &Baton { spent_by: Some(next.to_owned()), ..held }),
        None => Ok(()),
    }
}

/// What would be carried of a session that never wrapped, for a preview.
pub(super) fn preview_carried(tx: &mut Tx<'_>, saved: &Session) -> Result<CarriedBaton, Failure> {
    let summary = one_line(&carried_session(tx, saved)?.view().summary);
    Ok(CarriedBaton { from: saved.session_id.clone(), is_session: true, to: None, summary })
}

/// The packet of what a session saved that never wrapped.
fn carried_session(tx: &mut Tx<'_>, saved: &Session) -> Result<ValidatedPacket, Failure> {
    let whole = entrusted_packet(tx, saved)?.filter(|whole| whole.check_stored_size().is_ok());
    Ok(match whole {
        Some(whole) => whole,
        None => ValidatedPacket::from_view(Packet {
            summary: format!(
                "{} saved more than fits into a packet: `baton --project {} handoff from-session {}` shows it.",
                saved.identity, saved.project_id, saved.session_id
            ),
            ..Packet::default()
        })?,
    })
}

/// Leaves what a session saved that never wrapped, as a baton in another project.
pub(super) fn carry_saved(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    saved: &Session,
    into: &str,
) -> Result<CarriedBaton, Failure> {
    let packet = carried_session(tx, saved)?;
    let past = PastSession { before: saved.clone(), held: None };
    let anew = leave_in(tx, env, (past, into), &packet, &Address::default())?;
    Ok(CarriedBaton {
        from: saved.session_id.clone(),
        is_session: true,
        to: Some(anew.delta_id),
        summary: anew.summary,
    })
}

/// A session of the project that ended, for which one is registered in the other project.
struct PastSession {
    before: Session,
    /// The baton that it holds there.
    held: Option<String>,
}

/// Leaves a packet in a project, in a session that is over as soon as it is registered: what another session was in its own project.
fn leave_in(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (PastSession { before, held }, into): (PastSession, &str),
    packet: &ValidatedPacket,
    to: &Address<'_>,
) -> Result<LeaveResult, Failure> {
    let release =
        Release { at: env.now, reason: ReleaseReason::Wrapped, by: before.identity.clone(), successor: None };
    let what = format!("carried over from project {}, session {}", before.project_id, before.session_id);
    let own = Session {
        project_id: into.to_owned(),
        session_id: env.id(),
        release: Some(release),
        baton_id: held,
        inherited_from: None,
        picked_up_session_id: None,
        heartbeat_at: env.now,
        ..before
    };
    session::insert(tx, &own)?;
    append_json(
        tx,
        env,
        &Author::session(&own),
        Kind::Start,
        &json!({ "summary": what, "surface": own.surface }),
    )?;
    let anew = leave(tx, env, &own, packet, to)?;
    session::put(tx, &own)?;
    Ok(anew)
}

/// The packet of a baton with what its last holder left. What is too large for one packet stays in the first ledger, and the packet
/// names the session.
fn whole_packet(tx: &mut Tx<'_>, holder: &Session, wrapped: String) -> Result<ValidatedPacket, Failure> {
    let bare = ValidatedPacket::parse_stored(wrapped)?;
    match saved_packet(tx, holder)? {
        Some(whole) if whole.check_stored_size().is_ok() => Ok(whole),
        None => Ok(bare),
        Some(_) => {
            let (project, id) = (&holder.project_id, &holder.session_id);
            let rest =
                format!("What its holder saved is in `baton --project {project} handoff from-session {id}`.");
            let summary = format!("{}\n\n{rest}", bare.view().summary);
            Ok(Packet { summary, ..Packet::default() }.on_top_of(Some(&bare))?)
        }
    }
}
