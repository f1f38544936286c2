//! A line of `baton log`.

use baton_model::actor::ActorType;
use baton_model::delta::{BodyFields, Kind};
use baton_model::handoff::{State, View};
use baton_model::id::{BOT, visible};
use baton_model::packet::one_line;
use baton_model::time::rfc3339;
use baton_ops::ledger::Row;

use crate::render::short_id;

/// One entry: its number, time, kind, author, and what happened with the id by which one goes on from there; of the ends of a session
/// also where it worked.
pub(super) fn line(row: &Row) -> String {
    let fields = row.fields();
    let is_end_of_session = matches!(row.kind, Kind::Start | Kind::Pickup | Kind::Wrap);
    let place = fields.describe_place().filter(|_| is_end_of_session);
    format!(
        "{:>6}  {}  {:<10}  {:<12}  {}{}",
        row.seq,
        rfc3339(row.created_at.0),
        kind(row),
        visible(&author(row, &fields)),
        text(row, &fields),
        place.map(|place| format!("  {place}")).unwrap_or_default()
    )
}

/// Of what kind an entry is. One that is of no kind of its own is named by what it is about.
fn kind(row: &Row) -> &'static str {
    let body = row.fields();
    match row.kind {
        Kind::Other if body.handoff_id.is_some() => "hand-off",
        Kind::Other if body.task_id.is_some() => "task",
        Kind::Other => "event",
        kind => kind.as_str(),
    }
}

/// Who wrote an entry. What was done at GitHub, or in a project whose people have no name here, is no agent's of this ledger.
fn author(row: &Row, body: &BodyFields) -> String {
    let Some(shown) = body.handoff.as_ref().filter(|_| row.kind == Kind::Handoff) else {
        return row.identity.clone();
    };
    let ended = shown.ended.as_ref().filter(|_| shown.state.is_answered());
    let other =
        [&shown.from_project_id, &shown.to_project_id].into_iter().find(|end| **end != row.project_id);
    match (ended, other) {
        (Some(ended), _) if ended.by == row.identity => ended.actor(),
        (_, Some(other)) if row.identity == BOT => ActorType::Project.label(other),
        _ => row.identity.clone(),
    }
}

fn text(row: &Row, body: &BodyFields) -> String {
    let words = [&body.summary, &body.text, &body.what, &body.reason, &body.picker_identity, &body.surface]
        .into_iter()
        .find_map(Option::as_ref)
        .map(|text| visible(&one_line(text)))
        .unwrap_or_default();
    match row.kind {
        Kind::Wrap => format!("{words} (baton {})", short_id(&row.delta_id)),
        Kind::Pickup => match (&body.inherited_from_wrap_delta_id, &body.handoff_id) {
            (Some(baton), _) => format!("picked up baton {}", short_id(baton)),
            (None, Some(handoff)) => {
                let from = body.from_project_id.as_deref().map(visible).unwrap_or_default();
                format!("picked up hand-off {} from {from}", short_id(handoff))
            }
            (None, None) if !body.recovered_sessions.is_empty() => {
                "picked up what was left without a baton".to_owned()
            }
            (None, None) => "no baton waited".to_owned(),
        },
        Kind::Handoff => match &body.handoff {
            Some(shown) => handoff(row, shown, &words),
            None => words,
        },
        _ => words,
    }
}

/// The hand-off behind an entry: its id, its other end, and how it ended.
fn handoff(row: &Row, handoff: &View, words: &str) -> String {
    let (from, to) = (visible(&handoff.from_project_id), visible(&handoff.to_project_id));
    let other = if to == row.project_id { format!("from {from}") } else { format!("to {to}") };
    let is_over = matches!(
        handoff.state,
        State::Completed | State::Declined | State::Cancelled | State::Expired | State::Failed
    );
    let end = [&handoff.result, &handoff.last_error]
        .into_iter()
        .find_map(|text| text.as_ref().filter(|text| is_over && !text.trim().is_empty()))
        .map(|text| format!(": {}", visible(&one_line(text))));
    format!("{words} ({} {other}){}", short_id(&handoff.handoff_id), end.unwrap_or_default())
}
