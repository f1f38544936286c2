//! What the sender of a new hand-off is warned of, beside how its tracker was found.

use baton_model::handoff::{Handoff, State};
use baton_model::refusal::Refusal;
use baton_model::time::ago;
use baton_model::tracker::{self, ResolvedTracker, TrackerQuery, Warning, WarningKind};
use baton_store::{Failure, Tx, handoff};

use super::steps::Plan;
use crate::op::Env;

/// A preview asks nothing of GitHub, so it needs no access; it says that the hand-off does.
pub(super) fn without_access(
    query: &TrackerQuery<'_>,
    refusal: &Refusal,
) -> Result<ResolvedTracker, Refusal> {
    let mut found = tracker::resolve(&TrackerQuery { access: true, ..*query })?;
    let message = format!("{}; {}", refusal.message, refusal.hint);
    found.warnings.push(Warning { kind: WarningKind::GithubUnconfigured, message });
    Ok(found)
}

/// The time within which the same work is taken for a repetition: a day.
const SAME: i64 = 86_400_000;

/// Warns of the first hand-off with the same target, subject and description, unless it came to nothing.
pub(super) fn same_handoff(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    new: &Handoff,
) -> Result<Option<Warning>, Failure> {
    let description = Plan::of(new).description;
    let is_same = |known: &Handoff| {
        known.from_project_id == new.from_project_id
            && known.to_project_id == new.to_project_id
            && known.subject == new.subject
            && env.now.saturating_sub(known.created_at) <= SAME
            && !matches!(known.state, State::Cancelled | State::Declined | State::Expired)
            && Plan::of(known).description == description
    };
    let sent = handoff::of_project(tx, &new.from_project_id)?;
    Ok(sent.iter().rev().find(|known| is_same(known)).map(|first| {
        let id = &first.handoff_id;
        let back = match first.state {
            State::Completed => String::new(),
            _ => format!("; if it is the same work, take one of the two back: `baton handoff cancel {id}`"),
        };
        let (to, age) = (&first.to_project_id, ago(env.now, first.created_at));
        let message = format!("the same was handed to {to} {age}: {id} is {}{back}", first.state.as_str());
        Warning { kind: WarningKind::SameHandoff, message }
    }))
}
