//! `mail_ack` and `signal_ack`: say that a message was taken in.

use baton_model::id::{caller_name, identity_key, is_shared_name};
use baton_model::message::{Address, Message, Participation, usual_life};
use baton_model::packet::one_line;
use baton_model::refusal::{self, Refusal};
use baton_model::time::{Millis, Timestamp};
use baton_store::{Failure, Tx, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find;
use super::post::{Outgoing, post};
use super::warning::Warning;
use crate::op::{Cx, Env, Meta, Operation};
use crate::project::merged_into;
use crate::{encryption, resolve};

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
    /// Encrypt what is said: only its sender and you can read it, with your keys.
    #[serde(default)]
    pub sensitive: bool,
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
    /// Who can read what was said, if it is encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<Vec<String>>,
    /// What the caller should know; nothing was refused because of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

impl Operation for Ack {
    const META: Meta = Meta::write("signal_ack", "Acknowledge a signal; its sender is told");
    type Input = AckInput;
    type Output = AckOutput;

    fn run(input: AckInput, cx: &mut Cx<'_>) -> Result<AckOutput, Failure> {
        let AckInput { project, identity, message_id, body } = input;
        acknowledge(
            Self::NAME,
            MailAckInput { project, identity, message_id, body, sensitive: false },
            cx,
            |tx, project_id, id, who| {
                let found = find::by_id(tx, project_id, id)?;
                let is_theirs = identity_key(&found.to_identity) == identity_key(who);
                if found.to_project_id.is_some() || !is_theirs {
                    return Err(unknown_refusal(who).into());
                }
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
                (_, Participation::Sender) => Err(unknown_refusal(who).into()),
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
    let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
    let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
    // Which projects are to be taken depends on where it came from, and that never changes.
    let known = cx.store.read(|tx| {
        resolve::require_project(tx, &project_id)?;
        Ok(find(tx, &project_id, &input.message_id, &identity)?.0)
    })?;
    let text = text(cx, &known, &identity, &input)?;
    let sent_from = known.from_project_id.clone();
    let home = match (known.from_project_id, &text.readers) {
        // Where the sender's project was merged, its mail is read in the other one; what is encrypted can be read in its own alone.
        (Some(home), None) => cx.store.read(|tx| Ok(Some(merged_into(tx, &home)?.unwrap_or(home))))?,
        (home, _) => home,
    };
    let Cx { store, env } = cx;
    let is_reached = home.as_ref().is_none_or(|home| env.caller.grant.reaches(home));
    let former = sent_from.filter(|_| !is_reached);
    let taken: Vec<&str> = [project_id.as_str()].into_iter().chain(home.as_deref()).collect();
    store.write(&taken, |tx| {
        resolve::require(tx, &project_id)?;
        resolve::admit_and_beat(tx, env, &project_id, &identity, verb)?;
        let (found, part) = find(tx, &project_id, &input.message_id, &identity)?;
        found.check_ack()?;
        let found = find::take(tx, found, part, &identity)?;
        acked_at_sender(tx, &found, env.now)?;
        let found = Message { from_project_id: home.clone(), ..found };
        record_acknowledgement(tx, env, &found, &identity, (&text, former.as_deref()))
    })
}

/// Marks the sender's copy of a message from another project as acknowledged. It stays where it was written, also after that project
/// was merged.
pub(super) fn acked_at_sender(tx: &mut Tx<'_>, known: &Message, now: Millis) -> Result<(), Failure> {
    if let Some(home) = known.from_project_id.as_deref().filter(|home| *home != known.project_id) {
        message::mark_acked(tx, home, &known.message_id, now)?;
    }
    Ok(())
}

/// What is said to the sender.
struct Text {
    body: String,
    readers: Option<Vec<String>>,
    warnings: Vec<Warning>,
}

/// The text as it is written down: encrypted for the sender, where that is asked for.
fn text(cx: &mut Cx<'_>, known: &Message, identity: &str, input: &MailAckInput) -> Result<Text, Failure> {
    if !input.sensitive || input.body.is_empty() {
        return Ok(Text { body: input.body.clone(), readers: None, warnings: Vec::new() });
    }
    let about = encryption::Mail {
        from_project: &known.project_id,
        to_project: known.from_project_id.as_deref().unwrap_or(&known.project_id),
        from: identity,
        to: &Address::Identity(known.from_identity.clone()),
    };
    let sealed = encryption::encrypt(cx, &about, &input.body)?;
    Ok(Text { body: sealed.text, readers: Some(sealed.readers), warnings: sealed.warnings })
}

fn record_acknowledgement(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &Message,
    identity: &str,
    (text, former): (&Text, Option<&str>),
) -> Result<AckOutput, Failure> {
    let is_first = message::mark_acked(tx, &known.project_id, &known.message_id, env.now)?;
    let reply = match is_first || is_new(tx, known, &text.body)? {
        true => Some(notify_sender(tx, env, known, (text, former))?),
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
        readers: text.readers.clone(),
        warnings: text.warnings.clone(),
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

fn unknown_refusal(identity: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::NotFound,
        "message_unknown",
        format!("there is no such signal for {}", caller_name(identity)),
        match is_shared_name(identity) {
            true => "say whose it is: `--as NAME`".to_owned(),
            false => format!("`baton signal pending --as {identity}` lists what waits"),
        },
    )
}

fn notify_sender(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    known: &Message,
    (text, former): (&Text, Option<&str>),
) -> Result<String, Failure> {
    let home = known.from_project_id.as_deref().unwrap_or(&known.project_id);
    let written = format!("signal {}", known.message_id);
    let reply = Outgoing {
        from_project: &known.project_id,
        to_project: home,
        to_former_project: former,
        from: &known.to_identity,
        to: &Address::Identity(known.from_identity.clone()),
        kind: KIND,
        subject: &format!("acknowledged: {}", one_line(&known.subject)),
        body: if text.body.is_empty() { &written } else { &text.body },
        importance: Default::default(),
        expires_at: usual_life(KIND).map(|life| env.now.saturating_add(life)),
        ack_by: None,
        reply: Some((known.thread(), &known.message_id)),
        readers: text.readers.clone(),
    };
    Ok(post(tx, env, &reply)?.message_id)
}
