//! Which commits a file, or lines of it, come from. Only built-in commands that read objects: no text conversion, no signature check.

use std::ops::RangeInclusive;
use std::path::Path;

use baton_model::repository::is_commit_id;
use baton_model::time::Millis;
use serde::Serialize;

use super::layout;

/// The most commits that are read of a file.
const MAX_COMMITS: &str = "-n20";
/// Full id, committer's time, author, trailers, subject; between them a byte that no field holds.
const FORMAT: &str = "--format=%H%x00%ct%x00%an%x00%(trailers:key=Baton,valueonly,separator=%x2C)%x00%s";

/// A commit as a reader sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct CommitInfo {
    /// Its full id.
    pub id: String,
    /// When it was committed.
    #[serde(skip)]
    pub at: Millis,
    /// Its author's name.
    pub author: String,
    /// Its first line.
    pub subject: String,
    /// Whether the history is cut here, as in a shallow clone: what stands in it may be older.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
    /// What its trailers `Baton:` name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trailers: Vec<String>,
}

/// The full id of the commit that a revision names.
pub(crate) fn commit_id(folder: &Path, revision: &str) -> Option<String> {
    if revision.starts_with('-') {
        return None;
    }
    let named = format!("{revision}^{{commit}}");
    let id = super::read(folder, &["rev-parse", "--verify", "--quiet", "--end-of-options", &named])?;
    Some(id.trim().to_owned()).filter(|id| is_commit_id(id))
}

/// Whether a remote has a commit, as far as the working copy tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// A remote branch held it at the last fetch or push.
    Yes,
    /// None did, and all branches of the remotes are known.
    No,
    /// None did of those that this clone fetches. Of another one it does not even keep what was pushed to it.
    Unknown,
}

/// Whether a remote branch holds a commit. None where there is no remote, or no such commit.
pub(crate) fn pushed(folder: &Path, id: &str) -> Option<Pushed> {
    if !is_commit_id(id) || super::read(folder, &["remote"])?.trim().is_empty() {
        return None;
    }
    let args = ["branch", "--remotes", "--format=%(refname)", "--contains", id];
    if !super::read(folder, &args)?.trim().is_empty() {
        return Some(Pushed::Yes);
    }
    let fetched = super::read(folder, &["config", "--get-regexp", r"^remote\..*\.fetch$"]);
    let is_every =
        |line: &str| line.trim_end().rsplit(' ').next().is_some_and(|one| one.contains("refs/heads/*:"));
    let knows_all = fetched.is_some_and(|lines| lines.lines().any(is_every));
    Some(if knows_all { Pushed::No } else { Pushed::Unknown })
}

/// The commits in which these lines got their present text, without those that are not committed. `path` counts from the top of the
/// working copy. None where git does not know the file or the lines.
pub(crate) fn commits_of_lines(folder: &Path, path: &str, lines: RangeInclusive<u32>) -> Option<Vec<String>> {
    let range = format!("-L{},{}", lines.start(), lines.end());
    let text = super::read_files(folder, &["blame", "--porcelain", "--no-textconv", &range, "--", path])?;
    let mut ids: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('\t')) {
        let id = line.split(' ').next().unwrap_or_default();
        let is_committed = is_commit_id(id) && id.bytes().any(|byte| byte != b'0');
        if is_committed && !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    Some(ids)
}

/// The newest commits that changed a file, also under a name that it had before. `path` counts from the top of the working copy.
pub(crate) fn commits_of_file(folder: &Path, path: &str) -> Option<Vec<CommitInfo>> {
    let args = [
        "log",
        MAX_COMMITS,
        FORMAT,
        "--follow",
        "--no-show-signature",
        "--no-ext-diff",
        "--no-textconv",
        "--",
        path,
    ];
    Some(marked(folder, super::read(folder, &args)?.lines().filter_map(parse).collect()))
}

/// Marks those at which the history of a shallow repository is cut.
fn marked(folder: &Path, mut commits: Vec<CommitInfo>) -> Vec<CommitInfo> {
    let cut = super::root(folder).map(|root| layout::cut_commits(&root)).unwrap_or_default();
    for commit in &mut commits {
        commit.is_cut = cut.contains(&commit.id);
    }
    commits
}

/// What git says of commits, in the order in which they are named.
pub(crate) fn commits(folder: &Path, ids: &[String]) -> Vec<CommitInfo> {
    let of = |id: &String| {
        let args = ["log", "-n1", FORMAT, "--no-show-signature", "--end-of-options", id.as_str(), "--"];
        super::read(folder, &args)?.lines().find_map(parse)
    };
    marked(folder, ids.iter().filter_map(of).collect())
}

fn parse(line: &str) -> Option<CommitInfo> {
    let mut fields = line.splitn(5, '\0');
    let mut next = || fields.next();
    let (id, seconds, author, trailers, subject) = (next()?, next()?, next()?, next()?, next()?);
    let names = trailers.split(',').map(str::trim).filter(|name| !name.is_empty());
    is_commit_id(id).then(|| CommitInfo {
        id: id.to_owned(),
        at: seconds.parse::<i64>().unwrap_or_default().saturating_mul(1_000),
        is_cut: false,
        author: author.to_owned(),
        subject: subject.to_owned(),
        trailers: names.map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_history_is_read_field_by_field() {
        let id = "a".repeat(40);
        let commit = parse(&format!("{id}\x001795000000\0Ann B\x000199aa01, 0199aa02\0Round: half up"))
            .expect("commit");
        assert_eq!((commit.id, commit.at), (id, 1_795_000_000_000));
        assert_eq!((commit.author.as_str(), commit.subject.as_str()), ("Ann B", "Round: half up"));
        assert_eq!(commit.trailers, ["0199aa01", "0199aa02"]);
        assert_eq!(parse("x\0y"), None);
    }
}
