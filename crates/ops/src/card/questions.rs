//! The unanswered questions of the caller and to the caller, as a card shows them.

use baton_model::message::{Message, Participation};
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, message};
use serde::{Deserialize, Serialize};

use super::{mailbox, subject};
use crate::op::Env;

/// Of how many open questions of a project those of one identity are shown.
const LOOKED_AT: i64 = 500;
/// The most questions that are named.
const MAX_NAMED_QUESTIONS: usize = 10;

/// A message that asks for an answer and has none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenQuestion {
    /// Its id.
    pub message_id: String,
    /// `Question`, `ReviewRequested` or `Blocker`.
    pub kind: String,
    /// Who asks; from another project, `PROJECT/IDENTITY`.
    pub from: String,
    /// Who is asked: a name, or the address of a role; in another project, `PROJECT/IDENTITY`.
    pub to: String,
    /// Whether the caller asks.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_own: bool,
    /// Whether it was read; not known of one that went to another project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_read: Option<bool>,
    /// What it is about, in the sender's words: cleaned and shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// When it was sent.
    pub created_at: Timestamp,
}

/// The question of [`read`].
pub(super) fn prefetch(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str, named: Option<&str>) {
    if mailbox(env, named).is_some() {
        drop(message::open_questions(tx, project_id, env.now, LOOKED_AT));
    }
}

/// What the caller asked and what the caller has read and not answered, newest first. What is not read yet is among the unread messages
/// of the one that is asked, and what is overdue among the reminders.
pub(super) fn read(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    named: Option<&str>,
) -> Result<Vec<OpenQuestion>, Failure> {
    let Some(identity) = mailbox(env, named) else { return Ok(Vec::new()) };
    let open = message::open_questions(tx, project_id, env.now, LOOKED_AT)?;
    let shown = |one: &Message| match one.part_of(&identity, &[]) {
        Some(Participation::Sender) => !one.is_overdue(env.now),
        Some(Participation::Receiver) => one.delivered_at.is_some() && !one.is_overdue(env.now),
        Some(Participation::Role) | None => false,
    };
    let rows = open.iter().filter(|one| shown(one)).take(MAX_NAMED_QUESTIONS);
    Ok(rows.map(|one| row(env, &identity, one)).collect())
}

fn row(env: &Env<'_>, identity: &str, one: &Message) -> OpenQuestion {
    let end = |project: &Option<String>, name: &str| match project {
        Some(project) => format!("{project}/{name}"),
        None => name.to_owned(),
    };
    OpenQuestion {
        message_id: one.message_id.clone(),
        kind: one.kind.clone(),
        from: end(&one.from_project_id, &one.from_identity),
        to: end(&one.to_project_id, &one.to_identity),
        is_own: one.part_of(identity, &[]) == Some(Participation::Sender),
        is_read: one.to_project_id.is_none().then_some(one.delivered_at.is_some()),
        subject: subject(env, &one.subject),
        created_at: Timestamp(one.created_at),
    }
}
