//! `task_batch`: several changes of tasks, all of them or none.

use std::collections::BTreeMap;

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::task::Task;
use baton_model::task::word::{check_dependency, check_new_dependency, check_status};
use baton_store::{Failure, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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
    /// Write a task down with all its fields.
    Write {
        /// What later steps call it: `@NAME` in the place of an id.
        #[serde(default)]
        name: Option<String>,
        /// The task; project and identity are those of the call.
        task: Box<CreateInput>,
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
        /// Close it even if it waits for something.
        #[serde(default)]
        force: bool,
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
        /// Keys of the metadata that get the id of a task, each with that task.
        #[serde(default)]
        metadata_refs: BTreeMap<String, String>,
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
        /// What else is to be kept with it: `{"gate": "any-children"}` of `waits-for`.
        #[serde(default)]
        metadata: Map<String, Value>,
    },
}

/// What a step came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchResult {
    /// The task that was changed or written down.
    pub id: String,
    /// What it depends on, for a step about a dependency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depends_on_id: Option<String>,
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
        .needs_file_lock()
        .reads_tasks();
    type Input = BatchInput;
    type Output = BatchOutput;

    fn run(input: BatchInput, cx: &mut Cx<'_>) -> Result<BatchOutput, Failure> {
        if input.steps.len() > MAX_STEPS {
            let what = format!("{} steps are more than {MAX_STEPS}", input.steps.len());
            return Err(Refusal::invalid("batch_too_long", what, "make several calls of it").into());
        }
        let mut written = Vec::with_capacity(input.steps.len());
        for (at, step) in input.steps.iter().enumerate() {
            written
                .push(check(step, input.project.as_deref(), cx).map_err(|refusal| at_step(refusal, at + 1))?);
        }
        let request = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        write(cx, request, |tx, env, author| {
            let (mut results, mut names) = (Vec::new(), Names::default());
            for (at, (step, task)) in input.steps.iter().zip(&written).enumerate() {
                let done = names
                    .resolve(step.clone())
                    .and_then(|step| apply(tx, env, author, &step, task.as_ref()))
                    .map_err(|refusal| at_step(refusal, at + 1))?;
                names.keep(step, &done.id);
                results.push(done);
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
        Failure::Refused(mut refusal) => {
            let message = format!("step {number}: {}; no step was carried out", refusal.message);
            let step_message = std::mem::replace(&mut refusal.message, message);
            Failure::Refused(refusal.with("step", number).with("step_message", step_message))
        }
        other => other,
    }
}

/// Checks what can be checked before anything is written; returns the task of a step that writes one down.
fn check(step: &BatchStep, project: Option<&str>, cx: &mut Cx<'_>) -> Result<Option<Task>, Failure> {
    match step {
        BatchStep::Create { title, issue_type, priority } => {
            let (title, issue_type, priority) = (title.clone(), issue_type.clone(), *priority);
            let input = CreateInput { title, issue_type, priority, ..CreateInput::default() };
            create::checked(&input, project, cx).map(Some)
        }
        BatchStep::Write { task, .. } => {
            if task.sensitive || task.project.is_some() || task.identity.is_some() {
                let what = "a task of a batch names no project or identity, and is not encrypted";
                let hint = "leave the fields out, or write the task down in a call of its own";
                return Err(Refusal::invalid("step_invalid", what, hint).into());
            }
            create::checked(task, project, cx).map(Some)
        }
        BatchStep::Update { status: Some(status), .. } => Ok(check_status(status).map(|()| None)?),
        BatchStep::Depend { kind, remove: false, .. } => Ok(check_new_dependency(kind).map(|()| None)?),
        BatchStep::Depend { kind, remove: true, .. } => Ok(check_dependency(kind).map(|()| None)?),
        BatchStep::Update { .. } | BatchStep::Close { .. } => Ok(None),
    }
}

/// The tasks that steps have written down, by the names that later steps call them.
#[derive(Default)]
struct Names(BTreeMap<String, String>);

impl Names {
    fn keep(&mut self, step: &BatchStep, id: &str) {
        if let BatchStep::Write { name: Some(name), .. } = step {
            self.0.insert(name.clone(), id.to_owned());
        }
    }

    /// The id that a text means.
    fn id(&self, text: &str) -> Result<String, Refusal> {
        let Some(name) = text.strip_prefix('@') else { return Ok(text.to_owned()) };
        self.0.get(name).cloned().ok_or_else(|| {
            let what = format!("no step before this one writes down a task `@{}`", visible(name));
            Refusal::invalid("step_name_unknown", what, "name a task in the step that writes it down, before")
        })
    }

    /// A dependency `ID` or `TYPE:ID`.
    fn dependency(&self, text: &str) -> Result<String, Refusal> {
        match text.split_once(":@") {
            Some((kind, name)) => Ok(format!("{kind}:{}", self.id(&format!("@{name}"))?)),
            None => self.id(text),
        }
    }

    /// The step with ids in the place of names.
    fn resolve(&self, mut step: BatchStep) -> Result<BatchStep, Failure> {
        match &mut step {
            BatchStep::Create { .. } => {}
            BatchStep::Write { task, .. } => {
                task.parent = task.parent.as_deref().map(|id| self.id(id)).transpose()?;
                for dependency in &mut task.deps {
                    *dependency = self.dependency(dependency)?;
                }
            }
            BatchStep::Close { id, .. } => *id = self.id(id)?,
            BatchStep::Update { id, metadata_refs, .. } => {
                *id = self.id(id)?;
                for target in metadata_refs.values_mut() {
                    *target = self.id(target)?;
                }
            }
            BatchStep::Depend { id, on, .. } => (*id, *on) = (self.id(id)?, self.id(on)?),
        }
        Ok(step)
    }
}

fn apply(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    step: &BatchStep,
    task: Option<&Task>,
) -> Result<BatchResult, Failure> {
    let id = match step.clone() {
        BatchStep::Create { .. } => {
            let task = task.cloned().unwrap_or_default();
            create::insert_with_links(tx, env, author, &CreateInput::default(), task)?.task_id
        }
        BatchStep::Write { task: input, .. } => {
            let task = task.cloned().unwrap_or_default();
            create::insert_with_links(tx, env, author, &input, task)?.task_id
        }
        BatchStep::Close { id, reason, result, force } => {
            let input = CloseInput { id, reason, result, force, ..CloseInput::default() };
            close::attempt(tx, env, author, &input, None)?.task.view.id
        }
        BatchStep::Update { id, status, priority, title, assignee, metadata_refs } => {
            let mut input = UpdateInput { id, status, priority, title, assignee, ..UpdateInput::default() };
            if !metadata_refs.is_empty() {
                input.extra.insert("metadata".to_owned(), json!(metadata_refs));
                input.merge = true;
            }
            update::attempt(tx, env, author, &input, None)?.view.id
        }
        BatchStep::Depend { id, on, kind, remove, metadata } => {
            let input = DependInput { id, on, kind, remove, metadata, ..DependInput::default() };
            let done = depend::attempt(tx, env, author, &input)?;
            let (depends_on_id, dependency) = (Some(done.depends_on_id), Some(done.status));
            return Ok(BatchResult { id: done.issue_id, depends_on_id, dependency });
        }
    };
    Ok(BatchResult { id, depends_on_id: None, dependency: None })
}
