//! What a picker is reminded of.

use baton_model::accounting::Remark;
use baton_model::project::Project;
use baton_model::repository::WorkingCopy;
use baton_model::session::View;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, handoff, session_open};

use super::accepted_handoffs;
use super::late_words::{brought_words_remarks, late_words_remark};
use super::left_work::left_beside;
use super::pickup::PickupResult;
use super::recovery::Recovered;
use super::shared_copy::shared_copy;
use super::working_copy;
use crate::card;
use crate::message::remind;
use crate::op::Env;
use crate::portable::waiting_elsewhere;
use crate::{ownership, resolve};

/// What the project, the mailbox and the other sessions remind the picker of.
pub(super) fn reminders(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project: &Project,
    (picked, recovered): (&PickupResult, Option<&Recovered>),
) -> Result<Vec<Remark>, Failure> {
    let doubtful = card::doubtful_sessions(tx, env, &project.project_id)?;
    let mut found = card::reminders(tx, env, project, &doubtful)?;
    found.extend(remind(tx, &project.project_id, &picked.identity, env.now)?);
    let own = working_copy::of_caller(env);
    let machine = &env.caller.location.machine;
    // A dry run registers no session: the caller may have one.
    let callers = match &picked.session_id {
        Some(id) => Some(id.clone()),
        None => {
            resolve::open_session(tx, env, &project.project_id, &picked.identity)?.map(|own| own.session_id)
        }
    };
    let beside = sessions_beside(tx, env, &project.project_id, own.as_ref())?;
    found.extend(shared_copy(own.as_ref(), machine, callers.as_deref(), &beside));
    if picked.baton_id.is_none() {
        found.extend(waiting_elsewhere(tx, env, &project.project_id, true)?);
    }
    let brought: Vec<&str> = recovered.iter().flat_map(|left| &left.sessions).map(String::as_str).collect();
    found.extend(left_beside(tx, env, &project.project_id, &brought)?);
    if let Some(id) = &picked.session_id {
        let accepted = handoff::accepted(tx, &project.project_id)?;
        found.extend(accepted_handoffs::accepted_remarks(&accepted, id, &picked.identity));
        let left = accepted_handoffs::unattended(tx, env, accepted.iter(), Some(&picked.identity))?;
        found.extend(left.into_iter().map(|one| one.remark));
    }
    let before = picked.predecessor_session_id.as_deref();
    found.extend(late_words_remark(tx, env, &project.project_id, before)?);
    if let (Some(baton_id), Some(left_in), None) = (&picked.baton_id, before, recovered) {
        found.extend(brought_words_remarks(tx, env, &project.project_id, (baton_id, left_in))?);
    }
    Ok(found)
}

/// The open sessions of the caller's working copy.
pub(super) fn sessions_beside(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    own: Option<&WorkingCopy>,
) -> Result<Vec<View>, Failure> {
    let Some(own) = own else { return Ok(Vec::new()) };
    let copy = (env.caller.location.machine.as_str(), own.root.as_str());
    // None that was released is open at the end of time.
    let open = session_open::in_copy(tx, project_id, copy, Millis::MAX)?;
    Ok(open.iter().map(|session| ownership::view(env, session)).collect())
}
