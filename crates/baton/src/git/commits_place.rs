//! Where the commits of a session are: in what is checked out in a working copy, or on another branch.

use std::path::Path;

use baton_model::repository::{CommitsPlace, SessionCommitsQuery, is_commit_id};
use baton_model::time::Millis;

use super::layout::layout;
use super::read;
use super::reflog::written_at;

/// The most moves of a branch that are looked at.
const MOVES: &str = "--max-count=50";

/// Where the session's commits are, those that were noted and those that were made while it was open on the branch it began on: on a branch,
/// where what is checked out lacks one of them.
pub(crate) fn commits_place(query: &SessionCommitsQuery) -> Option<CommitsPlace> {
    let folder = Path::new(&query.folder);
    let (mut own, mut is_checked_out) = (query.commits.clone(), false);
    if let Some(branch) = &query.branch {
        let made = made_on(folder, branch, (query.since, query.until)).unwrap_or_default();
        own.splice(0..0, made.into_iter().filter(|commit| !query.foreign.contains(commit)));
    }
    for commit in own.iter().rev().filter(|commit| is_commit_id(commit)) {
        if is_in_head(folder, commit) {
            // Others may be elsewhere: of commits of one second the log does not tell which is newer.
            is_checked_out = true;
            continue;
        }
        // One that was amended away, or whose branch is gone, is left in no branch.
        if let Some(branch) = branch_with(folder, commit, query.branch.as_deref()) {
            return head_of(folder, branch);
        }
    }
    is_checked_out.then_some(CommitsPlace::CheckedOut)
}

fn is_in_head(folder: &Path, commit: &str) -> bool {
    read(folder, &["merge-base", "--is-ancestor", commit, "HEAD"]).is_some()
}

/// A branch that has a commit; the preferred one, if that has it.
fn branch_with(folder: &Path, commit: &str, preferred: Option<&str>) -> Option<String> {
    let listed = read(
        folder,
        &["for-each-ref", "--format=%(refname:lstrip=2)", &format!("--contains={commit}"), "refs/heads/"],
    )?;
    let all: Vec<&str> = listed.lines().collect();
    let found = all.iter().find(|name| Some(**name) == preferred).or_else(|| all.first());
    found.map(|name| (*name).to_owned())
}

fn head_of(folder: &Path, branch: String) -> Option<CommitsPlace> {
    let named = format!("refs/heads/{branch}^{{commit}}");
    let commit = read(folder, &["rev-parse", "--verify", "--quiet", &named])?.trim().to_owned();
    Some(CommitsPlace::Branch { name: branch, commit })
}

/// The commits that were made on a branch in the seconds from one instant to another, by its own log, as far as it has them.
fn made_on(folder: &Path, branch: &str, (since, until): (Millis, Millis)) -> Option<Vec<String>> {
    let seconds = since / 1_000..=until / 1_000;
    let name = format!("refs/heads/{branch}");
    // Of the first second the log does not tell what came before the session; its file tells that nothing came after.
    let common_dir = layout(&super::root(folder)?).ok()?.common_dir;
    if written_at(&common_dir, &format!("logs/{name}")).is_some_and(|at| at < since) {
        return Some(Vec::new());
    }
    let args = ["reflog", "show", "--date=unix", "--format=%H%x09%gd%x09%gs", MOVES, &name, "--"];
    let listed = read(folder, &args)?;
    let made = listed.lines().filter_map(|line| {
        let (id, rest) = line.split_once('\t')?;
        let (moved, what) = rest.split_once('\t')?;
        let at: i64 = moved.rsplit_once("@{")?.1.trim_end_matches('}').parse().ok()?;
        (seconds.contains(&at) && super::reflog::is_made(what)).then(|| id.to_owned())
    });
    let is_kept = |commit: &String| read(folder, &["merge-base", "--is-ancestor", commit, &name]).is_some();
    Some(made.filter(is_kept).collect())
}
