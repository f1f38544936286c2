//! `beads_published`: the lines are in the file now.

use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::beads_export::keep_line;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Notes what the file holds.
pub struct BeadsPublished;

/// Input of `beads_published`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BeadsPublishedInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The lines that were written and had not been in the file before.
    pub lines: Vec<Published>,
}

/// A line that is in the file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The task.
    pub id: String,
    /// Its line.
    pub line: String,
}

/// Answer of `beads_published`.
#[derive(Serialize, Deserialize)]
pub struct BeadsPublishedOutput {
    /// The project.
    pub project_id: String,
    /// How many were noted as published.
    pub noted: usize,
}

impl Operation for BeadsPublished {
    const META: Meta = Meta::write(
        "beads_published",
        "Note which lines a Beads file holds now: what later changes are compared with",
    );
    type Input = BeadsPublishedInput;
    type Output = BeadsPublishedOutput;

    fn run(input: BeadsPublishedInput, cx: &mut Cx<'_>) -> Result<BeadsPublishedOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        cx.store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            for published in &input.lines {
                keep_line(tx, &project_id, &published.id, &published.line)?;
            }
            Ok(BeadsPublishedOutput { project_id: project_id.clone(), noted: input.lines.len() })
        })
    }
}
