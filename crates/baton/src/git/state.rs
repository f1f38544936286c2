//! What is checked out in a working copy, and what is not committed there.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use baton_model::changes::{is_settings, is_temporary};
use baton_model::packet::Git;
use baton_model::project_document::is_generated;

use super::layout::is_own_worktree;
use super::{filtered, filters, git_dir, has_commit, is_its_own, root, run, uses_reftable};
use crate::repo_file::{MAX_SMALL_FILE_BYTES, RepoFile};

/// Of a submodule only the commit counts that is checked out in it: for that git reads which one it is, and looks at no file of it.
const SUBMODULES: &str = "--ignore-submodules=dirty";

/// Branch, commit, and whether there are uncommitted changes. The last is left out where only the document is not committed that
/// `baton init` wrote, and where finding out would run filters
/// that the repository brings.
pub(crate) fn state(folder: &Path) -> Option<Git> {
    let root = root(folder)?;
    if !is_its_own(&root) {
        return None;
    }
    let Some(filters) = filters(&root) else { return head(&root) };
    let args = ["status", "--porcelain=v2", "--branch", SUBMODULES, "--no-renames"];
    let Some(text) = run(&root, &args, &filters) else { return head(&root) };
    let mut state = Git { dirty: Some(false), in_progress: in_progress(&root), ..Git::default() };
    let mut may_be_nothing = false;
    for line in text.lines() {
        match line.split_once(' ') {
            Some(("#", rest)) => match rest.split_once(' ') {
                Some(("branch.oid", id)) if id != "(initial)" => state.commit = Some(id.to_owned()),
                Some(("branch.head", name)) if name != "(detached)" => state.branch = Some(name.to_owned()),
                Some(("branch.ab", counts)) => {
                    state.ahead =
                        counts.split(' ').next().and_then(|a| a.trim_start_matches('+').parse().ok());
                }
                _ => {}
            },
            // Git names a folder of which nothing is tracked, and not what is in it: a worktree, the document of `baton init`.
            _ if line.starts_with("? ") && line.trim_end_matches('"').ends_with('/') => may_be_nothing = true,
            _ if line.ends_with(" docs/PROJECT.md") => may_be_nothing = true,
            _ if line.starts_with("? ") && is_settings(line[2..].trim_end_matches('"').as_bytes()) => {
                may_be_nothing = true;
            }
            _ => state.dirty = Some(true),
        }
    }
    // A file whose filter does not run here may only look changed.
    let may_be_clean = !filters.is_empty() && state.dirty == Some(true);
    if may_be_nothing && state.dirty == Some(false) || may_be_clean {
        // The document alone is no work, and yet git names it: nothing is said then.
        let found = entries(folder);
        state.new_document = found.as_ref().is_some_and(|found| found.files.is_empty() && found.has_document);
        state.dirty = found.filter(|_| !state.new_document).map(|found| !found.files.is_empty());
    }
    Some(state)
}

/// What git has begun in a working copy and not ended, by its command.
fn in_progress(root: &Path) -> Option<String> {
    let git_dir = git_dir(root)?;
    let is_in_table = fs::read_to_string(git_dir.join("HEAD")).is_ok_and(|head| uses_reftable(&head));
    let is_there = |name: &str| {
        git_dir.join(name).symlink_metadata().is_ok()
            || is_in_table && name.ends_with("_HEAD") && has_commit(root, name) == Some(true)
    };
    // A rebase picks one commit after another; between two picks of a series there is no head of one.
    let names = [
        ("rebase-apply/applying", "am"),
        ("rebase-apply", "rebase"),
        ("rebase-merge", "rebase"),
        ("MERGE_HEAD", "merge"),
        ("CHERRY_PICK_HEAD", "cherry-pick"),
        ("REVERT_HEAD", "revert"),
        ("sequencer", "cherry-pick"),
    ];
    names.iter().find(|(name, _)| is_there(name)).map(|(_, command)| (*command).to_owned())
}

/// The files with changes that are not committed, untracked ones among them, without what an application of changes left when it was
/// killed, without the document as `baton init` wrote it, without a settings file that git does not track, and without worktrees of the
/// same repository. None where git does not tell, or telling would run filters that the repository brings.
pub(crate) fn uncommitted(folder: &Path) -> Option<Vec<String>> {
    entries(folder).map(|found| found.files)
}

/// What git names as not committed.
struct Entries {
    /// Files with work of a person or an agent.
    files: Vec<String>,
    /// The document as `baton init` wrote it is among them.
    has_document: bool,
}

fn entries(folder: &Path) -> Option<Entries> {
    let root = root(folder)?;
    if !is_its_own(&root) {
        return None;
    }
    let args = ["status", "--porcelain=v1", "-z", "--untracked-files=all", SUBMODULES, "--no-renames"];
    let filters = filters(&root)?;
    let text = run(&root, &args, &filters)?;
    let changed: Vec<&str> = text.split('\0').filter_map(|entry| entry.strip_prefix(" M ")).collect();
    let unchanged = filtered::unchanged(&root, &filters, &changed);
    let mut has_document = false;
    let entries = text.split('\0').filter(|entry| {
        let is_document = is_registration(&root, entry);
        has_document |= is_document;
        let untracked = entry.strip_prefix("?? ").or_else(|| entry.strip_prefix(" A "));
        let is_own = is_document || untracked.is_some_and(|path| is_settings(path.as_bytes()));
        !is_own && !entry.strip_prefix(" M ").is_some_and(|path| unchanged.contains(path))
    });
    let paths = entries.filter_map(|entry| entry.get(3..)).filter(|path| !is_temporary(path.as_bytes()));
    // Only a repository of its own is named as a folder.
    let is_work = |path: &&str| !path.ends_with('/') || !is_own_worktree(&root, &root.join(path));
    let mut files: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    // A path that is removed from the index and untracked is named twice.
    files.extend(paths.filter(is_work).filter(|path| seen.insert(*path)).map(str::to_owned));
    Some(Entries { files, has_document })
}

/// Whether the document lies in a working copy as `baton init` wrote it, untracked.
pub(crate) fn has_untracked_document(root: &Path) -> bool {
    let args = ["ls-files", "-z", "--others", "--exclude-standard", "--", ":(top,literal)docs/PROJECT.md"];
    let found = run(root, &args, &[]).unwrap_or_default();
    !found.is_empty() && is_registration(root, "?? docs/PROJECT.md")
}

/// Whether an entry of the status is the document as `baton init` wrote it, untracked, staged or brought up to date: neither user nor
/// agent worked on it.
fn is_registration(root: &Path, entry: &str) -> bool {
    let (Some(state), Some(path)) = (entry.get(..3), entry.get(3..)) else { return false };
    let is_written = ["?? ", "A  ", "M  ", " M "].contains(&state);
    if !is_written || path != "docs/PROJECT.md" {
        return false;
    }
    let text = RepoFile::new(root, path).text(MAX_SMALL_FILE_BYTES);
    text.ok().flatten().is_some_and(|text| is_generated(&text))
}

/// Branch and commit alone, which are read without looking at files.
pub(super) fn head(root: &Path) -> Option<Git> {
    let line = |args: &[&str]| run(root, args, &[]).map(|text| text.trim().to_owned());
    let branch = line(&["symbolic-ref", "--quiet", "--short", "HEAD"]);
    let commit = line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
    (branch.is_some() || commit.is_some()).then(|| Git { branch, commit, ..Git::default() })
}
