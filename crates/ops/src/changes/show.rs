//! `changes_show`: which files the changes of a baton concern.

use baton_model::changes::REFERENCES;
use baton_model::id::visible;
use baton_store::{Failure, Tx, changes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BatonChanges, find, none};
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
    /// In place of a baton: the full name of the reference in a remote under which its changes are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
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
            match input.reference.as_deref() {
                Some(reference) => of_reference(tx, &project_id, reference),
                None => Ok(BatonChanges::read(find(tx, env, &project_id, input.baton_id.as_deref())?)?),
            }
        })?;
        Ok(ShowOutput { project_id, changes })
    }
}

/// The changes that are kept under a reference of a remote, whose name begins with the hash of its content.
fn of_reference(tx: &mut Tx<'_>, project_id: &str, reference: &str) -> Result<BatonChanges, Failure> {
    let name = reference.strip_prefix(REFERENCES).unwrap_or_default();
    let hash = name.split('-').next().unwrap_or_default();
    for stored in changes::by_content(tx, project_id, hash)? {
        let one = BatonChanges::read(stored)?;
        if one.manifest.remote.as_ref().is_some_and(|copy| copy.reference == reference) {
            return Ok(one);
        }
    }
    Err(none(format!("no baton of project {project_id} has changes under {}", visible(reference))).into())
}
