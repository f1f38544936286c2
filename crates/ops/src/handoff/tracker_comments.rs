//! `tracker_comments`: what people write under the issues of hand-offs, brought into the ledger.

use baton_model::issue_conversation::{
    CommentStanding, IssueComment, MAX_TEXT_BYTES, beyond_limit, head, is_own,
};
use baton_model::time::Millis;
use baton_store::{Failure, Tx, handoff, issue_comment};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tracker_input::{repo_of, without_secrets};
use crate::op::{Cx, Meta, Operation};

/// The longest name of an author that is kept, in bytes.
const MAX_AUTHOR_BYTES: usize = 100;

/// Takes what people write under an issue.
pub struct TrackerComments;

/// Input of `tracker_comments`: what a poll has read or a webhook brings.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrackerCommentsInput {
    /// `owner/repo`.
    pub repo: String,
    /// The issue.
    pub number: i64,
    /// Comments as they are on the tracker.
    #[serde(default)]
    pub comments: Vec<TrackerComment>,
    /// Ids of comments that are not there any more.
    #[serde(default)]
    pub deleted: Vec<i64>,
}

/// A comment as the tracker has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrackerComment {
    /// Its id there.
    pub id: i64,
    /// Who wrote it.
    #[serde(default)]
    pub author: Option<String>,
    /// Its words.
    pub body: String,
    /// When it was written, by the tracker's clock, in milliseconds.
    pub created_at: Millis,
    /// When it was changed last, by the tracker's clock, in milliseconds.
    pub updated_at: Millis,
}

/// Answer of `tracker_comments`.
#[derive(Default, Serialize, Deserialize)]
pub struct TrackerCommentsOutput {
    /// How many of them brought something new.
    pub changed: usize,
    /// The hand-off of the issue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handoff_id: Option<String>,
}

impl Operation for TrackerComments {
    const META: Meta = Meta::write("tracker_comments", "Take what people write under an issue");
    type Input = TrackerCommentsInput;
    type Output = TrackerCommentsOutput;

    fn run(input: TrackerCommentsInput, cx: &mut Cx<'_>) -> Result<TrackerCommentsOutput, Failure> {
        let repo = repo_of(cx, &input.repo)?;
        let Some(known) = cx.store.read(|tx| Ok(handoff::by_issue(tx, &repo, input.number)?))? else {
            return Ok(TrackerCommentsOutput::default());
        };
        let id = known.handoff_id.as_str();
        let changed = cx.store.write(&[&known.from_project_id, &known.to_project_id], |tx| {
            let changed = take(tx, id, &input)?;
            if changed > 0 {
                tx.count_change(&known.from_project_id)?;
                tx.count_change(&known.to_project_id)?;
            }
            Ok(changed)
        })?;
        Ok(TrackerCommentsOutput { changed, handoff_id: Some(known.handoff_id) })
    }
}

/// Writes what is new of the comments; returns how many are.
fn take(tx: &mut Tx<'_>, handoff_id: &str, input: &TrackerCommentsInput) -> Result<usize, Failure> {
    let before = issue_comment::of(tx, handoff_id)?;
    let deleted = input.deleted.iter().map(|id| {
        let known = before.iter().find(|one| one.comment_id == *id).cloned();
        known.unwrap_or_else(|| nameless(*id)).without_words(CommentStanding::Deleted)
    });
    let mut all = before.clone();
    let mut changed = 0;
    for comment in input.comments.iter().map(clean).chain(deleted) {
        let at = all.iter().position(|one| one.comment_id == comment.comment_id);
        let Some(comment) = comment.over(at.map(|at| &all[at])) else { continue };
        issue_comment::put(tx, handoff_id, &comment)?;
        let is_news = comment.standing != CommentStanding::Own;
        changed += usize::from(is_news);
        match at {
            Some(at) => all[at] = comment,
            None => all.push(comment),
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse((one.created_at, one.comment_id)));
    for dropped in beyond_limit(&all) {
        issue_comment::put(tx, handoff_id, &dropped)?;
    }
    Ok(changed)
}

/// A comment that was deleted before it was seen.
fn nameless(comment_id: i64) -> IssueComment {
    IssueComment {
        comment_id,
        standing: CommentStanding::Deleted,
        author: None,
        body: String::new(),
        bytes: 0,
        created_at: 0,
        updated_at: 0,
    }
}

/// A comment as it is kept: without secrets, within its bounds, and one of Baton's own without its words.
fn clean(seen: &TrackerComment) -> IssueComment {
    let whole = without_secrets(&seen.body);
    let comment = IssueComment {
        comment_id: seen.id,
        standing: CommentStanding::Shown,
        author: seen.author.as_deref().map(|name| head(name, MAX_AUTHOR_BYTES).to_owned()),
        body: head(&whole, MAX_TEXT_BYTES).to_owned(),
        bytes: i64::try_from(whole.len()).unwrap_or(i64::MAX),
        created_at: seen.created_at,
        updated_at: seen.updated_at,
    };
    if is_own(&seen.body) { comment.without_words(CommentStanding::Own) } else { comment }
}
