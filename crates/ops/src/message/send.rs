//! `signal_send`: leave a short message for an identity.

use baton_model::id::check_identity;
use baton_model::message::{Message, signal_type};
use baton_model::refusal::Refusal;
use baton_store::{Failure, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Sends a signal.
pub(crate) struct Send;

/// Input of `signal_send`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity that sends.
    #[serde(default)]
    identity: Option<String>,
    /// Identity that it is for; it may not be there yet.
    to: String,
    /// `TaskAssigned`, `Acknowledgment`, `StatusUpdate`, `ReviewRequested`, `ReviewCompleted`, `Question` or `Blocker`.
    #[serde(rename = "type", default = "usual")]
    kind: String,
    /// One line.
    subject: String,
    /// The text.
    #[serde(default)]
    body: String,
    /// Worth nothing after so many seconds.
    #[serde(default)]
    expires_in_s: Option<i64>,
}

fn usual() -> String {
    "StatusUpdate".into()
}

/// Answer of `signal_send`: the message.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    identity: String,
    #[serde(flatten)]
    message: Value,
}

impl Operation for Send {
    const NAME: &'static str = "signal_send";
    const DOC: &'static str = "Leave a short message for an identity";
    const ACCESS: Access = Access::Write;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        check_identity(&input.to)?;
        let kind = signal_type(&input.kind)?;
        let bad_subject = input.subject.trim().is_empty()
            || input.subject.len() > 500
            || input.subject.chars().any(char::is_control);
        if bad_subject || input.body.len() > 64 * 1024 {
            let what = "the subject is not one line of 1 to 500 bytes, or the body has over 64 KiB";
            return Err(Refusal::invalid("message_invalid", what, "shorten it, or name a file in it").into());
        }
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let message = store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            resolve::beat(tx, env, &project_id, &identity, Self::NAME)?;
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
                expires_at: input.expires_in_s.map(|s| env.now.saturating_add(s.saturating_mul(1000))),
                delivered_at: None,
                recalled_at: None,
            };
            message::insert(tx, &message)?;
            Ok(message)
        })?;
        Ok(Output { project_id, identity, message: message.to_json() })
    }
}
