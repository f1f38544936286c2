//! A git repository: one common git folder with any number of working copies.

use serde::{Deserialize, Serialize};

use crate::id::{short, visible};
use crate::project::{parse_repo, without_credentials};
use crate::remote::{Remote, is_github_host};
use crate::time::Millis;

/// The longest id of a repository that is read, in bytes.
const MAX_ID_LEN: usize = 64;

/// A repository as a caller stands in it, read from its files without running git. Everything in it may come from a stranger: an
/// unpacked archive brings its own settings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Repository {
    /// Its common git folder without links; all of its working copies share it.
    pub common_dir: String,
    /// The id in git's own settings of the repository. It moves along with the folder, and a copy of the folder has it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The top folder of the main working copy; none where the repository is bare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main: Option<String>,
    /// Whether the caller stands in a linked worktree.
    pub is_worktree: bool,
    /// The address of `origin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The branch that is checked out; none where the head is detached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit that is checked out; none before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The name of the host on which it lies, for people; none where the machine has a name of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

/// The longest name of a host.
const MAX_HOST_LEN: usize = 253;

/// Whether a text can be the name of a host.
pub fn is_host_name(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    !text.is_empty() && text.len() <= MAX_HOST_LEN && text.chars().all(is_plain)
}

/// What people call a machine, in a clause: its host, if that is known, and its id.
pub fn machine_name(host: Option<&str>, machine: &str) -> String {
    let id = visible(short(machine));
    match host {
        Some(host) => format!("{} ({id})", visible(host)),
        None => id,
    }
}

/// A commit that was made in a working copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeCommit {
    /// Its full id.
    pub id: String,
    /// When it was made there, to the second.
    pub at: Millis,
}

/// A question for a repository: where the commits of a session are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionCommitsQuery {
    /// The top folder of a working copy.
    pub folder: String,
    /// The branch that the session began on.
    pub branch: Option<String>,
    /// Its commits, as far as they were noted, the oldest first.
    pub commits: Vec<String>,
    /// Commits that may be another session's: where two sessions share a working copy, git does not tell which of them made one.
    pub foreign: Vec<String>,
    /// When it began.
    pub since: Millis,
    /// When it ended, or was heard of last.
    pub until: Millis,
}

/// Where commits of a session are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitsPlace {
    /// What is checked out has them.
    CheckedOut,
    /// On a branch that is not checked out.
    Branch {
        /// The branch.
        name: String,
        /// What it names now.
        commit: String,
    },
}

/// Whether a text can be the full id of a commit.
pub fn is_commit_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The working copy in which an agent works: the folder, and what is checked out in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingCopy {
    /// Its top folder; the working directory where there is no git.
    pub root: String,
    /// The branch; none where the head is detached, or there is no git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether it is a linked worktree.
    #[serde(default)]
    pub is_worktree: bool,
    /// The name of the host, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
}

impl WorkingCopy {
    /// The working copy in a clause: `/src/shop-fix, branch fix at 1a2b3c4`.
    pub fn describe(&self) -> String {
        let head = match checkout(self.branch.as_deref(), self.commit.as_deref()) {
            Some(head) => format!(", {head}"),
            None => String::new(),
        };
        format!("{}{head}", visible(&self.root))
    }
}

/// What is checked out, in a clause: `branch fix at 1a2b3c4`.
pub fn checkout(branch: Option<&str>, commit: Option<&str>) -> Option<String> {
    let commit = commit.map(|commit| visible(commit.get(..7).unwrap_or(commit)));
    match (branch, commit) {
        (Some(branch), Some(commit)) => Some(format!("branch {} at {commit}", visible(branch))),
        (Some(branch), None) => Some(format!("branch {}", visible(branch))),
        (None, Some(commit)) => Some(format!("at {commit} without a branch")),
        (None, None) => None,
    }
}

/// Whether a text can be the id of a repository.
pub fn is_repository_id(text: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-';
    (16..=MAX_ID_LEN).contains(&text.len()) && text.chars().all(good)
}

/// Why a git folder is not followed that lies apart from its working copy, in a clause: a cloned repository can hold a file that leads to it.
pub const NAMES_NO_WORKTREE: &str = "whose settings name no working copy";

/// The one spelling in which addresses of a repository are compared: host and path without scheme, user, port and `.git`. One
/// that begins with a slash is a path, and names a repository of one machine only; there `shop` and `shop.git` are two folders.
pub fn canonical_address(remote: &str) -> Option<String> {
    let remote = Remote::parse(&without_credentials(remote))?;
    let path = remote.path.trim_end_matches('/');
    let Some(host) = remote.host else {
        let path = without_dots(path);
        return (path.starts_with('/') && path.len() > 1).then_some(path);
    };
    let path = path.strip_suffix(".git").unwrap_or(path).trim_end_matches('/');
    // GitHub takes owners and repositories in any case, and has several names.
    if is_github_host(&host, None) {
        return parse_repo(path).ok().map(|repo| format!("github.com/{}", repo.to_ascii_lowercase()));
    }
    (!path.is_empty()).then(|| format!("{host}/{path}"))
}

/// An absolute path without `.` and `..`, as it reads; another one as it is.
fn without_dots(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => _ = names.pop(),
            name => names.push(name),
        }
    }
    format!("/{}", names.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_remote_in_all_its_spellings_is_one_address() {
        for text in [
            "https://github.com/Acme/Shop.git",
            "git@github.com:acme/shop.git",
            "ssh://git@ssh.github.com:443/acme/shop",
            "https://user:token@github.com/acme/shop/",
        ] {
            assert_eq!(canonical_address(text).as_deref(), Some("github.com/acme/shop"), "{text}");
        }
        for (text, address) in [
            ("https://git.example/a/Shop.git", Some("git.example/a/Shop")),
            ("git@git.example:a/Shop", Some("git.example/a/Shop")),
            ("/srv/git/shop.git/", Some("/srv/git/shop.git")),
            ("file:///srv/git/shop.git", Some("/srv/git/shop.git")),
            ("/srv/src/../git/./shop.git", Some("/srv/git/shop.git")),
            ("/srv/git/shop", Some("/srv/git/shop")),
            ("/..", None),
            ("../shop", None),
            ("https://github.com/acme", None),
            ("", None),
        ] {
            assert_eq!(canonical_address(text).as_deref(), address, "{text}");
        }
    }

    #[test]
    fn nothing_but_a_random_word_is_an_id() {
        assert!(is_repository_id("0199aaaa-0000-7000-8000-000000000001"));
        for text in ["", "shop", "0199aaaa 00007000", "../../../../../etc", &"a".repeat(65)] {
            assert!(!is_repository_id(text), "{text}");
        }
    }
}
