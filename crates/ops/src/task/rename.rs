//! `task_rename`: give a task another id.

use baton_model::delta::Kind;
use baton_model::refusal::Refusal;
use baton_model::task::record::parent_of;
use baton_model::task::renamed::{RENAMED_TO, note_rename, renamed_to, with_mentions_renamed};
use baton_model::task::{Task, check_id, entry, implied_parent};
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, handoff, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use task::{comment, dependency};

use super::answer::TaskAnswer;
use super::beads_renames::successor;
use super::create::{id_taken_refusal, raise_counter};
use super::delete::{refuse_handed, tombstone};
use super::depend::touch_dependencies;
use super::write::{
    Consequence, answer, check_and_renew_lease, reload, update_dependent, update_without_delta, write,
};
use super::{by_id_to_change, readiness};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};

/// Gives a task another id.
pub struct Rename;

/// Input of `task_rename`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RenameInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that renames it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Task id or a unique prefix of one.
    pub id: String,
    /// The id that it gets.
    pub to: String,
}

/// Answer of `task_rename`: the task under its new id.
#[derive(Serialize, Deserialize)]
pub struct RenameOutput {
    /// The task.
    #[serde(flatten)]
    pub task: TaskAnswer,
    /// The id that it had; it stays as the id of a deleted task that names the new one.
    pub renamed_from: String,
    /// Tasks that depend on it or are parts of it, which name the new id now.
    pub dependents: Vec<String>,
    /// Other tasks whose texts name the new id now.
    #[serde(default)]
    pub mentions: Vec<String>,
}

impl Operation for Rename {
    const META: Meta = Meta::write("task_rename", "Give a task another id").changes_tasks().needs_file_lock();
    type Input = RenameInput;
    type Output = RenameOutput;

    fn run(input: RenameInput, cx: &mut Cx<'_>) -> Result<RenameOutput, Failure> {
        let request = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        write(cx, request, |tx, env, author| {
            let mut known = by_id_to_change(tx, author.project_id, &input.id)?;
            check_and_renew_lease(tx, env, author, &mut known, None)?;
            refuse_handed(tx, &known)?;
            check_id(&input.to)?;
            if let Some(taken) = task::get(tx, author.project_id, &input.to)? {
                let former = successor(tx, &taken)?.filter(|now| now.task_id == known.task_id);
                return Err(former
                    .map_or_else(|| id_taken_refusal(&input.to), |_| id_used_refusal(&input.to))
                    .into());
            }
            raise_counter(tx, author.project_id, &input.to)?;
            let renamed = copy(tx, env, author, &known, &input.to)?;
            let dependents = redirect(tx, env, author, (&known, &renamed))?;
            let mentions = rename_mentions(tx, env, author, (&known, &renamed))?;
            bury(tx, (&known, &renamed.task_id), (author.identity, env.now))?;
            handoff::rename_task(tx, author.project_id, (&known.task_id, &renamed.task_id))?;
            Ok(RenameOutput {
                task: answer(&reload(tx, renamed)?, env, author),
                renamed_from: known.task_id,
                dependents,
                mentions,
            })
        })
    }
}

/// The refusal of an id that the task had before: other clones may still write under it.
fn id_used_refusal(id: &str) -> Refusal {
    let hint = "choose another id: what other clones write under a former id is merged into this task";
    let what = format!("this task was called `{id}` before, and an id is not given twice");
    Refusal::new(baton_model::refusal::Kind::Conflict, "task_exists", what, hint).with("task_id", id)
}

/// Writes the task under its new id, with what it depends on and its comments.
fn copy(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    known: &Task,
    id: &str,
) -> Result<Task, Failure> {
    let mut edges: Vec<Map<String, Value>> =
        dependency::dependencies_of(tx, &known.project_id, &known.task_id)?
            .into_iter()
            .map(|edge| with_id(edge.body, "issue_id", id))
            .collect();
    // A part that is one by its id alone says so from now on.
    let parent = known.parent_id.as_deref().filter(|parent| implied_parent(&known.task_id) == Some(parent));
    let is_part = edges.iter().any(|edge| edge.get("type") == Some(&json!("parent-child")));
    if let (Some(parent), false) = (parent, is_part) {
        edges.push(part_of(id, parent, (author, env.now)));
    }
    let mut task = Task {
        task_id: id.to_owned(),
        parent_id: parent_of(id, &edges),
        updated_at: env.now,
        ..known.clone()
    };
    note_rename(&mut task, known, env.now);
    task::insert(tx, &task)?;
    for (place, edge) in (0..).zip(&edges) {
        dependency::insert(tx, &task, place, edge)?;
    }
    for (place, body) in (0..).zip(comment::of(tx, &known.project_id, &known.task_id)?) {
        comment::insert(tx, &task, place, &with_id(body, "issue_id", id))?;
    }
    readiness::update_readiness(tx, None, &task)?;
    let body = json!({ "summary": format!("task {} is now {id}", known.task_id), "task_id": id });
    append_json(tx, env, author, Kind::Other, &body)?;
    Ok(task)
}

fn with_id(mut body: Map<String, Value>, key: &str, id: &str) -> Map<String, Value> {
    body.insert(key.to_owned(), json!(id));
    body
}

fn part_of(id: &str, parent: &str, (author, now): (&Author<'_>, i64)) -> Map<String, Value> {
    let fields = [
        ("issue_id", json!(id)),
        ("depends_on_id", json!(parent)),
        ("type", json!("parent-child")),
        ("created_at", json!(rfc3339(now))),
        ("created_by", json!(author.identity)),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Has every task that depends on the old id, or is a part of it, name the new one. Returns their ids.
pub(super) fn redirect(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (old, new): (&Task, &Task),
) -> Result<Vec<String>, Failure> {
    let what = format!("names {} in place of {}", new.task_id, old.task_id);
    let mut changed = Vec::new();
    for edge in dependency::dependents_of(tx, &old.project_id, &old.task_id)? {
        let Some(from) = task::get(tx, &old.project_id, &edge.task_id)? else { continue };
        dependency::delete(tx, &from, &old.task_id, &edge.kind)?;
        let mut entries = vec![entry::dependency(&edge.kind, &old.task_id)];
        if from.task_id != new.task_id {
            dependency::insert(tx, &from, edge.place, &with_id(edge.body, "depends_on_id", &new.task_id))?;
            entries.push(entry::dependency(&edge.kind, &new.task_id));
        }
        touch_dependencies(tx, env, author, (&from, entries), &what)?;
        changed.push(from.task_id);
    }
    let parts = task::children(tx, &old.project_id, &old.task_id)?;
    // A deleted or renamed part is one by its id alone: its line stays as it is.
    let is_part = |part: &Task| part.task_id != new.task_id && part.status != "tombstone";
    for part in parts.into_iter().filter(is_part) {
        let place = dependency::dependencies_of(tx, &part.project_id, &part.task_id)?.len();
        let edge = part_of(&part.task_id, &new.task_id, (author, env.now));
        dependency::insert(tx, &part, i64::try_from(place).unwrap_or(i64::MAX), &edge)?;
        let entries = vec![entry::dependency("parent-child", &new.task_id)];
        touch_dependencies(tx, env, author, (&part, entries), &what)?;
        changed.push(part.task_id);
    }
    changed.sort();
    changed.dedup();
    Ok(changed)
}

/// Has the texts of all tasks name the new id, those of the task itself, too. Returns the ids of the others.
fn rename_mentions(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (old, new): (&Task, &Task),
) -> Result<Vec<String>, Failure> {
    let what = format!("names {} in place of {}", new.task_id, old.task_id);
    let mut changed = Vec::new();
    for before in task::mentioning(tx, &old.project_id, &old.task_id)? {
        let renamed = with_mentions_renamed(&before, &old.task_id, &new.task_id);
        // What stays under the old id says what it said.
        if let Some(renamed) = renamed.filter(|_| before.task_id != old.task_id) {
            let after = Task { updated_at: env.now, ..renamed };
            let change = Consequence { before: &before, after: &after, what: &what };
            update_dependent(tx, env, author, &change)?;
            changed.extend(Some(before.task_id.clone()).filter(|id| *id != new.task_id));
        }
    }
    Ok(changed)
}

/// Leaves the old id as that of a deleted task, which names the new one.
pub(super) fn bury(
    tx: &mut Tx<'_>,
    (old, new): (&Task, &str),
    (identity, now): (&str, i64),
) -> Result<(), Failure> {
    let old = reload(tx, old.clone())?;
    dependency::clear(tx, &old)?;
    comment::clear(tx, &old)?;
    let mut buried = tombstone(&old, identity, (Some(&format!("renamed to {new}")), now));
    buried.extra.insert(RENAMED_TO.to_owned(), json!(new));
    buried.updated_at = now.max(old.updated_at);
    update_without_delta(tx, &old, &buried)
}

/// The refusal for an id that a task had before.
pub(super) fn renamed(known: &Task) -> Option<Refusal> {
    let to = renamed_to(known)?;
    let what = format!("task {} is called {} now", known.task_id, baton_model::id::visible(to));
    Some(
        Refusal::new(baton_model::refusal::Kind::Conflict, "task_renamed", what, "use that id")
            .with("task_id", known.task_id.clone())
            .with("renamed_to", to),
    )
}
