//! `session_checkpoint`: save without ending.

use baton_model::delta::Kind;
use baton_model::id::{identity_key, is_shared_name, visible};
use baton_model::refusal::{self, Refusal};
use baton_model::session::Session;
use baton_store::state::SavedState;
use baton_store::{Failure, Tx, session, state};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{follow_process, working_copy};
use crate::ledger::{Author, append_json, keep_late_note};
use crate::op::{Cx, Env, Meta, Operation};
use crate::ownership::is_at_work;
use crate::resolve;

/// The largest state accepted, in bytes of JSON text.
const MAX_STATE: usize = 256 * 1024;

/// Saves without ending.
pub struct Checkpoint;

/// Input of `session_checkpoint`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckpointInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that saves.
    #[serde(default)]
    pub identity: Option<String>,
    /// Session that saves; else the identity's one open session.
    #[serde(default)]
    pub session: Option<String>,
    /// The state to keep, an object; it replaces the one before. Left out: the state stays.
    #[serde(default)]
    pub state: Option<Value>,
    /// The task that the state belongs to, such as a seeded one's; else the identity's own state.
    #[serde(default)]
    pub task: Option<String>,
    /// What has been done, in a sentence.
    #[serde(default)]
    pub summary: Option<String>,
    /// The version that the caller has seen; another one is refused.
    #[serde(default)]
    pub expected_version: Option<i64>,
}

/// Answer of `session_checkpoint`.
#[derive(Serialize, Deserialize)]
pub struct CheckpointOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: String,
    /// The ledger entry that records it.
    pub delta_id: String,
    /// Version of the saved state.
    pub state_version: i64,
}

/// What the transaction came to: an answer, or a late call of a released session whose words were kept as a note.
enum CheckpointResult {
    Saved(CheckpointOutput),
    Late(Refusal),
}

impl Operation for Checkpoint {
    const META: Meta =
        Meta::write("session_checkpoint", "Save the state of a session without ending it").changes_tasks();
    type Input = CheckpointInput;
    type Output = CheckpointOutput;

    fn run(input: CheckpointInput, cx: &mut Cx<'_>) -> Result<CheckpointOutput, Failure> {
        check(&input)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        match store.write(&[&project_id], |tx| save(tx, env, &input, &project_id))? {
            CheckpointResult::Saved(output) => Ok(output),
            CheckpointResult::Late(refusal) => Err(refusal.into()),
        }
    }
}

fn check(input: &CheckpointInput) -> Result<(), Refusal> {
    if let Some(task) = &input.task {
        baton_model::id::check_label("task", task)?;
    }
    let refuse = |what: &str, hint: &str| Err(Refusal::invalid("state_invalid", what, hint));
    match &input.state {
        Some(state) if !state.is_object() => {
            refuse("the state is not a JSON object", "give an object, such as {\"next_action\": …}")
        }
        Some(state) if state.to_string().len() > MAX_STATE => {
            refuse("the state has over 256 KiB", "keep large things in files and name them")
        }
        None if input.summary.is_none() => {
            refuse("there is nothing to save", "give --state, --summary or both")
        }
        _ => Ok(()),
    }
}

/// `Bot` is many agents: each keeps a state of its own.
pub(super) fn task_key(session: &Session) -> String {
    if is_shared_name(&session.identity) { format!("session:{}", session.session_id) } else { String::new() }
}

fn save(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &CheckpointInput,
    project_id: &str,
) -> Result<CheckpointResult, Failure> {
    resolve::require(tx, project_id)?;
    let mut own = resolve::acting(tx, env, project_id, input.session.as_deref(), input.identity.as_deref())?;
    let body = json!({ "summary": input.summary, "state": input.state });
    if !own.is_open() {
        let mut late = body;
        if let Some(task) = &input.task {
            late["task"] = json!(task);
        }
        let note = json!({ "text": "checkpoint of a released session", "late_checkpoint": late });
        return Ok(CheckpointResult::Late(keep_late_note(tx, env, &own, (&note, &note))?));
    }
    let key = input.task.clone().unwrap_or_else(|| task_key(&own));
    let known = saved_before(tx, &own, (input.task.is_some(), &key))?;
    let version = known.as_ref().map_or(0, |state| state.version);
    if let Some(expected) = input.expected_version
        && expected != version
    {
        return Err(version_conflict_refusal(expected, version).into());
    }
    require_own_state(tx, env, &own, (input, known.as_ref()))?;
    let version = match &input.state {
        Some(state) => {
            let state = SavedState {
                identity: known.as_ref().map_or(&own.identity, |known| &known.identity).clone(),
                task_key: key,
                session_id: own.session_id.clone(),
                version: tx.next_number(project_id, version)?,
                body: state.to_string(),
                updated_at: env.now,
                handoff_id: known.as_ref().and_then(|known| known.handoff_id.clone()),
                claimed_at: known.as_ref().and_then(|known| known.claimed_at).or(Some(env.now)),
            };
            state::put(tx, project_id, &state)?;
            state.version
        }
        None => version,
    };
    let mut body = body;
    body["state_version"] = json!(version);
    let delta = append_json(tx, env, &Author::session(&own), Kind::Checkpoint, &body)?;
    follow_process(tx, env, &mut own)?;
    own.heartbeat_at = env.now;
    Checkpoint::NAME.clone_into(&mut own.last_verb);
    session::put(tx, &own)?;
    working_copy::refresh(tx, env, &mut own)?;
    Ok(CheckpointResult::Saved(CheckpointOutput {
        project_id: project_id.to_owned(),
        identity: own.identity,
        session_id: own.session_id,
        delta_id: delta.delta_id,
        state_version: version,
    }))
}

/// The state under this key that the session goes on with: its name's, else the one that was seeded for a hand-off in another name, such as
/// its role's, and that this session took on.
fn saved_before(
    tx: &mut Tx<'_>,
    own: &Session,
    (is_named, key): (bool, &str),
) -> Result<Option<SavedState>, Failure> {
    let known = state::get(tx, &own.project_id, &own.identity, key)?;
    if known.is_some() || !is_named {
        return Ok(known);
    }
    for state in state::seeded(tx, &own.project_id, key)? {
        if is_seed_of(tx, own, &state)? {
            return Ok(Some(state));
        }
    }
    Ok(None)
}

/// Whether a state was seeded for a hand-off and taken on by this session, or by one of its name before it.
fn is_seed_of(tx: &mut Tx<'_>, own: &Session, state: &SavedState) -> Result<bool, Failure> {
    if state.task_key.is_empty() || state.handoff_id.is_none() || state.claimed_at.is_none() {
        return Ok(false);
    }
    if state.session_id == own.session_id {
        return Ok(true);
    }
    let by = session::get(tx, &own.project_id, &state.session_id)?;
    let is_of_name = by.is_some_and(|by| identity_key(&by.identity) == identity_key(&own.identity));
    Ok(is_of_name && !is_shared_name(&own.identity))
}

/// Refuses to replace the state of a task that another caller without a name has saved and is at work on: both have the same name, under
/// which a task has one state. Who gives the version has seen the state.
fn require_own_state(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    own: &Session,
    (input, known): (&CheckpointInput, Option<&SavedState>),
) -> Result<(), Failure> {
    let replaces = input.task.is_some() && input.state.is_some() && input.expected_version.is_none();
    let known = known.filter(|known| replaces && known.session_id != own.session_id);
    let Some(known) = known.filter(|_| is_shared_name(&own.identity)) else { return Ok(()) };
    let other = session::get(tx, &own.project_id, &known.session_id)?;
    match other.filter(|other| other.is_open() && is_at_work(env, other)) {
        Some(other) => Err(state_held_refusal(env, &other, known).into()),
        None => Ok(()),
    }
}

fn state_held_refusal(env: &Env<'_>, other: &Session, known: &SavedState) -> Refusal {
    let task = visible(&known.task_key);
    let what = format!(
        "the state of task {task} was saved by {}, {}, who is at work on it",
        other.describe(env.now),
        other.location.describe()
    );
    let hint = format!(
        "say who you are and save again: a session under a name (`baton start --as NAME`, or `identity`) has a state of its own for each \
         task; to go on with the other's, read it (`baton resolve --task {task}`) and save with `expected_version` {}",
        known.version
    );
    Refusal::new(refusal::Kind::Conflict, "state_held", what, hint)
        .with("task", known.task_key.as_str())
        .with("holder_session_id", other.session_id.as_str())
        .with("holder_process", other.location.process.as_str())
        .with("holder_machine", other.location.machine.as_str())
        .with("current_version", known.version)
}

fn version_conflict_refusal(expected: i64, current: i64) -> Refusal {
    Refusal::new(
        refusal::Kind::Conflict,
        "version_conflict",
        format!("the state is at version {current}, not {expected}"),
        "read the newer state, merge, and save with its version",
    )
    .with("expected_version", expected)
    .with("current_version", current)
}
