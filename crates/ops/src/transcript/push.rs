//! `transcript_upload` and `transcript_push`: a session is kept in the ledger of its project.

use baton_model::changes::check_content_hash;
use baton_model::delta::Kind;
use baton_model::id::{identity_key, short};
use baton_model::refusal::{self, Refusal};
use baton_model::time::Timestamp;
use baton_model::transcript_copy::{CopyManifest, invalid_refusal};
use baton_store::content::{TRANSCRIPT_COPY, UploadedPart};
use baton_store::transcript_copy::{self, StoredCopy};
use baton_store::{Failure, Fault, Tx, baton, project, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::withdraw::require_pusher;
use crate::content::{self, ContentFacts};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation, Retention};
use crate::project::require_not_merged;
use crate::resolve;
use crate::token_rights;

/// Uploads a part of the content.
pub struct CopyUpload;

/// Input of `transcript_upload`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyUploadInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The SHA-256 of the whole content, in hex.
    pub content_hash: String,
    /// The number of the part, from 0. Every part but the last has 786,432 bytes.
    pub part: i64,
    /// The bytes of the part in base64.
    pub content: String,
}

/// Answer of `transcript_upload`.
#[derive(Serialize, Deserialize)]
pub struct CopyUploadOutput {
    /// The project.
    pub project_id: String,
    /// The number of the part.
    pub part: i64,
}

impl Operation for CopyUpload {
    const META: Meta = Meta::write("transcript_upload", "Keep a part of a session, before a push names it")
        .retention(Retention::Nothing);
    type Input = CopyUploadInput;
    type Output = CopyUploadOutput;

    fn run(input: CopyUploadInput, cx: &mut Cx<'_>) -> Result<CopyUploadOutput, Failure> {
        check_content_hash(&input.content_hash)
            .map_err(|_| invalid_refusal("its hash is no SHA-256 in hex"))?;
        content::check_part(input.part, &input.content, invalid_refusal)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            require_accepts_transcripts(tx, &project_id)?;
            let by = token_rights::token_id(env).unwrap_or_default();
            let (content_hash, content) = (input.content_hash.as_str(), input.content.as_str());
            let part = UploadedPart { content_hash, number: input.part, content, at: env.now, by: &by };
            content::put_part(tx, &TRANSCRIPT_COPY, &project_id, &part)
        })?;
        Ok(CopyUploadOutput { project_id, part: input.part })
    }
}

/// Pushes a session.
pub struct Push;

/// Input of `transcript_push`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PushInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that pushes it.
    #[serde(default)]
    pub identity: Option<String>,
    /// What it is; its content was uploaded.
    pub copy: CopyManifest,
}

/// Answer of `transcript_push`.
#[derive(Serialize, Deserialize)]
pub struct PushOutput {
    /// The project.
    pub project_id: String,
    /// The copy that the ledger has.
    pub copy: CopyRow,
    /// Whether it takes the place of an earlier one of the same session.
    pub replaced: bool,
}

/// A copy in the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyRow {
    /// Who pushed it.
    pub identity: String,
    /// When.
    pub pushed_at: Timestamp,
    /// What it is.
    #[serde(flatten)]
    pub manifest: CopyManifest,
}

impl CopyRow {
    pub(super) fn read(stored: &StoredCopy) -> Result<Self, Fault> {
        let manifest = serde_json::from_str(&stored.manifest).map_err(|error| {
            Fault::other(format!("the copy of session {}: {error}", stored.transcript_id))
        })?;
        Ok(Self { identity: stored.identity.clone(), pushed_at: Timestamp(stored.created_at), manifest })
    }
}

impl Operation for Push {
    const META: Meta =
        Meta::write("transcript_push", "Keep a session in the ledger, to be continued on another machine")
            .retention(Retention::Nothing);
    type Input = PushInput;
    type Output = PushOutput;

    fn run(input: PushInput, cx: &mut Cx<'_>) -> Result<PushOutput, Failure> {
        input.copy.check()?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            require_not_merged(tx, &project_id)?;
            require_accepts_transcripts(tx, &project_id)?;
            token_rights::require_name_available(tx, env, &project_id, &identity)?;
            push(tx, env, (&project_id, &identity), &input.copy)
        })
    }
}

fn push(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (project_id, identity): (&str, &str),
    copy: &CopyManifest,
) -> Result<PushOutput, Failure> {
    let facts = ContentFacts { hash: &copy.content_hash, bytes: copy.bytes, parts: copy.parts() };
    content::check(tx, project_id, &TRANSCRIPT_COPY, &facts, invalid_refusal)?;
    let before =
        transcript_copy::get(tx, project_id, (&copy.agent, &copy.transcript_id), &identity_key(identity))?;
    if let Some(before) = &before {
        require_pusher(env, before, identity)?;
        if before.content_hash != copy.content_hash {
            transcript_copy::remove(tx, project_id, before)?;
        }
    }
    for other in transcript_copy::list(tx, project_id)? {
        if would_hide(&copy.transcript_id, &other.transcript_id) {
            require_pusher(env, &other, identity)?;
        }
    }
    let manifest = CopyManifest { sessions: own(tx, env, project_id, &copy.sessions)?, ..copy.clone() };
    let text = serde_json::to_string(&manifest).map_err(|error| Fault::other(error.to_string()))?;
    let stored = StoredCopy {
        agent: copy.agent.clone(),
        transcript_id: copy.transcript_id.clone(),
        identity: identity.to_owned(),
        identity_key: identity_key(identity),
        opened_by: token_rights::token_id(env),
        manifest: text,
        content_hash: copy.content_hash.clone(),
        created_at: env.now,
    };
    transcript_copy::put(tx, project_id, &stored)?;
    TRANSCRIPT_COPY.remove_unused(tx, project_id, env.now - content::UNUSED)?;
    let summary = format!("session {} of {} was pushed", short(&copy.transcript_id), copy.agent);
    let body = json!({ "summary": summary, "transcript_id": copy.transcript_id, "agent": copy.agent,
        "content_hash": copy.content_hash, "encrypted": copy.readers.is_some() });
    append_json(tx, env, &Author { project_id, identity, session: None }, Kind::Other, &body)?;
    Ok(PushOutput {
        project_id: project_id.to_owned(),
        copy: CopyRow::read(&stored)?,
        replaced: before.is_some(),
    })
}

/// Whether a new id is found in the place of a known one: a beginning of an id finds a session, and so does any case of its letters. The
/// other way round nothing is hidden: a known id that is the beginning of the new one is ambiguous where it is named. So is one id that
/// two have pushed.
fn would_hide(new: &str, known: &str) -> bool {
    let is_same = new == known;
    let [new, known] = [new, known].map(|id| id.trim().to_lowercase());
    known.starts_with(&new) && !is_same
}

/// The sessions, or batons, among these that are the caller's: they go on with the copy.
fn own(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str, ids: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for id in ids {
        let of_baton = baton::get(tx, project_id, id)?.map(|left| left.session_id);
        let own = session::get(tx, project_id, of_baton.as_ref().unwrap_or(id))?;
        if own.is_some_and(|own| token_rights::may_act_in(env, &own)) {
            found.push(id.clone());
        }
    }
    Ok(found)
}

/// Refuses a project that was not opened to transcripts.
fn require_accepts_transcripts(tx: &mut Tx<'_>, project_id: &str) -> Result<(), Failure> {
    if project::get(tx, project_id)?.is_some_and(|project| project.takes_transcripts) {
        return Ok(());
    }
    let what = format!("project {project_id} takes no transcripts: nothing was pushed");
    let hint = format!(
        "whoever reads the project may then read what was said in the session; if that is meant: \
         `baton project set {project_id} --transcripts yes`"
    );
    Err(Refusal::new(refusal::Kind::Refused, "transcripts_not_taken", what, hint).into())
}
