//! `ledger_note`: add a note, a decision or a remembered fact to the ledger.

use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
use baton_store::{Failure, Tx, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::ledger::{Author, append_json, keep_late_note};
use crate::op::{Cx, Env, Meta, Operation};
use crate::ownership;
use crate::project::require_not_merged;
use crate::resolve;
use crate::session::follow_process;
use crate::token_rights;

/// Adds a note.
pub struct Note;

/// What kind of entry is added.
#[derive(Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A remark.
    #[default]
    Note,
    /// A decision (an ADR).
    Decision,
    /// A fact to be recalled.
    Remember,
    /// Findings.
    Research,
    /// A way of working.
    Methodology,
}

/// Input of `ledger_note`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoteInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that writes it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Session that it belongs to; else the identity's one open session, else none.
    #[serde(default)]
    pub session: Option<String>,
    /// What kind of entry.
    #[serde(default)]
    pub kind: Entry,
    /// The text; of a decision: what was decided.
    pub text: String,
    /// Of a decision: why.
    #[serde(default)]
    pub why: Option<String>,
    /// Of a decision: options that were rejected.
    #[serde(default)]
    pub rejected: Vec<String>,
    /// Tags.
    #[serde(default)]
    pub tags: Vec<String>,
}

/// Answer of `ledger_note`.
#[derive(Serialize, Deserialize)]
pub struct NoteOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: Option<String>,
    /// The ledger entry that records it.
    pub delta_id: String,
    /// Position in the order of the ledger.
    pub seq: i64,
}

impl Operation for Note {
    const META: Meta = Meta::write("ledger_note", "Add a note, a decision or a fact to the ledger");
    type Input = NoteInput;
    type Output = NoteOutput;

    fn run(input: NoteInput, cx: &mut Cx<'_>) -> Result<NoteOutput, Failure> {
        if input.text.trim().is_empty() {
            return Err(
                Refusal::invalid("text_invalid", "the text is empty", "say it in a few sentences").into()
            );
        }
        if input.text.len() > baton_model::packet::MAX_BYTES {
            let what = format!("the text has {} bytes; 256 KiB fit", input.text.len());
            return Err(Refusal::invalid("text_invalid", what, "shorten it, or name a file in it").into());
        }
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let result = store.write(&[&project_id], |tx| add(tx, env, &input, &project_id, &identity))?;
        result.map_err(Failure::from)
    }
}

/// Writes the note. What a released session says is kept too, and refused: the transaction commits either way.
fn add(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &NoteInput,
    project_id: &str,
    identity: &str,
) -> Result<Result<NoteOutput, Refusal>, Failure> {
    resolve::require(tx, project_id)?;
    let named = input.session.as_deref().or(env.caller.session.as_deref());
    let mut session = match named {
        Some(_) => Some(resolve::acting(tx, env, project_id, named, input.identity.as_deref())?),
        None => {
            token_rights::require_name_available(tx, env, project_id, identity)?;
            let own = resolve::only_open_session(tx, env, project_id, identity)?;
            // What another live process of the name says is not of that session.
            match own.filter(|own| !ownership::is_held_elsewhere(env, own, &own.location)) {
                None => resolve::preempted_in_process(tx, env, project_id, identity)?,
                own => own,
            }
        }
    };
    if session.is_none() {
        require_not_merged(tx, project_id)?;
    }
    let mut author = Author { project_id, identity, session: session.as_ref() };
    if let Some(session) = &session {
        author.identity = &session.identity;
    }
    let (kind, body) = body(input);
    if let Some(released) = session.as_ref().filter(|s| !s.is_open()) {
        let late =
            json!({ "text": "note of a released session", "late_note": body, "late_kind": kind.as_str() });
        return Ok(Err(keep_late_note(tx, env, released, (&late, &late))?));
    }
    let delta = append_json(tx, env, &author, kind, &body)?;
    if let Some(session) = &mut session {
        follow_process(tx, env, session)?;
        session::beat(tx, session, Note::NAME, env.now)?;
    }
    Ok(Ok(NoteOutput {
        project_id: project_id.to_owned(),
        identity: delta.identity,
        session_id: delta.session_id,
        delta_id: delta.delta_id,
        seq: delta.seq,
    }))
}

fn body(input: &NoteInput) -> (Kind, Value) {
    let mut body = Map::new();
    let (kind, key) = match input.kind {
        Entry::Note => (Kind::Note, "text"),
        Entry::Decision => (Kind::Decision, "what"),
        Entry::Remember => (Kind::Remember, "text"),
        Entry::Research => (Kind::Research, "text"),
        Entry::Methodology => (Kind::Methodology, "text"),
    };
    body.insert(key.into(), json!(input.text));
    if let Some(why) = &input.why {
        body.insert("why".into(), json!(why));
    }
    for (key, list) in [("rejected", &input.rejected), ("tags", &input.tags)] {
        if !list.is_empty() {
            body.insert(key.into(), json!(list));
        }
    }
    (kind, Value::Object(body))
}
