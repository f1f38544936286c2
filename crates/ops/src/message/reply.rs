//! What a reply takes over from the message that it answers.

use baton_model::message::{Address, Participation};
use baton_model::time::Millis;
use baton_store::{Failure, Store, Tx, message};

use super::find;
use super::mail_send::MailSendInput;
use crate::project::merged_into;
use crate::resolve;

/// A reply: its default receiver, and its thread.
pub(super) struct Reply {
    pub(super) to: Address,
    /// The project from which the message came, or to which it went.
    pub(super) to_project: String,
    /// Where the mail of that project is read: the project into which it was merged since.
    pub(super) home: String,
    pub(super) subject: String,
    pub(super) thread_id: String,
    pub(super) message_id: String,
}

/// The message that is answered, if one is. Only who had a part in it can answer it.
pub(super) fn find(
    store: &mut Store,
    input: &MailSendInput,
    project_id: &str,
    identity: &str,
) -> Result<Option<Reply>, Failure> {
    let Some(id) = &input.reply_to else { return Ok(None) };
    let (answered, part) = store.read(|tx| {
        resolve::require_project(tx, project_id)?;
        find::own(tx, project_id, id, identity)
    })?;
    // Who writes again in a thread of its own writes to the same receiver.
    let (name, home) = match part {
        Participation::Sender => (&answered.to_identity, &answered.to_project_id),
        Participation::Receiver | Participation::Role => (&answered.from_identity, &answered.from_project_id),
    };
    // A receiver that is named belongs to this project, unless another project is named too.
    let home = if input.to.is_some() { &None } else { home };
    let begun = answered.subject.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("re: "));
    let mut subject = if begun { answered.subject.clone() } else { format!("Re: {}", answered.subject) };
    while subject.len() > 500 {
        subject.pop();
    }
    let to_project = home.clone().unwrap_or_else(|| project_id.to_owned());
    let home = if to_project == project_id { None } else { store.read(|tx| merged_into(tx, &to_project))? };
    Ok(Some(Reply {
        to: Address::of_participant(name),
        home: home.unwrap_or_else(|| to_project.clone()),
        to_project,
        subject,
        thread_id: answered.thread().to_owned(),
        message_id: answered.message_id.clone(),
    }))
}

/// A reply acknowledges what it answers: its sender hears of it by the reply itself. A reply to one's own message acknowledges nothing.
pub(super) fn acknowledge(
    tx: &mut Tx<'_>,
    now: Millis,
    (project_id, answered): (&str, &str),
    identity: &str,
) -> Result<(), Failure> {
    let (found, part) = find::own(tx, project_id, answered, identity)?;
    if part == Participation::Sender || found.check_ack().is_err() {
        return Ok(());
    }
    let found = find::take(tx, found, part, identity)?;
    message::acked(tx, project_id, &found.message_id, now)?;
    if let Some(home) = found.from_project_id.filter(|home| home != project_id && tx.has_project(home)) {
        message::acked(tx, &home, &found.message_id, now)?;
    }
    Ok(())
}
