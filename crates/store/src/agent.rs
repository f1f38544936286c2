//! Registered agents.

use baton_model::agent::Agent;
use baton_model::id::identity_key;

use crate::engine::{Fault, Row, Tx};
use crate::{json, params};

/// The columns that the row reader takes, in its order; the last three come from the identity's sessions.
macro_rules! columns {
    () => {
        "a.project_id, a.identity, a.program, a.model, a.roles, a.skills, a.max_tasks, a.registered_at, a.updated_at, \
         (SELECT s.heartbeat_at FROM session s WHERE s.project_id = a.project_id AND s.identity_key = a.identity_key \
         ORDER BY s.started_at DESC, s.session_id DESC LIMIT 1), \
         (SELECT s.session_id FROM session s WHERE s.project_id = a.project_id AND s.identity_key = a.identity_key \
         ORDER BY s.started_at DESC, s.session_id DESC LIMIT 1), \
         (SELECT COUNT(*) FROM session o WHERE o.project_id = a.project_id AND o.identity_key = a.identity_key \
         AND o.released_at IS NULL)"
    };
}

crate::sql! {
    PUT = "INSERT INTO agent (project_id, identity_key, identity, program, model, roles, skills, max_tasks, registered_at,
        updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (project_id, identity_key) DO UPDATE SET
        program = excluded.program, model = excluded.model, roles = excluded.roles, skills = excluded.skills,
        max_tasks = excluded.max_tasks, updated_at = excluded.updated_at";
    GET = concat!("SELECT ", columns!(), " FROM agent a WHERE a.project_id = $1 AND a.identity_key = $2");
    LIST = concat!("SELECT ", columns!(), " FROM agent a WHERE a.project_id = $1 ORDER BY a.identity_key");
    ROLES = "SELECT roles FROM agent WHERE project_id = $1 AND identity_key = $2";
}

fn read(tx: &Tx<'_>, row: Row) -> Result<Agent, Fault> {
    let mut r = row.reader();
    let mut agent = Agent {
        project_id: r.text()?,
        identity: r.text()?,
        program: r.opt_text()?,
        model: r.opt_text()?,
        roles: json::read(&r.text()?)?,
        skills: json::read(&r.text()?)?,
        max_tasks: r.opt_int()?,
        registered_at: r.int()?,
        updated_at: r.int()?,
        heartbeat_at: r.opt_int()?,
        in_session: false,
    };
    if let (Some(kept_at), Some(newest)) = (agent.heartbeat_at, r.opt_text()?) {
        agent.heartbeat_at = Some(tx.heard_at(&newest, kept_at));
    }
    agent.in_session = r.int()? > 0;
    Ok(agent)
}

/// Writes a registration; the name and the time of the first one stay.
pub fn put(tx: &mut Tx<'_>, agent: &Agent) -> Result<(), Fault> {
    tx.execute_deferred(
        PUT,
        params![
            &agent.project_id,
            identity_key(&agent.identity),
            &agent.identity,
            agent.program.clone(),
            agent.model.clone(),
            json::write(&agent.roles),
            json::write(&agent.skills),
            agent.max_tasks,
            agent.registered_at,
            agent.updated_at,
        ],
    )?;
    Ok(())
}

/// One agent.
pub fn get(tx: &mut Tx<'_>, project_id: &str, identity: &str) -> Result<Option<Agent>, Fault> {
    let row = tx.query_opt(GET, params![project_id, identity_key(identity)])?;
    row.map(|row| read(tx, row)).transpose()
}

/// Every agent of the project, by name.
pub fn list(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Agent>, Fault> {
    let rows = tx.query(LIST, params![project_id])?;
    rows.into_iter().map(|row| read(tx, row)).collect()
}

/// The roles that an identity registered; none when it never did.
pub fn roles(tx: &mut Tx<'_>, project_id: &str, identity: &str) -> Result<Vec<String>, Fault> {
    match tx.query_opt(ROLES, params![project_id, identity_key(identity)])? {
        Some(row) => json::read(&row.reader().text()?),
        None => Ok(Vec::new()),
    }
}
