//! `mail_thread`: a message and everything that was written about it.

use baton_model::message::{Message, Part};
use baton_store::{Failure, agent, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::find;
use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Shows a thread.
pub(crate) struct Thread;

/// Input of `mail_thread`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity that reads.
    #[serde(default)]
    identity: Option<String>,
    /// Any message of the thread, by its id or a unique prefix.
    message_id: String,
}

/// Answer of `mail_thread`: its messages, oldest first. What `deliver` names is to be marked with `signal_delivered` once it is
/// written out.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    project_id: String,
    identity: String,
    thread_id: String,
    items: Vec<Value>,
    deliver: Vec<String>,
    next: Option<i64>,
}

impl Operation for Thread {
    const NAME: &'static str = "mail_thread";
    const DOC: &'static str = "Show the messages of a thread, oldest first";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let (thread_id, found, roles) = cx.store.read(|tx| {
            resolve::known(tx, &project_id)?;
            let thread = find::by_id(tx, &project_id, &input.message_id)?.thread().to_owned();
            let found = message::of_thread(tx, &project_id, &thread)?;
            Ok((thread, found, agent::roles(tx, &project_id, &identity)?))
        })?;
        let mine = |m: &&Message| {
            m.part_of(&identity, &roles) == Some(Part::Receiver)
                && m.delivered_at.is_none()
                && m.readers.is_none()
        };
        let shown = |m: &Message| if m.waits_for_role() { m.head_json() } else { m.to_json() };
        Ok(Output {
            deliver: found.iter().filter(mine).map(|m| m.message_id.clone()).collect(),
            items: found.iter().map(shown).collect(),
            project_id,
            identity,
            thread_id,
            next: None,
        })
    }
}
