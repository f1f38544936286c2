//! How the issues of hand-offs stand: what is not in the task.

use baton_model::issue_conversation::IssueText;

use crate::engine::{Fault, Tx};
use crate::{json, params};

crate::sql! {
    OF = "SELECT title, labels, labels_ever, body_added, body_removed, sent_body, edited_by, edited_at, updated_at
        FROM issue_text WHERE handoff_id = $1";
    PUT = "INSERT INTO issue_text (handoff_id, title, labels, labels_ever, body_added, body_removed, sent_body, edited_by, edited_at,
            updated_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (handoff_id) DO UPDATE SET
        title = excluded.title, labels = excluded.labels, labels_ever = excluded.labels_ever, body_added = excluded.body_added,
        body_removed = excluded.body_removed, sent_body = excluded.sent_body, edited_by = excluded.edited_by,
        edited_at = excluded.edited_at, updated_at = excluded.updated_at";
}

/// How the issue of a hand-off was seen last.
pub fn of(tx: &mut Tx<'_>, handoff_id: &str) -> Result<Option<IssueText>, Fault> {
    let row = tx.query_opt(OF, params![handoff_id])?;
    row.map(|row| {
        let mut r = row.reader();
        Ok(IssueText {
            title: r.opt_text()?,
            labels: json::read(&r.text()?)?,
            labels_ever: json::read(&r.text()?)?,
            body_added: r.text()?,
            body_removed: r.int()?,
            sent_body: r.opt_text()?,
            edited_by: r.opt_text()?,
            edited_at: r.int()?,
            updated_at: r.int()?,
        })
    })
    .transpose()
}

/// Writes how it stands.
pub fn put(tx: &mut Tx<'_>, handoff_id: &str, text: &IssueText) -> Result<(), Fault> {
    tx.execute_deferred(
        PUT,
        params![
            handoff_id,
            text.title.clone(),
            json::write(&text.labels),
            json::write(&text.labels_ever),
            &text.body_added,
            text.body_removed,
            text.sent_body.clone(),
            text.edited_by.clone(),
            text.edited_at,
            text.updated_at,
        ],
    )?;
    Ok(())
}
