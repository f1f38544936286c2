//! A reminder of the mail that no pickup brings along: what lies in the mailbox of a role, and what is encrypted.

use baton_model::accounting::{Remark, RemarkKind};
use baton_model::message::ROLE;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, agent, message};

/// The questions of [`remind`].
pub(crate) fn prefetch_reminder(tx: &mut Tx<'_>, project_id: &str, identity: &str, now: Millis) {
    drop(message::pending(tx, project_id, identity, now));
    drop(agent::roles(tx, project_id, identity));
}

/// Says how much waits for an identity and its roles, if anything does.
pub(crate) fn remind(
    tx: &mut Tx<'_>,
    project_id: &str,
    identity: &str,
    now: Millis,
) -> Result<Option<Remark>, Failure> {
    let own = message::pending(tx, project_id, identity, now)?;
    let sealed = own.iter().filter(|message| message.readers.is_some()).count();
    let mut reminders = Vec::new();
    if sealed > 0 {
        reminders.push(format!("{sealed} encrypted for {identity}"));
    }
    for role in agent::roles(tx, project_id, identity)? {
        let waiting = message::pending(tx, project_id, &format!("{ROLE}{role}"), now)?.len();
        if waiting > 0 {
            reminders.push(format!("{waiting} for role {role}"));
        }
    }
    if reminders.is_empty() {
        return Ok(None);
    }
    let message = format!("mail waits in the inbox: {} (baton mail inbox)", reminders.join(", "));
    Ok(Some(Remark { kind: RemarkKind::MailWaits, message }))
}
