//! `signal_recall`: take a signal back before it is delivered.

use baton_model::id::visible;
use baton_model::message::Message;
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Takes a signal back.
pub struct Retract;

/// Input of `signal_recall`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RetractInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that sent it.
    #[serde(default)]
    pub identity: Option<String>,
    /// The signal.
    pub message_id: String,
}

/// Answer of `signal_recall`.
#[derive(Serialize, Deserialize)]
pub struct RetractOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The message.
    pub message_id: String,
}

impl Operation for Retract {
    const META: Meta = Meta::write("signal_recall", "Take a signal back before it is delivered");
    type Input = RetractInput;
    type Output = RetractOutput;

    fn run(input: RetractInput, cx: &mut Cx<'_>) -> Result<RetractOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let (message_id, far) = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let known = find::by_id(tx, &project_id, &input.message_id)?;
            Ok((known.message_id, known.to_project_id))
        })?;
        let taken: Vec<&str> = [project_id.as_str()].into_iter().chain(far.as_deref()).collect();
        store.write(&taken, |tx| {
            resolve::require(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let known = message::get(tx, &project_id, &message_id)?
                .filter(|m| m.from_project_id.is_none())
                .filter(|m| m.is_from(&identity));
            let Some(known) = known else { return Err(unknown_refusal(&identity).into()) };
            // Where it lies decides; the sender's copy of what went to another project follows.
            let lies_in = far.as_deref().unwrap_or(&project_id);
            if !message::retract(tx, lies_in, &message_id, env.now)? {
                return Err(delivered_refusal(&known).into());
            }
            if far.is_some() {
                message::retract(tx, &project_id, &message_id, env.now)?;
            }
            Ok(())
        })?;
        Ok(RetractOutput { project_id, identity, message_id })
    }
}

fn unknown_refusal(identity: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::NotFound,
        "message_unknown",
        format!("{identity} sent no such signal"),
        "say who sent it with `--as SENDER`; `baton signal pending --as RECEIVER` lists what waits",
    )
}

fn delivered_refusal(known: &Message) -> Refusal {
    let what = match known.recalled_at {
        Some(_) => "you have taken it back already".to_owned(),
        None => format!("{} has read it, so it is not taken back", visible(&known.to_identity)),
    };
    Refusal::new(refusal::Kind::Conflict, "message_delivered", what, "send another one")
}
