//! `signal_send`: leave a short message for an identity.

use baton_model::id::{check_identity, is_shared_name};
use baton_model::message::{Message, View, check_to_be_acknowledged, signal_type, usual_life};
use baton_model::refusal::Refusal;
use baton_model::suggest::suggestions;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Warning, WarningKind};
use crate::op::{Cx, Meta, Operation};
use crate::project::require_not_merged;
use crate::{agent, resolve};

/// Sends a signal.
pub struct Send;

/// Input of `signal_send`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SendInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that sends.
    #[serde(default)]
    pub identity: Option<String>,
    /// Identity that it is for; it may not be there yet.
    pub to: String,
    /// `TaskAssigned`, `Acknowledgment`, `StatusUpdate`, `ReviewRequested`, `ReviewCompleted`, `Question` or `Blocker`.
    #[serde(rename = "type", default = "default_kind")]
    pub kind: String,
    /// One line.
    pub subject: String,
    /// The text.
    #[serde(default)]
    pub body: String,
    /// Worth nothing after so many seconds; else by type: `StatusUpdate` and `Acknowledgment` 7 days, `Question`,
    /// `ReviewRequested` and `ReviewCompleted` 30 days, `TaskAssigned` and `Blocker` never.
    #[serde(default)]
    pub expires_in_s: Option<i64>,
    /// Of `TaskAssigned`, `ReviewRequested`, `Question` or `Blocker`: to be acknowledged within so many seconds.
    #[serde(default)]
    pub ack_by_s: Option<i64>,
}

impl Default for SendInput {
    fn default() -> Self {
        Self {
            project: Default::default(),
            identity: Default::default(),
            to: Default::default(),
            kind: default_kind(),
            subject: Default::default(),
            body: Default::default(),
            expires_in_s: Default::default(),
            ack_by_s: Default::default(),
        }
    }
}

fn default_kind() -> String {
    "StatusUpdate".into()
}

/// Answer of `signal_send` and `mail_send`: the message.
#[derive(Serialize, Deserialize)]
pub struct SendOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The message.
    #[serde(flatten)]
    pub message: View,
    /// A retry: it was sent by an earlier call with the same request id, and nothing was sent now.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replayed: bool,
    /// What the caller should know; nothing was refused because of it.
    pub warnings: Vec<Warning>,
}

impl Operation for Send {
    const META: Meta = Meta::write("signal_send", "Leave a short message for an identity");
    type Input = SendInput;
    type Output = SendOutput;

    fn run(input: SendInput, cx: &mut Cx<'_>) -> Result<SendOutput, Failure> {
        let kind = check(&input)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let (message, warnings) = store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            require_not_merged(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let message = Message {
                project_id: project_id.clone(),
                message_id: env.id(),
                seq: tx.next_seq(&project_id)?,
                kind: kind.to_owned(),
                from_identity: identity.clone(),
                to_identity: input.to.clone(),
                subject: input.subject.clone(),
                body: input.body.clone(),
                created_at: env.now,
                expires_at: match input.expires_in_s {
                    Some(seconds) => Some(later(env.now, seconds)),
                    None => usual_life(kind).map(|life| env.now.saturating_add(life)),
                },
                ack_by: input.ack_by_s.map(|seconds| later(env.now, seconds)),
                ..Message::default()
            };
            message::insert(tx, &message)?;
            Ok((message, unknown_receiver(tx, &project_id, &input.to)?))
        })?;
        Ok(SendOutput { project_id, identity, message: View::of(&message), replayed: false, warnings })
    }
}

fn later(now: Millis, seconds: i64) -> Millis {
    now.saturating_add(seconds.saturating_mul(1000))
}

/// The type of signal, when everything about it can be stored and shown.
fn check(input: &SendInput) -> Result<&'static str, Refusal> {
    check_identity(&input.to)?;
    let kind = signal_type(&input.kind)?;
    super::mail_send::check_text(&input.subject, &input.body)?;
    if let Some(seconds) = input.ack_by_s {
        check_to_be_acknowledged(kind)?;
        super::mail_send::seconds(Some(seconds), "be acknowledged")?;
    }
    super::mail_send::seconds(input.expires_in_s, "expire")?;
    Ok(kind)
}

/// A signal to an unknown identity waits for it; the warning suggests similar names while it can still be retracted.
fn unknown_receiver(tx: &mut Tx<'_>, project_id: &str, to: &str) -> Result<Vec<Warning>, Failure> {
    if is_shared_name(to) || agent::first_name(tx, project_id, to)?.is_some() {
        return Ok(Vec::new());
    }
    let names = agent::known_names(tx, project_id)?;
    let similar = suggestions(to, names.iter().map(String::as_str));
    let hint =
        if similar.is_empty() { String::new() } else { format!("; did you mean {}?", similar.join(" or ")) };
    let message =
        format!("nobody called {to} has worked in project {project_id} yet: the signal waits{hint}");
    let near = Some(similar.into_iter().map(str::to_owned).collect());
    Ok(vec![Warning { kind: WarningKind::RecipientUnknown, message, near }])
}
