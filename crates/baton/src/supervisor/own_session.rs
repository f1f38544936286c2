//! The session that a run works in: a new one, or one that goes on with a baton.

use baton_ops::op::Caller;
use baton_ops::session::{Pickup, PickupInput, Start, StartInput};
use serde::Deserialize;

use super::Plan;
use crate::app::App;
use crate::error::Ended;

/// The session that was begun, and the baton in it.
pub struct OwnSession {
    pub project_id: String,
    pub identity: String,
    pub session_id: String,
    /// The session whose document the agent gets.
    pub document_of: Option<String>,
    /// The baton that was picked up; empty where none was.
    pub baton_id: String,
}

/// What of a baton is needed here.
#[derive(Default, Deserialize)]
struct BatonHead {
    delta_id: String,
    session_id: Option<String>,
}

/// Begins fresh work, or picks up what waits.
pub fn begin(plan: &Plan, caller: &Caller, app: &mut App) -> Result<OwnSession, Ended> {
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
    let picked = app
        .run_as::<Pickup>(caller, &PickupInput { project, identity, handoff_id, ..PickupInput::default() })?;
    let baton: Option<BatonHead> =
        picked.baton.map(serde_json::from_value).transpose().map_err(anyhow::Error::from)?;
    let baton = baton.unwrap_or_default();
    Ok(OwnSession {
        project_id: picked.project_id,
        identity: picked.identity,
        session_id: picked.session_id.unwrap_or_default(),
        document_of: baton.session_id.or(picked.predecessor_session_id),
        baton_id: baton.delta_id,
    })
}
