//! What git was in the middle of in a working copy, read from its own git folder. Index and files travel, this does not: a merge
//! would lose its other parent in silence.

use std::fs;
use std::io::Read;
use std::path::Path;

use baton_model::changes::{GitOperation, UnfinishedOperation};
use baton_model::repository::is_commit_id;

use super::Fault;
use super::files::{check_regular, fault, text};
use super::plumbing::{Repo, Scratch};
use crate::git;

/// The longest file of git's that is read here.
const MAX_GIT_FILE_BYTES: u64 = 16 * 1024;

/// The operations that are under way in a working copy.
pub(super) fn unfinished(repo: &Repo<'_>) -> Result<Vec<UnfinishedOperation>, Fault> {
    let git_dir = repo.git_dir.as_path();
    let is_in_table = read(&git_dir.join("HEAD"))?.is_some_and(|head| git::uses_reftable(&head));
    let mut found = Vec::new();
    let rebase = rebase(git_dir)?;
    let is_rebase = rebase.is_some();
    found.extend(rebase);
    for (name, operation) in [
        ("MERGE_HEAD", GitOperation::Merge),
        ("CHERRY_PICK_HEAD", GitOperation::CherryPick),
        ("REVERT_HEAD", GitOperation::Revert),
    ] {
        // A rebase picks one commit after another.
        let is_of_rebase = is_rebase && operation == GitOperation::CherryPick;
        let mut text = read(&git_dir.join(name))?;
        if text.is_none() && is_in_table {
            text = reference(repo, name)?;
        }
        if let Some(text) = text.filter(|_| !is_of_rebase) {
            found.push(UnfinishedOperation { operation, commits: ids(&text), branch: None });
        }
    }
    if read(&git_dir.join("BISECT_LOG"))?.is_some() {
        found.push(UnfinishedOperation {
            operation: GitOperation::Bisect,
            commits: Vec::new(),
            branch: None,
        });
    }
    Ok(found)
}

/// What a reference of git's own names, where it is kept in a table and not in a file.
fn reference(repo: &Repo<'_>, name: &str) -> Result<Option<String>, Fault> {
    let answer = repo.answer(&Scratch::default(), &["rev-parse", "--verify", "--quiet", name], b"")?;
    Ok((answer.code == Some(0)).then(|| text(&answer.out)))
}

/// A rebase, or a series of patches that is applied, which git keeps in the same folder.
fn rebase(git_dir: &Path) -> Result<Option<UnfinishedOperation>, Fault> {
    for folder in ["rebase-merge", "rebase-apply"] {
        let folder = git_dir.join(folder);
        if !folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            continue;
        }
        if folder.join("applying").symlink_metadata().is_ok() {
            let operation = GitOperation::Am;
            return Ok(Some(UnfinishedOperation { operation, commits: Vec::new(), branch: None }));
        }
        let onto = read(&folder.join("onto"))?.map(|text| ids(&text)).unwrap_or_default();
        let head = read(&folder.join("head-name"))?;
        let branch = head.as_deref().and_then(|name| name.trim().strip_prefix("refs/heads/"));
        return Ok(Some(UnfinishedOperation {
            operation: GitOperation::Rebase,
            commits: onto,
            branch: branch.map(str::to_owned),
        }));
    }
    Ok(None)
}

fn ids(text: &str) -> Vec<String> {
    text.lines().map(str::trim).filter(|line| is_commit_id(line)).map(str::to_owned).collect()
}

fn read(path: &Path) -> Result<Option<String>, Fault> {
    let Ok(meta) = path.symlink_metadata() else { return Ok(None) };
    check_regular(path, &meta)?;
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(fault("read", path))?;
    file.take(MAX_GIT_FILE_BYTES).read_to_end(&mut bytes).map_err(fault("read", path))?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
