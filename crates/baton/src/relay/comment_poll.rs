//! Polls of comments: what people say under the issues of hand-offs, where no webhook says so.

use std::collections::BTreeMap;

use baton_model::time::Millis;
use baton_ops::handoff::{SeenComment, TrackerComments, TrackerCommentsInput};
use baton_store::handoff::KnownIssue;
use baton_store::tracker::CommentCursor;
use baton_store::{Failure, Store, issue_comment};
use tokio::runtime::Handle;

use super::github::GitHub;
use super::github_read::IssueState;
use super::saga::Driver;

/// How far the clocks of two machines may differ, in milliseconds.
const SKEW: Millis = 3_600_000;

/// What a poll of the comments came to.
pub(super) struct HeardComments {
    /// How many of them brought news.
    pub(super) news: usize,
    /// How far they were read.
    pub(super) cursor: CommentCursor,
}

impl Driver {
    /// Brings what was said under the issues of a repository since the last look into the ledger: one request for all of them, which
    /// costs nothing where nothing was said.
    pub(super) fn poll_comments(
        &self,
        store: &mut Store,
        runtime: &Handle,
        (github, repo): (&GitHub, &str),
        (issues, known): (&[KnownIssue], &CommentCursor),
    ) -> Result<HeardComments, Failure> {
        // Nothing was said under an issue before it was there.
        let first = issues.iter().map(|issue| issue.created_at).min();
        let first = first.map_or_else(|| self.machine.now(), |first| first.saturating_sub(SKEW));
        let since = if known.since_at == 0 { first } else { known.since_at };
        let read = runtime.block_on(github.comments_since(repo, since, known.etag.as_deref()));
        let Some(read) = read else { return Ok(HeardComments { news: 0, cursor: known.clone() }) };
        let newest = read.comments.iter().map(|(_, comment)| comment.updated_at).max();
        let newest = newest.unwrap_or(since).max(since);
        let mut by_issue: BTreeMap<i64, Vec<SeenComment>> = BTreeMap::new();
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
        Ok(HeardComments { news, cursor: CommentCursor { etag, since_at: newest } })
    }

    /// Looks for comments that were deleted: an issue that changed has fewer than are known. Only such an issue is asked for.
    pub(super) fn find_deleted(
        &self,
        store: &mut Store,
        runtime: &Handle,
        (github, repo): (&GitHub, &str),
        (known, changed): (&[KnownIssue], &[IssueState]),
    ) -> Result<usize, Failure> {
        let mut news = 0;
        for seen in changed {
            let Some(issue) = known.iter().find(|issue| issue.number == seen.number) else { continue };
            let comments = store.read(|tx| Ok(issue_comment::of(tx, &issue.handoff_id)?))?;
            let there: Vec<i64> =
                comments.iter().filter(|one| one.standing.is_there()).map(|one| one.comment_id).collect();
            let count = i64::try_from(there.len()).unwrap_or(i64::MAX);
            if seen.comments.is_none_or(|present| present >= count) {
                continue;
            }
            let Some(present) = runtime.block_on(github.comments_of(repo, seen.number)) else { continue };
            let deleted: Vec<i64> =
                there.into_iter().filter(|id| present.iter().all(|one| one.id != *id)).collect();
            let input = TrackerCommentsInput {
                repo: repo.to_owned(),
                number: seen.number,
                comments: present,
                deleted,
            };
            news += self.call::<TrackerComments>(store, &input)?.changed;
        }
        Ok(news)
    }
}
