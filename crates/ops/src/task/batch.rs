//! `task_batch`: several changes of tasks, all of them or none.

use baton_model::id::check_label;
use baton_model::refusal::Refusal;
use baton_model::task::word::{check_dependency, check_new_dependency};
use baton_store::{Failure, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::close::{CloseInput, CloseResult};
use super::create::{self, CreateInput};
use super::depend::{DependInput, DependencyChange};
use super::update::UpdateInput;
use super::write::write;
use super::{close, depend, update};
use crate::ledger::Author;
use crate::op::{Cx, Env, Meta, Operation};

/// The most steps of one call.
const MAX_STEPS: usize = 1000;

/// Changes several tasks in one transaction.
pub struct Batch;

/// Input of `task_batch`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that changes them.
    #[serde(default)]
    pub identity: Option<String>,
    /// What to do, in order; at most 1,000 steps.
    pub steps: Vec<BatchStep>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BatchStep {
    /// Write a task down.
    Create {
        /// One line of at most 500 bytes.
        title: String,
        /// `task`, `bug`, `feature`, …
        issue_type: String,
        /// 0 (now) to 4 (some day).
        priority: i64,
    },
    /// Close a task.
    Close {
        /// Task id or a unique prefix of one.
        id: String,
        /// Why.
        #[serde(default)]
        reason: Option<String>,
        /// How it went, where the reason does not say it.
        #[serde(default)]
        result: Option<CloseResult>,
    },
    /// Change fields of a task; what is left out stays, an empty assignee takes it away.
    Update {
        /// Task id or a unique prefix of one.
        id: String,
        /// `open`, `in_progress`, `blocked`, `deferred`, `closed`, `pinned` or `hooked`.
        #[serde(default)]
        status: Option<String>,
        /// 0 (now) to 4 (some day).
        #[serde(default)]
        priority: Option<i64>,
        /// One line of at most 500 bytes.
        #[serde(default)]
        title: Option<String>,
        /// Who works on it.
        #[serde(default)]
        assignee: Option<String>,
    },
    /// Make a task depend on another, or take that away.
    Depend {
        /// The task that depends.
        id: String,
        /// What it depends on.
        on: String,
        /// `blocks`, `parent-child`, `related`, …
        #[serde(rename = "type")]
        kind: String,
        /// Take it away in place of adding it.
        #[serde(default)]
        remove: bool,
    },
}

/// What a step came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchResult {
    /// The task that was changed or written down.
    pub id: String,
    /// What became of the dependency, for a step about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dependency: Option<DependencyChange>,
}

/// Answer of `task_batch`: a result for each step, in order.
#[derive(Serialize, Deserialize)]
pub struct BatchOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// What came of each step.
    pub results: Vec<BatchResult>,
}

impl Operation for Batch {
    const META: Meta = Meta::write("task_batch", "Change several tasks: all of it or nothing")
        .changes_tasks()
        .exclusive()
        .follows_tasks();
    type Input = BatchInput;
    type Output = BatchOutput;

    fn run(input: BatchInput, cx: &mut Cx<'_>) -> Result<BatchOutput, Failure> {
        if input.steps.len() > MAX_STEPS {
            let what = format!("{} steps are more than {MAX_STEPS}", input.steps.len());
            return Err(Refusal::invalid("batch_too_long", what, "make several calls of it").into());
        }
        let asked = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        write(cx, asked, |tx, env, author| {
            let mut results = Vec::new();
            for (at, step) in input.steps.iter().enumerate() {
                results.push(apply(tx, env, author, step).map_err(|no| at_step(no, at + 1))?);
            }
            Ok(BatchOutput {
                project_id: author.project_id.to_owned(),
                identity: author.identity.to_owned(),
                results,
            })
        })
    }
}

/// The refusal of a step, which says that nothing was changed.
fn at_step(failure: Failure, number: usize) -> Failure {
    match failure {
        Failure::Refused(mut no) => {
            no.message = format!("step {number}: {}; no step was carried out", no.message);
            Failure::Refused(no.with("step", number))
        }
        other => other,
    }
}

fn apply(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    step: &BatchStep,
) -> Result<BatchResult, Failure> {
    let (id, dependency) = match step.clone() {
        BatchStep::Create { title, issue_type, priority } => {
            check_label("label", &issue_type)?;
            let input = CreateInput { title, issue_type, priority, ..CreateInput::default() };
            let task = create::from_input(&input, env.now)?;
            task.check(None)?;
            (create::place(tx, env, author, &input, task)?.task_id, None)
        }
        BatchStep::Close { id, reason, result } => {
            let input = CloseInput { id, reason, result, ..CloseInput::default() };
            (close::attempt(tx, env, author, &input, None)?.task.view.id, None)
        }
        BatchStep::Update { id, status, priority, title, assignee } => {
            let input = UpdateInput { id, status, priority, title, assignee, ..UpdateInput::default() };
            (update::attempt(tx, env, author, &input, None)?.view.id, None)
        }
        BatchStep::Depend { id, on, kind, remove } => {
            if remove { check_dependency(&kind) } else { check_new_dependency(&kind) }?;
            let input = DependInput { id, on, kind, remove, ..DependInput::default() };
            let done = depend::attempt(tx, env, author, &input)?;
            (done.issue_id, Some(done.status))
        }
    };
    Ok(BatchResult { id, dependency })
}
