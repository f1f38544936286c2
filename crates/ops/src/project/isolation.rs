//! The visibility of isolated projects, from outside and from inside: that other projects exist is shown, their content
//! is not.

use baton_store::{Failure, project};

use crate::op::Cx;
use crate::resolve;

/// The isolated project in which a caller stands who names none.
pub(crate) fn standing_in(cx: &mut Cx<'_>) -> Result<Option<String>, Failure> {
    let Ok(own) = resolve::project_id(cx.store, &cx.env, None) else { return Ok(None) };
    let is_isolated =
        cx.store.read(|tx| Ok(project::get(tx, &own)?.is_some_and(|project| project.is_isolated)))?;
    Ok(Some(own).filter(|_| is_isolated))
}
