//! Where a server's projects are on this machine, noted in a store of the client's own: what reads this machine's
//! transcripts asks for that, and for nothing else of the ledger.

use baton_model::id::check_project;
use baton_model::time::Millis;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Store, project, project_root};

/// A project and its folders on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFolders {
    /// Its id.
    pub project_id: String,
    /// Its folders.
    pub roots: Vec<String>,
    /// Whether its transcripts are shown from inside it only.
    pub is_isolated: bool,
}

/// Notes projects and their folders on a machine. What is noted already is left as it is, so most calls write nothing.
pub fn note(
    store: &mut Store,
    machine: &str,
    projects: &[ProjectFolders],
    now: Millis,
) -> Result<(), Failure> {
    let fresh = store.read(|tx| {
        let mut fresh = Vec::new();
        for known in projects {
            let noted = project::get(tx, &known.project_id)?.map(|project| project.is_isolated);
            if noted != Some(known.is_isolated)
                || project_root::folders(tx, &known.project_id, machine)? != known.roots
            {
                fresh.push(known);
            }
        }
        Ok(fresh)
    })?;
    if fresh.is_empty() {
        return Ok(());
    }
    store.write_relaxed(|tx| {
        for known in &fresh {
            check_project(&known.project_id)?;
            project::create(tx, &known.project_id, false, now)?;
            project::isolate(tx, &known.project_id, known.is_isolated)?;
            for root in &known.roots {
                let place = ProjectRoot {
                    project_id: known.project_id.clone(),
                    machine: machine.to_owned(),
                    path: root.clone(),
                    ..ProjectRoot::default()
                };
                project_root::put(tx, &place, now)?;
            }
        }
        Ok(())
    })
}
