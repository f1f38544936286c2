//! `changes_part`: a part of the content of a baton's changes.

use baton_store::Failure;
use baton_store::content::CHANGES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{find, no_changes_refusal};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Reads a part.
pub struct Part;

/// Input of `changes_part`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The baton.
    pub baton_id: String,
    /// The number of the part, from 0.
    pub part: i64,
}

/// Answer of `changes_part`.
#[derive(Serialize, Deserialize)]
pub struct PartOutput {
    /// The project.
    pub project_id: String,
    /// The number of the part.
    pub part: i64,
    /// The bytes of the part in base64.
    pub content: String,
}

impl Operation for Part {
    const META: Meta = Meta::read("changes_part", "Read a part of the content of a baton's changes");
    type Input = PartInput;
    type Output = PartOutput;

    fn run(input: PartInput, cx: &mut Cx<'_>) -> Result<PartOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        let content = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let found = find(tx, env, &project_id, Some(&input.baton_id))?;
            let what = || {
                no_changes_refusal(format!(
                    "the changes of baton {} have no part {}",
                    found.baton_id, input.part
                ))
            };
            Ok(CHANGES.part(tx, &project_id, (&found.content_hash, input.part))?.ok_or_else(what)?)
        })?;
        Ok(PartOutput { project_id, part: input.part, content })
    }
}
