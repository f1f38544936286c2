//! Writing and reading the ledger.

mod check;
mod decisions;
mod export;
mod heads;
mod import;
mod import_merged;
mod import_shared;
mod late;
mod list;
mod note;

use baton_model::delta::{Delta, Kind};
use baton_model::effect::{Action, Effect, WebhookPost};
use baton_model::session::Session;
use baton_store::{Failure, Tx, delta, outbox, project};
use serde_json::Value;

use crate::op::Env;
pub use baton_model::delta::Row;
pub use check::{StoreCheck, StoreCheckInput, StoreCheckOutput};
pub use decisions::{Decisions, DecisionsInput, DecisionsOutput};
pub use export::{Export, ExportInput, ExportOutput};
pub use heads::{Head, Heads, HeadsInput, HeadsOutput};
pub use import::{Import, ImportInput, ImportOutput};
pub(crate) use late::{keep_late_note, next_holder};
pub use list::{DeltaListOutput, LedgerList, LedgerListInput};
pub use note::{Entry, Note, NoteInput, NoteOutput};

/// What a delta is about: a project, the identity that acts, and its session if it has one.
pub(crate) struct Author<'a> {
    pub project_id: &'a str,
    pub identity: &'a str,
    pub session: Option<&'a Session>,
}

impl<'a> Author<'a> {
    /// A session acts.
    pub(crate) fn session(session: &'a Session) -> Self {
        Self { project_id: &session.project_id, identity: &session.identity, session: Some(session) }
    }
}

/// Appends a delta and writes down what follows from it outside.
pub(crate) fn append(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    kind: Kind,
    body: String,
) -> Result<Delta, Failure> {
    let delta = Delta {
        project_id: author.project_id.to_owned(),
        seq: tx.next_seq(author.project_id)?,
        delta_id: env.id(),
        kind,
        session_id: author.session.map(|s| s.session_id.clone()),
        identity: author.identity.to_owned(),
        created_at: env.now,
        inherited_from: author.session.and_then(|s| s.inherited_from.clone()),
        thread_id: author.session.map(|s| s.thread_id.clone()),
        body,
    };
    delta::append(tx, &delta)?;
    if let Some(url) = project::webhook(tx, author.project_id)? {
        let post = WebhookPost { url, delta: delta.to_json() };
        let effect = Effect::new(env.id(), &delta.project_id, Action::Webhook(post), env.now);
        outbox::push(tx, &effect, env.now)?;
    }
    Ok(delta)
}

/// Appends a delta whose body is a JSON object.
pub(crate) fn append_json(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    kind: Kind,
    body: &Value,
) -> Result<Delta, Failure> {
    let body = match actor(env, author) {
        Some(actor) => {
            let mut signed = body.clone();
            signed["actor"] = actor.into();
            signed.to_string()
        }
        None => body.to_string(),
    };
    append(tx, env, author, kind, body)
}

/// The token, if it acts under a name that it is not bound to; recorded with entries whose body is made here.
fn actor(env: &Env<'_>, author: &Author<'_>) -> Option<String> {
    let bearer = env.caller.grant.bearer.as_ref().filter(|bearer| bearer.identities.is_none())?;
    Some(bearer.actor()).filter(|actor| actor != author.identity)
}
