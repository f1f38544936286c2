//! What was done by force: by whom, to whom, and why.

use baton_model::delta::{Delta, Kind};
use baton_model::time::{Millis, rfc3339};
use baton_store::{Failure, Tx, delta};
use serde_json::{Value, json};

/// Every forced action since an instant, oldest first. A release names both sides; a start or pickup with force that
/// ousted nobody is told as such.
pub(super) fn read(tx: &mut Tx<'_>, project_id: &str, since: Millis) -> Result<Vec<Value>, Failure> {
    let mut rows: Vec<(i64, Value)> = Vec::new();
    let mut ousters = Vec::new();
    for delta in forced(tx, project_id, Kind::Release, since)? {
        let body = delta.body_json();
        ousters.push(body["successor_session_id"].clone());
        rows.push((delta.seq, row(&delta, &body["released_by"], &json!(delta.identity), &body)));
    }
    for kind in [Kind::Start, Kind::Pickup] {
        for delta in forced(tx, project_id, kind, since)? {
            if !ousters.contains(&json!(delta.session_id)) {
                rows.push((delta.seq, row(&delta, &json!(delta.identity), &Value::Null, &delta.body_json())));
            }
        }
    }
    for delta in forced(tx, project_id, Kind::Note, since)? {
        // The release of a session by force has an entry of its own.
        let body = delta.body_json();
        if body["task_id"].is_string() {
            rows.push((delta.seq, row(&delta, &body["released_by"], &body["released_from"], &body)));
        }
    }
    for delta in delta::kind_since(tx, project_id, Kind::Handoff, since)? {
        let body = delta.body_json();
        let known = &body["handoff"];
        // Each later change of a hand-off repeats how it ended: only the entry of that moment counts.
        if known["ended"]["forced"].is_string() && known["ended"]["at"] == json!(rfc3339(delta.created_at)) {
            let said = json!({ "reason": known["state"], "why": known["ended"]["forced"] });
            rows.push((delta.seq, row(&delta, &known["ended"]["by"], &known["accepted_by"], &said)));
        }
    }
    rows.sort_by_key(|(seq, _)| *seq);
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

fn forced(tx: &mut Tx<'_>, project_id: &str, kind: Kind, since: Millis) -> Result<Vec<Delta>, Failure> {
    let mut deltas = delta::kind_since(tx, project_id, kind, since)?;
    deltas.retain(|delta| delta.body_json()["forced"] == true);
    Ok(deltas)
}

fn row(delta: &Delta, who: &Value, whom: &Value, body: &Value) -> Value {
    json!({
        "at": rfc3339(delta.created_at),
        "who": who,
        "whom": whom,
        "did": delta.kind.as_str(),
        "reason": body["reason"],
        "why": body["why"],
        "session_id": delta.session_id,
        "delta_id": delta.delta_id,
    })
}
