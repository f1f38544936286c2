//! What the emulator holds: issues with their comments, by repository.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The account whose token is used.
pub(crate) const OWNER: &str = "baton-agent";

/// An issue.
#[derive(Debug, Clone, PartialEq)]
pub struct Issue {
    /// Its number, from 1 in each repository.
    pub number: i64,
    /// Its title.
    pub title: String,
    /// Its body.
    pub body: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// Whether it is open.
    pub open: bool,
    /// Why it is not.
    pub reason: Option<String>,
    /// Its comments.
    pub comments: Vec<Comment>,
    /// Whether it is a pull request.
    pub is_pull: bool,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
    pub(crate) closed_at: Option<i64>,
}

/// A comment.
#[derive(Debug, Clone, PartialEq)]
pub struct Comment {
    /// Its id.
    pub id: i64,
    /// Its text.
    pub body: String,
    /// Who wrote it.
    pub author: String,
    pub(crate) created_at: i64,
    pub(crate) updated_at: i64,
}

impl Issue {
    /// Marks it as changed now.
    pub fn updated_at_now(&mut self) {
        self.updated_at = now();
    }
}

/// Everything that is there.
#[derive(Debug)]
pub struct Hub {
    repos: BTreeMap<String, Vec<Issue>>,
    known: Option<Vec<String>>,
    limit: Option<(u32, Duration)>,
    window: (Instant, u32),
    pub(crate) search_lag: Duration,
    next_comment: i64,
    /// Renamed repositories: the former and the present name, by the number under which they are redirected to.
    moved: Vec<(String, String)>,
    /// Calls that were answered, by method.
    pub calls: BTreeMap<String, u64>,
}

impl Hub {
    pub(crate) fn new(
        known: Option<Vec<String>>,
        limit: Option<(u32, Duration)>,
        search_lag: Duration,
    ) -> Self {
        let window = (Instant::now(), 0);
        Self {
            repos: BTreeMap::new(),
            known,
            limit,
            window,
            search_lag,
            next_comment: 1,
            moved: Vec::new(),
            calls: BTreeMap::new(),
        }
    }

    /// The issues of a repository, oldest first.
    pub fn issues(&self, repo: &str) -> &[Issue] {
        self.repos.get(repo).map_or(&[], Vec::as_slice)
    }

    /// The issues of a repository, to be changed without any event.
    pub fn issues_mut(&mut self, repo: &str) -> &mut Vec<Issue> {
        self.repos.entry(repo.to_owned()).or_default()
    }

    /// Adds an issue.
    pub fn add(&mut self, repo: &str, title: &str, body: &str, labels: Vec<String>) -> &mut Issue {
        let now = now();
        let issues = self.repos.entry(repo.to_owned()).or_default();
        issues.push(Issue {
            number: i64::try_from(issues.len() + 1).unwrap_or(i64::MAX),
            title: title.to_owned(),
            body: body.to_owned(),
            labels,
            open: true,
            reason: None,
            comments: Vec::new(),
            is_pull: false,
            created_at: now,
            updated_at: now,
            closed_at: None,
        });
        let last = issues.len() - 1;
        &mut issues[last]
    }

    /// Renames a repository, as GitHub does: what asks for the former name is redirected.
    pub fn rename(&mut self, from: &str, to: &str) {
        let issues = self.repos.remove(from).unwrap_or_default();
        self.repos.insert(to.to_owned(), issues);
        if let Some(known) = &mut self.known {
            known.retain(|name| name != from);
            known.push(to.to_owned());
        }
        self.moved.push((from.to_owned(), to.to_owned()));
    }

    /// Closes the issue at this place as a person does, with a comment.
    pub fn close(&mut self, repo: &str, at: usize, words: &str) {
        let number = self.issues(repo).get(at).map_or(0, |issue| issue.number);
        self.comment(repo, number, words.to_owned(), OWNER);
        if let Some(issue) = self.issue(repo, number) {
            issue.open = false;
            issue.reason = Some("completed".into());
            issue.closed_at = Some(now());
            issue.updated_at = now();
        }
    }

    /// The number of a repository that had this name.
    pub(crate) fn renamed_repository(&self, repo: &str) -> Option<usize> {
        self.moved.iter().position(|(from, _)| from == repo)
    }

    /// The present name of the repository with this number.
    pub(crate) fn numbered(&self, number: &str) -> Option<String> {
        self.moved.get(number.parse::<usize>().ok()?).map(|(_, to)| to.clone())
    }

    pub(crate) fn knows(&self, repo: &str) -> bool {
        self.known.as_ref().is_none_or(|known| known.iter().any(|one| one == repo))
    }

    pub(crate) fn issue(&mut self, repo: &str, number: i64) -> Option<&mut Issue> {
        self.repos.get_mut(repo)?.iter_mut().find(|issue| issue.number == number)
    }

    /// Says something under an issue as a person does; returns the comment's id.
    pub fn add_comment(&mut self, repo: &str, number: i64, author: &str, words: &str) -> Option<i64> {
        self.comment(repo, number, words.to_owned(), author).map(|comment| comment.id)
    }

    /// Changes a comment; without words it is deleted.
    pub fn edit_comment(&mut self, repo: &str, number: i64, id: i64, words: Option<&str>) {
        let Some(issue) = self.issue(repo, number) else { return };
        issue.updated_at = now();
        match words {
            None => issue.comments.retain(|comment| comment.id != id),
            Some(words) => {
                for comment in issue.comments.iter_mut().filter(|comment| comment.id == id) {
                    words.clone_into(&mut comment.body);
                    comment.updated_at = now();
                }
            }
        }
    }

    pub(crate) fn comment(&mut self, repo: &str, number: i64, body: String, author: &str) -> Option<Comment> {
        let id = self.next_comment;
        let issue = self.issue(repo, number)?;
        let at = now();
        let comment = Comment { id, body, author: author.to_owned(), created_at: at, updated_at: at };
        issue.comments.push(comment.clone());
        issue.updated_at = comment.created_at;
        self.next_comment += 1;
        Some(comment)
    }

    /// Counts a call; with the seconds to wait when the window is full.
    pub(crate) fn count(&mut self, method: &str) -> Option<u32> {
        if let Some((most, span)) = self.limit {
            if self.window.0.elapsed() >= span {
                self.window = (Instant::now(), 0);
            }
            if self.window.1 >= most {
                let left = span.saturating_sub(self.window.0.elapsed());
                return Some(u32::try_from(left.as_secs()).unwrap_or(u32::MAX).saturating_add(1));
            }
            self.window.1 += 1;
        }
        *self.calls.entry(method.to_owned()).or_default() += 1;
        None
    }
}

/// Now, in seconds of the epoch: GitHub counts no finer.
#[allow(
    clippy::disallowed_methods,
    reason = "the emulator stands for another machine, with a clock of its own"
)]
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// Seconds of the epoch as GitHub writes them.
pub(crate) fn time(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| String::new(), |time| time.to_string())
}

/// What GitHub writes, as seconds of the epoch.
pub(crate) fn seconds(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second)
}
