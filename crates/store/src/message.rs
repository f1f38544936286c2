//! Messages: signals and mail.

use baton_model::id::identity_key;
use baton_model::message::Message;
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx};
use crate::params;

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "project_id, message_id, seq, kind, from_identity, to_identity, subject, body, created_at, \
         expires_at, delivered_at, recalled_at, ack_by, acked_at"
    };
}

crate::sql! {
    INSERT = "INSERT INTO message (project_id, message_id, seq, kind, from_identity, to_identity, to_key, subject, body,
        created_at, expires_at, ack_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    GET = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND message_id = $2");
    PENDING = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND to_key = $2 AND delivered_at IS NULL AND recalled_at IS NULL AND (expires_at IS NULL OR expires_at >= $3) ORDER BY seq");
    DELIVERED = "UPDATE message SET delivered_at = $1 WHERE project_id = $2 AND message_id = $3 AND delivered_at IS NULL
        AND recalled_at IS NULL";
    ACKED = "UPDATE message SET acked_at = $1, delivered_at = COALESCE(delivered_at, $1) WHERE project_id = $2 AND message_id = $3
        AND acked_at IS NULL AND recalled_at IS NULL";
    OVERDUE = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND ack_by IS NOT NULL AND ack_by < $2 AND acked_at IS NULL AND recalled_at IS NULL AND (expires_at IS NULL OR expires_at >= $3) ORDER BY ack_by, seq");
    RECALL = "UPDATE message SET recalled_at = $1 WHERE project_id = $2 AND message_id = $3 AND delivered_at IS NULL
        AND recalled_at IS NULL";
}

fn read(row: Row) -> Result<Message, Fault> {
    let mut r = row.reader();
    Ok(Message {
        project_id: r.text()?,
        message_id: r.text()?,
        seq: r.int()?,
        kind: r.text()?,
        from_identity: r.text()?,
        to_identity: r.text()?,
        subject: r.text()?,
        body: r.text()?,
        created_at: r.int()?,
        expires_at: r.opt_int()?,
        delivered_at: r.opt_int()?,
        recalled_at: r.opt_int()?,
        ack_by: r.opt_int()?,
        acked_at: r.opt_int()?,
    })
}

/// Sends a message.
pub fn insert(tx: &mut Tx<'_>, message: &Message) -> Result<(), Fault> {
    tx.execute(
        INSERT,
        params![
            &message.project_id,
            &message.message_id,
            message.seq,
            &message.kind,
            &message.from_identity,
            &message.to_identity,
            identity_key(&message.to_identity),
            &message.subject,
            &message.body,
            message.created_at,
            message.expires_at,
            message.ack_by,
        ],
    )?;
    Ok(())
}

/// One message.
pub fn get(tx: &mut Tx<'_>, project_id: &str, message_id: &str) -> Result<Option<Message>, Fault> {
    tx.query_opt(GET, params![project_id, message_id])?.map(read).transpose()
}

/// What waits for an identity, oldest first.
pub fn pending(
    tx: &mut Tx<'_>,
    project_id: &str,
    identity: &str,
    now: Millis,
) -> Result<Vec<Message>, Fault> {
    tx.query(PENDING, params![project_id, identity_key(identity), now])?.into_iter().map(read).collect()
}

/// Marks a message as written out; says whether this call was the first to do so.
pub fn delivered(tx: &mut Tx<'_>, project_id: &str, message_id: &str, now: Millis) -> Result<bool, Fault> {
    Ok(tx.execute(DELIVERED, params![now, project_id, message_id])? == 1)
}

/// Marks a message as acknowledged, and with that as delivered; says whether this call was the first to do so.
pub fn acked(tx: &mut Tx<'_>, project_id: &str, message_id: &str, now: Millis) -> Result<bool, Fault> {
    Ok(tx.execute(ACKED, params![now, project_id, message_id])? == 1)
}

/// The messages whose acknowledgement is late, the longest overdue first.
pub fn overdue(tx: &mut Tx<'_>, project_id: &str, now: Millis) -> Result<Vec<Message>, Fault> {
    tx.query(OVERDUE, params![project_id, now, now])?.into_iter().map(read).collect()
}

/// Takes a message back, if it was not delivered yet; says whether it could.
pub fn recall(tx: &mut Tx<'_>, project_id: &str, message_id: &str, now: Millis) -> Result<bool, Fault> {
    Ok(tx.execute(RECALL, params![now, project_id, message_id])? == 1)
}
