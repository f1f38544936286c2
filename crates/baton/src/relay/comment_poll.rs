//! Polls of comments: what people write under the issues of hand-offs, where no webhook brings it.

use std::collections::BTreeMap;

use baton_model::time::Millis;
use baton_ops::handoff::{TrackerComment, TrackerComments, TrackerCommentsInput};
use baton_store::handoff::KnownIssue;
use baton_store::tracker::CommentCursor;
use baton_store::{Failure, Store, issue_comment};
use tokio::runtime::Handle;

use super::github::GitHub;
use super::github_read::{IssueComments, IssueState};
use super::saga::Driver;

/// How far the clocks of two machines may differ, in milliseconds.
const SKEW: Millis = 3_600_000;

/// The result of a poll of comments.
pub(super) struct CommentPoll {
    /// How many comments are new or changed.
    pub(super) news: usize,
    /// How far the comments were read.
    pub(super) cursor: CommentCursor,
    /// Whether every comment up to now was read.
    pub(super) is_complete: bool,
}

/// The result of a search for deleted comments.
#[derive(Default)]
pub(super) struct DeletionSearch {
    /// How many deletions are new.
    pub(super) news: usize,
    /// When the oldest of the issues changed whose deletions are not known yet.
    pub(super) oldest_unread: Option<Millis>,
}

impl Driver {
    /// Brings the comments under the issues of a repository since the last poll into the ledger: one request for all of them, which
    /// costs nothing where there are none.
    pub(super) fn poll_comments(
        &self,
        store: &mut Store,
        runtime: &Handle,
        (github, repo): (&GitHub, &str),
        (issues, known): (&[KnownIssue], &CommentCursor),
    ) -> Result<CommentPoll, Failure> {
        // An issue has no comments from before it was there.
        let first = issues.iter().map(|issue| issue.created_at).min();
        let first = first.map_or_else(|| self.machine.now(), |first| first.saturating_sub(SKEW));
        let since = if known.since_at == 0 { first } else { known.since_at };
        let read = runtime.block_on(github.comments_since(repo, since, known.etag.as_deref()));
        let Some(read) = read else {
            return Ok(CommentPoll { news: 0, cursor: known.clone(), is_complete: false });
        };
        let newest = read.comments.iter().map(|(_, comment)| comment.updated_at).max();
        let newest = newest.unwrap_or(since).max(since);
        let mut by_issue: BTreeMap<i64, Vec<TrackerComment>> = BTreeMap::new();
        for (number, comment) in read.comments {
            if issues.iter().any(|issue| issue.number == number) {
                by_issue.entry(number).or_default().push(comment);
            }
        }
        let mut news = 0;
        for (number, comments) in by_issue {
            let input = TrackerCommentsInput { repo: repo.to_owned(), number, comments, deleted: Vec::new() };
            news += self.call::<TrackerComments>(store, &input)?.changed;
        }
        // The tag is valid for the list since `since` only.
        let etag = read.etag.filter(|_| newest == since);
        let cursor = CommentCursor { etag, since_at: newest };
        Ok(CommentPoll { news, cursor, is_complete: !read.has_more })
    }

    /// Looks for comments that were deleted: an issue that changed has fewer than are known. Only such an issue is asked for. While
    /// newer comments are unread, the numbers say nothing, and the issue is looked at again.
    pub(super) fn find_deleted(
        &self,
        store: &mut Store,
        runtime: &Handle,
        (github, repo): (&GitHub, &str),
        (known, changed, is_complete): (&[KnownIssue], &[IssueState], bool),
    ) -> Result<DeletionSearch, Failure> {
        let mut search = DeletionSearch::default();
        for seen in changed {
            let Some(issue) = known.iter().find(|issue| issue.number == seen.number) else { continue };
            let comments = store.read(|tx| Ok(issue_comment::of(tx, &issue.handoff_id)?))?;
            let there: Vec<i64> =
                comments.iter().filter(|one| one.standing.is_there()).map(|one| one.comment_id).collect();
            let count = i64::try_from(there.len()).unwrap_or(i64::MAX);
            let Some(present) = seen.comments.filter(|_| count > 0) else { continue };
            if present >= count {
                if !is_complete {
                    search.look_again(seen);
                }
                continue;
            }
            let present = match runtime.block_on(github.comments_of(repo, seen.number)) {
                IssueComments::All(present) => present,
                IssueComments::TooMany => continue,
                IssueComments::Unreadable => {
                    search.look_again(seen);
                    continue;
                }
            };
            let deleted: Vec<i64> =
                there.into_iter().filter(|id| present.iter().all(|one| one.id != *id)).collect();
            let input = TrackerCommentsInput {
                repo: repo.to_owned(),
                number: seen.number,
                comments: present,
                deleted,
            };
            search.news += self.call::<TrackerComments>(store, &input)?.changed;
        }
        Ok(search)
    }
}

impl DeletionSearch {
    /// The next poll lists the issue again.
    fn look_again(&mut self, seen: &IssueState) {
        self.oldest_unread = self.oldest_unread.into_iter().chain(seen.updated_at).min();
    }
}
