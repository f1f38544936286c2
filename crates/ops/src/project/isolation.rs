//! The visibility of isolated projects, from outside and from inside: that other projects exist is shown, their content
//! is not.

use baton_model::access::Grant;
use baton_model::project::Project;
use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, Tx, project};

use super::merged::merged_from;
use crate::op::Cx;
use crate::resolve;

/// The isolated project in which a caller stands who names none.
pub(crate) fn isolated_project(cx: &mut Cx<'_>) -> Result<Option<String>, Failure> {
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

/// What a caller's rights let it see of a registration: names of projects that it reaches.
pub(super) fn shown_to(grant: &Grant, project: Project) -> Project {
    project.named_for(|id| grant.reaches(id))
}

/// Whether a project that gets a folder of an isolated one is to be isolated, too: it is new, or known by its name alone. An open one
/// gets no such folder: with it go the sessions of every tool that were held there, and the tasks of its Beads file.
pub(super) fn keep_isolation(
    tx: &mut Tx<'_>,
    from: &str,
    (to, is_new): (&str, bool),
) -> Result<bool, Failure> {
    if !project::get(tx, from)?.is_some_and(|project| project.is_isolated) {
        return Ok(false);
    }
    match project::get(tx, to)? {
        Some(known) if known.is_isolated => Ok(false),
        Some(known) if !known.is_placeholder && !is_new => Err(opens_isolated_refusal(from, to).into()),
        _ => Ok(true),
    }
}

/// The isolated projects that were merged into one.
pub(super) fn isolated_within(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Failure> {
    let mut within = Vec::new();
    for from in merged_from(tx, project_id)? {
        if project::get(tx, &from)?.is_some_and(|project| project.is_isolated) {
            within.push(from);
        }
    }
    Ok(within)
}

/// The refusal of what would bring words of an isolated project into an open one.
pub(super) fn opens_isolated_refusal(from: &str, into: &str) -> Refusal {
    let what =
        format!("project {from} is isolated and {into} is not: whoever reads {into} would read its words");
    let hint = format!(
        "isolate {into}, too (`baton init --isolated` in it), or open {from} first: `is_isolated: false` in its docs/PROJECT.md \
         and `baton init --sync`"
    );
    Refusal::new(Kind::Refused, "merge_opens_isolated", what, hint).with("project_id", from)
}
