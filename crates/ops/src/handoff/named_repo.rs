//! The repository that a call names for a task: only an operator chooses one that the registry does not have.

use baton_model::access::{Grant, Scope};
use baton_model::refusal::Refusal;
use baton_model::tracker::{Tracker, TrackerQuery, resolve};

/// Refuses a repository that is named by a token without the scope operator, unless the registry leads to the same one. The issue is
/// made with the server's own login, which may write where the token's owner may not. For a project that the token does not reach
/// nothing is compared: the answer would tell what is registered.
pub(super) fn require_registered(
    grant: &Grant,
    query: &TrackerQuery<'_>,
    is_reached: bool,
) -> Result<(), Refusal> {
    let Some(named) = query.explicit else { return Ok(()) };
    if grant.is_operator() {
        return Ok(());
    }
    let registered = resolve(&TrackerQuery { explicit: None, ..*query });
    let is_same = |found: &Tracker| matches!(found, Tracker::GitHub(own) if own.eq_ignore_ascii_case(named));
    match registered {
        Ok(found) if is_reached && is_same(&found.tracker) => Ok(()),
        _ => grant.require(Scope::Operator),
    }
}
