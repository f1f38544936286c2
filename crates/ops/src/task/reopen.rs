//! `task_reopen`: open a closed task again.

use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::by_id;
use super::write::{answer, change, write};
use crate::op::{Access, Cx, Operation};

/// Opens a closed task again.
pub(crate) struct Reopen;

/// Input of `task_reopen`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Identity that opens it.
    #[serde(default)]
    identity: Option<String>,
    /// Task id or a unique prefix of one.
    id: String,
    /// Why; kept as a line of the notes.
    #[serde(default)]
    reason: Option<String>,
}

/// Answer of `task_reopen`: the task.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    #[serde(flatten)]
    task: Value,
}

impl Operation for Reopen {
    const NAME: &'static str = "task_reopen";
    const DOC: &'static str = "Open a closed task again";
    const ACCESS: Access = Access::Write;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let asked = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        let task = write(cx, asked, |tx, env, author| {
            let known = by_id(tx, author.project_id, &input.id)?;
            let mut wanted = known.clone();
            if !known.is_open() || known.status == "deferred" {
                wanted.set_status("open", env.now);
                wanted.defer_until = None;
                if let Some(reason) = &input.reason {
                    let notes = known.extra.get("notes").and_then(Value::as_str).unwrap_or_default();
                    let line = format!("reopened: {reason}");
                    let joined = if notes.is_empty() { line } else { format!("{notes}\n{line}") };
                    wanted.extra.insert("notes".into(), json!(joined));
                }
            }
            Ok(answer(&change(tx, env, author, &known, wanted, "is open again")?, author))
        })?;
        Ok(Output { task })
    }
}
