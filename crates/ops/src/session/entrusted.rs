//! What sessions that did not wrap had in hand: the packet that they had picked up, and what their agents saved. No transcript holds
//! it, so a baton that is made from a transcript takes it along, and so does each later baton of that conversation.

use baton_model::packet::{Packet, ValidatedPacket};
use baton_model::printable::quotable;
use baton_store::{Failure, Tx, baton, session};
use baton_transcripts::is_request;
use serde_json::{Value, json};

use super::reassign::entrusted_packet;

/// Where a packet names the sessions whose packet and words it holds, the newest first.
const SESSIONS: &str = "saved_in_sessions";

/// The packet of a transcript on top of what these sessions took over and saved, the newest first. None where all of it does not fit
/// into one packet.
pub(crate) fn on_top_of_sessions(
    tx: &mut Tx<'_>,
    project_id: &str,
    sessions: &[String],
    packet: ValidatedPacket,
) -> Result<Option<ValidatedPacket>, Failure> {
    let mut whole = packet;
    let mut named = Vec::new();
    for id in sessions {
        let entrusted = match session::get(tx, project_id, id)? {
            Some(of) => entrusted_packet(tx, &of)?,
            None => None,
        };
        let Some(entrusted) = entrusted else { continue };
        let mut view = whole.view().clone();
        if named.is_empty()
            && let Some(continued) = continued_work(tx, project_id, id, whole.view())?
        {
            view.summary = format!("{CONTINUES}{continued}”. {}", view.summary);
        }
        named.push(id.clone());
        view.summary = format!("{}\n\n{}", view.summary, entrusted.view().summary);
        view.mark_summary_of_ledger();
        view.metadata.insert(SESSIONS.into(), json!(named));
        whole = view.on_top_of(Some(&entrusted))?;
    }
    Ok(Some(whole).filter(|whole| named.is_empty() || whole.check_stored_size().is_ok()))
}

/// How the summary of a session begins that was told only to go on.
const CONTINUES: &str = "Went on with “";

/// The most characters of it that are quoted.
const QUOTED: usize = 160;

/// The most characters of a request that only asks to go on with what waits.
const PICKUP_REQUEST: usize = 80;

/// Words of which such a request has at least one.
const PICKUP_WORDS: [&str; 9] =
    ["continue", "pick up", "go on", "carry on", "resume", "take over", "hd_exec", "weiter", "übernimm"];

/// Whether a request asks to go on with another's work and names no other: `pick up the baton and continue`.
fn is_of_pickup(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.chars().count() <= PICKUP_REQUEST && PICKUP_WORDS.iter().any(|word| lower.contains(word))
}

/// What a session went on with by its baton, where the user asked for nothing else in it: `continue` says nothing to a reader of a list.
fn continued_work(
    tx: &mut Tx<'_>,
    project_id: &str,
    session_id: &str,
    packet: &Packet,
) -> Result<Option<String>, Failure> {
    let mut requests =
        packet.requests.iter().flat_map(|requests| requests.first.iter().chain(&requests.last));
    if requests.any(|request| is_request(&request.text) && !is_of_pickup(&request.text)) {
        return Ok(None);
    }
    let held = session::get(tx, project_id, session_id)?.and_then(|of| of.baton_id);
    let Some(held) = held else { return Ok(None) };
    let summary = baton::get(tx, project_id, &held)?.map(|held| held.summary);
    Ok(summary.map(|summary| {
        let origin = summary.strip_prefix(CONTINUES).and_then(|rest| rest.split_once('”'));
        quotable(origin.map_or(&summary, |(origin, _)| origin), QUOTED)
    }))
}

/// The sessions whose packet and words a packet holds, the newest first.
pub(super) fn sessions_of(packet: &ValidatedPacket) -> Vec<String> {
    let named = packet.view().metadata.get(SESSIONS).and_then(Value::as_array);
    named.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
