//! `mail_ack` and `signal_ack`: say that a message was taken in.

use baton_model::id::identity_key;
use baton_model::message::{Address, Message, Participation, usual_life};
use baton_model::packet::one_line;
use baton_model::refusal::{self, Refusal};
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find;
use super::post::{Outgoing, post};
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;

/// The type of the signal that goes back to the sender.
const KIND: &str = "Acknowledgment";

/// Acknowledges a signal.
pub struct Ack;

/// Acknowledges a piece of mail.
pub struct MailAck;

/// Input of `signal_ack`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that acknowledges: the one that the signal is for.
    #[serde(default)]
    pub identity: Option<String>,
    /// The signal: a `TaskAssigned`, `ReviewRequested`, `Question` or `Blocker`.
    pub message_id: String,
    /// What to say to its sender.
    #[serde(default)]
    pub body: String,
}

/// Input of `mail_ack`, also called `acknowledge_message`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MailAckInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that acknowledges: the one that the message is for, or one of the role that it is for.
    #[serde(default)]
    pub identity: Option<String>,
    /// The message, by its id or a unique prefix.
    pub message_id: String,
    /// What to say to its sender.
    #[serde(default)]
    pub body: String,
}

/// Answer of both. Acknowledging twice notifies the sender once, unless it says something else.
#[derive(Serialize, Deserialize)]
pub struct AckOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The message.
    pub message_id: String,
    /// When it was acknowledged.
    pub acked_at: Timestamp,
    /// Whether it had been acknowledged before.
    pub acked_before: bool,
    /// The message that tells its sender: of the acknowledgement, or what a later one says besides. None, where it says nothing new.
    pub ack_message_id: Option<String>,
    /// Who it is for.
    pub to: String,
}

impl Operation for Ack {
    const META: Meta = Meta::write("signal_ack", "Acknowledge a signal; its sender is told");
    type Input = AckInput;
    type Output = AckOutput;

    fn run(input: AckInput, cx: &mut Cx<'_>) -> Result<AckOutput, Failure> {
        let AckInput { project, identity, message_id, body } = input;
        acknowledge(
            Self::NAME,
            MailAckInput { project, identity, message_id, body },
            cx,
            |tx, project_id, id, who| {
                let found = message::get(tx, project_id, id)?
                    .filter(|m| {
                        m.to_project_id.is_none() && identity_key(&m.to_identity) == identity_key(who)
                    })
                    .ok_or_else(|| unknown(who))?;
                Ok((found, Participation::Receiver))
            },
        )
    }
}

impl Operation for MailAck {
    const META: Meta = Meta::write("mail_ack", "Acknowledge a message; its sender is told");
    type Input = MailAckInput;
    type Output = AckOutput;

    fn run(input: MailAckInput, cx: &mut Cx<'_>) -> Result<AckOutput, Failure> {
        acknowledge(Self::NAME, input, cx, |tx, project_id, id, who| {
            match find::own(tx, project_id, id, who)? {
                (_, Participation::Sender) => Err(unknown(who).into()),
                found => Ok(found),
            }
        })
    }
}

type Find = fn(&mut Tx<'_>, &str, &str, &str) -> Result<(Message, Participation), Failure>;

fn acknowledge(verb: &str, input: MailAckInput, cx: &mut Cx<'_>, find: Find) -> Result<AckOutput, Failure> {
    if input.body.len() > 64 * 1024 {
        let what = "the body has over 64 KiB";
        return Err(Refusal::invalid("message_invalid", what, "shorten it, or name a file in it").into());
    }
    let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
    let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
    let Cx { store, env } = cx;
    // Which projects are to be taken depends on where it came from, and that never changes.
    let home = store.read(|tx| {
        resolve::require_project(tx, &project_id)?;
        Ok(find(tx, &project_id, &input.message_id, &identity)?.0.from_project_id)
    })?;
    let taken: Vec<&str> = [project_id.as_str()].into_iter().chain(home.as_deref()).collect();
    store.write(&taken, |tx| {
        resolve::require(tx, &project_id)?;
        resolve::beat(tx, env, &project_id, &identity, verb)?;
        let (found, part) = find(tx, &project_id, &input.message_id, &identity)?;
        found.check_ack()?;
        let found = find::take(tx, found, part, &identity)?;
        settle(tx, env, &found, &identity, &input.body)
    })
}

fn settle(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &Message,
    identity: &str,
    body: &str,
) -> Result<AckOutput, Failure> {
    let is_first = message::acked(tx, &known.project_id, &known.message_id, env.now)?;
    let reply = match is_first || is_new(tx, known, body)? {
        true => Some(tell_sender(tx, env, known, body)?),
        false => None,
    };
    Ok(AckOutput {
        project_id: known.project_id.clone(),
        identity: identity.to_owned(),
        message_id: known.message_id.clone(),
        acked_at: Timestamp(known.acked_at.unwrap_or(env.now)),
        acked_before: !is_first,
        ack_message_id: reply,
        to: known.from_identity.clone(),
    })
}

/// Whether a later acknowledgement says what no earlier one of this message did.
fn is_new(tx: &mut Tx<'_>, known: &Message, body: &str) -> Result<bool, Failure> {
    if body.is_empty() {
        return Ok(false);
    }
    let thread = message::of_thread(tx, &known.project_id, known.thread())?;
    let is_same = |one: &Message| {
        one.kind == KIND
            && one.reply_to.as_ref() == Some(&known.message_id)
            && identity_key(&one.from_identity) == identity_key(&known.to_identity)
            && one.body == body
    };
    Ok(!thread.iter().any(is_same))
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
    let home = known.from_project_id.as_deref().unwrap_or(&known.project_id);
    if home != known.project_id {
        message::acked(tx, home, &known.message_id, env.now)?;
    }
    let written = format!("signal {}", known.message_id);
    let reply = Outgoing {
        from_project: &known.project_id,
        to_project: home,
        from: &known.to_identity,
        to: &Address::Identity(known.from_identity.clone()),
        kind: KIND,
        subject: &format!("acknowledged: {}", one_line(&known.subject)),
        body: if body.is_empty() { &written } else { body },
        importance: Default::default(),
        expires_at: usual_life(KIND).map(|life| env.now.saturating_add(life)),
        ack_by: None,
        reply: Some((known.thread(), &known.message_id)),
        readers: None,
    };
    Ok(post(tx, env, &reply)?.message_id)
}
