//! `task_show`: one task; within the budget of its role, or in full.

use baton_model::id::identity_key;
use baton_model::row_action::{OfferedAction, TaskState, Viewer};
use baton_model::task::bounded::{Surroundings, Unfitted};
use baton_model::task::claim::Claimant;
use baton_model::task::view::{Comment, Fields, View};
use baton_model::task::{Task, bounded, sealed};
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};
use task::{comment, dependency};

use super::answer::{LinkTarget, LinkedTask};
use super::surroundings::of_increment;
use super::write::view_for;
use super::{by_id, secret, with_expiry_applied};
use crate::handoff::{IssueConversation, conversation};
use crate::op::{Cx, Env, Host, Meta, Operation};
use crate::resolve;
use crate::token_rights;

/// Shows a task.
pub struct Show;

/// Input of `task_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that reads it; who may read its encrypted contexts is decided by that.
    #[serde(default)]
    pub identity: Option<String>,
    /// Task id or a unique prefix of one.
    pub id: String,
    /// Everything: whole contexts, every linked task with its fields, every comment.
    #[serde(default)]
    pub full: bool,
    /// Bytes that texts and contexts may have when it is not in full; else by role: 2048 to build or mend, 1024 to test, 512
    /// to verify.
    #[serde(default)]
    pub budget: Option<usize>,
    /// Say what the identity of this name can do with it, the first thing first.
    #[serde(default)]
    pub actions_for: Option<String>,
}

/// Answer of `task_show`: the task, what it depends on, what depends on it, and comments.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ShowOutput {
    /// The task.
    #[serde(flatten)]
    pub task: View,
    /// Its contexts are encrypted where they are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<bool>,
    /// What the budget left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// What it depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<LinkedTask>,
    /// What depends on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependents: Vec<LinkedTask>,
    /// How many older comments are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments_left_out: Option<usize>,
    /// Comments, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub comments: Vec<Comment>,
    /// Of a hand-off's task: what people said and changed under its issue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<IssueConversation>,
    /// Of an epic: how many parts it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epic_total_children: Option<usize>,
    /// Of an epic: how many of them are closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epic_closed_children: Option<usize>,
    /// Of an epic: whether all of them are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epic_closeable: Option<bool>,
    /// What the one who looks can do with it, the first thing first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<OfferedAction>,
    /// The budget is the client's to apply, which has decrypted the contexts.
    #[serde(rename = "baton:unfitted", skip_serializing_if = "Option::is_none")]
    pub unfitted: Option<Box<Unfitted>>,
}

impl ShowOutput {
    /// Applies the budget where the server left that to the client, which has decrypted the contexts.
    pub fn truncate(&mut self) {
        if let Some(unfitted) = self.unfitted.take() {
            bound(self, &unfitted.packet(), unfitted.budget);
        }
    }
}

impl<'de> Deserialize<'de> for ShowOutput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self {
            sensitive: fields.take("sensitive"),
            left_out: fields.take("left_out").unwrap_or_default(),
            dependencies: fields.take("dependencies").unwrap_or_default(),
            dependents: fields.take("dependents").unwrap_or_default(),
            comments_left_out: fields.take("comments_left_out"),
            comments: fields.take("comments").unwrap_or_default(),
            conversation: fields.take("conversation"),
            epic_total_children: fields.take("epic_total_children"),
            epic_closed_children: fields.take("epic_closed_children"),
            epic_closeable: fields.take("epic_closeable"),
            actions: fields.take("actions").unwrap_or_default(),
            unfitted: fields.take("baton:unfitted"),
            task: fields.into_view()?,
        })
    }
}

impl Operation for Show {
    const META: Meta =
        Meta::read("task_show", "Show a task, within the budget of its role or in full").reads_tasks();
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        // A reader of a sensitive task gets its contexts decrypted; other callers see only for which identities it is
        // encrypted.
        let reader = match &input.identity {
            Some(name) => Some(resolve::identity(cx.env.caller, Some(name))?),
            None => resolve::identity(cx.env.caller, None).ok(),
        };
        let Cx { store, env } = cx;
        let host = env.host;
        store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let found = by_id(tx, &project_id, &input.id)?;
            let mut found = with_expiry_applied(tx, env, found)?;
            let sensitive = sealed::is_sensitive(&found);
            if let Some(reader) = reader.as_deref().filter(|_| sensitive)
                && token_rights::require_name_available(tx, env, &project_id, reader).is_ok()
            {
                let mut plain = found.clone();
                if secret::open(host, &mut plain, reader).is_ok() {
                    found = plain;
                }
            }
            let grant = &env.caller.grant;
            let actions_of = |name: &str| {
                let mut actions = TaskState::of(&found).actions(Viewer(&identity_key(name)));
                actions.retain(|one| one.is_permitted(grant));
                actions
            };
            let mut shown = ShowOutput {
                task: row_for(env, &found, reader.as_deref()),
                sensitive: sensitive.then_some(true),
                actions: input.actions_for.as_deref().map(actions_of).unwrap_or_default(),
                ..ShowOutput::default()
            };
            // Comments are shown beside it.
            let beside = of_increment(tx, &found)?;
            if input.full {
                add_of_increment(&mut shown.task, beside);
            } else {
                let budget = input.budget.unwrap_or_else(|| bounded::budget_of(found.agent_role.as_deref()));
                match Unfitted::of(&found, &beside, budget) {
                    Some(unfitted) => shown.unfitted = Some(Box::new(unfitted)),
                    None => bound(&mut shown, &bounded::packet(&found, &beside, budget), budget),
                }
            }
            links(tx, env, &found, &mut shown, input.full)?;
            shown.conversation = conversation::of_task(tx, &found, input.full)?;
            let reader = reader
                .filter(|name| token_rights::require_name_available(tx, env, &project_id, name).is_ok());
            shown
                .comments
                .iter_mut()
                .for_each(|comment| open_comment(host, comment, &project_id, reader.as_deref()));
            Ok(shown)
        })
    }
}

/// Decrypts a comment that is encrypted for its readers; another caller sees for whom.
fn open_comment(host: &dyn Host, comment: &mut Comment, project_id: &str, reader: Option<&str>) {
    let readers: Vec<String> = comment
        .0
        .get("readers")
        .and_then(|names| serde_json::from_value(names.clone()).ok())
        .unwrap_or_default();
    let Some(Value::String(text)) = comment.0.get_mut("text") else { return };
    if sealed::is_encrypted(text) {
        let reader = reader.filter(|name| readers.iter().any(|known| known.eq_ignore_ascii_case(name)));
        let plain = reader.and_then(|name| host.decrypt(project_id, name, text).ok());
        *text = plain.unwrap_or_else(|| format!("(encrypted for {})", readers.join(", ")));
    }
}

/// The task as the caller sees it. The token of a claim is shown in the claim's own name; a name that an access token is not bound
/// to is not that of its client.
fn row_for(env: &Env<'_>, found: &Task, reader: Option<&str>) -> View {
    let caller = env.caller;
    let Some(identity) = reader else { return View::from(found) };
    let bearer = caller.grant.bearer.as_ref();
    if bearer.is_some_and(|bearer| bearer.identities.is_none() && identity != bearer.actor()) {
        return View::from(found);
    }
    let asker = Claimant {
        identity,
        session_id: caller.session.as_deref(),
        location: Some(&caller.location),
        token: None,
        is_local: bearer.is_none(),
        holder_ended: false,
    };
    view_for(found, &asker)
}

/// Fields beside the columns of a task that a packet has.
const IN_PACKET: [&str; 4] = ["acceptance_criteria", "what_to_build", "design", "notes"];

/// Puts to a task what its increment says in its place.
fn add_of_increment(task: &mut View, beside: Surroundings) {
    let texts =
        [("what_to_build", beside.what_to_build), ("acceptance_criteria", beside.acceptance_criteria)];
    for (key, text) in texts {
        task.rest.extend(text.map(|text| (key.to_owned(), json!(text))));
    }
}

/// Replaces the texts and contexts by what the budget leaves of them; what is left out is named.
fn bound(shown: &mut ShowOutput, packet: &Value, budget: usize) {
    let text = |key: &str| packet[key].as_str().unwrap_or_default().to_owned();
    let context = |key: &str| packet[key].as_object().cloned();
    let task = &mut shown.task;
    (task.title, task.description) = (text("title"), text("description"));
    task.agent_context = context("agent_context");
    task.handoff_instructions = context("handoff_instructions");
    for key in IN_PACKET {
        match packet.get(key) {
            Some(value) => _ = task.rest.insert(key.to_owned(), value.clone()),
            None => _ = task.rest.shift_remove(key),
        }
    }
    // Failed attempts are shown with all that is known of them.
    let left = packet["left_out"].as_array().into_iter().flatten().filter_map(Value::as_str);
    shown.left_out = left.filter(|left| !left.ends_with("failed_attempts")).map(str::to_owned).collect();
    let mut room = budget.saturating_sub(packet.to_string().len());
    task.rest.retain(|key, value| {
        let size = value.to_string().len();
        let is_left_out = size > room && size > 64 && !IN_PACKET.contains(&key.as_str());
        if is_left_out {
            shown.left_out.push(key.clone());
        } else if !IN_PACKET.contains(&key.as_str()) {
            room = room.saturating_sub(size);
        }
        !is_left_out
    });
}

fn links(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    found: &Task,
    shown: &mut ShowOutput,
    full: bool,
) -> Result<(), Failure> {
    let (project, id) = (&found.project_id, &found.task_id);
    let on = dependency::dependencies_of(tx, project, id)?
        .into_iter()
        .map(|edge| (edge.depends_on_id, edge.kind))
        .collect();
    let by = dependency::dependents_of(tx, project, id)?
        .into_iter()
        .map(|edge| (edge.task_id, edge.kind))
        .collect();
    shown.dependencies = linked(tx, env, (project, on), full)?;
    shown.dependents = linked(tx, env, (project, by), full)?;
    let mut comments = comment::of(tx, project, id)?;
    let over = if full { 0 } else { comments.len().saturating_sub(5) };
    shown.comments_left_out = Some(over).filter(|over| *over > 0);
    shown.comments = comments.drain(over..).map(Comment).collect();
    if found.issue_type == "epic" {
        let parts = task::children(tx, project, id)?;
        let closed = parts.iter().filter(|part| !part.is_open()).count();
        shown.epic_total_children = Some(parts.len());
        shown.epic_closed_children = Some(closed);
        shown.epic_closeable = Some(!parts.is_empty() && closed == parts.len());
    }
    Ok(())
}

fn linked(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (project, ids): (&str, Vec<(String, String)>),
    full: bool,
) -> Result<Vec<LinkedTask>, Failure> {
    let mut rows = Vec::with_capacity(ids.len());
    for (id, kind) in ids {
        let other = task::get(tx, project, &id)?;
        let other = other.map(|other| with_expiry_applied(tx, env, other)).transpose()?;
        let task = match other {
            Some(other) if full => LinkTarget::Whole(Box::new(View::from(&other))),
            Some(other) => LinkTarget::Head {
                id: other.task_id,
                title: other.title,
                status: other.status,
                priority: other.priority,
                agent_role: other.agent_role,
            },
            None => LinkTarget::Missing { id, missing: true },
        };
        rows.push(LinkedTask { task, dependency_type: kind });
    }
    Ok(rows)
}
