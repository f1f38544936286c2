//! What an agent did in its conversation after another had taken its baton: kept as a note, of which the holder is told, and the
//! holders after it.

use std::collections::HashSet;

use baton_model::accounting::{Remark, RemarkKind};
use baton_model::delta::{Delta, Kind};
use baton_model::id::{identity_key, short, visible};
use baton_model::packet::{ValidatedPacket, one_line};
use baton_model::time::ago;
use baton_store::{Failure, Tx, baton, delta, session};
use serde_json::Value;

use super::conversation::LATE_PACKET;
use crate::op::Env;

/// How much of what another brought stands in the reminder.
const MAX_SUMMARY_CHARS: usize = 300;
/// Of so many names it is told.
const MAX_NAMES: usize = 8;

/// What came of the conversation of a baton while that was held: its holder was told, and may not have gone on with it.
pub(super) fn late_packets(tx: &mut Tx<'_>, project_id: &str, baton_id: &str) -> Result<Vec<Delta>, Failure> {
    let Some(left) = baton::get(tx, project_id, baton_id)? else { return Ok(Vec::new()) };
    let mut notes = delta::of_kind_in_session(tx, project_id, &left.session_id, Kind::Note)?;
    notes.retain(|note| is_late(note, baton_id));
    Ok(notes)
}

/// Whether an entry keeps what came of the conversation of a baton while that was held.
fn is_late(note: &Delta, baton_id: &str) -> bool {
    let says = || {
        let body = serde_json::from_str::<Value>(&note.body).unwrap_or_default();
        body.get(LATE_PACKET).is_some() && body["baton_id"] == baton_id
    };
    note.kind == Kind::Note && says()
}

/// The questions of [`late_words_remark`].
pub(super) fn prefetch_late_words(tx: &mut Tx<'_>, project_id: &str, predecessor: &str) {
    drop(session::get(tx, project_id, predecessor));
    drop(delta::notes_of_held_baton(tx, project_id, predecessor));
    drop(delta::of_kind_in_session(tx, project_id, predecessor, Kind::Note));
}

/// Reminds the picker of what others brought of the conversation while its baton waited: who wrote that is not known, so it is in no
/// baton. The newest of each name, so that what one brings hides nothing of another's.
pub(crate) fn brought_words_remarks(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    (baton_id, left_in): (&str, &str),
) -> Result<Vec<Remark>, Failure> {
    let mut notes = delta::of_kind_in_session(tx, project_id, left_in, Kind::Note)?;
    notes.retain(|note| is_late(note, baton_id));
    let mut names = HashSet::new();
    let newest: Vec<&Delta> =
        notes.iter().rev().filter(|note| names.insert(identity_key(&note.identity))).collect();
    Ok(newest.into_iter().take(MAX_NAMES).map(|note| brought_words_remark(env, note)).collect())
}

fn brought_words_remark(env: &Env<'_>, note: &Delta) -> Remark {
    let body = serde_json::from_str::<Value>(&note.body).unwrap_or_default();
    let packet =
        body[LATE_PACKET].as_str().and_then(|text| ValidatedPacket::parse_stored(text.to_owned()).ok());
    let summary = packet.map(|packet| one_line(&packet.view().summary)).unwrap_or_default();
    let summary: String = summary.chars().take(MAX_SUMMARY_CHARS).collect();
    let message = format!(
        "{} brought more of this conversation {} and did not leave its baton, so nothing of the baton was replaced: \u{201c}{}\u{201d}; all of \
         it is note {} (`baton log --kind note`; over MCP: recall {{action: ledger, kind: note}})",
        visible(&note.identity),
        ago(env.now, note.created_at),
        visible(&summary),
        note.delta_id
    );
    Remark { kind: RemarkKind::LateWords, message }
}

/// Names the words that came too late for the baton which the session before had taken over: whether it went on with them, only its
/// agent knows.
pub(super) fn late_words_remark(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    predecessor: Option<&str>,
) -> Result<Option<Remark>, Failure> {
    let Some(before) = predecessor else { return Ok(None) };
    let held =
        session::get(tx, project_id, before)?.and_then(|before| Some((before.baton_id?, before.identity)));
    let Some((baton_id, holder)) = held else { return Ok(None) };
    let notes = delta::notes_of_held_baton(tx, project_id, before)?;
    let Some(newest) = notes.iter().rfind(|note| is_late(note, &baton_id)) else { return Ok(None) };
    let left_by = visible(&newest.identity);
    let message = format!(
        "{left_by} went on {} after {} had taken its baton {}: what was done then is note {} (`baton log --kind note`; over MCP: \
         recall {{action: ledger, kind: note}})",
        ago(env.now, newest.created_at),
        visible(&holder),
        short(&baton_id),
        newest.delta_id
    );
    Ok(Some(Remark { kind: RemarkKind::LateWords, message }))
}
