//! The project of a caller, or of a folder, by what [`locate`](crate::locate) finds; a repository that moved is noted where it is now.

use std::path::Path;

use baton_model::access::Grant;
use baton_model::time::Millis;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Store, project_root};

use crate::displaced::{is_displaced, put_root};
use crate::locate::{
    CallerLocation, LocatedProject, ambiguous_refusal, clone_refusal, locate, root_of, unresolved_refusal,
};
use crate::op::{Caller, Env};

/// Writes that a repository moved: its place is where it is found now.
pub(crate) fn record_move(
    store: &mut Store,
    here: &CallerLocation<'_>,
    from: &ProjectRoot,
    now: Millis,
) -> Result<(), Failure> {
    let Some(to) = root_of(here, &from.project_id) else { return Ok(()) };
    store.write_relaxed(|tx| {
        project_root::remove(tx, &from.machine, &from.path)?;
        put_root(tx, &to, now)?;
        let (Some(id), Some(common_dir)) = (&to.repository_id, &to.common_dir) else { return Ok(()) };
        // Its worktrees belong to the git folder that moved.
        for place in project_root::of_repository(tx, here.machine, common_dir, Some(id))? {
            let is_its = place.repository_id.as_ref() == Some(id) && place.machine == here.machine;
            if is_its && place.is_worktree && !is_displaced(&place) && place.common_dir != to.common_dir {
                project_root::put(tx, &ProjectRoot { common_dir: to.common_dir.clone(), ..place }, now)?;
            }
        }
        Ok(())
    })
}

/// The project of a caller that names none.
pub(crate) fn of_caller(store: &mut Store, env: &Env<'_>, caller: &Caller) -> Result<String, Failure> {
    let here = CallerLocation::of(caller);
    match store.read(|tx| locate(tx, env.host, &here))? {
        LocatedProject::Project(project_id) => Ok(project_id),
        LocatedProject::Moved(from) => {
            // Where the store cannot be written, the next call finds it the same way.
            let _ = record_move(store, &here, &from, env.now);
            Ok(from.project_id)
        }
        LocatedProject::Clone(of) => Err(clone_refusal(&here, &of).into()),
        LocatedProject::Inside { project_id, root } => {
            Err(ambiguous_refusal(&project_id, &root, here.folder()).into())
        }
        LocatedProject::Unknown => Err(unresolved_refusal(&here).into()),
    }
}

/// The project of another folder of the caller's machine, as far as it is one without asking.
pub(crate) fn of_folder(store: &mut Store, env: &Env<'_>, folder: &Path) -> Result<Option<String>, Failure> {
    let folders: Vec<String> = folder.ancestors().map(|folder| folder.display().to_string()).collect();
    let around = folders.first().and_then(|folder| env.host.repository(folder));
    let everything = Grant::default();
    let there = CallerLocation {
        machine: &env.caller.location.machine,
        folders: &folders,
        git_root: around.as_ref().map(|(root, _)| root.as_str()),
        repository: around.as_ref().map(|(_, repository)| repository),
        git_fault: None,
        grant: &everything,
    };
    Ok(match store.read(|tx| locate(tx, env.host, &there))? {
        LocatedProject::Project(project_id) | LocatedProject::Moved(ProjectRoot { project_id, .. }) => {
            Some(project_id)
        }
        _ => None,
    })
}
