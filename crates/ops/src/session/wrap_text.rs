//! Words that a wrap keeps beside its own: those of a session that is over, and those of the agent that another one wraps for.

use baton_model::packet::ValidatedPacket;
use baton_model::refusal::Refusal;
use baton_model::session::Session;
use baton_store::{Failure, Tx};
use serde_json::{Value, json};

use super::conversation::ConversationBaton;
use super::entrusted_packet;
use super::warning::{BatonWarning, Warning, WarningKind};
use super::wrap::WrapInput;
use crate::ledger::keep_late_note;
use crate::op::Env;

/// Keeps what a released session would have left, and for whom.
pub(super) fn keep_late_wrap(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    own: &Session,
    input: &WrapInput,
    packet: &ValidatedPacket,
) -> Result<Refusal, Failure> {
    let mut note = json!({ "text": "wrap of a released session", "late_packet": packet.text() });
    if let Some(address) = input.to.as_ref().or(input.role.as_ref()) {
        note[if input.to.is_some() { "to" } else { "role" }] = json!(address);
    }
    let given = input.packet.clone().or_else(|| input.packet_text.clone().map(Value::String));
    let mut content =
        json!([given, &input.summary, &input.next, &input.focus, input.done, &input.to, &input.role]);
    if let (false, Some(content)) = (input.fields.is_empty(), content.as_array_mut()) {
        content.push(json!(input.fields));
    }
    keep_late_note(tx, env, own, (&note, &content))
}

/// A packet that another one leaves for an agent, on top of what that agent had taken over and saved. Refused where both do not fit
/// into one packet, because nothing of either is cut.
pub(super) fn on_top_of_entrusted(
    tx: &mut Tx<'_>,
    own: &Session,
    packet: &ValidatedPacket,
) -> Result<ValidatedPacket, Failure> {
    let Some(entrusted) = entrusted_packet(tx, own)? else { return Ok(packet.clone()) };
    let whole = packet.view().on_top_of(Some(&entrusted))?;
    let hint = format!(
        "end it in place of wrapping it: `baton end --session {} --force --why REASON`; the next pickup brings all that it took over \
         and saved",
        own.session_id
    );
    whole.check_stored_size().map_err(|refusal| Refusal { hint, ..refusal })?;
    Ok(whole)
}

/// The warning of a packet that is kept as a note, because the conversation's baton was taken.
pub(super) fn baton_taken_warning(existing_baton: &ConversationBaton, note: &str) -> Warning {
    let what = format!(
        "{}; your packet is kept for its holder as note {note} and not offered a second time",
        existing_baton.sentence()
    );
    let kind = WarningKind::Baton(BatonWarning::BatonTaken);
    Warning { existing_baton: Some(existing_baton.clone()), ..Warning::new(kind, what) }
}

/// The packet to store; of a forced wrap, merged with what the session inherited and saved.
pub(super) fn whole_packet(
    tx: &mut Tx<'_>,
    own: &Session,
    packet: &ValidatedPacket,
    is_forced: bool,
) -> Result<ValidatedPacket, Failure> {
    if is_forced { on_top_of_entrusted(tx, own, packet) } else { Ok(packet.clone()) }
}
