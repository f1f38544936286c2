//! `handoff_show`: one hand-off, or one baton, with its packet, for who asks for it by its id.

use baton_model::baton::Baton;
use baton_model::refusal;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, baton, delta, handoff_step, memory, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{answer, by_id};
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;

/// Shows a hand-off.
pub struct Show;

/// Input of `handoff_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Id of a hand-off or of a baton, or a unique prefix of one.
    pub id: String,
    /// Project in which a baton is looked for; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
}

/// Answer of `handoff_show`: the hand-off with its packet as text.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The project.
    pub project_id: String,
    /// The hand-off.
    #[serde(flatten)]
    pub handoff: Value,
    /// The hand-off packet.
    pub packet: Option<String>,
    /// The note that came with it.
    pub note: Option<crate::memory::View>,
}

impl Operation for Show {
    const META: Meta = Meta::read("handoff_show", "Show a hand-off or a baton with its packet");
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let here = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref()).ok();
        let Cx { store, env } = cx;
        store.read(|tx| match by_id(tx, &env.caller.grant, &input.id) {
            Err(Failure::Refused(refusal)) if refusal.kind == refusal::Kind::NotFound => {
                match here.as_deref().map(|project| left(tx, env, project, &input.id)).transpose()? {
                    Some(Some(found)) => Ok(found),
                    _ => Err(refusal.into()),
                }
            }
            Err(other) => Err(other),
            Ok(handoff) => {
                let packet = Some(handoff.packet.clone()).filter(|text| !text.is_empty());
                let steps = handoff_step::of(tx, &handoff.handoff_id)?;
                let note = match &handoff.memory_id {
                    Some(id) => memory::get(tx, &handoff.to_project_id, id)?
                        .map(|note| crate::memory::View::from(&note)),
                    None => None,
                };
                let project_id = handoff.to_project_id.clone();
                Ok(ShowOutput { project_id, handoff: answer(&handoff, &steps), packet, note })
            }
        })
    }
}

/// The baton of this id or unique prefix, in the words of a hand-off.
fn left(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str, id: &str) -> Result<Option<ShowOutput>, Failure> {
    resolve::require_project(tx, project_id)?;
    let found = match baton::get(tx, project_id, id)? {
        Some(found) => Some(found),
        None if id.len() >= 4 && id.is_ascii() => {
            let ids = baton::by_prefix(tx, project_id, id)?;
            match ids.as_slice() {
                [one] => baton::get(tx, project_id, one)?,
                [] => None,
                many => return Err(resolve::ambiguous_id("baton", id, many).into()),
            }
        }
        None => None,
    };
    let Some(found) = found else { return Ok(None) };
    let holder = match &found.holder_session_id {
        Some(id) => session::get(tx, project_id, id)?,
        None => None,
    };
    let state = found.state(holder.as_ref(), env.now, env.limits);
    let packet = delta::get(tx, project_id, &found.baton_id)?.map(|wrap| wrap.body);
    let holder = holder.map(|holder| holder.identity);
    Ok(Some(ShowOutput {
        project_id: project_id.to_owned(),
        handoff: described(&found, state.as_str(), holder),
        packet,
        note: None,
    }))
}

fn described(found: &Baton, state: &str, holder: Option<String>) -> Value {
    json!({
        "handoff_id": found.baton_id,
        "kind": "baton",
        "state": state,
        "subject": found.summary,
        "from_project_id": found.project_id,
        "to_project_id": found.project_id,
        "from_identity": found.identity,
        "to_identity": found.to_identity,
        "to_role": found.to_role,
        "holder": holder,
        "session_id": found.session_id,
        "created_at": rfc3339(found.created_at),
    })
}
