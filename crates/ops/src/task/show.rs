//! `task_show`: one task; within the budget of its role, or in full.

use baton_model::task::claim::Claimant;
use baton_model::task::{Task, bounded, sealed};
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use task::{comment, dependency};

use super::write::row;
use super::{by_id, secret};
use crate::bearer;
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;

/// Shows a task.
pub struct Show;

/// Input of `task_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Task id or a unique prefix of one.
    pub id: String,
    /// Everything: whole contexts, every linked task with its fields, every comment.
    #[serde(default)]
    pub full: bool,
    /// Bytes that texts and contexts may have when it is not in full; else by role: 2048 to build or mend, 1024 to test, 512
    /// to verify.
    #[serde(default)]
    pub budget: Option<usize>,
}

/// Answer of `task_show`: the task, what it depends on, what depends on it, and comments.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The task.
    #[serde(flatten)]
    pub task: Value,
}

impl Operation for Show {
    const META: Meta =
        Meta::read("task_show", "Show a task, within the budget of its role or in full").follows_tasks();
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        // A reader of a sensitive task gets its contexts decrypted; other callers see only for which identities it is
        // encrypted.
        let reader = resolve::identity(cx.env.caller, None).ok();
        let Cx { store, env } = cx;
        let host = env.host;
        let task = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut found = by_id(tx, &project_id, &input.id)?;
            let sensitive = sealed::is_sensitive(&found);
            if let Some(reader) = reader.as_deref().filter(|_| sensitive)
                && bearer::require_free(tx, env, &project_id, reader).is_ok()
            {
                let mut plain = found.clone();
                if secret::open(host, &mut plain, reader).is_ok() {
                    found = plain;
                }
            }
            let mut row = row_for(env, &found);
            if sensitive {
                row["sensitive"] = json!(true);
            }
            if !input.full {
                let budget = input.budget.unwrap_or_else(|| bounded::budget_of(found.agent_role.as_deref()));
                bound(&mut row, &found, budget);
            }
            links(tx, &found, &mut row, input.full)?;
            Ok(row)
        })?;
        Ok(ShowOutput { task })
    }
}

/// The task as the caller sees it. The token of a claim is shown in the claim's own name; a name that an access token is not bound
/// to is not that of its client.
fn row_for(env: &Env<'_>, found: &Task) -> Value {
    let caller = env.caller;
    let Ok(identity) = resolve::identity(caller, None) else { return found.to_json() };
    let bearer = caller.grant.bearer.as_ref();
    if bearer.is_some_and(|bearer| bearer.identities.is_none() && identity != bearer.actor()) {
        return found.to_json();
    }
    let asker = Claimant {
        identity: &identity,
        session_id: caller.session.as_deref(),
        place: Some(&caller.place),
        token: None,
        is_local: bearer.is_none(),
        holder_ended: false,
    };
    row(found, &asker)
}

/// Replaces the texts and contexts by what the budget leaves of them; what is left out is named.
fn bound(row: &mut Value, found: &Task, budget: usize) {
    const BOUNDED: [&str; 5] =
        ["description", "acceptance_criteria", "agent_context", "handoff_instructions", "title"];
    let packet = bounded::packet(found, budget);
    let Some(fields) = row.as_object_mut() else { return };
    for key in BOUNDED {
        match packet.get(key) {
            Some(value) => _ = fields.insert(key.to_owned(), value.clone()),
            None => _ = fields.shift_remove(key),
        }
    }
    let mut left: Vec<Value> = packet["left_out"].as_array().cloned().unwrap_or_default();
    let mut room = budget.saturating_sub(packet.to_string().len());
    for (key, value) in &found.extra {
        let size = value.to_string().len();
        if key == "acceptance_criteria" {
        } else if size > room && size > 64 {
            fields.shift_remove(key);
            left.push(json!(key));
        } else {
            room = room.saturating_sub(size);
        }
    }
    if !left.is_empty() {
        fields.insert("left_out".into(), json!(left));
    }
}

fn links(tx: &mut Tx<'_>, found: &Task, row: &mut Value, full: bool) -> Result<(), Failure> {
    let (project, id) = (&found.project_id, &found.task_id);
    let on =
        dependency::of(tx, project, id)?.into_iter().map(|edge| (edge.depends_on_id, edge.kind)).collect();
    let by = dependency::on(tx, project, id)?.into_iter().map(|edge| (edge.task_id, edge.kind)).collect();
    for (key, ids) in
        [("dependencies", linked(tx, project, on, full)?), ("dependents", linked(tx, project, by, full)?)]
    {
        if !ids.is_empty() {
            row[key] = json!(ids);
        }
    }
    let comments = comment::of(tx, project, id)?;
    let shown = if full { comments.len() } else { comments.len().min(5) };
    if comments.len() > shown {
        row["comments_left_out"] = json!(comments.len() - shown);
    }
    if shown > 0 {
        row["comments"] = json!(comments[comments.len() - shown..]);
    }
    if found.issue_type == "epic" {
        let parts = task::children(tx, project, id)?;
        let closed = parts.iter().filter(|part| !part.is_open()).count();
        row["epic_total_children"] = json!(parts.len());
        row["epic_closed_children"] = json!(closed);
        row["epic_closeable"] = json!(!parts.is_empty() && closed == parts.len());
    }
    Ok(())
}

fn linked(
    tx: &mut Tx<'_>,
    project: &str,
    ids: Vec<(String, String)>,
    full: bool,
) -> Result<Vec<Value>, Failure> {
    let mut rows = Vec::with_capacity(ids.len());
    for (id, kind) in ids {
        let mut row = match task::get(tx, project, &id)? {
            Some(other) if full => other.to_json(),
            Some(other) => json!({
                "id": other.task_id, "title": other.title, "status": other.status, "priority": other.priority,
                "agent_role": other.agent_role,
            }),
            None => json!({ "id": id, "missing": true }),
        };
        row["dependency_type"] = json!(kind);
        rows.push(row);
    }
    Ok(rows)
}
