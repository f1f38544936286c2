//! `task_reopen`: open a closed task again.

use baton_model::route;
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answer::TaskAnswer;
use super::write::{answer, change, check_and_renew_lease, reload, write};
use super::{by_id_to_change, comment};
use crate::op::{Cx, Meta, Operation};

/// Opens a closed task again.
pub struct Reopen;

/// Input of `task_reopen`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReopenInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that opens it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Task id or a unique prefix of one.
    pub id: String,
    /// Why; kept as a comment.
    #[serde(default)]
    pub reason: Option<String>,
}

/// Answer of `task_reopen`: the task.
#[derive(Serialize, Deserialize)]
pub struct ReopenOutput {
    /// The task.
    #[serde(flatten)]
    pub task: TaskAnswer,
}

impl Operation for Reopen {
    const META: Meta = Meta::write("task_reopen", "Open a closed task again").changes_tasks().reads_tasks();
    type Input = ReopenInput;
    type Output = ReopenOutput;

    fn run(input: ReopenInput, cx: &mut Cx<'_>) -> Result<ReopenOutput, Failure> {
        let request = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        let task = write(cx, request, |tx, env, author| {
            let known = by_id_to_change(tx, author.project_id, &input.id)?;
            let mut wanted = known.clone();
            check_and_renew_lease(tx, env, author, &mut wanted, None)?;
            let is_reopened = !known.is_open() || known.status == "deferred";
            if is_reopened {
                wanted.set_status("open", env.now);
                route::reopen(&mut wanted);
                wanted.defer_until = None;
            }
            let changed = change(tx, env, author, &known, wanted, "is open again")?;
            // Where nothing is reopened, what was said is kept all the same.
            if let Some(reason) = input.reason.as_deref().filter(|reason| !reason.trim().is_empty()) {
                comment::check(reason)?;
                comment::add_comment(tx, env, author, &changed, comment::CommentText::plain(reason))?;
            }
            Ok(answer(&reload(tx, changed)?, env, author))
        })?;
        Ok(ReopenOutput { task })
    }
}
