//! Words that come when a hand-off is over, or from another than its acceptor: they are not its result, and are kept beside it.

use baton_model::actor::Actor;
use baton_model::handoff::{Event, Handoff, LateResult, LateWords, State};
use baton_model::id::identity_key;
use baton_model::packet::one_line;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, handoff};
use serde_json::json;

use super::details::HandoffDetails;
use crate::ledger::{Author, append_json};
use crate::op::Env;

/// What the words of a refused event are. `is_others`: another than the caller has accepted the hand-off.
pub(super) fn kind_of(known: &Handoff, event: Event, is_others: bool) -> LateWords {
    match event {
        _ if is_others && known.state == State::Accepted => LateWords::Remark,
        Event::Decline => LateWords::Reason,
        _ => LateWords::Result,
    }
}

/// How the note in the receiver's ledger begins.
fn note_label(kind: LateWords) -> &'static str {
    match kind {
        LateWords::Remark => "remark on",
        LateWords::Result | LateWords::Reason => "late answer to",
    }
}

/// Keeps words that are not the result, once, in the receiver's ledger and beside the hand-off.
pub(super) fn keep(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &Handoff,
    by: Actor<'_>,
    (kind, result): (LateWords, &str),
) -> Result<Option<String>, Failure> {
    let mut details = HandoffDetails::of(known);
    let said_by_result = known.result.as_deref() == Some(result)
        && details.ended.as_ref().is_some_and(|ended| ended.is_by(by.name));
    if said_by_result {
        return Ok(None);
    }
    if let Some(before) = details.late_results.iter().find(|late| {
        by.kind == late.by_type && identity_key(&late.by) == identity_key(by.name) && late.result == result
    }) {
        return Ok(Some(before.delta_id.clone()));
    }
    let body = json!({
        "text": format!("{} \"{}\": {}", note_label(kind), one_line(&known.subject), one_line(result)),
        "handoff_id": known.handoff_id, "state": known.state.as_str(), "late_result": result,
    });
    let author = Author { project_id: &known.to_project_id, identity: by.name, session: None };
    let note = append_json(tx, env, &author, baton_model::delta::Kind::Note, &body)?;
    details.late_results.push(LateResult {
        kind,
        by: by.name.to_owned(),
        by_type: by.kind,
        at: rfc3339(env.now),
        result: result.to_owned(),
        delta_id: note.delta_id.clone(),
    });
    // It ended when it ended: what came late is told beside that.
    handoff::put(tx, &Handoff { plan: details.to_text(), ..known.clone() })?;
    Ok(Some(note.delta_id))
}
