//! `signal_ack`: say that a signal was taken in.

use baton_model::id::identity_key;
use baton_model::message::{Message, usual_life};
use baton_model::packet::one_line;
use baton_model::refusal::{self, Refusal};
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Access, Cx, Env, Operation};
use crate::resolve;

/// The type of the signal that goes back to the sender.
const KIND: &str = "Acknowledgment";

/// Acknowledges a signal.
pub(crate) struct Ack;

/// Input of `signal_ack`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity that acknowledges: the one that the signal is for.
    #[serde(default)]
    identity: Option<String>,
    /// The signal: a `TaskAssigned`, `ReviewRequested`, `Question` or `Blocker`.
    message_id: String,
    /// What to say to its sender.
    #[serde(default)]
    body: String,
}

/// Answer of `signal_ack`. Acknowledging twice tells the sender once.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    identity: String,
    message_id: String,
    acked_at: String,
    acked_before: bool,
    ack_message_id: Option<String>,
    to: String,
}

impl Operation for Ack {
    const NAME: &'static str = "signal_ack";
    const DOC: &'static str = "Acknowledge a signal; its sender is told";
    const ACCESS: Access = Access::Write;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        if input.body.len() > 64 * 1024 {
            let what = "the body has over 64 KiB";
            return Err(Refusal::invalid("message_invalid", what, "shorten it, or name a file in it").into());
        }
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            resolve::beat(tx, env, &project_id, &identity, Self::NAME)?;
            acknowledge(tx, env, &input, &project_id, &identity)
        })
    }
}

fn acknowledge(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &Input,
    project_id: &str,
    identity: &str,
) -> Result<Output, Failure> {
    let known = message::get(tx, project_id, &input.message_id)?
        .filter(|m| identity_key(&m.to_identity) == identity_key(identity))
        .ok_or_else(|| unknown(identity))?;
    known.check_ack()?;
    let reply = match message::acked(tx, project_id, &known.message_id, env.now)? {
        true => Some(tell_sender(tx, env, &known, &input.body)?),
        false => None,
    };
    Ok(Output {
        project_id: project_id.to_owned(),
        identity: identity.to_owned(),
        message_id: known.message_id,
        acked_at: rfc3339(known.acked_at.unwrap_or(env.now)),
        acked_before: reply.is_none(),
        ack_message_id: reply,
        to: known.from_identity,
    })
}

fn unknown(identity: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::NotFound,
        "message_unknown",
        format!("there is no such signal for {identity}"),
        format!("`baton signal pending --as {identity}` lists what waits"),
    )
}

fn tell_sender(tx: &mut Tx<'_>, env: &mut Env<'_>, known: &Message, body: &str) -> Result<String, Failure> {
    let reply = Message {
        project_id: known.project_id.clone(),
        message_id: env.id(),
        seq: tx.next_seq(&known.project_id)?,
        kind: KIND.into(),
        from_identity: known.to_identity.clone(),
        to_identity: known.from_identity.clone(),
        subject: format!("acknowledged: {}", one_line(&known.subject)),
        body: if body.is_empty() { format!("signal {}", known.message_id) } else { body.to_owned() },
        created_at: env.now,
        expires_at: usual_life(KIND).map(|life| env.now.saturating_add(life)),
        ..Message::default()
    };
    message::insert(tx, &reply)?;
    Ok(reply.message_id)
}
