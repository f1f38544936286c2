//! `task_update`: change a task; what is left out stays.

use baton_model::id::check_label;
use baton_model::refusal::Refusal;
use baton_model::route;
use baton_model::task::reserved::check_extra;
use baton_model::task::{Task, patch, word};
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answer::TaskAnswer;
use super::assignee::{check_assignee, require_owner, tell_assignee};
use super::comment::LateComment;
use super::depend::{check_no_parent, set_parent};
use super::secret::{self, Secret, TaskWrite};
use super::write::{TaskRequest, answer, change, check_and_renew_lease, reload, write_or_keep};
use super::{by_id_to_change, close, follow_up, instant};
use crate::force_request::ForceRequest;
use crate::handoff::acceptor::require_task_acceptor;
use crate::handoff::claimant::require_unexpired;
use crate::ledger::Author;
use crate::op::{Cx, Env, Meta, Operation};
use crate::roles;

/// Changes a task.
pub struct Update;

/// Input of `task_update`; what is left out stays, an empty text takes a field away.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpdateInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that changes it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Task id or a unique prefix of one.
    pub id: String,
    /// The fencing token of the claim: the write is refused when the lease is lost.
    #[serde(default)]
    pub token: Option<i64>,
    /// One line of at most 500 bytes.
    #[serde(default)]
    pub title: Option<String>,
    /// What is to be done.
    #[serde(default)]
    pub description: Option<String>,
    /// How it is to be built.
    #[serde(default)]
    pub design: Option<String>,
    /// When it counts as done.
    #[serde(default)]
    pub acceptance_criteria: Option<String>,
    /// Anything else.
    #[serde(default)]
    pub notes: Option<String>,
    /// A line to be added to the notes.
    #[serde(default)]
    pub append_notes: Option<String>,
    /// `open`, `in_progress`, `blocked`, `deferred`, `closed`, `pinned` or `hooked`.
    #[serde(default)]
    pub status: Option<String>,
    /// Why it is closed.
    #[serde(default)]
    pub close_reason: Option<String>,
    /// 0 (now) to 4 (some day).
    #[serde(default)]
    pub priority: Option<i64>,
    /// `task`, `bug`, `feature`, …
    #[serde(default)]
    pub issue_type: Option<String>,
    /// Who works on it.
    #[serde(default)]
    pub assignee: Option<String>,
    /// Who has it, as the caller knows: its holder, else its assignee; empty where nobody has. Refused before anything is written where
    /// another has it by now.
    #[serde(default)]
    pub holder: Option<String>,
    /// Which role it wants.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// Labels, in place of those before.
    #[serde(default)]
    pub labels: Option<Vec<String>>,
    /// Labels to be added.
    #[serde(default)]
    pub add_labels: Vec<String>,
    /// Labels to be taken away.
    #[serde(default)]
    pub remove_labels: Vec<String>,
    /// What its agent has to be good at, in place of what was said before.
    #[serde(default)]
    pub specialist_tags: Option<Vec<String>>,
    /// How long it may take, in minutes.
    #[serde(default)]
    pub estimated_duration: Option<i64>,
    /// The task that it is a part of, in the place of the one before; an empty text: of none.
    #[serde(default)]
    pub parent: Option<String>,
    /// When it is due: RFC 3339, a date, or a span from now.
    #[serde(default)]
    pub due: Option<String>,
    /// Not to be offered before: RFC 3339, a date, or a span from now.
    #[serde(default)]
    pub defer: Option<String>,
    /// Where else it is kept.
    #[serde(default)]
    pub external_ref: Option<String>,
    /// What was done: replaces what was there, or is merged into it key by key with `merge`; at most 16 KiB as JSON.
    #[serde(default)]
    pub agent_context: Option<Map<String, Value>>,
    /// What the next one needs to know: as `agent_context`.
    #[serde(default)]
    pub handoff_instructions: Option<Map<String, Value>>,
    /// Merge the two objects (RFC 7396: key by key, null takes a key away) in place of replacing them.
    #[serde(default)]
    pub merge: bool,
    /// Encrypt the two objects from now on, for all whose keys are listed; without it they stay as they are, encrypted or not.
    #[serde(default)]
    pub sensitive: bool,
    /// Who did the work before.
    #[serde(default)]
    pub previous_agent: Option<String>,
    /// Other fields, set one by one; null takes one away. Those that have a field here, or that Baton sets itself, are refused.
    #[serde(default)]
    pub extra: Map<String, Value>,
}

/// Answer of `task_update`: the task.
#[derive(Serialize, Deserialize)]
pub struct UpdateOutput {
    /// The task.
    #[serde(flatten)]
    pub task: TaskAnswer,
}

impl Operation for Update {
    const META: Meta = Meta::write("task_update", "Change a task; what is left out stays")
        .changes_tasks()
        .reads_tasks()
        .encrypts(&["agent_context", "handoff_instructions"]);
    type Input = UpdateInput;
    type Output = UpdateOutput;

    fn run(input: UpdateInput, cx: &mut Cx<'_>) -> Result<UpdateOutput, Failure> {
        check_extra(&input.extra)?;
        let labels = input.labels.iter().flatten().chain(&input.add_labels);
        for label in labels.chain(input.specialist_tags.iter().flatten()).chain(input.agent_role.iter()) {
            if !(label.is_empty() && input.agent_role.as_deref() == Some("")) {
                check_label("label", label)?;
            }
        }
        roles::check(cx, input.project.as_deref(), input.agent_role.as_deref())?;
        let secret = secret(cx, &input)?;
        let (project, identity) = (input.project.as_deref(), input.identity.as_deref());
        let wanted = TaskRequest { project, identity, verb: Self::NAME, id: &input.id };
        let words = |_: &mut Tx<'_>, _: &Author<'_>| LateComment::reason(input.close_reason.as_deref(), true);
        let task = write_or_keep(cx, &wanted, words, |tx, env, author| {
            attempt(tx, env, author, &input, secret.as_ref())
        })?;
        Ok(UpdateOutput { task })
    }
}

pub(super) fn attempt(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    input: &UpdateInput,
    secret: Option<&Secret>,
) -> Result<TaskAnswer, Failure> {
    // A batch makes its inputs itself.
    check_extra(&input.extra)?;
    check_assignee(input.assignee.as_deref())?;
    let known = by_id_to_change(tx, author.project_id, &input.id)?;
    require_owner(&known, input.holder.as_deref())?;
    if input.parent.as_deref() == Some("") {
        check_no_parent(&known)?;
    }
    let mut held = known.clone();
    check_and_renew_lease(tx, env, author, &mut held, input.token)?;
    let mut wanted = apply(held, input, env.now)?;
    if let Some(secret) = secret {
        secret.put(&known, &mut wanted)?;
    }
    if input.status.is_some() || input.assignee.is_some() || !wanted.is_open() {
        require_task_acceptor(tx, env, &known, author.identity, ForceRequest::default())?;
    }
    let mut task = if known.is_open() && !wanted.is_open() {
        require_unexpired(tx, env, &known)?;
        close::refuse_open_parts(tx, &known)?;
        close::close(tx, env, author, &known, wanted, None)?.0
    } else {
        let what = if known.status == wanted.status {
            "changed".to_owned()
        } else {
            format!("is now {}", wanted.status)
        };
        let changed = change(tx, env, author, &known, wanted, &what)?;
        follow_up::notify_followers(tx, env, author, (&known, &changed))?;
        tell_assignee(tx, env, author, (&known, &changed))?;
        changed
    };
    if let Some(parent) = &input.parent {
        set_parent(tx, env, author, &task, parent)?;
        task = reload(tx, task)?;
    }
    Ok(answer(&task, env, author))
}

/// The contexts of a sensitive task, where the update touches them.
fn secret(cx: &mut Cx<'_>, input: &UpdateInput) -> Result<Option<Secret>, Failure> {
    if !input.sensitive && input.agent_context.is_none() && input.handoff_instructions.is_none() {
        return Ok(None);
    }
    let (project, identity) = (input.project.as_deref(), input.identity.as_deref());
    let target = TaskWrite { project, identity, id: &input.id, sensitive: input.sensitive };
    secret::changed(cx, &target, |task| contexts(task, input))
}

fn set<T: Clone>(field: &mut T, new: Option<&T>) {
    if let Some(new) = new {
        field.clone_from(new);
    }
}

fn set_or_clear(field: &mut Option<String>, new: Option<&String>) {
    match new.map(String::as_str) {
        None => {}
        Some("") => *field = None,
        Some(text) => *field = Some(text.to_owned()),
    }
}

fn apply(mut task: Task, input: &UpdateInput, now: i64) -> Result<Task, Refusal> {
    set(&mut task.title, input.title.as_ref());
    set(&mut task.description, input.description.as_ref());
    set(&mut task.priority, input.priority.as_ref());
    set(&mut task.labels, input.labels.as_ref());
    set(&mut task.specialist_tags, input.specialist_tags.as_ref());
    if let Some(word) = &input.issue_type {
        word::full_type(word).clone_into(&mut task.issue_type);
    }
    task.estimated_minutes = input.estimated_duration.or(task.estimated_minutes);
    set_or_clear(&mut task.assignee, input.assignee.as_ref());
    set_or_clear(&mut task.agent_role, input.agent_role.as_ref());
    set_or_clear(&mut task.previous_agent, input.previous_agent.as_ref());
    for label in &input.add_labels {
        if !task.labels.contains(label) {
            task.labels.push(label.clone());
        }
    }
    task.labels.retain(|label| !input.remove_labels.contains(label));
    contexts(&mut task, input);
    extras(&mut task, input, now)?;
    match input.defer.as_deref() {
        None => {}
        Some("") => task.defer_until = None,
        Some(text) => task.defer_until = Some(instant("defer", text, now)?),
    }
    if let Some(status) = &input.status {
        word::check_status(status)?;
        // Put off anew without a time, it is put off until it is taken up.
        if status == "deferred" && input.defer.is_none() && task.defer_until.is_some_and(|until| until <= now)
        {
            task.defer_until = None;
        }
        let was_given_up = !task.is_open() || task.status == "blocked";
        task.set_status(status, now);
        if was_given_up && status == "open" {
            route::reopen(&mut task);
        }
        if status != "in_progress" {
            task.claim = None;
        }
    }
    if !task.is_open() {
        set_or_clear(&mut task.close_reason, input.close_reason.as_ref());
    }
    Ok(task)
}

fn contexts(task: &mut Task, input: &UpdateInput) {
    let pairs = [
        (&mut task.agent_context, &input.agent_context),
        (&mut task.handoff_instructions, &input.handoff_instructions),
    ];
    for (field, new) in pairs {
        match new {
            Some(new) if input.merge => patch::merge(field, new),
            Some(new) => field.clone_from(new),
            None => {}
        }
    }
}

fn extras(task: &mut Task, input: &UpdateInput, now: i64) -> Result<(), Refusal> {
    let put = |extra: &mut Map<String, Value>, key: &str, value: Value| match value {
        Value::Null => _ = extra.shift_remove(key),
        value => _ = extra.insert(key.to_owned(), value),
    };
    let texts = [
        ("design", &input.design),
        ("acceptance_criteria", &input.acceptance_criteria),
        ("notes", &input.notes),
        ("external_ref", &input.external_ref),
    ];
    for (key, text) in texts {
        match text.as_deref() {
            None => {}
            Some("") => put(&mut task.extra, key, Value::Null),
            Some(text) => put(&mut task.extra, key, json!(text)),
        }
    }
    match input.due.as_deref() {
        None => {}
        Some("") => put(&mut task.extra, "due_at", Value::Null),
        Some(text) => put(&mut task.extra, "due_at", json!(rfc3339(instant("due", text, now)?))),
    }
    for (key, value) in &input.extra {
        let merged = match (task.extra.get(key), value) {
            (Some(Value::Object(known)), Value::Object(new)) if input.merge => {
                let mut merged = known.clone();
                patch::merge(&mut merged, new);
                Value::Object(merged)
            }
            // Of what is not there, nothing can be taken away.
            (known, Value::Object(new)) if input.merge => {
                let mut merged = Map::new();
                patch::merge(&mut merged, new);
                if known.is_none() && merged.is_empty() {
                    continue;
                }
                Value::Object(merged)
            }
            _ => value.clone(),
        };
        put(&mut task.extra, key, merged);
    }
    if let Some(line) = &input.append_notes {
        let notes = task.extra.get("notes").and_then(Value::as_str).unwrap_or_default();
        let joined = if notes.is_empty() { line.clone() } else { format!("{notes}\n{line}") };
        task.extra.insert("notes".into(), json!(joined));
    }
    Ok(())
}
