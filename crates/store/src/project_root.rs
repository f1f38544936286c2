//! The places of projects: folders of machines in which they are worked on.

use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "project_id, machine_id, path, repository_id, common_dir, is_worktree"
    };
}

crate::sql! {
    PUT = "INSERT INTO project_root (project_id, machine_id, path, created_at, repository_id, common_dir, is_worktree)
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (machine_id, path) DO UPDATE SET project_id = excluded.project_id,
        repository_id = excluded.repository_id, common_dir = excluded.common_dir, is_worktree = excluded.is_worktree";
    GET = concat!("SELECT ", columns!(), " FROM project_root WHERE machine_id = $1 AND path = $2");
    REMOVE = "DELETE FROM project_root WHERE machine_id = $1 AND path = $2";
    OF_REPOSITORY = concat!("SELECT ", columns!(), " FROM project_root WHERE (machine_id = $1 AND common_dir = $2)
        OR repository_id = $3 ORDER BY is_worktree, created_at, machine_id, path");
    OF_PROJECT = concat!("SELECT ", columns!(), " FROM project_root WHERE project_id = $1 ORDER BY machine_id, path");
    ROOTS = "SELECT path FROM project_root WHERE project_id = $1 AND machine_id = $2 AND is_worktree = 0 ORDER BY path";
    FOLDERS = "SELECT path FROM project_root WHERE project_id = $1 AND machine_id = $2 ORDER BY is_worktree, path";
    EVERY_ROOT = "SELECT path FROM project_root WHERE machine_id = $1 ORDER BY path";
    OWNERS = "SELECT r.path, r.project_id, p.is_isolated, r.common_dir FROM project_root r JOIN project p ON p.project_id = r.project_id
        WHERE r.machine_id = $1 ORDER BY r.path";
    OWNERS_EVERYWHERE = "SELECT r.path, r.project_id, p.is_isolated, r.common_dir FROM project_root r JOIN project p
        ON p.project_id = r.project_id ORDER BY p.is_isolated, r.path";
}

/// A folder of a machine that belongs to a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectRoot {
    /// The project.
    pub project_id: String,
    /// The machine.
    pub machine: String,
    /// The folder.
    pub path: String,
    /// The id of the repository in it, where it has one.
    pub repository_id: Option<String>,
    /// The common git folder of that repository.
    pub common_dir: Option<String>,
    /// Whether it is a linked worktree, noted because an agent worked in it.
    pub is_worktree: bool,
}

fn read(row: Row) -> Result<ProjectRoot, Fault> {
    let mut r = row.reader();
    Ok(ProjectRoot {
        project_id: r.text()?,
        machine: r.text()?,
        path: r.text()?,
        repository_id: r.opt_text()?,
        common_dir: r.opt_text()?,
        is_worktree: r.bool()?,
    })
}

/// Writes a place; a folder belongs to one project.
pub fn put(tx: &mut Tx<'_>, place: &ProjectRoot, now: Millis) -> Result<(), Fault> {
    tx.execute_deferred(
        PUT,
        params![
            &place.project_id,
            &place.machine,
            &place.path,
            now,
            place.repository_id.clone(),
            place.common_dir.clone(),
            place.is_worktree,
        ],
    )?;
    Ok(())
}

/// The place with this very path.
pub fn get(tx: &mut Tx<'_>, machine: &str, path: &str) -> Result<Option<ProjectRoot>, Fault> {
    tx.query_opt(GET, params![machine, path])?.map(read).transpose()
}

/// Removes a place; says whether it was there.
pub fn remove(tx: &mut Tx<'_>, machine: &str, path: &str) -> Result<bool, Fault> {
    Ok(tx.execute(REMOVE, params![machine, path])? > 0)
}

/// The places of a repository: by its common git folder on this machine, and by its id anywhere.
pub fn of_repository(
    tx: &mut Tx<'_>,
    machine: &str,
    common_dir: &str,
    id: Option<&str>,
) -> Result<Vec<ProjectRoot>, Fault> {
    // No repository has an empty id.
    let rows = tx.query(OF_REPOSITORY, params![machine, common_dir, id.unwrap_or_default()])?;
    rows.into_iter().map(read).collect()
}

/// Every place of a project.
pub fn of_project(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<ProjectRoot>, Fault> {
    tx.query(OF_PROJECT, params![project_id])?.into_iter().map(read).collect()
}

/// The project's registered folders on this machine, without worktrees.
pub fn roots(tx: &mut Tx<'_>, project_id: &str, machine: &str) -> Result<Vec<String>, Fault> {
    tx.query(ROOTS, params![project_id, machine])?.into_iter().map(|row| row.reader().text()).collect()
}

/// The project's folders on this machine, worktrees last.
pub fn folders(tx: &mut Tx<'_>, project_id: &str, machine: &str) -> Result<Vec<String>, Fault> {
    tx.query(FOLDERS, params![project_id, machine])?.into_iter().map(|row| row.reader().text()).collect()
}

/// Every project's folders on this machine, with worktrees.
pub fn every_root(tx: &mut Tx<'_>, machine: &str) -> Result<Vec<String>, Fault> {
    tx.query(EVERY_ROOT, params![machine])?.into_iter().map(|row| row.reader().text()).collect()
}

/// A folder of this machine and the project that it is registered for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderOwner {
    /// The folder.
    pub path: String,
    /// Its project.
    pub project_id: String,
    /// Whether that is isolated.
    pub is_isolated: bool,
    /// The common git folder of the repository in it.
    pub common_dir: Option<String>,
}

/// Every registered folder on this machine with its project.
pub fn folders_with_projects(tx: &mut Tx<'_>, machine: Option<&str>) -> Result<Vec<FolderOwner>, Fault> {
    let read = |row: Row| {
        let mut r = row.reader();
        Ok(FolderOwner {
            path: r.text()?,
            project_id: r.text()?,
            is_isolated: r.bool()?,
            common_dir: r.opt_text()?,
        })
    };
    let rows = match machine {
        Some(machine) => tx.query(OWNERS, params![machine])?,
        None => tx.query(OWNERS_EVERYWHERE, params![])?,
    };
    rows.into_iter().map(read).collect()
}
