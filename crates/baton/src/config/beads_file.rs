//! The file of tasks that is kept in step, as `tasks.mirror` names it.

use std::path::{Path, PathBuf};

use super::repository::RepositoryFile;
use crate::git;
use crate::repo_file::RepoFile;

/// The file that is kept in step: `true` is the usual one of the working copy, `false` none. A path in a file is meant from that
/// file's folder; one from the environment, from the working directory.
pub(super) fn file(
    value: &str,
    origin: &str,
    repository: Option<&RepositoryFile>,
    cwd: Option<&Path>,
) -> Option<RepoFile> {
    let origin = Path::new(origin);
    let in_repository = repository.filter(|file| file.path == origin);
    let path = match value {
        "false" => return None,
        "true" => {
            let root = || cwd.and_then(git::root).or_else(|| cwd.map(Path::to_path_buf));
            return match in_repository {
                Some(file) => Some(file.beads_file(DEFAULT_FILE)),
                None => root().map(|root| RepoFile::new(&root, DEFAULT_FILE)),
            };
        }
        path => path,
    };
    if let Some(file) = in_repository {
        return Some(file.beads_file(path));
    }
    let folder = Some(origin).filter(|file| file.is_absolute()).and_then(Path::parent).or(cwd);
    Some(RepoFile::from_user_path(&folder.map_or_else(|| PathBuf::from(path), |folder| folder.join(path))))
}

/// Where Beads keeps its file, from the root of a working copy.
const DEFAULT_FILE: &str = ".beads/issues.jsonl";
