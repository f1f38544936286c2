//! Tasks. What hangs on them has modules of its own.

/// The places of [`BATCH_SIZE`] ids in a statement, after the project's.
macro_rules! many {
    () => {
        "($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, \
         $26, $27, $28, $29, $30, $31, $32, $33)"
    };
}
pub(crate) use many;

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "project_id, task_id, title, description, status, priority, issue_type, assignee, agent_role, \
         labels, created_by, created_at, updated_at, closed_at, close_reason, extra, parent_id, defer_until, \
         estimated_minutes, specialist_tags, agent_context, handoff_instructions, previous_agent, attempts, result, \
         pending_type, woken, claim_token, claim_by, claim_session_id, claim_lease, claim_until, blocked, passes, \
         ready, wait_until, clocks, claim_machine, claim_process, claim_bearer"
    };
}

pub mod comment;
pub mod count;
pub mod dependency;
pub mod line;
pub mod page;

use std::collections::HashMap;

use baton_model::id::identity_key;
use baton_model::session::ProcessLocation;
use baton_model::task::claim::Claim;
use baton_model::task::clock::Clocks;
use baton_model::task::{Readiness, Task};
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::{Value, json, params};
pub use page::{TaskList, page};

/// How many tasks a statement that is asked for several takes at once.
pub const BATCH_SIZE: usize = 32;

/// The parameters of a statement about at most [`BATCH_SIZE`] tasks; the last id stands in the places that are left.
fn many_params(project_id: &str, task_ids: &[&str]) -> Vec<Value> {
    debug_assert!(task_ids.len() <= BATCH_SIZE, "{} ids at once", task_ids.len());
    let last = task_ids.last().copied().unwrap_or_default();
    let ids = task_ids.iter().copied().chain(std::iter::repeat(last)).take(BATCH_SIZE);
    std::iter::once(project_id).chain(ids).map(Value::from).collect()
}

/// Counts by id.
fn counts(rows: Vec<Row>) -> Result<HashMap<String, i64>, Fault> {
    let pair = |row: Row| {
        let mut r = row.reader();
        Ok((r.text()?, r.int()?))
    };
    rows.into_iter().map(pair).collect()
}

/// The columns of a task that every write gives anew, in the order of [`written`].
macro_rules! written {
    () => {
        "title, description, status, priority, issue_type, assignee, agent_role, labels, created_by, created_at, updated_at, \
         closed_at, close_reason, extra, parent_id, defer_until, estimated_minutes, specialist_tags, agent_context, \
         handoff_instructions, previous_agent, attempts, result, pending_type, woken, claim_token, claim_by, \
         claim_session_id, claim_lease, claim_until, clocks, claim_machine, claim_process, claim_bearer"
    };
}

crate::sql! {
    INSERT = concat!("INSERT INTO task (", written!(), ", project_id, task_id, blocked, passes, ready, wait_until)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
        $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40)");
    UPDATE = concat!("UPDATE task SET (", written!(), ") = ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14,
        $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34) WHERE project_id = $35 AND task_id = $36");
    UPDATE_READINESS = "UPDATE task SET blocked = $1, passes = $2, ready = $3, wait_until = $4 WHERE project_id = $5 AND task_id = $6";
    GET = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND task_id = $2");
    OPEN = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND status <> 'closed' AND status <> 'tombstone' ORDER BY priority, created_at, task_id LIMIT $2");
    READY_OF = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND ready = 1 AND assignee IS NOT NULL
        AND LOWER(assignee) = $2 AND wait_until <= $3");
    IDS = "SELECT task_id FROM task WHERE project_id = $1";
    HELD = "SELECT DISTINCT claim_session_id, CASE WHEN claim_until <= $1 THEN task_id END FROM task
        WHERE project_id = $2 AND claim_until > 0 AND (claim_session_id IS NOT NULL OR claim_until <= $3)";
    CLAIMED_IN = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND claim_session_id = $2 AND claim_until > 0");
    CLAIMED = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND claim_until > 0");
    IN_PROGRESS = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND status = 'in_progress'");
    GIVEN_TO = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND claim_until > 0 AND claim_session_id IS NULL AND LOWER(claim_by) = $2");
    CLAIMED_BY = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND claim_until >= 0 AND LOWER(claim_by) = $2 AND status = 'in_progress'");
    CLAIMERS = "SELECT claim_by, COUNT(*) FROM task WHERE project_id = $1 AND claim_until > 0 GROUP BY claim_by";
    CHILDREN = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND parent_id = $2 ORDER BY task_id");
    MARKED_EPHEMERAL = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND status <> 'tombstone'
        AND (extra LIKE '%\"ephemeral\":%' OR extra LIKE '%\"wisp\":%')");
    DUE_DEFERRALS = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND status = 'deferred'
        AND defer_until IS NOT NULL AND defer_until <= $2");
    MENTIONING = concat!("SELECT ", columns!(), " FROM task WHERE project_id = $1 AND status <> 'tombstone'
        AND (title LIKE $2 OR description LIKE $3 OR extra LIKE $4 OR close_reason LIKE $5 OR agent_context LIKE $6)");
    COUNT_OPEN = "SELECT COUNT(*) FROM task WHERE project_id = $1 AND status <> 'closed' AND status <> 'tombstone'";
    BY_PREFIX = "SELECT task_id FROM task WHERE project_id = $1 AND task_id >= $2 AND task_id < $3 ORDER BY task_id LIMIT 5";
}

fn read(row: Row) -> Result<Task, Fault> {
    let mut r = row.reader();
    let mut task = Task {
        project_id: r.text()?,
        task_id: r.text()?,
        title: r.text()?,
        description: r.text()?,
        status: r.text()?,
        priority: r.int()?,
        issue_type: r.text()?,
        assignee: r.opt_text()?,
        agent_role: r.opt_text()?,
        labels: json::read(&r.text()?)?,
        created_by: r.text()?,
        created_at: r.int()?,
        updated_at: r.int()?,
        closed_at: r.opt_int()?,
        close_reason: r.opt_text()?,
        extra: json::read(&r.text()?)?,
        parent_id: r.opt_text()?,
        defer_until: r.opt_int()?,
        estimated_minutes: r.opt_int()?,
        specialist_tags: json::read(&r.text()?)?,
        agent_context: json::read(&r.text()?)?,
        handoff_instructions: json::read(&r.text()?)?,
        previous_agent: r.opt_text()?,
        attempts: r.int()?,
        result: r.opt_text()?,
        pending_type: r.opt_text()?,
        woken: r.bool()?,
        claim_token: r.int()?,
        ..Task::default()
    };
    task.claim = match (r.opt_text()?, r.opt_text()?, r.opt_int()?, r.opt_int()?) {
        (Some(by), session_id, Some(lease_span), Some(until)) => Some(Claim {
            by,
            session_id,
            token: task.claim_token,
            lease_span,
            base_expiry: until,
            location: None,
            access_token_id: None,
        }),
        _ => None,
    };
    task.readiness =
        Readiness { blocked: r.bool()?, passes: r.bool()?, ready: r.bool()?, wait_until: r.int()? };
    task.clocks = Clocks::from_json(&json::read(&r.text()?)?).unwrap_or_default();
    let (machine, process, bearer) = (r.opt_text()?, r.opt_text()?, r.opt_text()?);
    if let Some(claim) = &mut task.claim {
        claim.location = machine.zip(process).map(|(machine, process)| ProcessLocation { machine, process });
        claim.access_token_id = bearer;
    }
    Ok(task)
}

fn read_all(rows: Vec<Row>) -> Result<Vec<Task>, Fault> {
    rows.into_iter().map(read).collect()
}

/// One task.
pub fn get(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Option<Task>, Fault> {
    tx.query_opt(GET, params![project_id, task_id])?.map(read).transpose()
}

/// Tasks that are not closed, by priority, then oldest first; at most `limit`.
pub fn open(tx: &mut Tx<'_>, project_id: &str, limit: i64) -> Result<Vec<Task>, Fault> {
    read_all(tx.query(OPEN, params![project_id, limit])?)
}

/// The tasks of an identity that can be worked on at this instant, in no order.
pub fn ready_of(tx: &mut Tx<'_>, project_id: &str, identity: &str, now: Millis) -> Result<Vec<Task>, Fault> {
    read_all(tx.query(READY_OF, params![project_id, identity_key(identity), now])?)
}

/// The id of every task, in no order.
pub fn ids(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Fault> {
    tx.query(IDS, params![project_id])?.into_iter().map(|row| row.reader().text()).collect()
}

/// Few rows, sorted here: asked for in order, SQLite would go through every task of the project.
fn by_name(mut tasks: Vec<Task>) -> Result<Vec<Task>, Fault> {
    tasks.sort_by(|a, b| a.task_id.cmp(&b.task_id));
    Ok(tasks)
}

/// What may end claims: sessions that hold one whose date has not come, and tasks whose claim's date has come, whatever its
/// session did since. In no order.
pub fn expiring_claims(
    tx: &mut Tx<'_>,
    project_id: &str,
    now: Millis,
) -> Result<(Vec<String>, Vec<String>), Fault> {
    let (mut sessions, mut tasks) = (Vec::new(), Vec::new());
    for row in tx.query(HELD, params![now, project_id, now])? {
        let mut r = row.reader();
        match (r.opt_text()?, r.opt_text()?) {
            (_, Some(task)) => tasks.push(task),
            (Some(session), None) => sessions.push(session),
            (None, None) => {}
        }
    }
    Ok((sessions, tasks))
}

/// The tasks whose texts may hold these words, by id: more than those that do, where they have an underscore or other letters' case.
pub fn mentioning(tx: &mut Tx<'_>, project_id: &str, words: &str) -> Result<Vec<Task>, Fault> {
    let pattern = format!("%{words}%");
    let params = params![project_id, &pattern, &pattern, &pattern, &pattern, &pattern];
    by_name(read_all(tx.query(MENTIONING, params)?)?)
}

/// The tasks that were put off until a time that has come, by id.
pub fn due_deferrals(tx: &mut Tx<'_>, project_id: &str, now: Millis) -> Result<Vec<Task>, Fault> {
    by_name(read_all(tx.query(DUE_DEFERRALS, params![project_id, now])?)?)
}

/// The tasks that are under a claim, by id.
pub fn claimed(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Task>, Fault> {
    by_name(read_all(tx.query(CLAIMED, params![project_id])?)?)
}

/// The tasks that are in progress, under a claim of this ledger or not, by id.
pub fn in_progress(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Task>, Fault> {
    by_name(read_all(tx.query(IN_PROGRESS, params![project_id])?)?)
}

/// The tasks that an identity has under a claim without a session.
pub fn given_to(tx: &mut Tx<'_>, project_id: &str, identity: &str) -> Result<Vec<Task>, Fault> {
    by_name(read_all(tx.query(GIVEN_TO, params![project_id, identity_key(identity)])?)?)
}

/// How many tasks each identity has under a claim, by the name that it claimed with.
pub fn claimers(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<(String, i64)>, Fault> {
    let rows = tx.query(CLAIMERS, params![project_id])?;
    let read = |row: Row| {
        let mut r = row.reader();
        Ok((r.text()?, r.int()?))
    };
    rows.into_iter().map(read).collect()
}

/// The tasks that a session has claimed.
pub fn claimed_in(tx: &mut Tx<'_>, project_id: &str, session_id: &str) -> Result<Vec<Task>, Fault> {
    by_name(read_all(tx.query(CLAIMED_IN, params![project_id, session_id])?)?)
}

/// The parts of a task.
pub fn children(tx: &mut Tx<'_>, project_id: &str, parent_id: &str) -> Result<Vec<Task>, Fault> {
    read_all(tx.query(CHILDREN, params![project_id, parent_id])?)
}

/// The tasks in whose fields the mark of a short life stands, whatever it says.
pub fn marked_ephemeral(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Task>, Fault> {
    read_all(tx.query(MARKED_EPHEMERAL, params![project_id])?)
}

/// How many tasks are not closed.
pub fn count_open(tx: &mut Tx<'_>, project_id: &str) -> Result<usize, Fault> {
    let count = tx.query_one(COUNT_OPEN, params![project_id])?.reader().int()?;
    Ok(usize::try_from(count).unwrap_or_default())
}

/// Ids of up to five tasks that begin so.
pub fn by_prefix(tx: &mut Tx<'_>, project_id: &str, prefix: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(BY_PREFIX, params![project_id, prefix, crate::prefix_end(prefix)])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// The tasks that are claimed under a name, given by its key.
pub fn claimed_by(tx: &mut Tx<'_>, project_id: &str, identity_key: &str) -> Result<Vec<Task>, Fault> {
    read_all(tx.query(CLAIMED_BY, params![project_id, identity_key])?)
}

/// Writes a new task down.
pub fn insert(tx: &mut Tx<'_>, task: &Task) -> Result<(), Fault> {
    let readiness = task.readiness;
    let mut row = columns(task);
    row.extend_from_slice(params![
        &task.project_id,
        &task.task_id,
        readiness.blocked,
        readiness.passes,
        readiness.ready,
        readiness.wait_until
    ]);
    tx.execute_deferred(INSERT, &row)
}

/// Writes everything of a task but its readiness.
pub fn put(tx: &mut Tx<'_>, task: &Task) -> Result<(), Fault> {
    let mut row = columns(task);
    row.extend_from_slice(params![&task.project_id, &task.task_id]);
    tx.execute_deferred(UPDATE, &row)
}

fn columns(task: &Task) -> Vec<Value> {
    let claim = task.claim.clone();
    let place = task.claim.as_ref().and_then(|claim| claim.location.as_ref());
    params![
        &task.title,
        &task.description,
        &task.status,
        task.priority,
        &task.issue_type,
        task.assignee.clone(),
        task.agent_role.clone(),
        json::write(&task.labels),
        &task.created_by,
        task.created_at,
        task.updated_at,
        task.closed_at,
        task.close_reason.clone(),
        json::write(&task.extra),
        task.parent_id.clone(),
        task.defer_until,
        task.estimated_minutes,
        json::write(&task.specialist_tags),
        json::write(&task.agent_context),
        json::write(&task.handoff_instructions),
        task.previous_agent.clone(),
        task.attempts,
        task.result.clone(),
        task.pending_type.clone(),
        task.woken,
        task.claim_token,
        claim.as_ref().map(|c| c.by.clone()),
        claim.as_ref().and_then(|c| c.session_id.clone()),
        claim.as_ref().map(|c| c.lease_span),
        claim.as_ref().map(|c| c.base_expiry),
        json::write(&task.clocks.to_json()),
        place.map(|place| place.machine.clone()),
        place.map(|place| place.process.clone()),
        claim.as_ref().and_then(|c| c.access_token_id.clone()),
    ]
    .to_vec()
}

/// Writes where a task stands.
pub fn put_readiness(tx: &mut Tx<'_>, task: &Task, readiness: Readiness) -> Result<(), Fault> {
    tx.execute_deferred(
        UPDATE_READINESS,
        params![
            readiness.blocked,
            readiness.passes,
            readiness.ready,
            readiness.wait_until,
            &task.project_id,
            &task.task_id,
        ],
    )?;
    Ok(())
}
