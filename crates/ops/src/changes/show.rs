//! `changes_show`: which files the changes of a baton concern.

use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BatonChanges, find};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Shows changes.
pub struct Show;

/// Input of `changes_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The baton, by its id or a unique prefix of one; else the newest one with changes.
    #[serde(default)]
    pub baton_id: Option<String>,
}

/// Answer of `changes_show`.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The project.
    pub project_id: String,
    /// The changes.
    pub changes: BatonChanges,
}

impl Operation for Show {
    const META: Meta = Meta::read("changes_show", "Show which files the changes of a baton concern");
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        let changes = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            Ok(BatonChanges::read(find(tx, env, &project_id, input.baton_id.as_deref())?)?)
        })?;
        Ok(ShowOutput { project_id, changes })
    }
}
