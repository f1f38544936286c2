//! The caller's unread messages, as a card shows them.

use baton_model::id::identity_key;
use baton_model::message::Message;
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, message};
use serde::{Deserialize, Serialize};

use super::subject;
use crate::op::Env;
use crate::resolve;

/// The most messages that are named.
const MAX_NAMED_MESSAGES: usize = 5;

/// Messages that the caller has not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    /// Whose messages they are.
    pub identity: String,
    /// How many there are.
    pub total: usize,
    /// The newest of them.
    pub items: Vec<UnreadMessage>,
}

/// A message that was not read yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadMessage {
    /// Its id.
    pub message_id: String,
    /// `StatusUpdate`, `Question`, …
    pub kind: String,
    /// Who sent it; from another project, `PROJECT/IDENTITY`.
    pub from: String,
    /// What it is about, in the sender's words: cleaned and shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// When it was sent.
    pub created_at: Timestamp,
}

/// The question of [`read`].
pub(super) fn prefetch(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str, named: Option<&str>) {
    if let Some(identity) = mailbox(env, named) {
        drop(message::pending(tx, project_id, &identity, env.now));
    }
}

/// Whose messages the caller may read: those of the session that it has just begun, of the name that it gives or under which its process
/// works, or of the one that its token is bound to.
pub(crate) fn mailbox(env: &Env<'_>, named: Option<&str>) -> Option<String> {
    let is_bound = env.caller.grant.bearer.as_ref().is_some_and(|bearer| bearer.identities.is_some());
    if named.is_none() && env.caller.identity.is_none() && !is_bound {
        return None;
    }
    resolve::identity(env.caller, named).ok()
}

/// Key of the identity that looks; empty where none does.
pub(crate) fn viewer_key(env: &Env<'_>, named: Option<&str>) -> String {
    mailbox(env, named).as_deref().map(identity_key).unwrap_or_default()
}

/// What waits for the caller's identity. A caller without one has no mailbox to name.
pub(super) fn read(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    named: Option<&str>,
) -> Result<Option<Unread>, Failure> {
    let Some(identity) = mailbox(env, named) else { return Ok(None) };
    let waiting = message::pending(tx, project_id, &identity, env.now)?;
    if waiting.is_empty() {
        return Ok(None);
    }
    let items = waiting.iter().rev().take(MAX_NAMED_MESSAGES).map(|message| row(env, message)).collect();
    Ok(Some(Unread { identity, total: waiting.len(), items }))
}

fn row(env: &Env<'_>, message: &Message) -> UnreadMessage {
    let author = message.author();
    let project = message.from_project_id.as_ref().filter(|_| author.kind.is_agent());
    let project = project.map(|project| format!("{project}/")).unwrap_or_default();
    UnreadMessage {
        message_id: message.message_id.clone(),
        kind: message.kind.clone(),
        from: format!("{project}{}", author.label()),
        subject: subject(env, &message.subject),
        created_at: Timestamp(message.created_at),
    }
}
