//! Hand-offs between projects.

use baton_model::handoff::{Handoff, State};
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "handoff_id, state, subject, from_project_id, to_project_id, from_identity, to_identity, to_role, \
         packet, task_id, tracker, issues_repo, issue_number, memory_id, session_id, agent_id, seed_task_id, \
         plan, expires_at, result, last_error, created_at, updated_at"
    };
}

// The key of an addressee is an identity, or the address of a role; empty for all.
crate::sql! {
    INSERT = "INSERT INTO handoff (handoff_id, state, subject, from_project_id, to_project_id, from_identity, to_identity,
        to_role, packet, task_id, tracker, issues_repo, issue_number, memory_id, session_id, agent_id, seed_task_id, plan,
        expires_at, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)";
    UPDATE = "UPDATE handoff SET state = $1, task_id = $2, result = $3, last_error = $4, updated_at = $5, tracker = $6,
        issues_repo = $7, issue_number = $8, memory_id = $9, session_id = $10, plan = $11 WHERE handoff_id = $12";
    GET = concat!("SELECT ", columns!(), " FROM handoff WHERE handoff_id = $1");
    OF_PROJECT = concat!("SELECT ", columns!(), " FROM handoff WHERE to_project_id = $1 OR from_project_id = $2 ORDER BY created_at DESC, handoff_id DESC");
    OLDER = concat!("SELECT ", columns!(), " FROM handoff WHERE (created_at, handoff_id) < ($1, $2) AND ($3 = '' OR LOWER(to_identity) = $3
        OR 'role:' || LOWER(to_role) = $3)
        ORDER BY created_at DESC, handoff_id DESC LIMIT $4");
    OLDER_IN_STATE = concat!("SELECT ", columns!(), " FROM handoff WHERE state = $1 AND (created_at, handoff_id) < ($2, $3)
        AND ($4 = '' OR LOWER(to_identity) = $4
        OR 'role:' || LOWER(to_role) = $4) ORDER BY created_at DESC, handoff_id DESC LIMIT $5");
    NEWER = concat!("SELECT ", columns!(), " FROM handoff WHERE (created_at, handoff_id) > ($1, $2) AND ($3 = '' OR LOWER(to_identity) = $3
        OR 'role:' || LOWER(to_role) = $3)
        ORDER BY created_at, handoff_id LIMIT $4");
    NEWER_IN_STATE = concat!("SELECT ", columns!(), " FROM handoff WHERE state = $1 AND (created_at, handoff_id) > ($2, $3)
        AND ($4 = '' OR LOWER(to_identity) = $4
        OR 'role:' || LOWER(to_role) = $4) ORDER BY created_at, handoff_id LIMIT $5");
    OF_PROJECT_OLDER = concat!("SELECT ", columns!(), " FROM handoff WHERE (to_project_id = $1 OR from_project_id = $1)
        AND (created_at, handoff_id) < ($2, $3) AND ($4 = '' OR state = $4) AND ($5 = '' OR LOWER(to_identity) = $5
        OR 'role:' || LOWER(to_role) = $5)
        ORDER BY created_at DESC, handoff_id DESC LIMIT $6");
    OF_PROJECT_NEWER = concat!("SELECT ", columns!(), " FROM handoff WHERE (to_project_id = $1 OR from_project_id = $1)
        AND (created_at, handoff_id) > ($2, $3) AND ($4 = '' OR state = $4) AND ($5 = '' OR LOWER(to_identity) = $5
        OR 'role:' || LOWER(to_role) = $5)
        ORDER BY created_at, handoff_id LIMIT $6");
    COUNTS = "SELECT from_project_id, to_project_id, state, COUNT(*) FROM handoff WHERE ($1 = '' OR LOWER(to_identity) = $1
        OR 'role:' || LOWER(to_role) = $1)
        GROUP BY from_project_id, to_project_id, state";
    SET_SENDER = "UPDATE handoff SET from_project_id = $1 WHERE handoff_id = $2";
    BY_ISSUE = concat!("SELECT ", columns!(), " FROM handoff WHERE issues_repo = $1 AND issue_number = $2 ORDER BY created_at, handoff_id LIMIT 1");
    BY_TASK = concat!("SELECT ", columns!(), " FROM handoff WHERE to_project_id = $1 AND task_id = $2 ORDER BY created_at DESC, handoff_id DESC LIMIT 1");
    EXPIRED = "SELECT handoff_id FROM handoff WHERE expires_at IS NOT NULL AND expires_at <= $1 AND state = 'offered' ORDER BY expires_at LIMIT $2";
    OPEN_REPOS = "SELECT DISTINCT issues_repo FROM handoff WHERE issue_number IS NOT NULL AND (state IN ('offered', 'accepted')
        OR (state NOT IN ('planned', 'pending') AND updated_at >= $1)) ORDER BY issues_repo";
    WITH_ISSUE = "SELECT handoff_id FROM handoff WHERE issues_repo = $1 AND issue_number IS NOT NULL ORDER BY handoff_id";
    ISSUES_IN_REPO = "SELECT issue_number, handoff_id, created_at FROM handoff WHERE issues_repo = $1 AND issue_number IS NOT NULL
        ORDER BY issue_number, created_at, handoff_id";
    WITHOUT_TASK = "SELECT handoff_id FROM handoff WHERE $1 IN (from_project_id, to_project_id) AND tracker = 'local'
        AND state IN ('offered', 'accepted') AND task_id IS NOT NULL
        AND EXISTS (SELECT 1 FROM project WHERE project.project_id = handoff.to_project_id)
        AND NOT EXISTS (SELECT 1 FROM task WHERE task.project_id = handoff.to_project_id AND task.task_id = handoff.task_id)
        ORDER BY handoff_id";
    ACCEPTED = concat!("SELECT ", columns!(), " FROM handoff WHERE to_project_id = $1 AND state = 'accepted' ORDER BY handoff_id");
    OPEN_WITH_TASK = concat!("SELECT ", columns!(), " FROM handoff WHERE to_project_id = $1 AND state IN ('offered', 'accepted')
        AND task_id IS NOT NULL ORDER BY handoff_id");
    RENAME_TASK = "UPDATE handoff SET task_id = $1 WHERE to_project_id = $2 AND task_id = $3";
    IN_REPO = concat!("SELECT ", columns!(), " FROM handoff WHERE to_project_id = $1 AND issues_repo = $2 ORDER BY created_at, handoff_id");
    OPEN_IN_REPO = concat!("SELECT ", columns!(), " FROM handoff WHERE issues_repo = $1 AND issue_number IS NOT NULL
        AND state IN ('offered', 'accepted') ORDER BY created_at, handoff_id");
    MARK_SEEN = "UPDATE handoff SET seen_at = $1 WHERE handoff_id = $2 AND seen_at IS NULL AND state IN ('declined', 'expired')";
    SEEN_RETURNS = "SELECT handoff_id FROM handoff WHERE from_project_id = $1 AND state IN ('declined', 'expired') AND seen_at IS NOT NULL
        ORDER BY handoff_id";
    BY_PREFIX = "SELECT handoff_id FROM handoff WHERE handoff_id >= $1 AND handoff_id < $2 ORDER BY handoff_id LIMIT 5";
}

fn read(row: Row) -> Result<Handoff, Fault> {
    let mut r = row.reader();
    let handoff_id = r.text()?;
    let word = r.text()?;
    let state = State::from_word(&word)
        .ok_or_else(|| Fault::other(format!("hand-off {handoff_id} has the unknown state {word}")))?;
    Ok(Handoff {
        handoff_id,
        state,
        subject: r.text()?,
        from_project_id: r.text()?,
        to_project_id: r.text()?,
        from_identity: r.text()?,
        to_identity: r.opt_text()?,
        to_role: r.opt_text()?,
        packet: r.text()?,
        task_id: r.opt_text()?,
        tracker: r.opt_text()?.unwrap_or_else(|| "local".into()),
        issues_repo: r.opt_text()?,
        issue_number: r.opt_int()?,
        memory_id: r.opt_text()?,
        session_id: r.opt_text()?,
        agent_id: r.opt_text()?,
        seed_task_id: r.opt_text()?,
        plan: r.opt_text()?.unwrap_or_else(|| "{}".into()),
        expires_at: r.opt_int()?,
        result: r.opt_text()?,
        last_error: r.opt_text()?,
        created_at: r.int()?,
        updated_at: r.int()?,
    })
}

/// One hand-off.
pub fn get(tx: &mut Tx<'_>, handoff_id: &str) -> Result<Option<Handoff>, Fault> {
    tx.query_opt(GET, params![handoff_id])?.map(read).transpose()
}

/// Every hand-off that the project sent or received, newest first.
pub fn of_project(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Handoff>, Fault> {
    tx.query(OF_PROJECT, params![project_id, project_id])?.into_iter().map(read).collect()
}

/// Makes another project the sender of a hand-off: its own was merged into that one.
pub fn set_sender(tx: &mut Tx<'_>, handoff_id: &str, project_id: &str) -> Result<(), Fault> {
    tx.execute_deferred(SET_SENDER, params![project_id, handoff_id])
}

/// Which hand-offs are read.
#[derive(Debug, Clone, Copy)]
pub struct PageRequest<'a> {
    /// Only of this project, as sender or receiver.
    pub project_id: Option<&'a str>,
    /// Only in this state.
    pub state: Option<State>,
    /// Only those for this key of an identity or address of a role; empty for all.
    pub to: &'a str,
    /// The oldest first; else the newest.
    pub is_oldest_first: bool,
    /// Only after this instant and id, in that order.
    pub after: (Millis, &'a str),
    /// At most so many.
    pub limit: i64,
}

/// A page of hand-offs, of all projects or of one.
pub fn page(tx: &mut Tx<'_>, request: &PageRequest<'_>) -> Result<Vec<Handoff>, Fault> {
    let PageRequest { project_id, state, to, is_oldest_first, after: (at, id), limit } = *request;
    let (in_project, in_state, all) = match is_oldest_first {
        true => (OF_PROJECT_NEWER, NEWER_IN_STATE, NEWER),
        false => (OF_PROJECT_OLDER, OLDER_IN_STATE, OLDER),
    };
    let rows = match (project_id, state) {
        (Some(project_id), state) => {
            let word = state.map_or("", State::as_str);
            tx.query(in_project, params![project_id, at, id, word, to, limit])?
        }
        (None, Some(state)) => tx.query(in_state, params![state.as_str(), at, id, to, limit])?,
        (None, None) => tx.query(all, params![at, id, to, limit])?,
    };
    rows.into_iter().map(read).collect()
}

/// How many hand-offs there are from a project to another in a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The sender's project.
    pub from_project_id: String,
    /// The receiver's project.
    pub to_project_id: String,
    /// The word of the state.
    pub state: String,
    /// How many.
    pub count: usize,
}

/// How many hand-offs there are for a key of an identity or address of a role, or for all, by their two projects and their state.
pub fn counts(tx: &mut Tx<'_>, to: &str) -> Result<Vec<Count>, Fault> {
    let read = |row: Row| {
        let mut r = row.reader();
        Ok(Count {
            from_project_id: r.text()?,
            to_project_id: r.text()?,
            state: r.text()?,
            count: usize::try_from(r.int()?).unwrap_or_default(),
        })
    };
    tx.query(COUNTS, params![to])?.into_iter().map(read).collect()
}

/// Ids of up to five hand-offs that begin so.
pub fn by_prefix(tx: &mut Tx<'_>, prefix: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(BY_PREFIX, params![prefix, crate::prefix_end(prefix)])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// Ids of the project's open hand-offs whose task is not in the receiver's project, although that project is there.
pub fn without_task(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Fault> {
    tx.query(WITHOUT_TASK, params![project_id])?.into_iter().map(|row| row.reader().text()).collect()
}

/// The hand-offs that the project has accepted and not ended.
pub fn accepted(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Handoff>, Fault> {
    tx.query(ACCEPTED, params![project_id])?.into_iter().map(read).collect()
}

/// The hand-offs to a project that have a task and have not ended.
pub fn open_with_task(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Handoff>, Fault> {
    tx.query(OPEN_WITH_TASK, params![project_id])?.into_iter().map(read).collect()
}

/// Has the hand-offs whose task has another id name that one.
pub fn rename_task(tx: &mut Tx<'_>, to_project_id: &str, (from, to): (&str, &str)) -> Result<(), Fault> {
    tx.execute_deferred(RENAME_TASK, params![to, to_project_id, from])?;
    Ok(())
}

/// Writes a new hand-off down.
pub fn insert(tx: &mut Tx<'_>, handoff: &Handoff) -> Result<(), Fault> {
    tx.execute_deferred(
        INSERT,
        params![
            &handoff.handoff_id,
            handoff.state.as_str(),
            &handoff.subject,
            &handoff.from_project_id,
            &handoff.to_project_id,
            &handoff.from_identity,
            handoff.to_identity.clone(),
            handoff.to_role.clone(),
            &handoff.packet,
            handoff.task_id.clone(),
            &handoff.tracker,
            handoff.issues_repo.clone(),
            handoff.issue_number,
            handoff.memory_id.clone(),
            handoff.session_id.clone(),
            handoff.agent_id.clone(),
            handoff.seed_task_id.clone(),
            &handoff.plan,
            handoff.expires_at,
            handoff.created_at,
            handoff.updated_at,
        ],
    )?;
    count_change(tx, handoff)
}

/// Counts a change of a hand-off for either end.
fn count_change(tx: &mut Tx<'_>, handoff: &Handoff) -> Result<(), Fault> {
    tx.count_change(&handoff.from_project_id)?;
    tx.count_change(&handoff.to_project_id)
}

/// Writes what may change of a hand-off.
pub fn put(tx: &mut Tx<'_>, handoff: &Handoff) -> Result<(), Fault> {
    tx.execute_deferred(
        UPDATE,
        params![
            handoff.state.as_str(),
            handoff.task_id.clone(),
            handoff.result.clone(),
            handoff.last_error.clone(),
            handoff.updated_at,
            &handoff.tracker,
            handoff.issues_repo.clone(),
            handoff.issue_number,
            handoff.memory_id.clone(),
            handoff.session_id.clone(),
            &handoff.plan,
            &handoff.handoff_id,
        ],
    )?;
    count_change(tx, handoff)
}

/// Records that its sender has seen how a hand-off came back. Returns whether that was not known yet.
pub fn mark_seen(tx: &mut Tx<'_>, handoff_id: &str, now: Millis) -> Result<bool, Fault> {
    let is_new = tx.execute(MARK_SEEN, params![now, handoff_id])? == 1;
    if let Some(handoff) = get(tx, handoff_id)?.filter(|_| is_new) {
        tx.count_change(&handoff.from_project_id)?;
    }
    Ok(is_new)
}

/// The hand-offs of a project that came back and whose sender has seen that.
pub fn seen_returns(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(SEEN_RETURNS, params![project_id])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// The hand-offs to a project whose issues are in this repository, or are to be; the oldest first.
pub fn in_repo(tx: &mut Tx<'_>, to_project_id: &str, repo: &str) -> Result<Vec<Handoff>, Fault> {
    tx.query(IN_REPO, params![to_project_id, repo])?.into_iter().map(read).collect()
}

/// The hand-offs that wait or are worked on and have an issue in this repository; the oldest first.
pub fn open_in_repo(tx: &mut Tx<'_>, repo: &str) -> Result<Vec<Handoff>, Fault> {
    tx.query(OPEN_IN_REPO, params![repo])?.into_iter().map(read).collect()
}

/// The hand-off whose task is this issue.
pub fn by_issue(tx: &mut Tx<'_>, repo: &str, number: i64) -> Result<Option<Handoff>, Fault> {
    tx.query_opt(BY_ISSUE, params![repo, number])?.map(read).transpose()
}

/// Ids of the hand-offs that have an issue in a repository.
pub fn with_issue(tx: &mut Tx<'_>, repo: &str) -> Result<Vec<String>, Fault> {
    tx.query(WITH_ISSUE, params![repo])?.into_iter().map(|row| row.reader().text()).collect()
}

/// An issue of a hand-off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownIssue {
    /// Its number.
    pub number: i64,
    /// The hand-off.
    pub handoff_id: String,
    /// When the hand-off was left, which was before its issue.
    pub created_at: Millis,
}

/// The issues in a repository that belong to hand-offs.
pub fn issues_in_repo(tx: &mut Tx<'_>, repo: &str) -> Result<Vec<KnownIssue>, Fault> {
    let read = |row: Row| {
        let mut r = row.reader();
        Ok(KnownIssue { number: r.int()?, handoff_id: r.text()?, created_at: r.int()? })
    };
    tx.query(ISSUES_IN_REPO, params![repo])?.into_iter().map(read).collect()
}

/// The newest hand-off to a project whose task this is.
pub fn by_task(tx: &mut Tx<'_>, project_id: &str, task_id: &str) -> Result<Option<Handoff>, Fault> {
    tx.query_opt(BY_TASK, params![project_id, task_id])?.map(read).transpose()
}

/// Ids of hand-offs past their deadline that were not accepted.
pub fn expired(tx: &mut Tx<'_>, now: Millis, limit: i64) -> Result<Vec<String>, Fault> {
    let rows = tx.query(EXPIRED, params![now, limit])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// The issue repositories of hand-offs that wait or are worked on, and of those that ended since then.
pub fn open_repos(tx: &mut Tx<'_>, ended_since: Millis) -> Result<Vec<String>, Fault> {
    tx.query(OPEN_REPOS, params![ended_since])?.into_iter().map(|row| row.reader().text()).collect()
}
