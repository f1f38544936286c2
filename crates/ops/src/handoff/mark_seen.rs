//! `handoff_seen`: its sender has seen how a hand-off came back.

use baton_model::id::{BOT, identity_key};
use baton_store::{Failure, handoff};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{by_id, isolation, unknown_refusal};
use crate::op::{Cx, Meta, Operation, Retention};
use crate::resolve;

/// Marks a hand-off that came back as seen.
pub struct MarkSeen;

/// Input of `handoff_seen`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkSeenInput {
    /// Hand-off id or a unique prefix of one.
    pub id: String,
    /// Identity that has seen it; of another than its sender it changes nothing.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Answer of `handoff_seen`.
#[derive(Serialize, Deserialize)]
pub struct MarkSeenOutput {
    /// The project of the sender.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The hand-off.
    pub handoff_id: String,
    /// Whether it needed its sender's attention until now.
    pub seen: bool,
}

impl Operation for MarkSeen {
    const META: Meta = Meta::write("handoff_seen", "Say that its sender has seen how a hand-off came back")
        .retention(Retention::Nothing);
    type Input = MarkSeenInput;
    type Output = MarkSeenOutput;

    fn run(input: MarkSeenInput, cx: &mut Cx<'_>) -> Result<MarkSeenOutput, Failure> {
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let here = resolve::project_id(cx.store, &cx.env, None).ok();
        let Cx { store, env } = cx;
        let known = store.read(|tx| {
            let known = by_id(tx, &env.caller.grant, &input.id)?;
            match isolation::is_hidden(tx, here.as_deref(), &known)? {
                true => Err(unknown_refusal(&input.id).into()),
                false => Ok(known),
            }
        })?;
        // `Bot` stands for every caller without a name.
        let is_named = identity_key(&identity) != identity_key(BOT);
        let is_sender = is_named
            && identity_key(&identity) == identity_key(&known.from_identity)
            && env.caller.grant.reaches(&known.from_project_id);
        let seen = is_sender
            && known.state.is_returned()
            && store.write(&[&known.from_project_id], |tx| {
                Ok(handoff::mark_seen(tx, &known.handoff_id, env.now)?)
            })?;
        Ok(MarkSeenOutput { project_id: known.from_project_id, identity, handoff_id: known.handoff_id, seen })
    }
}
