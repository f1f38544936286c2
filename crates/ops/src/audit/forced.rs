//! Forced actions: actor, target and reason.

use baton_model::delta::{Delta, Kind};
use baton_model::time::{Millis, Timestamp, rfc3339};
use baton_store::{Failure, Tx, delta};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Something that was done by force.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForcedRow {
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub who: Option<String>,
    /// The identity that was ousted; none if there was no holder.
    pub whom: Option<String>,
    /// What the ledger entry records.
    pub did: Kind,
    /// Why the session was released, or how the hand-off ended.
    pub reason: Option<String>,
    /// Why they say they did it.
    pub why: Option<String>,
    /// The session that did it.
    pub session_id: Option<String>,
    /// The ledger entry.
    pub delta_id: String,
}

/// Every forced action since an instant, oldest first. A release names both sides; a start or pickup with force that
/// ousted no session is a row without a target.
pub(super) fn read(tx: &mut Tx<'_>, project_id: &str, since: Millis) -> Result<Vec<ForcedRow>, Failure> {
    let mut rows: Vec<(i64, ForcedRow)> = Vec::new();
    let mut ousters = Vec::new();
    for delta in forced(tx, project_id, Kind::Release, since)? {
        let body = delta.body_json();
        ousters.extend(text(&body, "/successor_session_id"));
        let released_by = text(&body, "/released_by");
        rows.push((delta.seq, row(&delta, (released_by, Some(delta.identity.clone())), &body)));
    }
    for kind in [Kind::Start, Kind::Pickup, Kind::Other] {
        for delta in forced(tx, project_id, kind, since)? {
            if delta.session_id.as_ref().is_none_or(|id| !ousters.contains(id)) {
                let who = Some(delta.identity.clone());
                rows.push((delta.seq, row(&delta, (who, None), &delta.body_json())));
            }
        }
    }
    for delta in forced(tx, project_id, Kind::Note, since)? {
        // The release of a session by force has an entry of its own.
        let body = delta.body_json();
        if body["task_id"].is_string() {
            let who = (text(&body, "/released_by"), text(&body, "/released_from"));
            rows.push((delta.seq, row(&delta, who, &body)));
        }
    }
    for delta in delta::kind_since(tx, project_id, Kind::Handoff, since)? {
        let body = delta.body_json();
        let why = text(&body, "/handoff/ended/forced");
        // Each later change of a hand-off repeats how it ended: only the entry of that moment counts.
        let ended_at = text(&body, "/handoff/ended/at");
        if why.is_some() && ended_at == Some(rfc3339(delta.created_at)) {
            let (by, whom) = (text(&body, "/handoff/ended/by"), text(&body, "/handoff/accepted_by"));
            let reason = text(&body, "/handoff/state");
            rows.push((delta.seq, ForcedRow { reason, why, ..row(&delta, (by, whom), &Value::Null) }));
        }
    }
    rows.sort_by_key(|(seq, _)| *seq);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

fn forced(tx: &mut Tx<'_>, project_id: &str, kind: Kind, since: Millis) -> Result<Vec<Delta>, Failure> {
    let mut deltas = delta::kind_since(tx, project_id, kind, since)?;
    deltas.retain(|delta| delta.body_json().get("forced") == Some(&Value::Bool(true)));
    Ok(deltas)
}

fn text(body: &Value, at: &str) -> Option<String> {
    body.pointer(at)?.as_str().map(str::to_owned)
}

fn row(delta: &Delta, (who, whom): (Option<String>, Option<String>), body: &Value) -> ForcedRow {
    ForcedRow {
        at: Timestamp(delta.created_at),
        who,
        whom,
        did: delta.kind,
        reason: text(body, "/reason"),
        why: text(body, "/why"),
        session_id: delta.session_id.clone(),
        delta_id: delta.delta_id.clone(),
    }
}
