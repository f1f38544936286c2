//! `task_create`: write a task down.

use baton_model::delta::Kind;
use baton_model::id::{check_label, short_random_id};
use baton_model::refusal::{self, Refusal};
use baton_model::task::reserved::check_extra;
use baton_model::task::{Task, check_id, depth, hash_length, implied_parent, word};
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answer::TaskAnswer;
use super::assignee::{check_assignee, tell_assignee};
use super::depend::{DependencyRequest, link, require_free};
use super::write::{answer, reload, write};
use super::{by_id_to_change, instant, prefix, readiness, secret};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};
use crate::project::refuse_merged;
use crate::roles;

/// Writes a task down.
pub struct Create;

/// Input of `task_create`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that writes it down.
    #[serde(default)]
    pub identity: Option<String>,
    /// One line of at most 500 bytes.
    pub title: String,
    /// What is to be done.
    #[serde(default)]
    pub description: String,
    /// How it is to be built.
    #[serde(default)]
    pub design: Option<String>,
    /// When it counts as done.
    #[serde(default)]
    pub acceptance_criteria: Option<String>,
    /// Anything else.
    #[serde(default)]
    pub notes: Option<String>,
    /// 0 (now) to 4 (some day).
    #[serde(default = "default_priority")]
    pub priority: i64,
    /// `task`, `bug`, `feature`, `epic`, `chore`, … or a word of your own.
    #[serde(default = "task_type")]
    pub issue_type: String,
    /// Who works on it.
    #[serde(default)]
    pub assignee: Option<String>,
    /// Which role it wants: `implementation`, `testing`, `fixing`, `verification`, or one of the project's own.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// Labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// What its agent has to be good at.
    #[serde(default)]
    pub specialist_tags: Vec<String>,
    /// How long it may take, in minutes.
    #[serde(default)]
    pub estimated_duration: Option<i64>,
    /// The task that it is a part of; it is then numbered below it. An empty text is none.
    #[serde(default)]
    pub parent: Option<String>,
    /// An id of your own, in place of one that is made.
    #[serde(default)]
    pub id: Option<String>,
    /// What it depends on, each as `ID` or `TYPE:ID`. `blocks:ID` means that this one blocks that one.
    #[serde(default)]
    pub deps: Vec<String>,
    /// When it is due: RFC 3339, a date, or a span from now such as `3d`.
    #[serde(default)]
    pub due: Option<String>,
    /// Not to be offered before: RFC 3339, a date, or a span from now.
    #[serde(default)]
    pub defer: Option<String>,
    /// Where else it is kept, for instance `gh-9`.
    #[serde(default)]
    pub external_ref: Option<String>,
    /// What was done so far; at most 16 KiB as JSON.
    #[serde(default)]
    pub agent_context: Map<String, Value>,
    /// What the next one needs to know; at most 16 KiB as JSON.
    #[serde(default)]
    pub handoff_instructions: Map<String, Value>,
    /// Encrypt the two objects: only those whose key is listed can read them, and take the task.
    #[serde(default)]
    pub sensitive: bool,
    /// Any other field; kept as given. Those that have a field here, or that Baton sets itself, are refused.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

impl Default for CreateInput {
    fn default() -> Self {
        Self {
            project: Default::default(),
            identity: Default::default(),
            title: Default::default(),
            description: Default::default(),
            design: Default::default(),
            acceptance_criteria: Default::default(),
            notes: Default::default(),
            priority: default_priority(),
            issue_type: task_type(),
            assignee: Default::default(),
            agent_role: Default::default(),
            labels: Default::default(),
            specialist_tags: Default::default(),
            estimated_duration: Default::default(),
            parent: Default::default(),
            id: Default::default(),
            deps: Default::default(),
            due: Default::default(),
            defer: Default::default(),
            external_ref: Default::default(),
            agent_context: Default::default(),
            handoff_instructions: Default::default(),
            sensitive: Default::default(),
            extra: Default::default(),
        }
    }
}

fn default_priority() -> i64 {
    2
}

fn task_type() -> String {
    "task".into()
}

/// Answer of `task_create`: the task.
#[derive(Serialize, Deserialize)]
pub struct CreateOutput {
    /// The task.
    #[serde(flatten)]
    pub task: TaskAnswer,
}

impl Operation for Create {
    const META: Meta = Meta::write("task_create", "Write a task down")
        .changes_tasks()
        .needs_file_lock()
        .reads_tasks()
        .encrypts(&["agent_context", "handoff_instructions"]);
    type Input = CreateInput;
    type Output = CreateOutput;

    fn run(input: CreateInput, cx: &mut Cx<'_>) -> Result<CreateOutput, Failure> {
        let mut made = checked(&input, input.project.as_deref(), cx)?;
        if input.sensitive {
            secret::fresh(cx, input.project.as_deref(), &mut made)?;
        }
        let request = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        let task = write(cx, request, |tx, env, author| {
            let made = insert_with_links(tx, env, author, &input, made.clone())?;
            Ok(answer(&made, env, author))
        })?;
        Ok(CreateOutput { task })
    }
}

/// The task of an input, checked as far as it can be before anything is written.
pub(super) fn checked(input: &CreateInput, project: Option<&str>, cx: &mut Cx<'_>) -> Result<Task, Failure> {
    check_extra(&input.extra)?;
    let named = input.labels.iter().chain(&input.specialist_tags).chain(&input.agent_role);
    for label in named.chain([&input.issue_type]) {
        check_label("label", label)?;
    }
    roles::check(cx, project, input.agent_role.as_deref())?;
    check_assignee(input.assignee.as_deref())?;
    let made = from_input(input, cx.env.now)?;
    made.check(None)?;
    Ok(made)
}

/// Gives a checked task its id, and writes it down with its parent and what it depends on.
pub(super) fn insert_with_links(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    input: &CreateInput,
    mut wanted: Task,
) -> Result<Task, Failure> {
    let parent = input.parent.as_ref().filter(|id| !id.is_empty());
    let parent = parent.map(|id| by_id_to_change(tx, author.project_id, id)).transpose()?;
    let wishes =
        input.deps.iter().map(|text| DependencyRequest::parse(text)).collect::<Result<Vec<_>, _>>()?;
    wanted.task_id = new_id(tx, env, author, input.id.as_deref(), parent.as_ref())?;
    let made = insert(tx, env, author, wanted)?;
    if let Some(parent) = parent {
        link(tx, env, author, &made, &DependencyRequest::new("parent-child", &parent.task_id))?;
    }
    for request in &wishes {
        if request.kind == "blocks" && request.reversed {
            let held = by_id_to_change(tx, author.project_id, &request.on)?;
            require_free(tx, env, author, &held)?;
            link(tx, env, author, &held, &DependencyRequest::new("blocks", &made.task_id))?;
        } else {
            link(tx, env, author, &made, request)?;
        }
    }
    let nobodys = Task { assignee: None, ..made.clone() };
    tell_assignee(tx, env, author, (&nobodys, &made))?;
    reload(tx, made)
}

fn from_input(input: &CreateInput, now: i64) -> Result<Task, Refusal> {
    let mut extra = input.extra.clone();
    let texts = [
        ("design", &input.design),
        ("acceptance_criteria", &input.acceptance_criteria),
        ("notes", &input.notes),
        ("external_ref", &input.external_ref),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            extra.insert(key.to_owned(), json!(text));
        }
    }
    if let Some(due) = &input.due {
        extra.insert("due_at".into(), json!(baton_model::time::rfc3339(instant("due", due, now)?)));
    }
    Ok(Task {
        title: input.title.clone(),
        description: input.description.clone(),
        status: "open".into(),
        priority: input.priority,
        issue_type: word::full_type(&input.issue_type).to_owned(),
        assignee: input.assignee.clone(),
        agent_role: input.agent_role.clone(),
        labels: input.labels.clone(),
        specialist_tags: input.specialist_tags.clone(),
        estimated_minutes: input.estimated_duration,
        defer_until: input.defer.as_ref().map(|text| instant("defer", text, now)).transpose()?,
        agent_context: input.agent_context.clone(),
        handoff_instructions: input.handoff_instructions.clone(),
        extra,
        ..Task::default()
    })
}

/// Gives a task its id and writes it with its delta; also used where another verb leaves a task behind.
pub(crate) fn add(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    task: Task,
) -> Result<Task, Failure> {
    task.check(None)?;
    let task_id = new_id(tx, env, author, None, None)?;
    insert(tx, env, author, Task { task_id, ..task })
}

/// The id that was given, the next number below the parent, or a new hash.
fn new_id(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    given: Option<&str>,
    parent: Option<&Task>,
) -> Result<String, Failure> {
    let count = task::count::next(tx, author.project_id, "")?;
    match (given, parent) {
        (Some(id), _) => {
            check_id(id)?;
            if task::get(tx, author.project_id, id)?.is_some() {
                return Err(id_taken_refusal(id).into());
            }
            raise_counter(tx, author.project_id, id)?;
            Ok(id.to_owned())
        }
        (None, Some(parent)) => below(tx, parent),
        (None, None) => hash(tx, env, author, count),
    }
}

/// An id that was given or imported is not given out again.
pub(super) fn raise_counter(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<(), Failure> {
    let number = id.rsplit_once('.').and_then(|(_, number)| number.parse::<i64>().ok());
    if let (Some(parent), Some(number)) = (implied_parent(id), number) {
        task::count::raise(tx, project_id, parent, number)?;
    }
    Ok(())
}

pub(super) fn id_taken_refusal(id: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::Conflict,
        "task_exists",
        format!("there is a task `{id}` already"),
        "choose another id, or leave it out to have one made",
    )
    .with("task_id", id)
}

fn below(tx: &mut Tx<'_>, parent: &Task) -> Result<String, Failure> {
    if depth(&parent.task_id) >= 3 {
        let what = format!("{} lies three levels deep already", parent.task_id);
        let hint = "make it a part of a task further up, or relate the two with `baton task dep add`";
        return Err(Refusal::new(refusal::Kind::Refused, "task_too_deep", what, hint).into());
    }
    loop {
        let number = task::count::next(tx, &parent.project_id, &parent.task_id)?;
        let id = format!("{}.{number}", parent.task_id);
        if task::get(tx, &parent.project_id, &id)?.is_none() {
            return Ok(id);
        }
    }
}

fn hash(tx: &mut Tx<'_>, env: &mut Env<'_>, author: &Author<'_>, count: i64) -> Result<String, Failure> {
    let prefix = prefix(author.project_id);
    let mut id = String::new();
    for length in hash_length(count)..=12 {
        for _ in 0..10 {
            id = format!("{prefix}-{}", short_random_id(env.number(), length));
            if task::get(tx, author.project_id, &id)?.is_none() {
                return Ok(id);
            }
        }
    }
    Err(id_taken_refusal(&id).into())
}

pub(crate) fn insert(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    task: Task,
) -> Result<Task, Failure> {
    let task = Task {
        project_id: author.project_id.to_owned(),
        parent_id: implied_parent(&task.task_id).map(str::to_owned),
        created_by: author.identity.to_owned(),
        created_at: env.now,
        updated_at: env.now,
        ..task
    };
    refuse_merged(tx, author.project_id)?;
    task::insert(tx, &task)?;
    readiness::update_readiness(tx, None, &task)?;
    let body = json!({ "summary": format!("task {} created: {}", task.task_id, task.title), "task_id": task.task_id });
    append_json(tx, env, author, Kind::Other, &body)?;
    reload(tx, task)
}
