//! `mail_thread`: a message and everything that was written about it.

use baton_model::message::{Message, Participation, View};
use baton_store::{Failure, agent, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find;
use super::names::name_projects;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Shows a thread.
pub struct Thread;

/// Input of `mail_thread`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreadInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that reads.
    #[serde(default)]
    pub identity: Option<String>,
    /// Any message of the thread, by its id or a unique prefix.
    pub message_id: String,
}

/// Answer of `mail_thread`: its messages, oldest first. What `deliver` names is to be marked with `signal_delivered` once it is
/// written out.
#[derive(Serialize, Deserialize)]
pub struct ThreadOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The thread.
    pub thread_id: String,
    /// The rows of this page.
    pub items: Vec<View>,
    /// Messages to mark as delivered once they were shown.
    pub deliver: Vec<String>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for Thread {
    const META: Meta = Meta::read("mail_thread", "Show the messages of a thread, oldest first");
    type Input = ThreadInput;
    type Output = ThreadOutput;

    fn run(input: ThreadInput, cx: &mut Cx<'_>) -> Result<ThreadOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let (thread_id, found, roles) = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let thread = find::by_id(tx, &project_id, &input.message_id)?.thread().to_owned();
            let found = message::of_thread(tx, &project_id, &thread)?;
            Ok((thread, found, agent::roles(tx, &project_id, &identity)?))
        })?;
        let mine = |m: &&Message| {
            m.part_of(&identity, &roles) == Some(Participation::Receiver)
                && m.delivered_at.is_none()
                && m.readers.is_none()
        };
        let shown = |m: &Message| if m.waits_for_role() { View::head(m) } else { View::of(m) };
        let mut items: Vec<View> = found.iter().map(shown).collect();
        name_projects(cx.store, &cx.env, items.iter_mut())?;
        Ok(ThreadOutput {
            deliver: found.iter().filter(mine).map(|m| m.message_id.clone()).collect(),
            items,
            project_id,
            identity,
            thread_id,
            next: None,
        })
    }
}
