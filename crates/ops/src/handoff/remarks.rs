//! What the sender of a new hand-off is warned of, beside how its tracker was found.

use baton_model::handoff::{Handoff, State};
use baton_model::project::Project;
use baton_model::refusal::Refusal;
use baton_model::suggest::suggestions;
use baton_model::time::ago;
use baton_model::tracker::{self, ResolvedTracker, TrackerQuery, Warning, WarningKind};
use baton_store::{Failure, Tx, handoff};

use super::details::HandoffDetails;
use crate::agent::{first_name, known_names};
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

/// What the sender is warned of: that the same was sent already, and of a preview that no agent has the name that it is for.
pub(super) fn sender_warnings(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    new: &Handoff,
    shown_target: Option<&Project>,
) -> Result<Vec<Warning>, Failure> {
    let same = same_handoff(tx, env, new)?;
    let unknown = receiver_unknown(tx, new, shown_target)?;
    Ok(same.into_iter().chain(unknown).collect())
}

/// Warns of the first hand-off with the same target, subject and description, unless it came to nothing.
fn same_handoff(tx: &mut Tx<'_>, env: &Env<'_>, new: &Handoff) -> Result<Option<Warning>, Failure> {
    let description = HandoffDetails::of(new).description;
    let is_same = |known: &Handoff| {
        known.from_project_id == new.from_project_id
            && known.to_project_id == new.to_project_id
            && known.subject == new.subject
            && env.now.saturating_sub(known.created_at) <= SAME
            && !matches!(known.state, State::Cancelled | State::Declined | State::Expired)
            && HandoffDetails::of(known).description == description
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

/// Warns that no agent of the receiver's project has the name that it is for: it waits for that agent. An isolated project does not say who
/// works there.
fn receiver_unknown(
    tx: &mut Tx<'_>,
    new: &Handoff,
    target: Option<&Project>,
) -> Result<Option<Warning>, Failure> {
    let project = &new.to_project_id;
    let is_open = target.is_some_and(|target| !target.is_isolated);
    let Some(name) = new.to_identity.as_deref().filter(|_| is_open) else { return Ok(None) };
    if first_name(tx, project, name)?.is_some() {
        return Ok(None);
    }
    let names = known_names(tx, project)?;
    let near = suggestions(name, names.iter().map(String::as_str));
    let near = if near.is_empty() { String::new() } else { format!(": did you mean {}?", near.join(" or ")) };
    let message = format!("nobody called {name} has registered or worked in project {project}{near}");
    Ok(Some(Warning { kind: WarningKind::ReceiverUnknown, message }))
}
