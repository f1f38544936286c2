//! A folder in which another repository lies than before, such as after two repositories changed places. The one that lay there is
//! somewhere else, and is known by its id when it is met.

use std::path::Path;

use baton_model::delta::Kind as DeltaKind;
use baton_model::repository::Repository;
use baton_model::time::Millis;
use baton_store::project_root::ProjectRoot;
use baton_store::{Failure, Fault, Tx, delta, project, project_root, session};

use crate::locate::CallerLocation;
use crate::op::Host;

/// How many of the newest sessions of a project tell which commit was checked out in a folder.
const MAX_SCANNED_SESSIONS: i64 = 50;
/// Among how many of the first entries of a ledger its registration is.
const MAX_SCANNED_ENTRIES: i64 = 4;

/// Writes a place. What the ledger knows of another repository that lay in its folder is kept.
pub(crate) fn put_root(tx: &mut Tx<'_>, to: &ProjectRoot, now: Millis) -> Result<(), Fault> {
    if let Some(before) = project_root::get(tx, &to.machine, &to.path)?
        && let Some(displaced) = displaced(before, to)
    {
        project_root::put(tx, &displaced, now)?;
    }
    project_root::put(tx, to, now)
}

/// The place of a repository that was displaced: below its former git folder, where no working copy is, so that no folder is taken
/// for it. `None` where it is the same repository, or one without an id by which it could be known again.
fn displaced(before: ProjectRoot, to: &ProjectRoot) -> Option<ProjectRoot> {
    let (id, folder) = (before.repository_id.clone()?, before.common_dir.clone()?);
    if to.repository_id.as_ref().is_none_or(|other| *other == id) {
        return None;
    }
    Some(ProjectRoot { path: path_of(&folder, &id), is_worktree: true, ..before })
}

fn path_of(common_dir: &str, id: &str) -> String {
    Path::new(common_dir).join(format!("moved-{id}")).display().to_string()
}

/// Whether a place is one of the repository with this id and common git folder. Of two repositories without an id in common, the git
/// folder tells.
pub(crate) fn is_root_of(place: &ProjectRoot, id: Option<&str>, common_dir: Option<&str>) -> bool {
    match (place.repository_id.as_deref(), id) {
        (Some(known), Some(id)) => known == id,
        _ => place.common_dir.as_deref() == common_dir,
    }
}

/// Whether the folder of a place is the top folder of a repository that is not the one of the place: something else took its room. A
/// registered folder keeps its git folder where git's settings were lost, a worktree has none of its own.
pub(crate) fn is_taken(place: &ProjectRoot, root: &str, now: &Repository) -> bool {
    root == place.path
        && match place.repository_id.as_deref().zip(now.id.as_deref()) {
            Some((known, id)) => known != id,
            None => {
                place.is_worktree
                    && place.common_dir.is_some()
                    && place.common_dir.as_deref() != Some(now.common_dir.as_str())
            }
        }
}

/// Whether a place is the memory of a repository that was displaced, and no folder.
pub(crate) fn is_displaced(place: &ProjectRoot) -> bool {
    let known = place.common_dir.as_deref().zip(place.repository_id.as_deref());
    known.is_some_and(|(folder, id)| place.path == path_of(folder, id))
}

/// The folder in which a repository lay when it was seen last.
pub(crate) fn folder_of(place: &ProjectRoot) -> &str {
    let before = place.common_dir.as_deref().filter(|_| is_displaced(place));
    before.map_or(&place.path, |folder| folder.strip_suffix("/.git").unwrap_or(folder))
}

/// Whether another repository lies in the folder of a place by now: its settings hold no id, and it lacks the commit at which an agent
/// was last at work there, or at which it was registered; of a folder to which a repository was moved, whatever commit is known of the
/// project. A repository that only lost its settings has that commit; that of an isolated project is asked about.
pub(crate) fn is_replaced(
    tx: &mut Tx<'_>,
    host: &dyn Host,
    here: &CallerLocation<'_>,
    place: &ProjectRoot,
) -> Result<bool, Failure> {
    let (Some(repository), Some(root)) = (here.repository, here.git_root) else { return Ok(false) };
    let is_suspect = repository.id.is_none()
        && place.repository_id.is_some()
        && place.common_dir.as_deref() == Some(repository.common_dir.as_str());
    if !is_suspect {
        return Ok(false);
    }
    // What is isolated is read by its own repository alone, also where a clone of it lies in its place.
    if project::get(tx, &place.project_id)?.is_some_and(|of| of.is_isolated) {
        return Ok(true);
    }
    let newest = session::newest(tx, &place.project_id, MAX_SCANNED_SESSIONS)?.into_iter();
    let worked = newest.filter(|one| one.location.machine == here.machine).filter_map(|one| one.working_copy);
    let worked = worked.filter_map(|copy| Some((copy.root, copy.commit?)));
    let known: Vec<(String, String)> = worked.chain(registrations(tx, &place.project_id)?).collect();
    let lacks = |(_, commit): &(String, String)| host.has_commit(root, commit) == Some(false);
    Ok(match known.iter().find(|(folder, _)| *folder == place.path) {
        Some(last) => lacks(last),
        None => !known.is_empty() && known.iter().all(lacks),
    })
}

/// The folders of a project as they were registered, each with the commit that was checked out.
fn registrations(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<(String, String)>, Failure> {
    let mut found = Vec::new();
    for entry in delta::after_seq(tx, project_id, 0, MAX_SCANNED_ENTRIES)? {
        let body = serde_json::from_str::<serde_json::Value>(&entry.body).unwrap_or_default();
        if entry.kind == DeltaKind::Other
            && let (Some(path), Some(commit)) = (body["path"].as_str(), body["commit"].as_str())
        {
            found.push((path.to_owned(), commit.to_owned()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(project_id: &str, repository_id: Option<&str>) -> ProjectRoot {
        ProjectRoot {
            project_id: project_id.into(),
            path: "/r".into(),
            repository_id: repository_id.map(str::to_owned),
            common_dir: Some("/r/.git".into()),
            ..ProjectRoot::default()
        }
    }

    #[test]
    fn another_repository_does_not_take_the_memory_of_the_one_before() {
        let to = place("b", Some("2"));
        let remembered = displaced(place("a", Some("1")), &to).expect("it is elsewhere");
        assert_eq!((remembered.project_id.as_str(), remembered.path.as_str()), ("a", "/r/.git/moved-1"));
        assert_eq!(remembered.repository_id.as_deref(), Some("1"));
        assert!(is_displaced(&remembered) && !is_displaced(&to));
        assert_eq!((folder_of(&remembered), folder_of(&to)), ("/r", "/r"));
        assert_eq!(displaced(place("a", Some("2")), &to), None, "the same one in another project");
        assert_eq!(displaced(place("a", None), &to), None);
        assert_eq!(displaced(place("a", Some("1")), &place("b", None)), None);
    }
}
