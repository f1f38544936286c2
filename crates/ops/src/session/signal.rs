//! Signals that Baton leaves to agents about their work.

use baton_model::actor::Actor;
use baton_model::message::Message;
use baton_store::{Failure, Tx, message};

use crate::op::Env;

/// Leaves a signal inside a project that something has happened to what its receiver works on.
pub(crate) fn send_signal(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (project_id, from, to): (&str, &str, &str),
    text: (&str, &str),
) -> Result<(), Failure> {
    send_signal_from(tx, env, (project_id, Actor::agent(from), to), text)
}

/// The same from an actor who may be no agent.
pub(crate) fn send_signal_from(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (project_id, from, to): (&str, Actor<'_>, &str),
    (subject, body): (&str, &str),
) -> Result<(), Failure> {
    let notice = Message {
        project_id: project_id.to_owned(),
        message_id: env.id(),
        seq: tx.next_seq(project_id)?,
        kind: "StatusUpdate".into(),
        from_identity: from.name.to_owned(),
        from_type: from.kind,
        to_identity: to.to_owned(),
        subject: subject.to_owned(),
        body: body.to_owned(),
        created_at: env.now,
        ..Message::default()
    };
    Ok(message::insert(tx, &notice)?)
}
