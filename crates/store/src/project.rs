//! The project registry.

use baton_model::project::{LastWrap, Project};
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::{json, params};

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "project_id, issues_provider, issues_github_repo, vcs_provider, vcs_remote_url, default_owner, \
         suggested_repo, is_isolated, is_placeholder, phase, focus, webhook_url, takes_transcripts, last_wrapped_at, last_wrapped_by, \
         last_wrapped_session_id, last_wrapped_delta_id, last_wrapped_summary, created_at, updated_at, \
         (SELECT MAX(n.other_project_id) FROM project_relation n WHERE n.project_id = project.project_id AND n.kind = 'project_name'), \
         merged_into"
    };
}

crate::sql! {
    INSERT = "INSERT INTO project (project_id, seq, is_isolated, is_placeholder, focus, created_at, updated_at, counter_floor)
        VALUES ($1, 0, 0, $2, '[]', $3, $4, (SELECT COALESCE(MAX(floor), 0) FROM counter_floor)) ON CONFLICT (project_id) DO NOTHING";
    UPDATE = "UPDATE project SET issues_provider = $1, issues_github_repo = $2, vcs_provider = $3, vcs_remote_url = $4,
        default_owner = $5, suggested_repo = $6, is_isolated = $7, is_placeholder = $8, phase = $9, focus = $10,
        webhook_url = $11, takes_transcripts = $12, updated_at = $13 WHERE project_id = $14";
    WRAPPED = "UPDATE project SET last_wrapped_at = $1, last_wrapped_by = $2, last_wrapped_session_id = $3,
        last_wrapped_delta_id = $4, last_wrapped_summary = $5 WHERE project_id = $6";
    GET = concat!("SELECT ", columns!(), " FROM project WHERE project_id = $1");
    LIST = concat!("SELECT ", columns!(), " FROM project ORDER BY project_id");
    IDS = "SELECT project_id FROM project ORDER BY project_id";
    SEQ = "SELECT seq FROM project WHERE project_id = $1";
    WEBHOOK = "SELECT webhook_url FROM project WHERE project_id = $1";
    RELATE = "INSERT INTO project_relation (project_id, other_project_id, kind, created_by, created_at) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (project_id, other_project_id) DO UPDATE SET kind = excluded.kind";
    UNRELATE = "DELETE FROM project_relation WHERE project_id = $1 AND other_project_id = $2
        AND kind NOT IN ('project_name', 'former_project_name')";
    UNRELATE_ALL = "DELETE FROM project_relation WHERE (project_id = $1 OR other_project_id = $2)
        AND kind NOT IN ('project_name', 'former_project_name')";
    NAMES = "SELECT other_project_id FROM project_relation WHERE project_id = $1 AND kind IN ('project_name', 'former_project_name')
        ORDER BY other_project_id";
    OF_NAME = "SELECT project_id FROM project_relation WHERE other_project_id = $1 AND kind IN ('project_name', 'former_project_name')
        ORDER BY project_id";
    GIVEN_NAMES = "SELECT project_id, other_project_id FROM project_relation WHERE kind = 'project_name' ORDER BY other_project_id";
    LOCK_NAMES = "INSERT INTO counter_floor (floor_id, floor) VALUES (1, 0) ON CONFLICT (floor_id) DO UPDATE SET floor = counter_floor.floor";
    RETIRE_NAME = "UPDATE project_relation SET kind = 'former_project_name' WHERE project_id = $1 AND kind = 'project_name'";
    RELATED = "SELECT r.other_project_id, r.kind, p.is_isolated FROM project_relation r JOIN project p ON p.project_id = r.other_project_id
        WHERE r.project_id = $1 AND r.kind NOT IN ('project_name', 'former_project_name') ORDER BY r.other_project_id";
    ISOLATED = "SELECT project_id FROM project WHERE is_isolated <> 0 ORDER BY project_id";
    SET_MERGED = "UPDATE project SET merged_into = $1 WHERE project_id = $2";
    ISOLATE = "UPDATE project SET is_isolated = $1 WHERE project_id = $2";
}

fn read(row: Row) -> Result<Project, Fault> {
    let mut r = row.reader();
    let mut project = Project {
        project_id: r.text()?,
        issues_provider: r.opt_text()?,
        issues_github_repo: r.opt_text()?,
        vcs_provider: r.opt_text()?,
        vcs_remote_url: r.opt_text()?,
        default_owner: r.opt_text()?,
        suggested_repo: r.opt_text()?,
        is_isolated: r.bool()?,
        is_placeholder: r.bool()?,
        phase: r.opt_text()?,
        focus: json::read(&r.text()?)?,
        webhook_url: r.opt_text()?,
        takes_transcripts: r.bool()?,
        ..Project::default()
    };
    project.last_wrap = match (r.opt_int()?, r.opt_text()?, r.opt_text()?, r.opt_text()?, r.opt_text()?) {
        (Some(at), Some(by), Some(session_id), Some(delta_id), Some(summary)) => {
            Some(LastWrap { at, by, session_id, delta_id, summary })
        }
        _ => None,
    };
    project.created_at = r.int()?;
    project.updated_at = r.int()?;
    project.name = r.opt_text()?;
    project.merged_into = r.opt_text()?;
    Ok(project)
}

/// One project.
pub fn get(tx: &mut Tx<'_>, project_id: &str) -> Result<Option<Project>, Fault> {
    tx.query_opt(GET, params![project_id])?.map(read).transpose()
}

/// Every project, by id.
pub fn list(tx: &mut Tx<'_>) -> Result<Vec<Project>, Fault> {
    tx.query(LIST, params![])?.into_iter().map(read).collect()
}

/// The ids of every project, even where a row has damage elsewhere.
pub fn ids(tx: &mut Tx<'_>) -> Result<Vec<String>, Fault> {
    tx.query(IDS, params![])?.into_iter().map(|row| row.reader().text()).collect()
}

/// Makes the row if there is none; says whether it made one.
pub fn create(tx: &mut Tx<'_>, project_id: &str, placeholder: bool, now: Millis) -> Result<bool, Fault> {
    Ok(tx.execute(INSERT, params![project_id, placeholder, now, now])? == 1)
}

/// Writes the registration; the summary of the last wrap is not touched.
pub fn put(tx: &mut Tx<'_>, project: &Project) -> Result<(), Fault> {
    tx.execute_deferred(
        UPDATE,
        params![
            project.issues_provider.clone(),
            project.issues_github_repo.clone(),
            project.vcs_provider.clone(),
            project.vcs_remote_url.clone(),
            project.default_owner.clone(),
            project.suggested_repo.clone(),
            project.is_isolated,
            project.is_placeholder,
            project.phase.clone(),
            json::write(&project.focus),
            project.webhook_url.clone(),
            project.takes_transcripts,
            project.updated_at,
            &project.project_id,
        ],
    )?;
    tx.note_webhook(&project.project_id, project.webhook_url.as_deref());
    Ok(())
}

/// Moves the summary of the last wrap: only a wrap does.
pub fn record_wrap(tx: &mut Tx<'_>, project_id: &str, last: &LastWrap) -> Result<(), Fault> {
    tx.execute_deferred(
        WRAPPED,
        params![last.at, &last.by, &last.session_id, &last.delta_id, &last.summary, project_id],
    )?;
    Ok(())
}

/// The number of the project's newest write.
pub fn seq(tx: &mut Tx<'_>, project_id: &str) -> Result<i64, Fault> {
    tx.query_one(SEQ, params![project_id])?.reader().int()
}

/// Where the project's deltas are posted to. A write that has taken the project's row knows it from there.
pub fn webhook(tx: &mut Tx<'_>, project_id: &str) -> Result<Option<String>, Fault> {
    if let Some(known) = tx.known_webhook(project_id) {
        return Ok(known);
    }
    match tx.query_opt(WEBHOOK, params![project_id])? {
        Some(row) => row.reader().opt_text(),
        None => Ok(None),
    }
}

/// The kinds of relation under which a project's names are kept: a row leads from the project to a name, which is no project.
/// Nothing else may be related so.
pub const NAME_KINDS: [&str; 2] = ["project_name", "former_project_name"];

/// Keeps every other transaction that gives out a name or an id of a project waiting until this one ends, so that what it reads of
/// them holds: two projects have rows of their own, and neither row tells of the other. The one row of the counters' floor stands for
/// all names; its value stays.
pub fn lock_names(tx: &mut Tx<'_>) -> Result<(), Fault> {
    tx.execute_deferred(LOCK_NAMES, params![])
}

/// Gives a project a name; the id as a name is none. Names that it had stay and lead to it.
pub fn rename(tx: &mut Tx<'_>, project_id: &str, name: &str, by: &str, now: Millis) -> Result<(), Fault> {
    tx.execute_deferred(RETIRE_NAME, params![project_id])?;
    if name != project_id {
        tx.execute_deferred(RELATE, params![project_id, name, NAME_KINDS[0], by, now])?;
    }
    Ok(())
}

/// Every name that a project has or had, beside its id.
pub fn names(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Fault> {
    tx.query(NAMES, params![project_id])?.into_iter().map(|row| row.reader().text()).collect()
}

/// What projects are called now that were renamed, each with its id.
pub fn given_names(tx: &mut Tx<'_>) -> Result<Vec<(String, String)>, Fault> {
    let read = |row: Row| {
        let mut r = row.reader();
        Ok((r.text()?, r.text()?))
    };
    tx.query(GIVEN_NAMES, params![])?.into_iter().map(read).collect()
}

/// The project that has or had a name. An id is no name: look for the project with that id first.
pub fn of_name(tx: &mut Tx<'_>, name: &str) -> Result<Option<String>, Fault> {
    tx.query(OF_NAME, params![name])?.into_iter().next().map(|row| row.reader().text()).transpose()
}

/// A project that another is related to.
#[derive(Debug, Clone, PartialEq)]
pub struct Relation {
    /// The other project.
    pub project_id: String,
    /// What it is to this one.
    pub kind: String,
    /// Whether it is isolated by now, and so takes part in nothing.
    pub is_isolated: bool,
}

/// Relates two projects, in both directions.
pub fn relate(
    tx: &mut Tx<'_>,
    (one, other): (&str, &str),
    kind: &str,
    by: &str,
    now: Millis,
) -> Result<(), Fault> {
    tx.execute_deferred(RELATE, params![one, other, kind, by, now])?;
    tx.execute_deferred(RELATE, params![other, one, kind, by, now])?;
    Ok(())
}

/// Takes a relation away; says whether there was one.
pub fn unrelate(tx: &mut Tx<'_>, one: &str, other: &str) -> Result<bool, Fault> {
    let there = tx.execute(UNRELATE, params![one, other])?;
    let back = tx.execute(UNRELATE, params![other, one])?;
    Ok(there + back > 0)
}

/// Takes every relation of a project away.
pub fn unrelate_all(tx: &mut Tx<'_>, project_id: &str) -> Result<u64, Fault> {
    tx.execute(UNRELATE_ALL, params![project_id, project_id])
}

/// The projects that this one is related to, by id.
pub fn related(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Relation>, Fault> {
    let rows = tx.query(RELATED, params![project_id])?;
    rows.into_iter()
        .map(|row| {
            let mut r = row.reader();
            Ok(Relation { project_id: r.text()?, kind: r.text()?, is_isolated: r.bool()? })
        })
        .collect()
}

/// The isolated projects, by id.
pub fn isolated(tx: &mut Tx<'_>) -> Result<Vec<String>, Fault> {
    tx.query(ISOLATED, params![])?.into_iter().map(|row| row.reader().text()).collect()
}

/// Notes into which project one was merged; nothing once that was taken back.
pub fn set_merged_into(tx: &mut Tx<'_>, project_id: &str, into: Option<&str>) -> Result<(), Fault> {
    tx.execute_deferred(SET_MERGED, params![into.map(str::to_owned), project_id])?;
    tx.note_merged(project_id, into);
    Ok(())
}

/// Notes whether a project is isolated where the ledger itself is elsewhere.
pub fn isolate(tx: &mut Tx<'_>, project_id: &str, is_isolated: bool) -> Result<(), Fault> {
    tx.execute_deferred(ISOLATE, params![is_isolated, project_id])
}
