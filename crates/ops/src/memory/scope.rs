//! `memory_scope`: the projects that a memory search covers, for a face that queries an external index first.

use baton_model::memory::scope;
use baton_store::{Failure, Tx, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Names the projects that a memory search covers.
pub struct MemoryScope;

/// Input of `memory_scope`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryScopeInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Related projects as well; isolated ones take no part, on either side.
    #[serde(default)]
    pub related: bool,
}

/// Answer of `memory_scope`.
#[derive(Serialize, Deserialize)]
pub struct MemoryScopeOutput {
    /// The project.
    pub project_id: String,
    /// Projects that were searched.
    pub searched: Vec<String>,
}

impl Operation for MemoryScope {
    const META: Meta = Meta::read("memory_scope", "Name the projects that a recall looks into");
    type Input = MemoryScopeInput;
    type Output = MemoryScopeOutput;

    fn run(input: MemoryScopeInput, cx: &mut Cx<'_>) -> Result<MemoryScopeOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let grant = &cx.env.caller.grant;
        let mut searched = cx.store.read(|tx| searched(tx, &project_id, input.related))?;
        searched.retain(|project| grant.reaches(project));
        Ok(MemoryScopeOutput { project_id, searched })
    }
}

/// The project, and its related ones if they are wanted.
pub(super) fn searched(tx: &mut Tx<'_>, project_id: &str, related: bool) -> Result<Vec<String>, Failure> {
    let own = project::get(tx, project_id)?.ok_or_else(|| resolve::no_project_refusal(project_id))?;
    if !related {
        return Ok(vec![project_id.to_owned()]);
    }
    let others: Vec<(String, bool)> =
        project::related(tx, project_id)?.into_iter().map(|r| (r.project_id, r.is_isolated)).collect();
    Ok(scope(project_id, own.is_isolated, &others).into_iter().map(str::to_owned).collect())
}
