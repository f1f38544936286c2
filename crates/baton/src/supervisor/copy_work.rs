//! What came to be in the working copy of a run: commits, and files that are not committed. A command that writes no transcript says
//! nothing of it itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::time::Millis;
use baton_ops::op::Caller;

use crate::fingerprint::fingerprints;
use crate::git;

/// The most files that are compared by what they hold; of more, only new names count.
const MAX_COMPARED: usize = 256;
/// The most commits, and the most files, that are named.
const MAX_NAMED: usize = 20;
/// How much of the subject of a commit is shown.
const SUBJECT_LEN: usize = 72;

/// The working copy of a run as it was at the beginning.
pub(super) struct CopyAtStart {
    root: PathBuf,
    head: Option<String>,
    at: Millis,
    /// What was not committed, and what it held; none where git does not tell.
    uncommitted: Option<BTreeMap<String, String>>,
}

impl CopyAtStart {
    /// Reads it; none outside of git.
    pub(super) fn read(caller: &Caller, at: Millis) -> Option<Self> {
        let root = PathBuf::from(caller.git_root.as_deref()?);
        let head = caller.repository.as_ref()?.commit.clone();
        let uncommitted = uncommitted(&root);
        Some(Self { root, head, at, uncommitted })
    }

    /// What came to be there since, in words; none where that is nothing. Others may have worked in it meanwhile, so it is said to have
    /// come to be, and not who made it.
    pub(super) fn work_since(&self, program: &str, caller: &Caller) -> Option<String> {
        let commits = self.commits();
        let files = self.files();
        if commits.is_empty() && files.is_empty() {
            return None;
        }
        let branch = caller.repository.as_ref().and_then(|own| own.branch.as_deref());
        let branch = branch.map_or_else(String::new, |branch| format!(", branch {}", visible(branch)));
        let place = format!("in {}{branch}", visible(&self.root.display().to_string()));
        let mut parts = Vec::new();
        if !commits.is_empty() {
            parts.push(format!("committed: {}", name_list(&commits)));
        }
        if !files.is_empty() {
            parts.push(format!("not committed: {}", name_list(&files)));
        }
        let program = visible(program);
        Some(format!("while `{program}` ran, which said nothing itself, {place}: {}", parts.join("; ")))
    }

    /// The commits that were made there since and are there still, the oldest first.
    fn commits(&self) -> Vec<String> {
        let made = git::commits_made(&self.root, self.at, self.head.as_deref()).unwrap_or_default();
        let ids: Vec<String> = made.into_iter().map(|commit| commit.id).collect();
        let label = |commit: &git::CommitInfo| {
            let subject: String = visible(&commit.subject).chars().take(SUBJECT_LEN).collect();
            format!("{} {subject}", commit.id.get(..7).unwrap_or(&commit.id))
        };
        git::commits(&self.root, &ids).iter().map(label).collect()
    }

    /// The files that are not committed and were not so, or held something else, at the beginning.
    fn files(&self) -> Vec<String> {
        let (Some(before), Some(now)) = (&self.uncommitted, uncommitted(&self.root)) else {
            return Vec::new();
        };
        let is_new = |(path, held): &(String, String)| match before.get(path) {
            Some(was) => !was.is_empty() && !held.is_empty() && was != held,
            None => true,
        };
        now.into_iter().filter(is_new).map(|(path, _)| path).collect()
    }
}

/// What is not committed in a working copy, and what it holds; nothing is said of that where there are too many.
fn uncommitted(root: &Path) -> Option<BTreeMap<String, String>> {
    let paths = git::uncommitted(root)?;
    let held = match paths.len() > MAX_COMPARED {
        true => vec![String::new(); paths.len()],
        false => fingerprints(root, &paths),
    };
    Some(paths.into_iter().zip(held).collect())
}

/// The first names of a list, and how many more there are.
fn name_list(all: &[String]) -> String {
    let shown: Vec<String> = all.iter().take(MAX_NAMED).map(|name| visible(name)).collect();
    match all.len().saturating_sub(MAX_NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
