//! Whom a caller means by the acceptor of a hand-off, and who it is by now.

use baton_model::handoff::{Event, Handoff, State};
use baton_model::id::short;
use baton_model::refusal::Refusal;
use baton_store::{Failure, Tx};

use super::acceptor::Acceptor;
use super::isolation;
use crate::force_request::require_holder;

/// The refusal to accept what another has accepted names that one, where the caller may know it.
pub(super) fn acceptance_refusal(
    tx: &mut Tx<'_>,
    known: &Handoff,
    here: Option<&str>,
    (refusal, event): (Refusal, Event),
) -> Result<Refusal, Failure> {
    if known.state != State::Accepted || !matches!(event, Event::Accept) {
        return Ok(refusal);
    }
    let is_inside = here == Some(known.to_project_id.as_str());
    if !is_inside && isolation::is_separated(tx, known)? {
        return Ok(refusal);
    }
    let Some(acceptor) = Acceptor::of(tx, known)? else { return Ok(refusal) };
    let message =
        format!("{} has accepted hand-off {}", acceptor.holder().describe(), short(&known.handoff_id));
    Ok(Refusal { message, ..refusal }.with("holder", acceptor.identity().to_owned()))
}

/// Refuses who means another acceptor than the one that there is. Where the acceptor's name is kept from the caller, none can be meant.
pub(crate) fn require_expected_acceptor(
    tx: &mut Tx<'_>,
    known: &Handoff,
    expected: Option<&str>,
    here: Option<&str>,
) -> Result<(), Failure> {
    if expected.is_none() || here != Some(known.to_project_id.as_str()) && isolation::is_separated(tx, known)?
    {
        return Ok(());
    }
    let acceptor = match known.state {
        State::Accepted => Acceptor::of(tx, known)?.map(|acceptor| acceptor.identity().to_owned()),
        _ => None,
    };
    let what = format!("hand-off {}", short(&known.handoff_id));
    Ok(require_holder(&what, expected, acceptor.as_deref())?)
}
