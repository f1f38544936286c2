//! What a hand-off shows of a project on the other side of isolation: that it was accepted and how it ended, and no name of
//! an agent that works there.

use baton_model::access::Grant;
use baton_model::actor::ActorType;
use baton_model::handoff::{Handoff, State};
use baton_model::saga::Kind;
use baton_store::{Failure, Tx, project};

use super::Row;
use super::details::HandoffDetails;
use crate::project::are_separated;

/// The fields of a hand-off's details that say who accepted it, where, and what else its receiver's people said.
pub(crate) const RECEIVER_FIELDS: [&str; 6] =
    ["accepted_by", "accepted_place", "accepted_bearer", "accepted_as", "closed_by", "late_results"];
/// The field that says who ended it.
pub(crate) const ENDED_FIELD: &str = "ended";

/// Who is shown a hand-off.
#[derive(Clone, Copy)]
pub(crate) struct Viewer<'a> {
    /// The project for which it is looked at; none for a caller outside of both.
    pub(crate) project: Option<&'a str>,
    /// What the caller reaches; none for a ledger, which all of its project read.
    pub(crate) grant: Option<&'a Grant>,
}

/// The sender's project as it is called to a viewer. Where it was merged, the project that goes on is named only to a caller
/// who reaches that one.
pub(crate) fn sender_for(handoff: &Handoff, grant: Option<&Grant>) -> String {
    let is_reached = grant.is_some_and(|grant| grant.reaches(&handoff.from_project_id));
    let former = if is_reached { None } else { HandoffDetails::of(handoff).sent_as };
    former.unwrap_or_else(|| handoff.from_project_id.clone())
}

/// Shows a row to a project, or to a caller outside of both. Where one end is isolated, what the other end's people did is
/// shown without their names.
pub(crate) fn shown_to(
    tx: &mut Tx<'_>,
    Viewer { project: viewer, grant }: Viewer<'_>,
    handoff: &Handoff,
    mut row: Row,
) -> Result<Row, Failure> {
    if grant.is_some() || viewer != Some(handoff.from_project_id.as_str()) {
        row.handoff.from_project_id = sender_for(handoff, grant);
    }
    if !is_separated(tx, handoff)? {
        return Ok(row);
    }
    if viewer != Some(handoff.to_project_id.as_str()) {
        row.handoff.accepted_by = None;
        row.handoff.late_results.clear();
        let seeding = row.steps.iter_mut().filter(|step| step.step == Kind::Session);
        for error in seeding.filter_map(|step| step.last_error.as_mut()) {
            "the session that it seeds is at work: it is not overwritten".clone_into(error);
        }
    }
    let ender = ending_project(handoff);
    if let Some(ended) = row.handoff.ended.as_mut().filter(|_| viewer != Some(ender)) {
        ended.by = project_label(ender);
        ended.by_type = ActorType::Project;
    }
    Ok(row)
}

/// Whether its two projects are kept apart, because one of them is isolated.
pub(crate) fn is_separated(tx: &mut Tx<'_>, handoff: &Handoff) -> Result<bool, Failure> {
    are_separated(tx, &handoff.from_project_id, &handoff.to_project_id)
}

/// Whether a caller in neither of its projects is shown nothing of it, because both are isolated.
pub(super) fn is_hidden(tx: &mut Tx<'_>, viewer: Option<&str>, handoff: &Handoff) -> Result<bool, Failure> {
    let ends = [handoff.from_project_id.as_str(), handoff.to_project_id.as_str()];
    if viewer.is_some_and(|viewer| ends.contains(&viewer)) {
        return Ok(false);
    }
    let isolated = project::isolated(tx)?;
    Ok(ends.iter().all(|end| isolated.iter().any(|one| one == end)))
}

/// An unnamed agent of a project.
pub(super) fn project_label(project_id: &str) -> String {
    format!("somebody of project {project_id}")
}

/// The project whose people brought the hand-off into its present state.
pub(super) fn ending_project(handoff: &Handoff) -> &str {
    match handoff.state {
        State::Accepted | State::Completed | State::Declined => &handoff.to_project_id,
        _ => &handoff.from_project_id,
    }
}
