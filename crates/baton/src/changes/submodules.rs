//! Submodules of a working copy that hold what is not committed. Git would look into them with the settings that each of them
//! brings; here each is opened with the guards of every other repository.

use super::Fault;
use super::files::{inside, metadata};
use super::plumbing::{Entry, Repo, SUBMODULE, Scratch, items};

/// How many submodules are looked into, each with a few calls of git.
const MAX_SUBMODULES: usize = 100;

/// The paths of changed submodules that are not among these entries.
pub(super) fn submodules_beside<'a>(
    repo: &Repo<'_>,
    scratch: &Scratch,
    entries: impl Iterator<Item = &'a Entry> + Clone,
) -> Result<Vec<Vec<u8>>, Fault> {
    let mut found = changed_submodules(repo, scratch)?;
    found.retain(|path| !entries.clone().any(|entry| entry.path == *path));
    Ok(found)
}

/// The paths of submodules in whose working copy something is changed or untracked, at whatever commit they stand. Not those that
/// are not checked out.
fn changed_submodules(repo: &Repo<'_>, scratch: &Scratch) -> Result<Vec<Vec<u8>>, Fault> {
    let listed = repo.run(scratch, &["ls-files", "--stage", "-z"], b"")?;
    let mut found = Vec::new();
    for item in items(&listed).filter(|item| item.starts_with(SUBMODULE.as_bytes())).take(MAX_SUBMODULES) {
        let Some(at) = item.iter().position(|byte| *byte == b'\t') else { continue };
        let path = &item[at + 1..];
        let is_folder = metadata(&repo.root, path)?.is_some_and(|meta| meta.is_dir());
        let is_checked_out = is_folder && inside(&repo.root, path)?.join(".git").symlink_metadata().is_ok();
        if is_checked_out && is_changed(repo, path)? {
            found.push(path.to_vec());
        }
    }
    Ok(found)
}

/// Whether a submodule has changes. One that git cannot read has none that could be named.
fn is_changed(repo: &Repo<'_>, path: &[u8]) -> Result<bool, Fault> {
    let Ok(inner) = repo.inner(path) else { return Ok(false) };
    let args = ["status", "--porcelain=v1", "-z", "--untracked-files=normal", "--no-renames"];
    let args = [&args[..], &["--ignore-submodules=all"]].concat();
    let status = inner.run(&Scratch::default(), &args, b"")?;
    let unstaged: Vec<Vec<u8>> =
        items(&status).filter_map(|item| item.strip_prefix(b" M ")).map(<[u8]>::to_vec).collect();
    let unchanged = inner.unchanged_by_time(&Scratch::default(), &unstaged)?;
    let is_change = |item: &[u8]| item.strip_prefix(b" M ").is_none_or(|path| !unchanged.contains(path));
    if items(&status).any(is_change) {
        return Ok(true);
    }
    Ok(!changed_submodules(&inner, &Scratch::default())?.is_empty())
}
