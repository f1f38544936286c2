//! The visibility of isolated projects, from outside and from inside: that other projects exist is shown, their content
//! is not.

use baton_store::{Failure, Tx, project};

use crate::op::Cx;
use crate::resolve;

/// The isolated project in which a caller stands who names none.
pub(crate) fn standing_in(cx: &mut Cx<'_>) -> Result<Option<String>, Failure> {
    let Ok(own) = resolve::project_id(cx.store, &cx.env, None) else { return Ok(None) };
    let is_isolated =
        cx.store.read(|tx| Ok(project::get(tx, &own)?.is_some_and(|project| project.is_isolated)))?;
    Ok(Some(own).filter(|_| is_isolated))
}

/// Whether two projects are kept apart, because one of them is isolated.
pub(crate) fn are_separated(tx: &mut Tx<'_>, one: &str, other: &str) -> Result<bool, Failure> {
    if one == other {
        return Ok(false);
    }
    for id in [one, other] {
        if project::get(tx, id)?.is_some_and(|project| project.is_isolated) {
            return Ok(true);
        }
    }
    Ok(false)
}
