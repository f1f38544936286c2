//! Putting a message into a mailbox: the one place where messages are written.

use baton_model::handoff_message::Urgency;
use baton_model::message::{Address, Message};
use baton_model::time::Millis;
use baton_store::{Failure, Tx, message};

use crate::op::Env;

/// A message that is to go out. The transaction has taken the projects that it is about.
pub(crate) struct Outgoing<'a> {
    /// Where the sender works.
    pub(crate) from_project: &'a str,
    /// Where the receiver works; mostly the same.
    pub(crate) to_project: &'a str,
    /// What the sender knows that project by, where it is not to learn into which one it was merged.
    pub(crate) to_former_project: Option<&'a str>,
    pub(crate) from: &'a str,
    pub(crate) to: &'a Address,
    pub(crate) kind: &'a str,
    pub(crate) subject: &'a str,
    pub(crate) body: &'a str,
    pub(crate) importance: Urgency,
    pub(crate) expires_at: Option<Millis>,
    pub(crate) ack_by: Option<Millis>,
    /// The thread and the message that this one answers.
    pub(crate) reply: Option<(&'a str, &'a str)>,
    /// Who can read the body, when it is encrypted.
    pub(crate) readers: Option<Vec<String>>,
}

/// Sends it. What goes to another project leaves a copy with its sender, under the same id. Returns what the sender sees.
pub(crate) fn post(tx: &mut Tx<'_>, env: &mut Env<'_>, out: &Outgoing<'_>) -> Result<Message, Failure> {
    let far = out.from_project != out.to_project;
    let mut sent = Message {
        project_id: out.to_project.to_owned(),
        message_id: env.id(),
        seq: tx.next_seq(out.to_project)?,
        kind: out.kind.to_owned(),
        from_identity: out.from.to_owned(),
        to_identity: out.to.display_name(),
        subject: out.subject.to_owned(),
        body: out.body.to_owned(),
        created_at: env.now,
        expires_at: out.expires_at,
        ack_by: out.ack_by,
        importance: out.importance,
        thread_id: out.reply.map(|(thread, _)| thread.to_owned()),
        reply_to: out.reply.map(|(_, message)| message.to_owned()),
        to_role: match out.to {
            Address::Role(role) => Some(role.clone()),
            Address::Identity(_) => None,
        },
        from_project_id: far.then(|| out.from_project.to_owned()),
        readers: out.readers.clone(),
        ..Message::default()
    };
    message::insert(tx, &sent)?;
    if far {
        sent.project_id = out.from_project.to_owned();
        sent.seq = tx.next_seq(out.from_project)?;
        sent.from_project_id = None;
        sent.to_project_id = Some(out.to_former_project.unwrap_or(out.to_project).to_owned());
        message::insert(tx, &sent)?;
    }
    Ok(sent)
}
