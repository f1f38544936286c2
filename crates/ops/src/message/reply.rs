//! What a reply takes over from the message that it answers.

use baton_model::actor::Actor;
use baton_model::id::{check_project, identity_key, is_shared_name, short, visible};
use baton_model::message::{Address, Message, Participation};
use baton_model::refusal::Refusal;
use baton_model::time::Millis;
use baton_store::{Failure, Tx, message, session};
use serde_json::json;

use super::ack::acked_at_sender;
use super::find;
use super::mail_send::MailSendInput;
use crate::ledger::next_holder;
use crate::op::{Cx, Env};
use crate::project::merged_into;
use crate::resolve;
use crate::session::{SignalAuthor, send_signal_from};

/// A reply: its default receiver, and its thread.
pub(super) struct Reply {
    pub(super) to: Address,
    /// The project from which the message came, or to which it went; this one, where the receiver is another one.
    pub(super) to_project: String,
    /// Where the mail of that project is read: the project into which it was merged since.
    home: String,
    /// Whether it goes to the other side of the message that it answers, and not to another receiver.
    pub(super) goes_back: bool,
    pub(super) subject: String,
    pub(super) thread_id: String,
    pub(super) message_id: String,
}

/// Where a message goes.
pub(super) struct Destination {
    /// The project in which it is read.
    pub(super) project: String,
    /// What the sender knows that project by, where it is not to learn into which one it was merged.
    pub(super) former: Option<String>,
}

/// The message that is answered, if one is. Only who had a part in it can answer it.
pub(super) fn find(
    cx: &mut Cx<'_>,
    input: &MailSendInput,
    project_id: &str,
    identity: &str,
) -> Result<Option<Reply>, Failure> {
    let Some(id) = &input.reply_to else { return Ok(None) };
    let (answered, part) = cx.store.read(|tx| {
        resolve::require_project(tx, project_id)?;
        find::own(tx, project_id, id, identity)
    })?;
    // Who writes again in a thread of its own writes to the same receiver.
    let (name, origin) = match part {
        Participation::Sender => (&answered.to_identity, &answered.to_project_id),
        Participation::Receiver | Participation::Role => (&answered.from_identity, &answered.from_project_id),
    };
    if part != Participation::Sender {
        require_reader(&answered)?;
    }
    let to = Address::of_participant(name);
    let origin = origin.clone().unwrap_or_else(|| project_id.to_owned());
    let merged = if origin == project_id { None } else { cx.store.read(|tx| merged_into(tx, &origin))? };
    let is_named = |named: &str| {
        identity_key(&Address::of_participant(named).display_name()) == identity_key(&to.display_name())
    };
    let named_project = input.to_project.as_deref().map(|named| cx.env.caller.id_of(named));
    let is_there = |named: &str| named == origin || merged.as_deref() == Some(named);
    let goes_back = input.to.as_deref().is_none_or(is_named) && named_project.is_none_or(is_there);
    let begun = answered.subject.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("re: "));
    let subject = if begun { answered.subject.clone() } else { format!("Re: {}", answered.subject) };
    // Another name belongs to this project, unless another project is named too.
    let to_project = if goes_back { origin } else { project_id.to_owned() };
    Ok(Some(Reply {
        to,
        home: merged.filter(|_| goes_back).unwrap_or_else(|| to_project.clone()),
        to_project,
        goes_back,
        subject: within_limit(subject),
        thread_id: answered.thread().to_owned(),
        message_id: answered.message_id.clone(),
    }))
}

/// A subject cut to the most bytes that a message may have.
fn within_limit(mut subject: String) -> String {
    while subject.len() > 500 {
        subject.pop();
    }
    subject
}

/// Refuses a reply to a message of which no agent is the author: its reply would never be read.
fn require_reader(answered: &Message) -> Result<(), Refusal> {
    let author = answered.author();
    if author.kind.is_agent() {
        return Ok(());
    }
    let (id, label) = (short(&answered.message_id), visible(&author.label()));
    let what = format!("message {id} is a notice from {label}, and nobody reads an answer to it");
    let hint = "its text names the hand-off: `baton handoff show ID` tells where that lies; to write to an agent: `baton mail send --to NAME`";
    Err(Refusal::invalid("message_invalid", what, hint))
}

/// The project to which a message goes. To a token that does not reach a project it is not there, unless this answers what came from it.
pub(super) fn destination(
    cx: &Cx<'_>,
    input: &MailSendInput,
    reply: Option<&Reply>,
    from_project: &str,
) -> Result<Destination, Failure> {
    let reply = reply.filter(|reply| reply.goes_back);
    let named = input.to_project.as_deref().or(reply.map(|reply| reply.to_project.as_str()));
    let named = named.unwrap_or(from_project);
    check_project(named)?;
    let project = cx.env.caller.id_of(named).to_owned();
    let grant = &cx.env.caller.grant;
    match reply {
        None if !grant.reaches(&project) => {
            Err(resolve::no_project_refusal(&project).with("near", json!([])).into())
        }
        Some(Reply { home, .. }) if *home != project => {
            let former = Some(project).filter(|_| !grant.reaches(home));
            Ok(Destination { project: home.clone(), former })
        }
        _ => Ok(Destination { project, former: None }),
    }
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
    message::mark_acked(tx, project_id, &found.message_id, now)?;
    acked_at_sender(tx, &found, now)
}

/// Tells who has the work of an agent by now that an answer to it came: the asker's session was ended without a wrap, and who took its
/// work over reads no mail of another's name.
pub(super) fn copy_to_successor(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (from_project, project_id): (&str, &str),
    sent: &Message,
) -> Result<(), Failure> {
    let asker = &sent.to_identity;
    let ended =
        session::last_of(tx, project_id, asker)?.filter(|last| last.release.is_some() && !last.has_wrapped());
    let Some(ended) = ended.filter(|_| !is_shared_name(asker)) else { return Ok(()) };
    let is_other = |next: &String| identity_key(next) != identity_key(&sent.from_identity);
    let Some(next) = next_holder(tx, &ended)?.filter(is_other) else { return Ok(()) };
    let subject = within_limit(format!("to {}, whose work you have: {}", visible(asker), sent.subject));
    let body = if sent.readers.is_some() { "It is encrypted for others." } else { sent.body.as_str() };
    let author = SignalAuthor { actor: Actor::agent(&sent.from_identity), project_id: Some(from_project) };
    send_signal_from(tx, env, (project_id, author, &next), (&subject, body))
}
