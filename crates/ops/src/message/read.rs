//! `mail_read`: a message with its body; reading one for a role takes it for the reader.

use baton_model::message::{Message, Participation, View};
use baton_model::refusal::{Kind, Refusal};
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find;
use super::names::name_projects;
use crate::op::{Cx, Meta, Operation, Retention};
use crate::resolve;
use crate::token_rights;

/// Reads a message.
pub struct Read;

/// Input of `mail_read`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that reads.
    #[serde(default)]
    pub identity: Option<String>,
    /// The message, by its id or a unique prefix.
    pub message_id: String,
}

/// Answer of `mail_read`: the message. What `deliver` names is to be marked with `signal_delivered` once it is written out.
#[derive(Serialize, Deserialize)]
pub struct ReadOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The message.
    #[serde(flatten)]
    pub message: View,
    /// Whether this reading took it for the reader, out of the mailbox of its role.
    pub taken: bool,
    /// Messages to mark as delivered once they were shown.
    pub deliver: Vec<String>,
}

impl Operation for Read {
    const META: Meta =
        Meta::write("mail_read", "Read a message; one for a role belongs to whoever reads it first")
            .retention(Retention::Only(&["taken", "deliver"]));
    type Input = ReadInput;
    type Output = ReadOutput;

    fn run(input: ReadInput, cx: &mut Cx<'_>) -> Result<ReadOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        // Who cannot decrypt it does not take it either.
        let (found, _) = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            token_rights::require_name_available(tx, &cx.env, &project_id, &identity)?;
            find::own(tx, &project_id, &input.message_id, &identity)
        })?;
        let text = match &found.readers {
            Some(_) => Some(cx.env.host.decrypt(&project_id, &identity, &found.body)?),
            None => None,
        };
        let Cx { store, env } = cx;
        let (message, part) = store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let (found, part) = find::own(tx, &project_id, &found.message_id, &identity)?;
            refuse_recalled(&found, part)?;
            Ok((find::take(tx, found, part, &identity)?, part))
        })?;
        let unread = part != Participation::Sender && message.delivered_at.is_none();
        let mut shown = view(&message, text);
        name_projects(store, env, std::iter::once(&mut shown))?;
        Ok(ReadOutput {
            project_id,
            identity,
            message: shown,
            taken: part == Participation::Role,
            deliver: if unread { vec![message.message_id] } else { Vec::new() },
        })
    }
}

fn refuse_recalled(message: &Message, part: Participation) -> Result<(), Refusal> {
    if message.recalled_at.is_none() || part == Participation::Sender {
        return Ok(());
    }
    let what = "its sender took the message back";
    Err(Refusal::new(Kind::Conflict, "message_recalled", what, "`baton mail inbox` lists what waits"))
}

/// The message with its body, decrypted where it was encrypted.
fn view(message: &Message, decrypted: Option<String>) -> View {
    match decrypted {
        None => View::of(message),
        Some(text) => {
            let plain = Message { body: text, readers: None, ..message.clone() };
            View { readers: message.readers.clone(), ..View::of(&plain) }
        }
    }
}
