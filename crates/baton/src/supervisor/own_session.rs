//! The session that a run works in: a new one, or one that goes on with a baton.

use baton_ops::op::Caller;
use baton_ops::session::{Pickup, PickupInput, Start, StartInput};

use super::Plan;
use crate::app::App;
use crate::error::AppError;

/// The session that was begun, and the baton in it.
pub(super) struct OwnSession {
    pub project_id: String,
    pub identity: String,
    pub session_id: String,
    /// The session whose document the agent gets.
    pub document_of: Option<String>,
    /// The baton that was picked up; empty where none was.
    pub baton_id: String,
}

/// Begins fresh work, or picks up what waits.
pub(super) fn begin(plan: &Plan, caller: &Caller, app: &mut App) -> Result<OwnSession, AppError> {
    let (project, identity) = (app.project.clone(), plan.identity.clone());
    let Some(id) = &plan.pickup else {
        let input = StartInput { project, identity, ..StartInput::default() };
        let started = app.run_as::<Start>(caller, &input)?;
        return Ok(OwnSession {
            project_id: started.project_id,
            identity: started.identity,
            session_id: started.session_id,
            document_of: None,
            baton_id: String::new(),
        });
    };
    let handoff_id = Some(id.clone()).filter(|id| !id.is_empty());
    let picked = app.run_as::<Pickup>(
        caller,
        &PickupInput { project, identity, target_id: handoff_id, ..PickupInput::default() },
    )?;
    Ok(OwnSession {
        project_id: picked.project_id,
        identity: picked.identity,
        session_id: picked.session_id.unwrap_or_default(),
        document_of: picked.predecessor_session_id,
        baton_id: picked.baton.map(|baton| baton.delta_id).unwrap_or_default(),
    })
}
