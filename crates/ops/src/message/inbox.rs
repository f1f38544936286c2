//! `mail_inbox`: what waits for an identity and its roles. Looking takes nothing.

use baton_model::message::{Message, ROLE, View, excerpt, in_order};
use baton_model::time::Millis;
use baton_store::{Failure, Tx, agent, message};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::names::name_projects;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Lists an inbox.
pub struct Inbox;

/// Input of `mail_inbox`, also called `fetch_inbox`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InboxInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity whose inbox it is.
    #[serde(default)]
    pub identity: Option<String>,
    /// Also what was read and acknowledged, or has expired.
    #[serde(default)]
    pub all: bool,
    /// With the bodies of what is for this identity alone: they then count as delivered, once the caller has marked what
    /// `deliver` names with `signal_delivered`. Mail for a role and encrypted mail are read one by one.
    #[serde(default)]
    pub bodies: bool,
    /// At most so many; 0 for all.
    #[serde(default)]
    pub limit: usize,
}

/// A message in an inbox.
#[derive(Serialize, Deserialize)]
pub struct InboxRow {
    /// The message.
    #[serde(flatten)]
    pub message: View,
    /// The first line of a body that is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// Whether its acknowledgement is late.
    pub overdue: bool,
}

/// Answer of `mail_inbox`: hand-offs first, then what is more important, then what is older.
#[derive(Serialize, Deserialize)]
pub struct InboxOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// Roles of the reader.
    pub roles: Vec<String>,
    /// The rows of this page.
    pub items: Vec<InboxRow>,
    /// Messages to mark as delivered once they were shown.
    pub deliver: Vec<String>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for Inbox {
    const META: Meta =
        Meta::read("mail_inbox", "List the mail of an identity and of its roles, hand-offs first");
    type Input = InboxInput;
    type Output = InboxOutput;

    fn run(input: InboxInput, cx: &mut Cx<'_>) -> Result<InboxOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let now = cx.env.now;
        let Cx { store, env } = cx;
        let (roles, mut found) = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let roles = agent::roles(tx, &project_id, &identity)?;
            let mut found = mail(tx, &project_id, &identity, now, input.all)?;
            for role in &roles {
                found.extend(mail(tx, &project_id, &format!("{ROLE}{role}"), now, input.all)?);
            }
            Ok((roles, found))
        })?;
        in_order(&mut found);
        let more = input.limit > 0 && found.len() > input.limit;
        if more {
            found.truncate(input.limit);
        }
        let with_body = |m: &&Message| input.bodies && !m.waits_for_role() && m.readers.is_none();
        let fresh = found.iter().filter(with_body).filter(|m| m.delivered_at.is_none());
        let mut items: Vec<InboxRow> = found.iter().map(|m| row(m, with_body(&m), now)).collect();
        name_projects(store, env, items.iter_mut().map(|row| &mut row.message))?;
        Ok(InboxOutput {
            project_id,
            identity,
            roles,
            deliver: fresh.map(|m| m.message_id.clone()).collect(),
            items,
            next: more.then_some(input.limit),
        })
    }
}

fn mail(
    tx: &mut Tx<'_>,
    project_id: &str,
    to: &str,
    now: Millis,
    all: bool,
) -> Result<Vec<Message>, Failure> {
    // With everything, what has expired is there too: as if no time had passed.
    let mut found = message::pending(tx, project_id, to, if all { 0 } else { now })?;
    found.extend(match all {
        true => message::delivered_to(tx, project_id, to)?,
        false => message::unacked(tx, project_id, to, now)?,
    });
    Ok(found)
}

fn row(message: &Message, with_body: bool, now: Millis) -> InboxRow {
    let is_cut = !with_body && !message.is_handoff() && message.readers.is_none();
    InboxRow {
        message: if with_body { View::of(message) } else { View::head(message) },
        excerpt: is_cut.then(|| excerpt(&message.body, &[])),
        overdue: message.is_overdue(now),
    }
}
