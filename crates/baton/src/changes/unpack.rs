//! The objects of captured changes, checked before anything is made of them.

use std::fs;
use std::path::Path;

use super::files::{fault, text};
use super::plumbing::{Repo, SUBMODULE, Scratch};
use super::{Changes, Fault, rejected};

/// Refuses changes that write other files than they name: a person decides by the names.
pub(super) fn check_names(repo: &Repo<'_>, scratch: &Scratch, changes: &Changes) -> Result<(), Fault> {
    let base = repo.tree(scratch, changes.base.as_deref())?;
    for tree in [&changes.index_tree, &changes.worktree_tree] {
        let written = repo.diff(scratch, &base, tree)?;
        let is_named = |path: &[u8]| changes.files.contains(&text(path));
        if let Some(entry) = written.iter().find(|entry| !is_named(&entry.path)) {
            return Err(Fault::Invalid(format!("they write {:?} and do not name it", text(&entry.path))));
        }
        // The commit of a submodule never travels.
        if let Some(entry) =
            written.iter().find(|entry| entry.mode == SUBMODULE || entry.old_mode == SUBMODULE)
        {
            return Err(Fault::Invalid(format!("they change the submodule {:?}", text(&entry.path))));
        }
    }
    Ok(())
}

/// The fault of a working copy with changes of its own. Where it lacks the commit, too, both are said: what helps against the one alone
/// stands in the way of the other.
pub(super) fn with_missing_commit(
    repo: &Repo<'_>,
    changes: &Changes,
    files: Vec<String>,
) -> Result<Fault, Fault> {
    Ok(match missing_commit(repo, changes)? {
        Some(missing) => Fault::LocalChangesWithoutCommit { files, missing: Box::new(missing) },
        None => Fault::LocalChanges(files),
    })
}

/// The fault where a repository lacks the commit on which changes were made.
fn missing_commit(repo: &Repo<'_>, changes: &Changes) -> Result<Option<Fault>, Fault> {
    let Some(base) = &changes.base else { return Ok(None) };
    check_id(base)?;
    let args = ["cat-file", "-e", &format!("{base}^{{commit}}")];
    if repo.answer(&Scratch::default(), &args, b"")?.code == Some(0) {
        return Ok(None);
    }
    let shallow = repo.line(&Scratch::default(), &["rev-parse", "--is-shallow-repository"], b"")?;
    let remotes = repo.line(&Scratch::default(), &["remote"], b"")?;
    let named = remotes.lines().find(|name| *name == "origin").or_else(|| remotes.lines().next());
    Ok(Some(Fault::MissingCommit {
        commit: base.clone(),
        is_shallow: shallow == "true",
        branch: changes.branch.clone(),
        remote: named.map(str::to_owned),
    }))
}

/// The objects of changes in a quarantine, checked against what they say of themselves.
pub(super) fn unpack(repo: &Repo<'_>, changes: &Changes, dir: &Path) -> Result<Scratch, Fault> {
    if let Some(missing) = missing_commit(repo, changes)? {
        return Err(missing);
    }
    let scratch = Scratch { index: Some(dir.join("index")), objects: Some(repo.quarantine(dir)?) };
    fs::create_dir_all(dir.join("objects/pack")).map_err(fault("create", dir))?;
    repo.run(&scratch, &["index-pack", "--stdin", "--fix-thin", "--strict"], &changes.pack).map_err(
        |fault| match fault {
            Fault::Git { message, .. } => rejected::fault_of(&message),
            other => other,
        },
    )?;
    for (commit, tree) in
        [(&changes.index_commit, &changes.index_tree), (&changes.worktree_commit, &changes.worktree_tree)]
    {
        check_id(commit)?;
        if repo.tree(&scratch, Some(commit))? != *tree {
            return Err(Fault::Invalid(format!("commit {commit} does not hold tree {tree}")));
        }
    }
    Ok(scratch)
}

pub(super) fn check_id(id: &str) -> Result<(), Fault> {
    let is_id = (40..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { Ok(()) } else { Err(Fault::Invalid(format!("{id:?} is no id of an object"))) }
}
