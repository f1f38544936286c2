//! What is known of trackers outside: how far their issues were read.

use baton_model::time::Millis;

use crate::engine::{Fault, Tx};
use crate::params;

crate::sql! {
    GET = "SELECT etag, since_at, due_at, comments_etag, comments_since_at FROM tracker_poll WHERE repo = $1";
    PUT = "INSERT INTO tracker_poll (repo, etag, since_at, due_at, comments_etag, comments_since_at)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (repo) DO UPDATE SET
        etag = excluded.etag, since_at = excluded.since_at, due_at = excluded.due_at,
        comments_etag = excluded.comments_etag, comments_since_at = excluded.comments_since_at";
    REWIND = "UPDATE tracker_poll SET etag = CASE WHEN since_at > $1 THEN NULL ELSE etag END,
        since_at = CASE WHEN since_at > $1 THEN $1 ELSE since_at END WHERE repo = $2";
    REWIND_COMMENTS = "UPDATE tracker_poll SET comments_etag = CASE WHEN comments_since_at > $1 THEN NULL ELSE comments_etag END,
        comments_since_at = CASE WHEN comments_since_at > $1 THEN $1 ELSE comments_since_at END WHERE repo = $2";
    LOCK = "UPDATE tracker_poll SET due_at = due_at WHERE repo = $1";
}

/// How far a repository's issues were read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Poll {
    /// The tag of the newest answer.
    pub etag: Option<String>,
    /// Changes before this time were seen.
    pub since_at: Millis,
    /// When to look again.
    pub due_at: Millis,
    /// How far the comments under its issues were read.
    pub comments: CommentCursor,
}

/// How far the comments under the issues of a repository were read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CommentCursor {
    /// The tag of the newest answer.
    pub etag: Option<String>,
    /// Comments from before this time were seen; 0 where none were asked for.
    pub since_at: Millis,
}

/// How far this repository was read.
pub fn poll(tx: &mut Tx<'_>, repo: &str) -> Result<Option<Poll>, Fault> {
    let row = tx.query_opt(GET, params![repo])?;
    row.map(|row| {
        let mut r = row.reader();
        Ok(Poll {
            etag: r.opt_text()?,
            since_at: r.int()?,
            due_at: r.int()?,
            comments: CommentCursor { etag: r.opt_text()?, since_at: r.int()? },
        })
    })
    .transpose()
}

/// Takes the row of a repository: who moves it back waits for the end of the transaction.
pub fn lock_poll(tx: &mut Tx<'_>, repo: &str) -> Result<(), Fault> {
    tx.execute(LOCK, params![repo]).map(drop)
}

/// Writes how far it was read.
pub fn put_poll(tx: &mut Tx<'_>, repo: &str, poll: &Poll) -> Result<(), Fault> {
    let comments = &poll.comments;
    tx.execute_deferred(
        PUT,
        params![
            repo,
            poll.etag.clone(),
            poll.since_at,
            poll.due_at,
            comments.etag.clone(),
            comments.since_at
        ],
    )?;
    Ok(())
}

/// Lets the next poll read everything since this time again: a poll skips the comments and changes of an issue that is not known yet.
pub fn rewind(tx: &mut Tx<'_>, repo: &str, since_at: Millis) -> Result<(), Fault> {
    tx.execute_deferred(REWIND, params![since_at, repo])?;
    tx.execute_deferred(REWIND_COMMENTS, params![since_at, repo])?;
    Ok(())
}
