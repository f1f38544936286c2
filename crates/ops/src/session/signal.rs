//! Signals that Baton leaves to agents about their work.

use baton_model::actor::Actor;
use baton_model::message::Message;
use baton_store::{Failure, Tx, message};

use crate::op::Env;

/// Author of a signal.
#[derive(Clone, Copy)]
pub(crate) struct SignalAuthor<'a> {
    /// Mostly an agent.
    pub(crate) actor: Actor<'a>,
    /// The project in which it works, if that is another one than its receiver's: an answer goes there.
    pub(crate) project_id: Option<&'a str>,
}

impl<'a> From<Actor<'a>> for SignalAuthor<'a> {
    fn from(actor: Actor<'a>) -> Self {
        Self { actor, project_id: None }
    }
}

/// Leaves a signal inside a project that something has happened to what its receiver works on.
pub(crate) fn send_signal(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (project_id, from, to): (&str, &str, &str),
    text: (&str, &str),
) -> Result<(), Failure> {
    send_signal_from(tx, env, (project_id, Actor::agent(from).into(), to), text)
}

/// The same from an actor who may be no agent.
pub(crate) fn send_signal_from(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (project_id, from, to): (&str, SignalAuthor<'_>, &str),
    (subject, body): (&str, &str),
) -> Result<(), Failure> {
    let SignalAuthor { actor, project_id: origin } = from;
    let origin = origin.filter(|origin| actor.kind.is_agent() && *origin != project_id);
    let notice = Message {
        project_id: project_id.to_owned(),
        message_id: env.id(),
        seq: tx.next_seq(project_id)?,
        kind: "StatusUpdate".into(),
        from_identity: actor.name.to_owned(),
        from_type: actor.kind,
        from_project_id: origin.map(str::to_owned),
        to_identity: to.to_owned(),
        subject: subject.to_owned(),
        body: body.to_owned(),
        created_at: env.now,
        ..Message::default()
    };
    Ok(message::insert(tx, &notice)?)
}
