//! The commits that were made in a working copy, from git's log of its head.
//!
//! The log has a line for every move of the head: the commit before, the commit after, who, when, and what moved it. A commit that
//! was fetched, checked out or reset to is a move, too, but was not made here.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::UNIX_EPOCH;

use baton_model::repository::{MadeCommit, is_commit_id};
use baton_model::time::Millis;

use super::layout::{MAX_POINTER_BYTES, layout, uses_reftable};
use crate::repo_file::RepoFile;

/// How much of the end of the log is read, in bytes: some hundred moves.
const TAIL: u64 = 64 * 1024;
/// How many moves are read where git reads the log.
const MOVES: usize = 400;

/// The commits that were made in the working copy around this folder since an instant, and since `head` was checked out there, oldest
/// first. Times of the log have no fraction of a second, so that `head` alone tells what was made in the second of the instant; where the
/// log does not have it, the time of its file at least tells that nothing was.
pub(crate) fn commits_made(folder: &Path, since: Millis, head: Option<&str>) -> Option<Vec<MadeCommit>> {
    let layout = layout(&super::root(folder)?).ok()?;
    let tail = match RepoFile::new(&layout.git_dir, "HEAD").text(MAX_POINTER_BYTES).ok()? {
        Some(text) if uses_reftable(&text) => of_table(folder)?,
        _ => tail(&layout.git_dir)?,
    };
    let lines: Vec<&str> = tail.lines().collect();
    let is_head = |line: &&str| head.is_some() && line.split(' ').nth(1) == head;
    let known = lines.iter().rposition(is_head);
    if known.is_none() && written_at(&layout.git_dir, "logs/HEAD").is_some_and(|at| at < since) {
        return Some(Vec::new());
    }
    let first = known.map_or(0, |at| at + 1);
    let since = since - since.rem_euclid(1_000);
    Some(
        lines[first..]
            .iter()
            .filter_map(|line| parse_line(line))
            .filter(|commit| commit.at >= since)
            .collect(),
    )
}

/// When the log of a head begins: when its working copy was made. None where it is no file. The log has whole seconds; the file that git
/// writes only when it makes a worktree has the rest, unless it was copied since.
pub(super) fn begun_at(git_dir: &Path) -> Option<Millis> {
    let second = first_move_at(git_dir)?;
    let millis = written_at(git_dir, "commondir");
    Some(millis.filter(|at| (second..second + 1_000).contains(at)).unwrap_or(second))
}

/// When a file of git was written last.
pub(super) fn written_at(git_dir: &Path, name: &str) -> Option<Millis> {
    let file = RepoFile::new(git_dir, name).open().ok()??;
    let modified = file.metadata().ok()?.modified().ok()?;
    modified.duration_since(UNIX_EPOCH).ok()?.as_millis().try_into().ok()
}

/// When the first move of a head was made, to the second.
fn first_move_at(git_dir: &Path) -> Option<Millis> {
    let file = RepoFile::new(git_dir, "logs/HEAD").open().ok()??;
    let mut start = Vec::new();
    file.take(MAX_POINTER_BYTES).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    moved_at(start.lines().next()?.split('\t').next()?)
}

/// When a move was made, by the part of its line that says who made it.
fn moved_at(head: &str) -> Option<Millis> {
    let mut ends = head.rsplit(' ');
    let (_zone, seconds) = (ends.next()?, ends.next()?);
    seconds.parse::<i64>().ok()?.checked_mul(1_000)
}

/// The end of the log's file.
fn tail(git_dir: &Path) -> Option<String> {
    let mut file = RepoFile::new(git_dir, "logs/HEAD").open().ok()??;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    Some(String::from_utf8_lossy(&tail).into_owned())
}

/// The newest moves of a log that is not a file, in its lines, the oldest first. The commit before a move is left out.
fn of_table(folder: &Path) -> Option<String> {
    let most = format!("--max-count={MOVES}");
    let args = ["reflog", "show", "--date=unix", "--format=%H%x09%gd%x09%gs", &most, "HEAD", "--"];
    let listed = super::read(folder, &args)?;
    let line = |entry: &str| {
        let (id, rest) = entry.split_once('\t')?;
        let (selector, what) = rest.split_once('\t')?;
        let seconds = selector.strip_prefix("HEAD@{")?.strip_suffix('}')?;
        Some(format!("- {id} - {seconds} +0000\t{what}\n"))
    };
    Some(listed.lines().rev().filter_map(line).collect())
}

/// The commit that a line of the log tells of, if it was made by the move.
fn parse_line(line: &str) -> Option<MadeCommit> {
    let (head, what) = line.split_once('\t')?;
    if !is_made(what) {
        return None;
    }
    let id = head.split(' ').nth(1).filter(|id| is_commit_id(id))?;
    Some(MadeCommit { id: id.to_owned(), at: moved_at(head)? })
}

/// Whether a move makes a commit: git's own words for it.
pub(super) fn is_made(what: &str) -> bool {
    let verb = what.split([':', ' ']).next().unwrap_or_default();
    match verb {
        "commit" | "cherry-pick" | "revert" | "am" => true,
        "rebase" => ["(pick)", "(reword)", "(squash)", "(fixup)", "(edit)", "(continue)"]
            .iter()
            .any(|step| what.contains(step)),
        "merge" | "pull" => what.contains("Merge made"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_moves_that_make_a_commit_count() {
        for (what, is) in [
            ("commit: Round half up", true),
            ("commit (initial): x", true),
            ("commit (amend): x", true),
            ("commit (merge): x", true),
            ("cherry-pick: x", true),
            ("rebase (pick): x", true),
            ("merge fix: Merge made by the 'ort' strategy.", true),
            ("merge fix: Fast-forward", false),
            ("pull: Fast-forward", false),
            ("rebase (start): checkout main", false),
            ("rebase (finish): returning to refs/heads/x", false),
            ("checkout: moving from main to commit", false),
            ("reset: moving to HEAD~1", false),
            ("clone: from /srv/shop.git", false),
            ("", false),
        ] {
            assert_eq!(is_made(what), is, "{what}");
        }
    }

    #[test]
    fn a_line_gives_the_commit_after_the_move_and_its_time() {
        let (old, new) = ("0".repeat(40), "a".repeat(40));
        let line = format!("{old} {new} Ann With Spaces <a@b> 1795000000 +0100\tcommit: x");
        assert_eq!(parse_line(&line), Some(MadeCommit { id: new.clone(), at: 1_795_000_000_000 }));
        for odd in ["", "x\tcommit: y", &line.replace(&new, "--upload-pack"), &line.replace('\t', " ")] {
            assert_eq!(parse_line(odd), None, "{odd}");
        }
    }
}
