//! The sender's news of a hand-off: a signal for each state that the sender did not bring about.

use baton_model::handoff::{Handoff, State};
use baton_model::id::{BOT, check_identity, identity_key, short};
use baton_model::message::Message;
use baton_model::printable::quotable;
use baton_model::shell::shell_word;
use baton_store::{Failure, Tx, message};

use super::isolation;
use crate::card::SUBJECT;
use crate::op::Env;

/// The name under which Baton itself sends a signal: time ran out, or a step failed.
const SYSTEM_IDENTITY: &str = "Baton";

/// Signals a transition to the sender, once: every transition is recorded in one place, which calls this.
pub(super) fn signal_sender(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &Handoff,
    (by, is_named): (&str, bool),
) -> Result<(), Failure> {
    let is_local = handoff.from_project_id == handoff.to_project_id;
    let is_own = is_local && identity_key(by) == identity_key(&handoff.from_identity);
    let by_receiver = match handoff.state {
        State::Accepted | State::Completed | State::Declined if !is_own => true,
        State::Expired | State::Failed => false,
        _ => return Ok(()),
    };
    if check_identity(&handoff.from_identity).is_err() {
        return Ok(());
    }
    let from = match by_receiver {
        true if is_named && check_identity(by).is_ok() => by,
        true => BOT,
        false => SYSTEM_IDENTITY,
    };
    let actor = match is_named {
        true => format!("{by} of {}", handoff.to_project_id),
        false => isolation::project_label(&handoff.to_project_id),
    };
    let news = Message {
        project_id: handoff.from_project_id.clone(),
        message_id: env.id(),
        seq: tx.next_seq(&handoff.from_project_id)?,
        kind: "StatusUpdate".into(),
        from_identity: from.to_owned(),
        from_project_id: (by_receiver && !is_local).then(|| handoff.to_project_id.clone()),
        to_identity: handoff.from_identity.clone(),
        subject: subject(handoff, &actor),
        body: body(handoff),
        created_at: env.now,
        ..Message::default()
    };
    if handoff.state == State::Failed && is_unread(tx, &news)? {
        return Ok(());
    }
    Ok(message::insert(tx, &news)?)
}

/// Whether the same news waits to be read: a failure that a retry ran into again is one failure.
fn is_unread(tx: &mut Tx<'_>, news: &Message) -> Result<bool, Failure> {
    let waiting = message::pending(tx, &news.project_id, &news.to_identity, news.created_at)?;
    Ok(waiting.iter().any(|one| {
        one.kind == news.kind
            && one.from_identity == news.from_identity
            && one.subject == news.subject
            && one.body == news.body
    }))
}

/// Signals to the sender that the issues of a hand-off are in a repository with another name; `follows`: the receiver's registration takes
/// it, too.
pub(super) fn signal_move(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &Handoff,
    (before, now): (&str, &str),
    follows: bool,
) -> Result<(), Failure> {
    if check_identity(&handoff.from_identity).is_err() {
        return Ok(());
    }
    let registration = if follows { "the registration follows; " } else { "" };
    let what = format!("hand-off {} \"{}\"", short(&handoff.handoff_id), quotable(&handoff.subject, SUBJECT));
    let news = Message {
        project_id: handoff.from_project_id.clone(),
        message_id: env.id(),
        seq: tx.next_seq(&handoff.from_project_id)?,
        kind: "StatusUpdate".into(),
        from_identity: SYSTEM_IDENTITY.to_owned(),
        to_identity: handoff.from_identity.clone(),
        subject: format!("{before} is called {now} now: {what} to {} follows", handoff.to_project_id),
        body: format!("{registration}more: baton handoff show {}", handoff.handoff_id),
        created_at: env.now,
        ..Message::default()
    };
    Ok(message::insert(tx, &news)?)
}

fn subject(handoff: &Handoff, actor: &str) -> String {
    let what = format!("hand-off {} \"{}\"", short(&handoff.handoff_id), quotable(&handoff.subject, SUBJECT));
    let to = &handoff.to_project_id;
    match handoff.state {
        State::Expired => format!("{what} to {to} has expired: it was not accepted in time"),
        State::Failed => format!("{what} to {to} has failed"),
        state => format!("{what} was {} by {actor}", state.as_str()),
    }
}

fn body(handoff: &Handoff) -> String {
    let id = &handoff.handoff_id;
    let section = |title: &str, text: Option<&str>| {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        text.map(|text| format!("{title}: {text}\n")).unwrap_or_default()
    };
    let words = match handoff.state {
        State::Completed => section("result", handoff.result.as_deref()),
        State::Declined => section("reason", handoff.result.as_deref()),
        State::Failed => section("why", handoff.last_error.as_deref()),
        _ => String::new(),
    };
    let next = match handoff.state {
        State::Failed => format!(
            "mend what it names, then: baton handoff retry {id}\nor take it back: baton handoff cancel {id}"
        ),
        State::Expired => format!(
            "its description and all else: baton handoff show {id}\nleave it anew with these: baton handoff create --to {} --subject {} --description …",
            handoff.to_project_id,
            shell_word(&handoff.subject)
        ),
        _ => format!("more: baton handoff show {id}"),
    };
    format!("{words}{next}")
}
