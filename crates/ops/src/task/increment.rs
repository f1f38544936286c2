//! `task_increment`: the four linked tasks of one piece of work.

use baton_model::id::check_label;
use baton_model::refusal::Refusal;
use baton_model::task::Task;
use baton_model::task::closing::IncrementStage;
use baton_model::task::view::View;
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::add;
use super::by_id_to_change;
use super::depend::{DependencyRequest, link};
use super::secret;
use super::write::{reload, write};
use crate::op::{Cx, Meta, Operation};

/// Makes an increment.
pub struct Increment;

/// Input of `task_increment`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateIncrementInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that writes them down.
    #[serde(default)]
    pub identity: Option<String>,
    /// One line: what is built.
    pub title: String,
    /// What is to be built.
    #[serde(default)]
    pub description: String,
    /// 0 (now) to 4 (some day), of all four.
    #[serde(default = "default_priority")]
    pub priority: i64,
    /// The task that all four are a part of.
    #[serde(default)]
    pub parent: Option<String>,
    /// The verification of the increment before: building begins when it has approved.
    #[serde(default)]
    pub after: Option<String>,
    /// How long building may take, in minutes.
    #[serde(default = "two_hours")]
    pub estimated_duration: i64,
    /// What the builder has to be good at.
    #[serde(default)]
    pub specialist_tags: Vec<String>,
    /// Labels of all four.
    #[serde(default)]
    pub labels: Vec<String>,
    /// When it counts as done.
    #[serde(default)]
    pub acceptance_criteria: Option<String>,
    /// What the builder needs to know.
    #[serde(default)]
    pub handoff_instructions: Map<String, Value>,
    /// Encrypt what is handed over, from the building on: only those whose key is listed can read it, and take the tasks.
    #[serde(default)]
    pub sensitive: bool,
}

impl Default for CreateIncrementInput {
    fn default() -> Self {
        Self {
            project: Default::default(),
            identity: Default::default(),
            title: Default::default(),
            description: Default::default(),
            priority: default_priority(),
            parent: Default::default(),
            after: Default::default(),
            estimated_duration: two_hours(),
            specialist_tags: Default::default(),
            labels: Default::default(),
            acceptance_criteria: Default::default(),
            handoff_instructions: Default::default(),
            sensitive: Default::default(),
        }
    }
}

fn default_priority() -> i64 {
    2
}

fn two_hours() -> i64 {
    120
}

/// Answer of `task_increment`: the four tasks in the order of the work; the next increment comes `after` the last of them.
#[derive(Serialize, Deserialize)]
pub struct IncrementOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The task to implement.
    pub implementation_id: String,
    /// The task to test.
    pub test_id: String,
    /// The task to fix.
    pub fix_id: String,
    /// The task to verify.
    pub verify_id: String,
    /// The rows of this page.
    pub items: Vec<View>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for Increment {
    const META: Meta = Meta::write(
        "task_increment",
        "Write down one piece of work as four tasks: build, test, fix if need be, verify",
    )
    .changes_tasks()
    .reads_tasks()
    .encrypts(&["handoff_instructions"]);
    type Input = CreateIncrementInput;
    type Output = IncrementOutput;

    fn run(input: CreateIncrementInput, cx: &mut Cx<'_>) -> Result<IncrementOutput, Failure> {
        for label in input.labels.iter().chain(&input.specialist_tags) {
            check_label("label", label)?;
        }
        let stages = [
            IncrementStage::Implementation,
            IncrementStage::Testing,
            IncrementStage::Fixing,
            IncrementStage::Verification,
        ];
        let mut parts = stages.into_iter().map(|stage| part(stage, &input)).collect::<Result<Vec<_>, _>>()?;
        if let Some(builds) = parts.first_mut().filter(|_| input.sensitive) {
            secret::fresh(cx, input.project.as_deref(), builds)?;
        }
        let scope = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        write(cx, scope, |tx, env, author| {
            let project = author.project_id;
            let parent = input.parent.as_ref().map(|id| by_id_to_change(tx, project, id)).transpose()?;
            let after = input.after.as_ref().map(|id| by_id_to_change(tx, project, id)).transpose()?;
            let mut made = Vec::new();
            for part in &parts {
                made.push(add(tx, env, author, part.clone())?);
            }
            for (from, request) in edges(&made, after.as_ref()) {
                link(tx, env, author, &made[from], &request)?;
            }
            let mut items = Vec::new();
            for task in &made {
                if let Some(parent) = &parent {
                    link(tx, env, author, task, &DependencyRequest::new("parent-child", &parent.task_id))?;
                }
            }
            for task in &made {
                items.push(View::from(&reload(tx, task.clone())?));
            }
            let id = |at: usize| made[at].task_id.clone();
            Ok(IncrementOutput {
                project_id: project.to_owned(),
                identity: author.identity.to_owned(),
                implementation_id: id(0),
                test_id: id(1),
                fix_id: id(2),
                verify_id: id(3),
                items,
                next: None,
            })
        })
    }
}

/// The task of one stage, with the minutes and tags that the plan gives it.
fn part(stage: IncrementStage, input: &CreateIncrementInput) -> Result<Task, Refusal> {
    let (prefix, minutes, tags): (&str, i64, &[&str]) = match stage {
        IncrementStage::Implementation => ("", input.estimated_duration, &[]),
        IncrementStage::Testing => ("TEST: ", 30, &["testing", "validation", "qa"]),
        IncrementStage::Fixing => ("FIX (conditional): ", 60, &["debugging", "troubleshooting"]),
        IncrementStage::Verification => ("VERIFY: ", 15, &["review", "validation", "approval"]),
    };
    let builds = stage == IncrementStage::Implementation;
    let mut task = Task {
        title: format!("{prefix}{}", input.title),
        description: if builds { input.description.clone() } else { String::new() },
        status: "open".into(),
        priority: input.priority,
        issue_type: "task".into(),
        agent_role: Some(stage.role().to_owned()),
        labels: input.labels.clone(),
        specialist_tags: if builds {
            input.specialist_tags.clone()
        } else {
            tags.iter().map(|tag| (*tag).to_owned()).collect()
        },
        estimated_minutes: Some(minutes),
        ..Task::default()
    };
    if let Some(criteria) = &input.acceptance_criteria {
        task.extra.insert("acceptance_criteria".into(), json!(criteria));
    }
    if builds {
        task.handoff_instructions.clone_from(&input.handoff_instructions);
    }
    task.check(None)?;
    Ok(task)
}

/// TEST waits for the implementation; FIX for a failure of TEST; VERIFY for TEST to pass; the implementation for the
/// approval of the increment before.
fn edges(made: &[Task], after: Option<&Task>) -> Vec<(usize, DependencyRequest)> {
    let request = |kind: &str, on: &Task, metadata: Value| {
        let mut request = DependencyRequest::new(kind, &on.task_id);
        request.metadata = metadata.as_object().cloned().unwrap_or_default();
        request
    };
    let (build, test) = (&made[0], &made[1]);
    let mut edges = vec![
        (1, request("blocks", build, json!({ "discovered-from": build.task_id }))),
        (2, request("conditional-blocks", test, json!({ "discovered-from": test.task_id }))),
        (3, request("blocks", test, json!({ "opens_on": "pass", "discovered-from": test.task_id }))),
    ];
    if let Some(after) = after {
        edges.push((0, request("blocks", after, json!({ "opens_on": "pass" }))));
    }
    edges
}
