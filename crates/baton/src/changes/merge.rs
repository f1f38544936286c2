//! The three-way merge of captured changes with another commit than the one on which they were made.

use super::Fault;
use super::files::text;
use super::line_ends::{self, Sides};
use super::plumbing::{Repo, Scratch, items};

/// The first git whose `merge-tree` writes the tree of a merge.
const FIRST_GIT: (u32, u32) = (2, 38);

/// A merge with what is checked out. Git finds the base of two commits by itself, and only since 2.40 it can be told one: so both
/// sides are commits of their own on one of the base's tree, made where the objects of the changes lie.
pub(super) struct Merge<'a> {
    repo: &'a Repo<'a>,
    scratch: &'a Scratch,
    base: String,
    ours: String,
}

impl<'a> Merge<'a> {
    /// Of the commit on which the changes were made, and the one that is checked out. Refused where git cannot merge trees.
    pub(super) fn begin(
        repo: &'a Repo<'a>,
        scratch: &'a Scratch,
        (base, head): (&str, &str),
    ) -> Result<Self, Fault> {
        require_merges(repo)?;
        let base = commit(repo, scratch, &repo.tree(scratch, Some(base))?, None)?;
        let ours = commit(repo, scratch, &repo.tree(scratch, Some(head))?, Some(&base))?;
        Ok(Self { repo, scratch, base, ours })
    }

    /// The tree of a merge with this one, without conflicts.
    pub(super) fn tree(&self, theirs: &str) -> Result<String, Fault> {
        let Self { repo, scratch, base, ours } = self;
        let theirs = &commit(repo, scratch, theirs, Some(base))?;
        let args = ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs];
        let answer = repo.answer(scratch, &args, b"")?;
        let mut parts = items(&answer.out).map(text);
        let tree = parts.next().unwrap_or_default();
        match answer.code {
            Some(0) => Ok(tree),
            Some(1) => {
                let paths: Vec<String> = parts.map(|path| path_of_conflict(path, &[ours, theirs])).collect();
                let sides = Sides { base, ours, theirs };
                line_ends::merge(repo, scratch, &tree, &sides, &paths)?.ok_or(Fault::Conflicts(paths))
            }
            _ => Err(Fault::Git { command: "merge-tree".into(), message: answer.error.trim().to_owned() }),
        }
    }
}

/// A commit of a tree. Its time and names are the same each time, so that two sides with one tree are one commit.
fn commit(repo: &Repo<'_>, scratch: &Scratch, tree: &str, parent: Option<&str>) -> Result<String, Fault> {
    let mut args = vec!["commit-tree", tree, "-m", "merge"];
    args.extend(parent.iter().flat_map(|parent| ["-p", parent]));
    repo.line(scratch, &args, b"")
}

/// The path of a conflict as the working copy has it: where a folder is in a file's way, git puts the file's side behind its name.
fn path_of_conflict(path: String, sides: &[&str]) -> String {
    match path.rsplit_once('~') {
        Some((plain, side)) if sides.contains(&side) => plain.to_owned(),
        _ => path,
    }
}

/// Refuses where git cannot merge trees. A version that cannot be read is left to what git says of the merge.
fn require_merges(repo: &Repo<'_>) -> Result<(), Fault> {
    let line = repo.line(&Scratch::default(), &["version"], b"")?;
    match version(&line) {
        Some(version) if version < FIRST_GIT => {
            Err(Fault::OldGit(line.trim_start_matches("git version ").to_owned()))
        }
        _ => Ok(()),
    }
}

/// The version of git in what `git version` writes.
fn version(line: &str) -> Option<(u32, u32)> {
    let mut numbers = line.strip_prefix("git version ")?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_what_any_git_writes() {
        for (line, found) in [
            ("git version 2.39.5", Some((2, 39))),
            ("git version 2.37.1 (Apple Git-137.1)", Some((2, 37))),
            ("git version 2.41.0.windows.1", Some((2, 41))),
            ("git version 3.0-rc1", None),
            ("", None),
        ] {
            assert_eq!(version(line), found, "{line}");
        }
        assert!(version("git version 2.9.1").expect("a version") < FIRST_GIT);
    }
}
