//! `session_end`: end a session that has nothing to hand over.

use baton_model::accounting::Remark;
use baton_model::id::check_label;
use baton_model::refusal::Refusal;
use baton_model::session::{ReleaseReason, Session};
use baton_store::{Failure, Tx, handoff};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::force::EndRequest;
use super::left_work::ended_remark;
use super::{Releaser, accepted_handoffs, notify, release, working_copy};
use crate::ledger::keep_late_note;
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;

/// Ends a session without a baton.
pub struct End;

/// Input of `session_end`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EndInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that ends.
    #[serde(default)]
    pub identity: Option<String>,
    /// Session that ends; else the identity's one open session.
    #[serde(default)]
    pub session: Option<String>,
    /// Why.
    #[serde(default)]
    pub reason: Option<String>,
    /// End another agent's session.
    #[serde(default)]
    pub force: bool,
    /// Why force is used; written into the ledger with who used it.
    #[serde(default)]
    pub why: Option<String>,
}

/// Answer of `session_end`.
#[derive(Serialize, Deserialize)]
pub struct EndOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: String,
    /// The baton that is free again.
    pub freed_baton_id: Option<String>,
    /// What the session leaves undone, with the commands that go on with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reminders: Vec<Remark>,
}

impl Operation for End {
    const META: Meta = Meta::write("session_end", "End a session that has nothing to hand over")
        .ends_session()
        .changes_tasks();
    type Input = EndInput;
    type Output = EndOutput;

    fn run(input: EndInput, cx: &mut Cx<'_>) -> Result<EndOutput, Failure> {
        for reason in [&input.reason, &input.why].into_iter().flatten() {
            check_label("reason", reason)?;
        }
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        store
            .write(&[&project_id], |tx| {
                resolve::require(tx, &project_id)?;
                let request = input.end_request();
                let mut own = request.session(tx, env, &project_id)?;
                let by = request.forced_by(env, &own)?;
                if !own.is_open() {
                    return Ok(Err(late(tx, env, &own, input.reason.as_deref())?));
                }
                let forced = by.is_some();
                let identity = by.unwrap_or_else(|| own.identity.clone());
                if !forced {
                    Self::NAME.clone_into(&mut own.last_verb);
                    own.heartbeat_at = env.now;
                    working_copy::refresh(tx, env, &mut own)?;
                }
                let by = Releaser {
                    identity: &identity,
                    reason: if forced { ReleaseReason::Operator } else { ReleaseReason::Ended },
                    why: input.reason(),
                    successor: None,
                };
                release(tx, env, &mut own, &by)?;
                let accepted = handoff::accepted(tx, &project_id)?;
                let mut reminders = accepted_handoffs::when_ended(&accepted, &own, forced);
                reminders.extend(ended_remark(tx, env, &own)?);
                if forced {
                    notify(tx, env, &own, &identity, input.reason())?;
                }
                Ok(Ok(EndOutput {
                    project_id: project_id.clone(),
                    identity,
                    session_id: own.session_id,
                    freed_baton_id: own.baton_id,
                    reminders,
                }))
            })?
            .map_err(Failure::from)
    }
}

/// The refusal for a session that is over. The reason is kept as a note, as the words of every late call are.
fn late(tx: &mut Tx<'_>, env: &mut Env<'_>, own: &Session, reason: Option<&str>) -> Result<Refusal, Failure> {
    let Some(reason) = reason else { return crate::ownership::release_refusal(tx, env, own) };
    let note = json!({ "text": "end of a released session", "late_reason": reason });
    keep_late_note(tx, env, own, (&note, &note))
}

impl EndInput {
    fn reason(&self) -> Option<&str> {
        self.why.as_deref().or(self.reason.as_deref())
    }

    fn end_request(&self) -> EndRequest<'_> {
        let (identity, session) = (self.identity.as_deref(), self.session.as_deref());
        EndRequest { identity, session, force: self.force, why: self.reason() }
    }
}
