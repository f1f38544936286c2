//! `transcript_copies` and `transcript_part`: what was pushed to a project.

use baton_model::conversation::MIN_RANDOM_ID;
use baton_model::id::visible;
use baton_model::refusal::{self, Refusal};
use baton_store::content::TRANSCRIPT_COPY;
use baton_store::transcript_copy::{self, StoredCopy};
use baton_store::{Failure, Tx, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::push::CopyRow;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Lists copies.
pub struct Copies;

/// Input of `transcript_copies`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopiesInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Only the one of this session id, or of a unique prefix of it; refused where there is none.
    #[serde(default)]
    pub id: Option<String>,
    /// Only those of this tool.
    #[serde(default)]
    pub agent: Option<String>,
}

/// Answer of `transcript_copies`, the newest first.
#[derive(Serialize, Deserialize)]
pub struct CopiesOutput {
    /// The project.
    pub project_id: String,
    /// Whether sessions may be pushed to it.
    pub takes_transcripts: bool,
    /// The copies.
    pub items: Vec<CopyRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for Copies {
    const META: Meta = Meta::read("transcript_copies", "List the sessions that were pushed to a project");
    type Input = CopiesInput;
    type Output = CopiesOutput;

    fn run(input: CopiesInput, cx: &mut Cx<'_>) -> Result<CopiesOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let found = match &input.id {
                Some(id) => vec![find(tx, &project_id, id, input.agent.as_deref())?],
                None => of_tool(tx, &project_id, input.agent.as_deref())?,
            };
            let items = found.iter().map(CopyRow::read).collect::<Result<_, _>>()?;
            let takes_transcripts =
                project::get(tx, &project_id)?.is_some_and(|project| project.takes_transcripts);
            Ok(CopiesOutput { project_id: project_id.clone(), takes_transcripts, items, next: None })
        })
    }
}

fn of_tool(tx: &mut Tx<'_>, project_id: &str, agent: Option<&str>) -> Result<Vec<StoredCopy>, Failure> {
    // A name of a tool that is not read stands for itself: another version may have pushed it.
    let id = agent.map(|name| baton_tools::reader(name).map_or(name, |reader| reader.id()));
    let mut found = transcript_copy::list(tx, project_id)?;
    found.retain(|one| id.is_none_or(|id| one.agent == id));
    Ok(found)
}

/// The copy of the session of this id, or of a unique prefix of it.
pub(super) fn find(
    tx: &mut Tx<'_>,
    project_id: &str,
    wanted: &str,
    agent: Option<&str>,
) -> Result<StoredCopy, Failure> {
    let mut found = of_tool(tx, project_id, agent)?;
    // A short id that another one begins with says of neither that it is meant.
    let is_beginning = |one: &StoredCopy| {
        wanted.len() < MIN_RANDOM_ID && one.transcript_id != wanted && one.transcript_id.starts_with(wanted)
    };
    if let Some(at) = found.iter().position(|one| one.transcript_id == wanted)
        && (agent.is_some() || !found.iter().any(is_beginning))
    {
        return Ok(found.swap_remove(at));
    }
    found.retain(|one| wanted.len() >= 4 && one.transcript_id.starts_with(wanted));
    match found.len() {
        1 => Ok(found.swap_remove(0)),
        0 => {
            let what = format!("no session `{}` was pushed to project {project_id}", visible(wanted));
            let hint = "`baton transcripts pushed` lists those that were";
            Err(Refusal::new(refusal::Kind::NotFound, "transcript_not_pushed", what, hint).into())
        }
        _ => {
            let ids: Vec<String> = found.iter().take(5).map(|one| one.transcript_id.clone()).collect();
            Err(resolve::ambiguous_id_refusal("transcript", wanted, &ids).into())
        }
    }
}

/// Reads a part.
pub struct CopyPart;

/// Input of `transcript_part`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyPartInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Id of the session.
    pub id: String,
    /// The tool that wrote it.
    #[serde(default)]
    pub agent: Option<String>,
    /// The number of the part, from 0.
    pub part: i64,
}

/// Answer of `transcript_part`.
#[derive(Serialize, Deserialize)]
pub struct CopyPartOutput {
    /// The project.
    pub project_id: String,
    /// The number of the part.
    pub part: i64,
    /// The bytes of the part in base64.
    pub content: String,
}

impl Operation for CopyPart {
    const META: Meta = Meta::read("transcript_part", "Read a part of a session that was pushed");
    type Input = CopyPartInput;
    type Output = CopyPartOutput;

    fn run(input: CopyPartInput, cx: &mut Cx<'_>) -> Result<CopyPartOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let content = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let found = find(tx, &project_id, &input.id, input.agent.as_deref())?;
            let missing = || {
                let what = format!("the session that was pushed has no part {}", input.part);
                Refusal::new(refusal::Kind::NotFound, "transcript_not_pushed", what, "have it pushed anew")
            };
            let part = TRANSCRIPT_COPY.part(tx, &project_id, (&found.content_hash, input.part))?;
            Ok(part.ok_or_else(missing)?)
        })?;
        Ok(CopyPartOutput { project_id, part: input.part, content })
    }
}
