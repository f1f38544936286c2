//! `beads_published`: the lines are in the file now.

use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::beads_export::{keep_line, line_of};
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
    /// How many were noted as published. A line of the client of an access token that the ledger has not written is not: it is read from the file.
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
        // The local user's own programs write the file, and say what they wrote.
        let is_trusted = cx.env.caller.grant.is_operator();
        cx.store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let mut noted = 0;
            for published in &input.lines {
                if is_trusted || is_own(tx, &project_id, published)? {
                    keep_line(tx, &project_id, &published.id, &published.line)?;
                    noted += 1;
                }
            }
            Ok(BeadsPublishedOutput { project_id: project_id.clone(), noted })
        })
    }
}

/// Whether a line is what the ledger itself writes of the task. Another one has to be read before it counts as one that the file had:
/// what it says would be written over as something old.
fn is_own(tx: &mut Tx<'_>, project: &str, published: &Published) -> Result<bool, Failure> {
    let Some(found) = task::get(tx, project, &published.id)? else { return Ok(false) };
    let known = task::line::known_lines(tx, project, &published.id)?;
    Ok(known.last.as_ref() == Some(&published.line) || line_of(tx, found, &known)? == published.line)
}
