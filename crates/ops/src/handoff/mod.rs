//! Hand-offs between projects, with the embedded tracker: the receiver's task, its packet, its states.

mod advance;
mod create;
mod list;
mod show;

use baton_model::access::Grant;
use baton_model::handoff::Handoff;
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, Tx, handoff};

use crate::resolve;
pub(crate) use advance::Advance;
pub(crate) use create::Create;
pub(crate) use list::List;
pub(crate) use show::Show;

/// The hand-off named by an id or a unique prefix of one, if this caller has to do with either of its projects.
pub(crate) fn by_id(tx: &mut Tx<'_>, grant: &Grant, id: &str) -> Result<Handoff, Failure> {
    let unknown = || {
        Refusal::new(
            refusal::Kind::NotFound,
            "handoff_unknown",
            format!("there is no hand-off `{}`", baton_model::id::visible(id)),
            "`baton handoff list` names them",
        )
    };
    let of_caller = |h: &Handoff| grant.reaches(&h.from_project_id) || grant.reaches(&h.to_project_id);
    if let Some(handoff) = handoff::get(tx, id)? {
        return if of_caller(&handoff) { Ok(handoff) } else { Err(unknown().into()) };
    }
    let ids = if id.len() >= 4 && id.is_ascii() { handoff::by_prefix(tx, id)? } else { Vec::new() };
    match ids.as_slice() {
        [one] => handoff::get(tx, one)?.filter(of_caller).ok_or_else(|| unknown().into()),
        [] => Err(unknown().into()),
        _ if grant.projects.is_some() => Err(unknown().into()),
        many => Err(resolve::ambiguous_id("hand-off", id, many).into()),
    }
}
