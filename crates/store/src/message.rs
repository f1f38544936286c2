//! Messages: signals and mail.

use baton_model::actor::ActorType;
use baton_model::handoff_message::Urgency;
use baton_model::id::identity_key;
use baton_model::message::Message;
use baton_model::time::Millis;

use crate::engine::{Fault, Row, Tx, Value};
use crate::{json, params};

/// The columns that the row reader takes, in its order.
macro_rules! columns {
    () => {
        "project_id, message_id, seq, kind, from_identity, to_identity, subject, body, created_at, \
         expires_at, delivered_at, recalled_at, ack_by, acked_at, importance, thread_id, reply_to, to_role, \
         from_project_id, to_project_id, readers, from_type"
    };
}

crate::sql! {
    INSERT = "INSERT INTO message (project_id, message_id, seq, kind, from_identity, to_identity, to_key, subject, body,
        created_at, expires_at, ack_by, importance, thread_id, reply_to, to_role, from_project_id, to_project_id, readers,
        from_type) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)";
    GET = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND message_id = $2");
    PENDING = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND to_key = $2 AND delivered_at IS NULL AND recalled_at IS NULL AND (expires_at IS NULL OR expires_at >= $3) ORDER BY seq");
    DELIVERED = "UPDATE message SET delivered_at = $1 WHERE project_id = $2 AND message_id = $3 AND delivered_at IS NULL
        AND recalled_at IS NULL";
    MOVED = "UPDATE message SET delivered_at = $1, ack_by = NULL WHERE project_id = $2 AND message_id = $3";
    ARRIVED = "UPDATE message SET to_project_id = NULL, to_key = $1, seq = $2 WHERE project_id = $3 AND message_id = $4
        AND to_project_id IS NOT NULL";
    RETURNED = "UPDATE message SET delivered_at = $1, ack_by = $2 WHERE project_id = $3 AND message_id = $4";
    COPIED = "UPDATE message SET to_project_id = $1, to_key = '', delivered_at = NULL WHERE project_id = $2 AND message_id = $3";
    WITHDRAWN = "UPDATE message SET recalled_at = $1 WHERE project_id = $2 AND message_id = $3 AND recalled_at IS NULL";
    ACKED = "UPDATE message SET acked_at = $1, delivered_at = COALESCE(delivered_at, $1) WHERE project_id = $2 AND message_id = $3
        AND acked_at IS NULL AND recalled_at IS NULL";
    OVERDUE = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND ack_by IS NOT NULL AND ack_by < $2 AND acked_at IS NULL AND recalled_at IS NULL AND (expires_at IS NULL OR expires_at >= $3) ORDER BY ack_by, seq");
    UNACKED = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND to_key = $2 AND delivered_at IS NOT NULL AND ack_by IS NOT NULL AND acked_at IS NULL AND recalled_at IS NULL AND (expires_at IS NULL OR expires_at >= $3) ORDER BY seq");
    OPEN_QUESTIONS = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND acked_at IS NULL AND recalled_at IS NULL AND kind IN ('Question', 'ReviewRequested', 'Blocker') AND (expires_at IS NULL OR expires_at >= $2) ORDER BY seq DESC LIMIT $3");
    DELIVERED_TO = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND to_key = $2 AND delivered_at IS NOT NULL AND recalled_at IS NULL ORDER BY seq");
    OF_THREAD = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND thread_id = $2 AND recalled_at IS NULL
        UNION ALL SELECT ", columns!(), " FROM message WHERE project_id = $1 AND message_id = $2 AND (thread_id IS NULL OR thread_id <> $2)
        AND recalled_at IS NULL ORDER BY seq");
    NEWEST = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND seq < $2 AND recalled_at IS NULL ORDER BY seq DESC LIMIT $3");
    RECEIVERS = "SELECT to_identity, seq, kind FROM message WHERE project_id = $1 ORDER BY seq DESC LIMIT $2";
    WAITING = concat!("SELECT ", columns!(), " FROM message WHERE project_id = $1 AND to_project_id IS NULL AND delivered_at IS NULL AND recalled_at IS NULL AND (expires_at IS NULL OR expires_at >= $2) ORDER BY seq");
    NOT_ARRIVED = concat!("SELECT ", columns!(), " FROM message WHERE to_project_id IS NOT NULL AND $1 IN (project_id, to_project_id)
        AND recalled_at IS NULL AND EXISTS (SELECT 1 FROM project WHERE project.project_id = message.to_project_id)
        AND NOT EXISTS (SELECT 1 FROM message arrived WHERE arrived.project_id = message.to_project_id
            AND arrived.message_id = message.message_id) ORDER BY created_at, message_id");
    BY_PREFIX = "SELECT message_id FROM message WHERE project_id = $1 AND message_id >= $2 AND message_id < $3 ORDER BY message_id LIMIT 5";
    TAKE = "UPDATE message SET to_identity = $1, to_key = $2 WHERE project_id = $3 AND message_id = $4 AND to_key = $5 AND recalled_at IS NULL";
    REWRITE = "UPDATE message SET subject = $1, body = $2 WHERE project_id = $3 AND message_id = $4 AND delivered_at IS NULL
        AND recalled_at IS NULL";
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
        importance: r.opt_text()?.and_then(|word| Urgency::parse(&word).ok()).unwrap_or_default(),
        thread_id: r.opt_text()?,
        reply_to: r.opt_text()?,
        to_role: r.opt_text()?,
        from_project_id: r.opt_text()?,
        to_project_id: r.opt_text()?,
        readers: r.opt_text()?.map(|text| json::read(&text)).transpose()?,
        from_type: r.opt_text()?.and_then(|word| ActorType::from_word(&word)).unwrap_or_default(),
    })
}

/// Key of the mailbox. Empty for a sender's copy of a message to another project, which is in no mailbox.
fn receiver_key(message: &Message) -> String {
    match message.to_project_id {
        Some(_) => String::new(),
        None => identity_key(&message.to_identity),
    }
}

/// Runs a statement that changes one message or none; says whether it did.
fn changes_one(
    tx: &mut Tx<'_>,
    project_id: &str,
    statement: &'static str,
    values: &[Value],
) -> Result<bool, Fault> {
    let has_changed = tx.execute(statement, values)? == 1;
    if has_changed {
        tx.count_change(project_id)?;
    }
    Ok(has_changed)
}

/// Sends a message.
pub fn insert(tx: &mut Tx<'_>, message: &Message) -> Result<(), Fault> {
    tx.execute_deferred(
        INSERT,
        params![
            &message.project_id,
            &message.message_id,
            message.seq,
            &message.kind,
            &message.from_identity,
            &message.to_identity,
            receiver_key(message),
            &message.subject,
            &message.body,
            message.created_at,
            message.expires_at,
            message.ack_by,
            message.importance.as_str(),
            message.thread_id.clone(),
            message.reply_to.clone(),
            message.to_role.clone(),
            message.from_project_id.clone(),
            message.to_project_id.clone(),
            message.readers.as_ref().map(json::write),
            (!message.from_type.is_agent()).then(|| message.from_type.as_str().to_owned()),
        ],
    )?;
    tx.count_change(&message.project_id)
}

/// Senders' copies of messages that the other project, which is there, has not: one of both is the project.
pub fn undelivered(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<Message>, Fault> {
    tx.query(NOT_ARRIVED, params![project_id])?.into_iter().map(read).collect()
}

/// Everything that waits in the mailboxes of a project.
pub fn waiting(tx: &mut Tx<'_>, project_id: &str, now: Millis) -> Result<Vec<Message>, Fault> {
    tx.query(WAITING, params![project_id, now])?.into_iter().map(read).collect()
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
pub fn mark_delivered(
    tx: &mut Tx<'_>,
    project_id: &str,
    message_id: &str,
    now: Millis,
) -> Result<bool, Fault> {
    changes_one(tx, project_id, DELIVERED, params![now, project_id, message_id])
}

/// Marks a message that waits in the mailbox of another project now: its acknowledgement is asked for there.
pub fn mark_moved(tx: &mut Tx<'_>, project_id: &str, message_id: &str, now: Millis) -> Result<(), Fault> {
    tx.execute(MOVED, params![now, project_id, message_id])?;
    tx.count_change(project_id)
}

/// Makes a sender's copy the message itself, where the project that it went to is the sender's own by now; says whether there
/// was one.
pub fn adopt_copy(tx: &mut Tx<'_>, message: &Message) -> Result<bool, Fault> {
    let key = identity_key(&message.to_identity);
    let to = params![key, message.seq, &message.project_id, &message.message_id];
    changes_one(tx, &message.project_id, ARRIVED, to)
}

/// Gives a message back to the mailbox that it was moved from, as it stands in the one that it was moved to: read or not, and to be
/// acknowledged by the same time.
pub fn put_back(tx: &mut Tx<'_>, message: &Message, moved: &Message) -> Result<(), Fault> {
    let to = params![moved.delivered_at, moved.ack_by, &message.project_id, &message.message_id];
    tx.execute(RETURNED, to)?;
    tx.count_change(&message.project_id)
}

/// Makes a message a sender's copy again of one that lies in the mailbox of another project.
pub fn make_copy(tx: &mut Tx<'_>, message: &Message, to_project_id: &str) -> Result<(), Fault> {
    tx.execute(COPIED, params![to_project_id, &message.project_id, &message.message_id])?;
    tx.count_change(&message.project_id)
}

/// Says something else in a message that was not read yet; says whether there was one.
pub fn rewrite(tx: &mut Tx<'_>, message: &Message, (subject, body): (&str, &str)) -> Result<bool, Fault> {
    let to = params![subject, body, &message.project_id, &message.message_id];
    changes_one(tx, &message.project_id, REWRITE, to)
}

/// Takes a message out of its mailbox, read or not: it lies in another one.
pub fn withdraw(tx: &mut Tx<'_>, message: &Message, now: Millis) -> Result<(), Fault> {
    tx.execute(WITHDRAWN, params![now, &message.project_id, &message.message_id])?;
    tx.count_change(&message.project_id)
}

/// Marks a message as acknowledged, and with that as delivered; says whether this call was the first to do so.
pub fn mark_acked(tx: &mut Tx<'_>, project_id: &str, message_id: &str, now: Millis) -> Result<bool, Fault> {
    changes_one(tx, project_id, ACKED, params![now, project_id, message_id])
}

/// The messages whose acknowledgement is late, the longest overdue first.
pub fn overdue(tx: &mut Tx<'_>, project_id: &str, now: Millis) -> Result<Vec<Message>, Fault> {
    tx.query(OVERDUE, params![project_id, now, now])?.into_iter().map(read).collect()
}

/// Takes a message back, if it was not delivered yet; says whether it could.
pub fn retract(tx: &mut Tx<'_>, project_id: &str, message_id: &str, now: Millis) -> Result<bool, Fault> {
    changes_one(tx, project_id, RECALL, params![now, project_id, message_id])
}

/// What an identity, or a role by its address, has read and not acknowledged though it is asked to; oldest first.
pub fn unacked(tx: &mut Tx<'_>, project_id: &str, to: &str, now: Millis) -> Result<Vec<Message>, Fault> {
    tx.query(UNACKED, params![project_id, identity_key(to), now])?.into_iter().map(read).collect()
}

/// Messages that ask for an answer and have none, read or not, and the senders' copies of those that went to other projects; newest
/// first.
pub fn open_questions(
    tx: &mut Tx<'_>,
    project_id: &str,
    now: Millis,
    limit: i64,
) -> Result<Vec<Message>, Fault> {
    tx.query(OPEN_QUESTIONS, params![project_id, now, limit])?.into_iter().map(read).collect()
}

/// What an identity, or a role by its address, was given already; oldest first.
pub fn delivered_to(tx: &mut Tx<'_>, project_id: &str, to: &str) -> Result<Vec<Message>, Fault> {
    tx.query(DELIVERED_TO, params![project_id, identity_key(to)])?.into_iter().map(read).collect()
}

/// The messages of a thread, oldest first.
pub fn of_thread(tx: &mut Tx<'_>, project_id: &str, thread_id: &str) -> Result<Vec<Message>, Fault> {
    tx.query(OF_THREAD, params![project_id, thread_id])?.into_iter().map(read).collect()
}

/// The newest messages before a number of the ledger, newest first, at most `limit`.
pub fn newest(tx: &mut Tx<'_>, project_id: &str, before: i64, limit: i64) -> Result<Vec<Message>, Fault> {
    tx.query(NEWEST, params![project_id, before, limit])?.into_iter().map(read).collect()
}

/// Who got the newest messages: receiver, number in the ledger and type, newest first.
pub fn receivers(tx: &mut Tx<'_>, project_id: &str, limit: i64) -> Result<Vec<(String, i64, String)>, Fault> {
    let rows = tx.query(RECEIVERS, params![project_id, limit])?;
    let read = |row: Row| {
        let mut r = row.reader();
        Ok((r.text()?, r.int()?, r.text()?))
    };
    rows.into_iter().map(read).collect()
}

/// Up to five messages whose id begins so.
pub fn by_prefix(tx: &mut Tx<'_>, project_id: &str, prefix: &str) -> Result<Vec<String>, Fault> {
    let rows = tx.query(BY_PREFIX, params![project_id, prefix, crate::prefix_end(prefix)])?;
    rows.into_iter().map(|row| row.reader().text()).collect()
}

/// Takes a message out of the mailbox it lies in; says whether it still lay there.
pub fn take(tx: &mut Tx<'_>, message: &Message, by: &str) -> Result<bool, Fault> {
    let (key, from) = (identity_key(by), identity_key(&message.to_identity));
    let to = params![by, key, &message.project_id, &message.message_id, from];
    changes_one(tx, &message.project_id, TAKE, to)
}
