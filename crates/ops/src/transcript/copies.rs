//! `transcript_copies` and `transcript_part`: what was pushed to a project.

use baton_model::conversation::MIN_RANDOM_ID;
use baton_model::id::{identity_key, visible};
use baton_model::refusal::{self, Refusal};
use baton_model::shell::shell_word;
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
    /// Only what this identity has pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed_by: Option<String>,
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
                Some(id) => {
                    let (agent, pushed_by) = (input.agent.as_deref(), input.pushed_by.as_deref());
                    vec![find(tx, &project_id, &CopyQuery { id, agent, pushed_by })?]
                }
                None => of_tool(tx, &project_id, input.agent.as_deref(), input.pushed_by.as_deref())?,
            };
            let items = found.iter().map(CopyRow::read).collect::<Result<_, _>>()?;
            let takes_transcripts =
                project::get(tx, &project_id)?.is_some_and(|project| project.takes_transcripts);
            Ok(CopiesOutput { project_id: project_id.clone(), takes_transcripts, items, next: None })
        })
    }
}

fn of_tool(
    tx: &mut Tx<'_>,
    project_id: &str,
    agent: Option<&str>,
    pushed_by: Option<&str>,
) -> Result<Vec<StoredCopy>, Failure> {
    // A name of a tool that is not read stands for itself: another version may have pushed it.
    let id = agent.map(|name| baton_tools::reader(name).map_or(name, |reader| reader.id()));
    let mut found = transcript_copy::list(tx, project_id)?;
    let pusher = pushed_by.map(identity_key);
    found.retain(|one| id.is_none_or(|id| one.agent == id));
    found.retain(|one| pusher.as_ref().is_none_or(|pusher| one.identity_key == *pusher));
    Ok(found)
}

/// A session that was pushed, as it is named.
pub(super) struct CopyQuery<'a> {
    /// Its id, or a unique prefix of it.
    pub id: &'a str,
    /// The tool that wrote it.
    pub agent: Option<&'a str>,
    /// Who pushed it.
    pub pushed_by: Option<&'a str>,
}

/// The copy of the session that is named. An id that several agents have pushed is ambiguous until the caller names the pusher.
pub(super) fn find(tx: &mut Tx<'_>, project_id: &str, query: &CopyQuery<'_>) -> Result<StoredCopy, Failure> {
    let mut found = copies_of_session(tx, project_id, query)?;
    if found.len() == 1 {
        return Ok(found.swap_remove(0));
    }
    Err(several_pushers_refusal(&found).into())
}

/// The copies of the one session that is named: one for each who pushed it.
pub(super) fn copies_of_session(
    tx: &mut Tx<'_>,
    project_id: &str,
    query: &CopyQuery<'_>,
) -> Result<Vec<StoredCopy>, Failure> {
    let CopyQuery { id: wanted, agent, pushed_by } = *query;
    let mut found = of_tool(tx, project_id, agent, pushed_by)?;
    // A short id that another one begins with says of neither that it is meant.
    let is_beginning = |one: &StoredCopy| {
        wanted.len() < MIN_RANDOM_ID && one.transcript_id != wanted && one.transcript_id.starts_with(wanted)
    };
    let is_exact = found.iter().any(|one| one.transcript_id == wanted)
        && (agent.is_some() || !found.iter().any(is_beginning));
    match is_exact {
        true => found.retain(|one| one.transcript_id == wanted),
        false => found.retain(|one| wanted.len() >= 4 && one.transcript_id.starts_with(wanted)),
    }
    let Some(first) = found.first().cloned() else {
        let by = pushed_by.map(|name| format!(" by {}", visible(name))).unwrap_or_default();
        let what = format!("no session `{}` was pushed to project {project_id}{by}", visible(wanted));
        let hint = "`baton transcripts pushed` lists those that were";
        return Err(Refusal::new(refusal::Kind::NotFound, "transcript_not_pushed", what, hint).into());
    };
    if found.iter().any(|one| one.transcript_id != first.transcript_id) {
        let ids: Vec<String> = found.iter().take(5).map(|one| one.transcript_id.clone()).collect();
        return Err(resolve::ambiguous_id_refusal("transcript", wanted, &ids).into());
    }
    Ok(found)
}

/// The refusal of an id under which several agents have pushed a session.
fn several_pushers_refusal(found: &[StoredCopy]) -> Refusal {
    let pushers: Vec<String> =
        found.iter().map(|one| format!("{} ({})", visible(&one.identity), visible(&one.agent))).collect();
    let first = found.first().map(|one| (visible(&one.transcript_id), shell_word(&one.identity)));
    let (id, name) = first.unwrap_or_default();
    let what = format!("a session `{id}` was pushed by {}", pushers.join(" and by "));
    let hint = format!("say whose is meant, as `--pushed-by {name}`, and by which tool with `--agent`");
    let names: Vec<String> = found.iter().map(|one| one.identity.clone()).collect();
    Refusal::new(refusal::Kind::Conflict, "transcript_pushed_by_several", what, hint)
        .with("candidates", names)
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
    /// Who pushed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed_by: Option<String>,
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
            let (agent, pushed_by) = (input.agent.as_deref(), input.pushed_by.as_deref());
            let found = find(tx, &project_id, &CopyQuery { id: &input.id, agent, pushed_by })?;
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
