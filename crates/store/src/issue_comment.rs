//! What was said under the issues of hand-offs.

use baton_model::issue_conversation::{CommentStanding, IssueComment};

use crate::engine::{Fault, Row, Tx};
use crate::params;

crate::sql! {
    OF = "SELECT comment_id, standing, author, body, bytes, created_at, updated_at FROM issue_comment WHERE handoff_id = $1
        ORDER BY created_at DESC, comment_id DESC";
    GET = "SELECT comment_id, standing, author, body, bytes, created_at, updated_at FROM issue_comment
        WHERE handoff_id = $1 AND comment_id = $2";
    PUT = "INSERT INTO issue_comment (handoff_id, comment_id, standing, author, body, bytes, created_at, updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (handoff_id, comment_id) DO UPDATE SET
        standing = excluded.standing, author = excluded.author, body = excluded.body, bytes = excluded.bytes,
        created_at = excluded.created_at, updated_at = excluded.updated_at";
}

fn read(row: Row) -> Result<IssueComment, Fault> {
    let mut r = row.reader();
    let comment_id = r.int()?;
    let standing = r.text()?;
    let standing = CommentStanding::from_word(&standing)
        .ok_or_else(|| Fault::other(format!("comment {comment_id} has the unknown standing {standing}")))?;
    Ok(IssueComment {
        comment_id,
        standing,
        author: r.opt_text()?,
        body: r.text()?,
        bytes: r.int()?,
        created_at: r.int()?,
        updated_at: r.int()?,
    })
}

/// The comments under the issue of a hand-off, newest first, with those that have no words any more.
pub fn of(tx: &mut Tx<'_>, handoff_id: &str) -> Result<Vec<IssueComment>, Fault> {
    tx.query(OF, params![handoff_id])?.into_iter().map(read).collect()
}

/// One comment under the issue of a hand-off.
pub fn get(tx: &mut Tx<'_>, handoff_id: &str, comment_id: i64) -> Result<Option<IssueComment>, Fault> {
    tx.query_opt(GET, params![handoff_id, comment_id])?.map(read).transpose()
}

/// Writes a comment in place of the one with its id.
pub fn put(tx: &mut Tx<'_>, handoff_id: &str, comment: &IssueComment) -> Result<(), Fault> {
    tx.execute_deferred(
        PUT,
        params![
            handoff_id,
            comment.comment_id,
            comment.standing.as_str(),
            comment.author.clone(),
            &comment.body,
            comment.bytes,
            comment.created_at,
            comment.updated_at,
        ],
    )?;
    Ok(())
}
