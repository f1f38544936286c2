//! `task_depend`: make a task depend on another, or take that away.

use baton_model::refusal::{Kind, Refusal};
use baton_model::task::Task;
use baton_model::task::gate::Gate;
use baton_model::task::record::parent_of;
use baton_model::task::word::{check_dependency, check_new_dependency};
use baton_model::task::{entry, implied_parent, merge};
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use task::dependency;

use super::write::{change, check_writer, write};
use super::{by_id, by_id_to_change, cycle};
use crate::ledger::Author;
use crate::op::{Cx, Env, Meta, Operation};

/// Adds or removes a dependency.
pub struct Depend;

/// Input of `task_depend`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DependInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that changes it.
    #[serde(default)]
    pub identity: Option<String>,
    /// The task that depends.
    pub id: String,
    /// What it depends on.
    pub on: String,
    /// `blocks`, `parent-child`, `conditional-blocks`, `waits-for`, `related`, `discovered-from`, … or a word of your own.
    #[serde(rename = "type", default = "blocks")]
    pub kind: String,
    /// Take it away in place of adding it; without a type, every one between the two.
    #[serde(default)]
    pub remove: bool,
    /// What else is to be kept with it: `{"opens_on": "pass"}` of `blocks`, `{"gate": "any-children"}` of `waits-for`.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

impl Default for DependInput {
    fn default() -> Self {
        Self {
            project: Default::default(),
            identity: Default::default(),
            id: Default::default(),
            on: Default::default(),
            kind: blocks(),
            remove: Default::default(),
            metadata: Default::default(),
        }
    }
}

fn blocks() -> String {
    "blocks".into()
}

/// What became of a dependency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DependencyChange {
    /// It was recorded.
    Added,
    /// It was there already.
    Unchanged,
    /// It was taken away.
    Removed,
}

/// Answer of `task_depend`.
#[derive(Serialize, Deserialize)]
pub struct DependOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// What became of it.
    pub status: DependencyChange,
    /// The task that depends.
    pub issue_id: String,
    /// The task that it depends on.
    pub depends_on_id: String,
    /// Kind of the dependency.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A dependency that went with a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedDependency {
    /// The task that depended.
    pub issue_id: String,
    /// What it depended on.
    pub depends_on_id: String,
    /// Kind of the dependency.
    #[serde(rename = "type")]
    pub kind: String,
}

impl Operation for Depend {
    const META: Meta = Meta::write("task_depend", "Make a task depend on another, or take that away")
        .changes_tasks()
        .reads_tasks();
    type Input = DependInput;
    type Output = DependOutput;

    fn run(input: DependInput, cx: &mut Cx<'_>) -> Result<DependOutput, Failure> {
        match input.remove {
            true => check_dependency(&input.kind)?,
            false => check_new_dependency(&input.kind)?,
        }
        let request = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        write(cx, request, |tx, env, author| attempt(tx, env, author, &input))
    }
}

pub(super) fn attempt(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    input: &DependInput,
) -> Result<DependOutput, Failure> {
    let from = by_id_to_change(tx, author.project_id, &input.id)?;
    let (status, on) = if input.remove {
        let on = removed_target(tx, &from, &input.on)?;
        let edges = dependency::dependencies_of(tx, &from.project_id, &from.task_id)?;
        let between = edges.iter().filter(|edge| edge.depends_on_id == on);
        if between.into_iter().any(|edge| edge.gate.is_some() || edge.kind == "parent-child") {
            require_free(tx, env, author, &from)?;
        }
        (unlink(tx, env, author, &from, &on, &input.kind)?, on)
    } else {
        let mut request = DependencyRequest::new(&input.kind, &input.on);
        request.metadata = input.metadata.clone();
        if request.is_decisive() {
            require_free(tx, env, author, &from)?;
        }
        link(tx, env, author, &from, &request)?
    };
    Ok(DependOutput {
        project_id: author.project_id.to_owned(),
        identity: author.identity.to_owned(),
        status,
        issue_id: from.task_id,
        depends_on_id: on,
        kind: input.kind.clone(),
    })
}

/// Refuses to hold back or free a task that another agent has claimed, or to make it a part of another one: its holder alone changes it.
pub(super) fn require_free(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    author: &Author<'_>,
    held: &Task,
) -> Result<(), Failure> {
    check_writer(tx, env, author, held)
}

/// What a dependency that is to go depends on: its target may be gone itself.
fn removed_target(tx: &mut Tx<'_>, from: &Task, on: &str) -> Result<String, Failure> {
    let edges = dependency::dependencies_of(tx, &from.project_id, &from.task_id)?;
    if edges.iter().any(|edge| edge.depends_on_id == on) {
        return Ok(on.to_owned());
    }
    Ok(by_id(tx, &from.project_id, on)?.task_id)
}

/// A dependency that is wanted.
pub(super) struct DependencyRequest {
    pub kind: String,
    pub on: String,
    /// `blocks:ID` of a new task: that one is held back by the new one.
    pub reversed: bool,
    pub metadata: Map<String, Value>,
}

impl DependencyRequest {
    pub(super) fn new(kind: &str, on: &str) -> Self {
        Self { kind: kind.to_owned(), on: on.to_owned(), reversed: false, metadata: Map::new() }
    }

    /// Whether it decides when the task can be done, or what it is a part of.
    fn is_decisive(&self) -> bool {
        let metadata = Value::Object(self.metadata.clone());
        self.kind == "parent-child" || Gate::of(&self.kind, Some(&metadata)).is_some()
    }

    /// Reads `ID` or `TYPE:ID`.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let Some((kind, on)) = text.split_once(':').filter(|(kind, _)| *kind != "external") else {
            return Ok(Self::new("blocks", text));
        };
        let kind = match kind {
            "depends-on" | "blocked-by" => return Ok(Self::new("blocks", on)),
            other => other,
        };
        check_new_dependency(kind)?;
        Ok(Self { reversed: kind == "blocks", ..Self::new(kind, on) })
    }
}

/// Writes a dependency. One that is there already stays as it is; a circle is refused. Answers what came of it and the
/// full id.
pub(super) fn link(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    from: &Task,
    request: &DependencyRequest,
) -> Result<(DependencyChange, String), Failure> {
    let project = author.project_id;
    let on = if request.on.starts_with("external:") {
        request.on.clone()
    } else {
        by_id_to_change(tx, project, &request.on)?.task_id
    };
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| body.insert(key.to_owned(), value);
    put("issue_id", json!(from.task_id));
    put("depends_on_id", json!(on));
    put("type", json!(request.kind));
    put("created_at", json!(rfc3339(env.now)));
    put("created_by", json!(author.identity));
    if !request.metadata.is_empty() {
        // A JSON text inside JSON: so other trackers keep it.
        put("metadata", json!(json!(request.metadata).to_string()));
    }
    let edges = dependency::dependencies_of(tx, project, &from.task_id)?;
    if edges.iter().any(|edge| edge.depends_on_id == on && edge.kind == request.kind) {
        // It was opened again since: what gives way to it may have done so meanwhile.
        if cycle::is_replacement(&request.kind) {
            cycle::check_replacement(tx, project, &from.task_id, &on)?;
        }
        return Ok((DependencyChange::Unchanged, on));
    }
    refuse(tx, from, &on, request, &edges, Gate::of(&request.kind, body.get("metadata")))?;
    let place = edges.iter().map(|edge| edge.place + 1).max().unwrap_or(0);
    dependency::insert(tx, from, place, &body)?;
    let entries = vec![entry::dependency(&request.kind, &on)];
    touch_dependencies(tx, env, author, (from, entries), &format!("depends on {on} ({})", request.kind))?;
    Ok((DependencyChange::Added, on))
}

fn refuse(
    tx: &mut Tx<'_>,
    from: &Task,
    on: &str,
    request: &DependencyRequest,
    edges: &[dependency::Dependency],
    gate: Option<Gate>,
) -> Result<(), Failure> {
    let project = &from.project_id;
    if request.kind == "parent-child" {
        if let Some(edge) = edges.iter().find(|edge| edge.kind == "parent-child") {
            let what = format!("{} is a part of {} already", from.task_id, edge.depends_on_id);
            let hint = format!(
                "take that away first: `baton task dep remove {} {}`",
                from.task_id, edge.depends_on_id
            );
            return Err(Refusal::new(Kind::Refused, "task_has_parent", what, hint).into());
        }
        return cycle::check_parent(tx, project, &from.task_id, on);
    }
    match gate {
        // Waiting for the parts of a task, its own or another's, goes round only through those parts.
        Some(gate) if gate.is_of_children() => {
            for part in
                task::children(tx, project, on)?.into_iter().filter(|part| part.task_id != from.task_id)
            {
                if part.parent_id.as_ref() != Some(&from.task_id) {
                    cycle::check(tx, project, &from.task_id, &part.task_id)?;
                }
            }
            Ok(())
        }
        Some(_) => cycle::check(tx, project, &from.task_id, on),
        None if cycle::is_replacement(&request.kind) => {
            cycle::check_replacement(tx, project, &from.task_id, on)
        }
        None => Ok(()),
    }
}

/// Takes a dependency away.
pub(super) fn unlink(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    from: &Task,
    on: &str,
    kind: &str,
) -> Result<DependencyChange, Failure> {
    let edges = dependency::dependencies_of(tx, &from.project_id, &from.task_id)?;
    let of_kind = edges.iter().any(|edge| edge.depends_on_id == on && edge.kind == kind);
    let mut removed = Vec::new();
    for edge in edges.iter().filter(|edge| edge.depends_on_id == on && (edge.kind == kind || !of_kind)) {
        if dependency::delete(tx, from, on, &edge.kind)? {
            removed.push(entry::dependency(&edge.kind, on));
        }
    }
    if removed.is_empty() {
        let what = format!("{} does not depend on {on}", from.task_id);
        let hint = format!("`baton task show {}` lists what it depends on", from.task_id);
        return Err(Refusal::new(Kind::NotFound, "dependency_unknown", what, hint).into());
    }
    touch_dependencies(tx, env, author, (from, removed), &format!("does not depend on {on} any more"))?;
    Ok(DependencyChange::Removed)
}

/// Refuses to take a task out of the whole that its id names: it would be a part of it still.
pub(super) fn check_no_parent(task: &Task) -> Result<(), Refusal> {
    let Some(whole) = implied_parent(&task.task_id) else { return Ok(()) };
    let what = format!("{} is a part of {whole} by its id", task.task_id);
    let hint = format!("give it another id first: `baton task rename {} ID`", task.task_id);
    Err(Refusal::new(Kind::Refused, "task_parent_implied", what, hint))
}

/// Makes a task a part of another in the place of the one before; an empty id makes it a part of none.
pub(super) fn set_parent(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    task: &Task,
    parent: &str,
) -> Result<(), Failure> {
    let wanted = match parent {
        "" => None,
        id => Some(by_id_to_change(tx, author.project_id, id)?.task_id),
    };
    let edges = dependency::dependencies_of(tx, &task.project_id, &task.task_id)?;
    for edge in edges.iter().filter(|edge| edge.kind == "parent-child") {
        if Some(&edge.depends_on_id) != wanted.as_ref() {
            unlink(tx, env, author, task, &edge.depends_on_id, "parent-child")?;
        }
    }
    match wanted {
        Some(id) => link(tx, env, author, task, &DependencyRequest::new("parent-child", &id)).map(drop),
        None => Ok(()),
    }
}

/// Takes away every dependency of a task and on it, and returns them.
pub(super) fn unlink_all(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    known: &Task,
) -> Result<Vec<RemovedDependency>, Failure> {
    let mut edges = dependency::dependencies_of(tx, &known.project_id, &known.task_id)?;
    edges.extend(dependency::dependents_of(tx, &known.project_id, &known.task_id)?);
    for edge in &edges {
        if let Some(from) = task::get(tx, &known.project_id, &edge.task_id)? {
            unlink(tx, env, author, &from, &edge.depends_on_id, &edge.kind)?;
        }
    }
    let removed = |edge: dependency::Dependency| RemovedDependency {
        issue_id: edge.task_id,
        depends_on_id: edge.depends_on_id,
        kind: edge.kind,
    };
    Ok(edges.into_iter().map(removed).collect())
}

/// The task has changed by what hangs on it, which its clocks remember. `entries`: the names of what came or went.
pub(super) fn touch_dependencies(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (from, entries): (&Task, Vec<String>),
    what: &str,
) -> Result<(), Failure> {
    let edges = dependency::dependencies_of(tx, &from.project_id, &from.task_id)?;
    let bodies: Vec<_> = edges.into_iter().map(|edge| edge.body).collect();
    let parent_id = parent_of(&from.task_id, &bodies);
    let known = super::write::reload(tx, from.clone())?;
    // The instant alone may be what changed: a new task depends on something at the instant of its creation.
    let mut wanted = Task { parent_id, updated_at: env.now.max(known.updated_at), ..known.clone() };
    let is_new = wanted == known && known.created_at == env.now;
    // What a task is created with is as old as the task.
    if known.created_at != env.now {
        // A clock that went back by days would take the task's own times for those of one that is far ahead.
        let at = wanted.updated_at;
        merge::note(&mut wanted, entries, at);
    }
    if is_new {
        return super::write::update_without_delta(tx, &known, &wanted);
    }
    change(tx, env, author, &known, wanted, what).map(drop)
}
