//! A hand-off in answers: with what its steps have made.

use baton_model::access::Grant;
use baton_model::handoff::{Handoff, State, View};
use baton_model::issue::without_advice;
use baton_model::row_action::{HandoffParties, OfferedAction, RowAction, Viewer};
use baton_model::saga::{self, Kind, Step, StepStage};
use baton_model::tracker::Warning;
use baton_store::{Failure, Tx};
use serde::{Deserialize, Serialize};

use crate::project_name::name_for;

/// A hand-off with what its steps have made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The hand-off.
    #[serde(flatten)]
    pub handoff: View,
    /// The note that was stored for it.
    pub memory: Option<MemoryRef>,
    /// The session that was seeded for it.
    pub seeded_session: Option<SeededSession>,
    /// Its steps, in their order.
    pub steps: Vec<saga::View>,
    /// Where it was asked for: what the one who looks can do with it, the first thing first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<OfferedAction>,
}

/// The note of a hand-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryRef {
    /// Its id.
    pub memory_id: String,
}

/// The session that is seeded for a hand-off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeededSession {
    /// The project.
    pub project_id: String,
    /// Whose session: an identity or a role.
    pub agent_id: Option<String>,
    /// The task part of its key.
    pub task_id: Option<String>,
    /// The session.
    pub session_id: String,
}

/// A step as answers show it: of the way forward of a hand-off that is over, without advice.
fn step_view(state: State, step: &Step) -> saga::View {
    let mut view = step.view();
    if state.is_over() && saga::is_forward_step(step.kind) {
        view.last_error = view.last_error.map(|why| without_advice(&why).to_owned());
    }
    view
}

impl Row {
    /// The row of a hand-off with these steps.
    pub(crate) fn of(handoff: &Handoff, steps: &[Step]) -> Self {
        // A copy of a store has no steps: there, what was made is what the hand-off names.
        let done = |kind: Kind| {
            steps.is_empty() || steps.iter().any(|step| step.kind == kind && step.stage == StepStage::Done)
        };
        let memory = handoff.memory_id.clone().filter(|_| done(Kind::Memory));
        let session = handoff.session_id.clone().filter(|_| done(Kind::Session));
        Self {
            handoff: View::from(handoff),
            memory: memory.map(|memory_id| MemoryRef { memory_id }),
            seeded_session: session.map(|session_id| SeededSession {
                project_id: handoff.to_project_id.clone(),
                agent_id: handoff.agent_id.clone(),
                task_id: handoff.seed_task_id.clone(),
                session_id,
            }),
            steps: steps.iter().map(|step| step_view(handoff.state, step)).collect(),
            actions: Vec::new(),
        }
    }

    /// With what its projects are called for this caller.
    pub(crate) fn with_names(mut self, tx: &mut Tx<'_>, grant: &Grant) -> Result<Self, Failure> {
        let view = &mut self.handoff;
        view.from_project_name = name_for(tx, grant, &view.from_project_id)?;
        view.to_project_name = name_for(tx, grant, &view.to_project_id)?;
        Ok(self)
    }

    /// With what the identity of this key can do with it, as far as the caller's token lets it; with what can be done with it where the
    /// key is empty.
    #[must_use]
    pub(crate) fn with_actions(self, viewer: &str, grant: &Grant) -> Self {
        let mut actions = self.actions_for(viewer);
        actions.retain(|one| one.is_permitted(grant));
        Self { actions, ..self }
    }

    /// What the identity of this key can do with it, the first thing first.
    pub fn actions_for(&self, viewer: &str) -> Vec<OfferedAction> {
        let view = &self.handoff;
        let parties = HandoffParties {
            state: view.state,
            from: &view.from_identity,
            to: view.to_identity.as_deref(),
            accepted_by: view.accepted_by.as_deref(),
        };
        let mut actions = parties.actions(Viewer(viewer));
        // It is left anew once.
        actions.retain(|one| view.replaced_by.is_none() || one.action != RowAction::LeaveAnew);
        actions
    }

    /// Whether its steps are still being carried out.
    pub fn is_on_its_way(&self) -> bool {
        let publishing = |step: &saga::View| {
            step.step == Kind::Publish && matches!(step.state, StepStage::Pending | StepStage::Running)
        };
        matches!(self.handoff.state, State::Planned | State::Pending) || self.steps.iter().any(publishing)
    }
}

/// A hand-off that is being carried out, as the answer to the one who set it going.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// How it stands.
    #[serde(flatten)]
    pub row: Row,
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// Whether the same request has left it before; this one left nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// Of a new one: what its sender should know of the tracker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<Vec<Warning>>,
}
