//! `signal_delivered`: a face says that it has written these signals out.

use baton_model::access::Bearer;
use baton_model::message::Message;
use baton_store::{Failure, Tx, agent, message, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find;
use crate::op::{Cx, Env, Meta, Operation, Retention};
use crate::resolve;
use crate::token_rights;

/// Marks signals as delivered.
pub struct Delivered;

/// Input of `signal_delivered`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeliveredInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The signals.
    pub message_ids: Vec<String>,
}

/// Answer of `signal_delivered`.
#[derive(Serialize, Deserialize)]
pub struct DeliveredOutput {
    /// The project.
    pub project_id: String,
    /// How many were marked as delivered.
    pub marked: usize,
}

impl Operation for Delivered {
    const META: Meta = Meta::write("signal_delivered", "Mark signals as written out to their receiver")
        .retention(Retention::Nothing);
    type Input = DeliveredInput;
    type Output = DeliveredOutput;

    fn run(input: DeliveredInput, cx: &mut Cx<'_>) -> Result<DeliveredOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        let now = env.now;
        let marked = store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let mut marked = 0;
            for id in &input.message_ids {
                let Some(known) = message::get(tx, &project_id, id)? else { continue };
                // The copy of its sender is no mailbox: the message is marked in the project that it went to.
                if known.to_project_id.is_some() {
                    continue;
                }
                // What is marked is gone for its receiver: that is for the receiver to do.
                if let Some(bearer) = &env.caller.grant.bearer {
                    match known.waits_for_role() {
                        true => require_role(tx, env, (&project_id, bearer), &known)?,
                        false => token_rights::require_mailbox(tx, env, &project_id, &known.to_identity)?,
                    }
                }
                marked += usize::from(message::mark_delivered(tx, &project_id, id, now)?);
            }
            Ok(marked)
        })?;
        Ok(DeliveredOutput { project_id, marked })
    }
}

/// Refuses to mark the mail of a role for a token of which no identity has that role.
fn require_role(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project_id, bearer): (&str, &Bearer),
    known: &Message,
) -> Result<(), Failure> {
    let names = match &bearer.identities {
        Some(bound) => bound.clone(),
        None => {
            let mut open = session::open(tx, project_id)?;
            open.retain(|one| token_rights::may_act_in(env, one));
            open.into_iter().map(|one| one.identity).collect()
        }
    };
    for name in &names {
        let roles = agent::roles(tx, project_id, name)?;
        if known.part_of(name, &roles).is_some() {
            return Ok(());
        }
    }
    let name = names.first().cloned().unwrap_or_else(|| bearer.actor());
    Err(find::held_by_another_refusal(known, &name, &[]).into())
}
