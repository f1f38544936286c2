//! Contexts of sensitive tasks: encrypted before a write begins, decrypted before anything is taken. The machine has the keys.

use baton_model::refusal::{Kind, Refusal};
use baton_model::task::{Task, sealed};
use baton_store::{Failure, key};
use serde_json::{Map, Value, json};

use super::by_id;
use super::comment::Encrypted;
use crate::op::{Cx, Host};
use crate::resolve;
use crate::token_rights;

/// The two contexts of a task.
type Contexts = (Map<String, Value>, Map<String, Value>);

fn contexts(task: &Task) -> Contexts {
    (task.agent_context.clone(), task.handoff_instructions.clone())
}

/// What the contexts of a task are to be, encrypted.
pub(super) struct Secret {
    before: Contexts,
    after: Contexts,
    /// What the caller gave, encrypted by itself, where it is to be kept if the write comes too late.
    given: Option<Encrypted>,
}

impl Secret {
    /// Encrypts the contexts of a task, and what the caller gave by itself.
    pub(super) fn with_given(
        self,
        cx: &mut Cx<'_>,
        project: Option<&str>,
        given: &Map<String, Value>,
    ) -> Result<Self, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, project)?;
        let (recipients, readers) = readers(cx, &project_id)?;
        let text = cx.env.host.encrypt(&recipients, &json!(given).to_string())?;
        Ok(Self { given: Some(Encrypted { text, readers }), ..self })
    }

    /// What the caller gave, encrypted by itself.
    pub(super) fn encrypted_input(&self) -> Option<&Encrypted> {
        self.given.as_ref()
    }

    /// Writes the decrypted contexts back; refused with `task_changed` if they changed since they were decrypted.
    pub(super) fn put(&self, known: &Task, wanted: &mut Task) -> Result<(), Refusal> {
        if contexts(known) != self.before {
            return Err(Refusal::new(
                Kind::Conflict,
                "task_changed",
                format!("somebody changed the sensitive context of task {} just now", known.task_id),
                "nothing was written; say it again",
            ));
        }
        (wanted.agent_context, wanted.handoff_instructions) = self.after.clone();
        Ok(())
    }
}

/// Whose write to which task it is.
pub(super) struct TaskWrite<'a> {
    pub(super) project: Option<&'a str>,
    pub(super) identity: Option<&'a str>,
    pub(super) id: &'a str,
    /// Whether the task is to be sensitive from now on.
    pub(super) sensitive: bool,
}

/// Works out the contexts after a change to a sensitive task, or to one that becomes so; nothing for any other.
pub(super) fn changed(
    cx: &mut Cx<'_>,
    target: &TaskWrite<'_>,
    change: impl FnOnce(&mut Task),
) -> Result<Option<Secret>, Failure> {
    let project_id = resolve::project_id(cx.store, &cx.env, target.project)?;
    let identity = resolve::identity(cx.env.caller, target.identity)?;
    let known = cx.store.read(|tx| {
        resolve::require_project(tx, &project_id)?;
        token_rights::require_name_available(tx, &cx.env, &project_id, &identity)?;
        by_id(tx, &project_id, target.id)
    })?;
    if !target.sensitive && !sealed::is_sensitive(&known) {
        return Ok(None);
    }
    let mut plain = known.clone();
    open(cx.env.host, &mut plain, &identity)?;
    change(&mut plain);
    let after = encrypt_contexts(cx, &project_id, &plain)?;
    Ok(Some(Secret { before: contexts(&known), after, given: None }))
}

/// Encrypts the contexts of a new task.
pub(super) fn fresh(cx: &mut Cx<'_>, project: Option<&str>, task: &mut Task) -> Result<(), Failure> {
    let project_id = resolve::project_id(cx.store, &cx.env, project)?;
    (task.agent_context, task.handoff_instructions) = encrypt_contexts(cx, &project_id, task)?;
    Ok(())
}

/// Encrypts for every key that is listed.
fn encrypt_contexts(cx: &mut Cx<'_>, project_id: &str, plain: &Task) -> Result<Contexts, Failure> {
    plain.check_context_sizes()?;
    let (recipients, readers) = readers(cx, project_id)?;
    let host = cx.env.host;
    let one = |context: &Map<String, Value>| -> Result<Map<String, Value>, Refusal> {
        Ok(sealed::object(&host.encrypt(&recipients, &json!(context).to_string())?, &readers))
    };
    // The first says that the task is sensitive, even while it is empty; an empty second one says nothing.
    let instructions = match plain.handoff_instructions.is_empty() {
        true => Map::new(),
        false => one(&plain.handoff_instructions)?,
    };
    Ok((one(&plain.agent_context)?, instructions))
}

/// The keys that are listed in a project, and whose they are.
fn readers(cx: &mut Cx<'_>, project_id: &str) -> Result<(Vec<String>, Vec<String>), Failure> {
    let keys = cx.store.read(|tx| Ok(key::list(tx, project_id)?))?;
    if keys.is_empty() {
        let what = format!("no key is listed in project {project_id}: nobody could read what is sensitive");
        let hint = "those who work on it make one each with `baton key create`";
        return Err(Refusal::new(Kind::Refused, "key_missing", what, hint).into());
    }
    Ok(keys.into_iter().map(|key| (key.recipient, key.identity)).unzip())
}

/// Decrypts the contexts of a task, if they are encrypted, with the key that this identity has here.
pub(super) fn open(host: &dyn Host, task: &mut Task, identity: &str) -> Result<(), Refusal> {
    sealed::check_reader(task, identity)?;
    let project_id = task.project_id.clone();
    for context in [&mut task.agent_context, &mut task.handoff_instructions] {
        if let Some(text) = sealed::text(context) {
            *context = sealed::with_plain_text(context, &host.decrypt_object(&project_id, identity, text)?)?;
        }
    }
    Ok(())
}
