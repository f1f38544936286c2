//! What is read of GitHub's issues: their present state, and what people said when they closed one.

use baton_model::issue::marker_in;
use baton_model::issue_conversation::is_own;
use baton_model::time::{Millis, parse_rfc3339, rfc3339};
use baton_ops::handoff::TrackerComment;

use super::github::{GitHub, PAGES, READ_TIMEOUT, classify_answer};
use super::github_json::{Comment, Issue, Label, read};

/// What an issue looks like from outside.
pub(crate) struct IssueState {
    /// `open` or `closed`.
    pub state: String,
    /// Why it is closed.
    pub reason: Option<String>,
    /// Who closed it.
    pub by: Option<String>,
    /// Its number.
    pub number: i64,
    /// The hidden line of a hand-off in its body.
    pub marker: Option<String>,
    /// Its page, which names the repository as it is called now.
    pub url: Option<String>,
    /// When it last changed, by GitHub's clock.
    pub updated_at: Option<i64>,
    /// When it was closed, by GitHub's clock.
    pub closed_at: Option<i64>,
    /// Its title.
    pub title: Option<String>,
    /// Its text.
    pub body: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// How many comments stand under it.
    pub comments: Option<i64>,
}

/// What a poll brought.
pub(super) struct PollResult {
    /// Issues that changed; nothing when none has.
    pub issues: Vec<IssueState>,
    /// The tag to show next time.
    pub etag: Option<String>,
}

/// How a poll ended.
pub(super) enum PollOutcome {
    /// The issues were read.
    Read(PollResult),
    /// There is no such repository for this token.
    Missing,
    /// They cannot be read now.
    Unreadable,
}

/// The most pages of comments that one poll of a repository reads: the next one goes on from there.
const COMMENT_PAGES: usize = 3;

/// The status of an answer for what is not there, or not for this token.
const NOT_FOUND: u16 = 404;

impl GitHub {
    /// The present state of one issue; none if it cannot be determined.
    pub(super) async fn issue(&self, repo: &str, number: i64) -> Option<IssueState> {
        let path = format!("/repos/{repo}/issues/{number}");
        classify_answer(self.http.send("GET", &path, None, READ_TIMEOUT, None).await, false)
            .ok()
            .and_then(|answer| issue_state(read(&answer.body)))
    }

    /// The issues of a repository that changed since then.
    pub(super) async fn poll(&self, repo: &str, since: i64, etag: Option<&str>) -> PollOutcome {
        let since = rfc3339(since);
        let mut all = PollResult { issues: Vec::new(), etag: None };
        for page in 1..=PAGES {
            let path = format!(
                "/repos/{repo}/issues?state=all&since={since}&sort=updated&direction=asc&per_page=100&page={page}"
            );
            let tag = etag.filter(|_| page == 1);
            let answer = self.http.send("GET", &path, None, READ_TIMEOUT, tag).await;
            if answer.as_ref().is_ok_and(|answer| answer.status == NOT_FOUND) {
                return PollOutcome::Missing;
            }
            let Ok(answer) = classify_answer(answer, false) else { return PollOutcome::Unreadable };
            if page == 1 {
                all.etag = answer.etag.clone().or_else(|| etag.map(str::to_owned));
            }
            if answer.status == 304 {
                return PollOutcome::Read(all);
            }
            let rows = answer.body.as_array().map(Vec::as_slice).unwrap_or_default();
            let issues = rows.iter().map(read::<Issue>).filter(|issue| issue.pull_request.is_none());
            all.issues.extend(issues.filter_map(issue_state));
            if rows.len() < 100 {
                break;
            }
        }
        PollOutcome::Read(all)
    }

    /// The comments under the issues of a repository that were written or changed since then, at most [`COMMENT_PAGES`] pages of them, and
    /// what was read before a page failed; none where they cannot be read now.
    pub(super) async fn comments_since(
        &self,
        repo: &str,
        since: Millis,
        etag: Option<&str>,
    ) -> Option<CommentsRead> {
        // GitHub counts in seconds.
        let end_of_second = since.saturating_add(999);
        let since = rfc3339(since);
        let mut all = CommentsRead::default();
        for page in 1..=PAGES {
            let path = format!(
                "/repos/{repo}/issues/comments?since={since}&sort=updated&direction=asc&per_page=100&page={page}"
            );
            let tag = etag.filter(|_| page == 1);
            let answer = self.http.send("GET", &path, None, READ_TIMEOUT, tag).await;
            let answer = match classify_answer(answer, false) {
                Ok(answer) => answer,
                Err(_) if page == 1 => return None,
                Err(_) => break,
            };
            if page == 1 {
                all.etag = answer.etag.clone().or_else(|| etag.map(str::to_owned));
            }
            let rows = answer.body.as_array().map(Vec::as_slice).unwrap_or_default();
            all.comments.extend(rows.iter().map(read::<Comment>).filter_map(Comment::under_issue));
            if answer.status == 304 || rows.len() < 100 {
                return Some(all);
            }
            // The tag says nothing of the pages behind the first.
            all.etag = None;
            // The next poll asks from the newest time on: it gets further only where that is a later one.
            let newest = all.comments.last().map(|(_, comment)| comment.updated_at);
            if page >= COMMENT_PAGES && newest.is_some_and(|newest| newest > end_of_second) {
                break;
            }
        }
        all.has_more = true;
        Some(all)
    }

    /// All comments under an issue.
    pub(super) async fn comments_of(&self, repo: &str, number: i64) -> IssueComments {
        let mut all = Vec::new();
        for page in 1..=PAGES {
            let path = format!("/repos/{repo}/issues/{number}/comments?per_page=100&page={page}");
            let answer = self.http.send("GET", &path, None, READ_TIMEOUT, None).await;
            let Ok(answer) = classify_answer(answer, false) else { return IssueComments::Unreadable };
            let Some(rows) = answer.body.as_array() else { return IssueComments::Unreadable };
            all.extend(rows.iter().map(read::<Comment>).filter_map(Comment::into_comment));
            if rows.len() < 100 {
                return IssueComments::All(all);
            }
        }
        IssueComments::TooMany
    }

    /// What the person who closed an issue said under it last; none where that was nothing, or was written by Baton.
    pub(super) async fn closing_words(&self, repo: &str, number: i64, by: &str) -> ClosingWords {
        let mut last = None;
        for page in 1..=PAGES {
            let path = format!("/repos/{repo}/issues/{number}/comments?per_page=100&page={page}");
            let answer = self.http.send("GET", &path, None, READ_TIMEOUT, None).await;
            let Ok(answer) = classify_answer(answer, false) else { return ClosingWords::Unknown };
            let rows = answer.body.as_array().map(Vec::as_slice).unwrap_or_default();
            for comment in rows.iter().map(read::<Comment>) {
                let is_theirs = comment.user.and_then(|user| user.login).is_some_and(|login| login == by);
                last = comment.body.filter(|body| is_theirs && !is_own(body)).or(last);
            }
            if rows.len() < 100 {
                break;
            }
        }
        ClosingWords::Known(last.filter(|body| !body.trim().is_empty()))
    }
}

/// Comments under the issues of a repository.
#[derive(Default)]
pub(super) struct CommentsRead {
    /// Each with the number of its issue; the longest unchanged first.
    pub(super) comments: Vec<(i64, TrackerComment)>,
    /// The tag to show next time.
    pub(super) etag: Option<String>,
    /// There are more, which the next poll reads.
    pub(super) has_more: bool,
}

/// The comments under one issue.
pub(super) enum IssueComments {
    /// Every one.
    All(Vec<TrackerComment>),
    /// More than are read.
    TooMany,
    /// GitHub does not give them now.
    Unreadable,
}

/// What the person who closed an issue said under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClosingWords {
    /// Their last comment; none where they wrote none.
    Known(Option<String>),
    /// GitHub did not give the comments.
    Unknown,
}

/// How long a close waits for the words of the person who closed, while GitHub does not give the comments.
pub(crate) const WAIT_FOR_WORDS: Millis = 10 * 60 * 1_000;

fn issue_state(issue: Issue) -> Option<IssueState> {
    Some(IssueState {
        state: issue.state?,
        reason: issue.state_reason,
        by: issue.closed_by.and_then(|account| account.login),
        number: issue.number?,
        marker: issue.body.as_deref().and_then(marker_in).map(str::to_owned),
        url: issue.html_url,
        updated_at: issue.updated_at.as_deref().and_then(parse_rfc3339),
        closed_at: issue.closed_at.as_deref().and_then(parse_rfc3339),
        title: issue.title,
        body: issue.body,
        labels: issue.labels.into_iter().filter_map(Label::into_name).collect(),
        comments: issue.comments,
    })
}
