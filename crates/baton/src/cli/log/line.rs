//! A line of `baton log`.

use baton_model::delta::Kind;
use baton_model::id::visible;
use baton_model::packet::one_line;
use baton_model::time::rfc3339;
use baton_ops::ledger::Row;
use serde_json::Value;

use crate::render::short_id;

/// One entry: its number, time, kind, author, and what happened with the id by which one goes on from there.
pub(super) fn line(row: &Row) -> String {
    let body = match &row.body {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or(Value::Null),
        Some(other) => other.clone(),
        None => Value::Null,
    };
    format!(
        "{:>6}  {}  {:<10}  {:<12}  {}",
        row.seq,
        rfc3339(row.created_at.0),
        row.kind.as_str(),
        visible(&row.identity),
        text(row, &body)
    )
}

fn text(row: &Row, body: &Value) -> String {
    let words = ["summary", "text", "what", "reason", "picker_identity", "surface"]
        .iter()
        .find_map(|key| body.get(*key)?.as_str())
        .map(|text| visible(&one_line(text)))
        .unwrap_or_default();
    let id = |value: &Value| value.as_str().map(short_id);
    match row.kind {
        Kind::Wrap => format!("{words} (baton {})", short_id(&row.delta_id)),
        Kind::Pickup => match (id(&body["inherited_from_wrap_delta_id"]), id(&body["handoff_id"])) {
            (Some(baton), _) => format!("picked up baton {baton}"),
            (None, Some(handoff)) => {
                let from = body["from_project_id"].as_str().map(visible).unwrap_or_default();
                format!("picked up hand-off {handoff} from {from}")
            }
            (None, None) if body["recovered_sessions"].is_array() => {
                "picked up what was left without a baton".to_owned()
            }
            (None, None) => "no baton waited".to_owned(),
        },
        Kind::Handoff => handoff(row, &body["handoff"], words),
        _ => words,
    }
}

/// The hand-off behind an entry: its id, its other end, and how it ended.
fn handoff(row: &Row, handoff: &Value, words: String) -> String {
    let Some(id) = handoff["handoff_id"].as_str() else { return words };
    let project = |key: &str| handoff[key].as_str().map(visible).unwrap_or_default();
    let (from, to) = (project("from_project_id"), project("to_project_id"));
    let other = if to == row.project_id { format!("from {from}") } else { format!("to {to}") };
    let is_over = ["completed", "declined", "cancelled", "expired", "failed"]
        .contains(&handoff["state"].as_str().unwrap_or_default());
    let end = ["result", "last_error"]
        .iter()
        .find_map(|key| handoff[*key].as_str().filter(|text| is_over && !text.trim().is_empty()))
        .map(|text| format!(": {}", visible(&one_line(text))));
    format!("{words} ({} {other}){}", short_id(id), end.unwrap_or_default())
}
