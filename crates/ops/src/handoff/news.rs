//! The sender's news of a hand-off: a signal for each state that the sender did not bring about.

use baton_model::actor::{Actor, ActorType};
use baton_model::handoff::{Handoff, State, View};
use baton_model::id::{BOT, check_identity, identity_key, is_shared_name, short};
use baton_model::message::Message;
use baton_model::printable::quotable;
use baton_store::{Failure, Tx, message};

use super::details::HandoffDetails;
use super::isolation;
use super::outdated_news::{FAILED, MISSING, follow_state};
use crate::card::SUBJECT;
use crate::op::Env;
use crate::project_name::given_name;
use crate::saga::SYSTEM_IDENTITY;

/// Baton itself, where time ran out or a step failed.
const SYSTEM: Actor<'static> = Actor { name: SYSTEM_IDENTITY, kind: ActorType::System };

/// What the sender is told of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum News {
    /// That the hand-off has its present state.
    State,
    /// Why it was declined, said afterwards by the agent that declined it.
    Reason,
}

/// Author of a transition.
#[derive(Clone, Copy)]
pub(super) struct NewsAuthor<'a> {
    pub(super) name: &'a str,
    /// Whether it has a name in the sender's project.
    pub(super) is_named: bool,
    /// The project in which it stands, if that is known.
    pub(super) place: Option<&'a str>,
}

/// Signals a transition to the sender, once: every transition is recorded in one place, which calls this.
pub(super) fn signal_sender(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoff: &Handoff,
    NewsAuthor { name: by, is_named, place }: NewsAuthor<'_>,
    what: News,
) -> Result<(), Failure> {
    if what == News::State {
        let failure = (handoff.state == State::Failed).then(|| body(handoff));
        follow_state(tx, env, handoff, failure.as_deref())?;
    }
    let by = actor(handoff, by);
    let is_local = handoff.from_project_id == handoff.to_project_id;
    let is_own = is_local && by.is(&handoff.from_identity);
    let is_withdrawn = is_withdrawn_by_other(handoff, by);
    let by_receiver = match handoff.state {
        State::Accepted | State::Completed | State::Declined if !is_own => true,
        State::Expired | State::Failed => false,
        State::Cancelled if is_withdrawn => false,
        _ => return Ok(()),
    };
    if check_identity(&handoff.from_identity).is_err() {
        return Ok(());
    }
    let project = Actor { name: &handoff.to_project_id, kind: ActorType::Project };
    let from = match (by_receiver, is_named) {
        (false, _) if is_withdrawn => by,
        (false, _) => SYSTEM,
        (true, false) => project,
        (true, true) if check_identity(by.name).is_err() => Actor::agent(BOT),
        (true, true) => by,
    };
    let receiver = given_name(tx, &handoff.to_project_id)?.unwrap_or_else(|| handoff.to_project_id.clone());
    let actor = if is_withdrawn { by.name.to_owned() } else { actor_text(&receiver, (by, is_named)) };
    // The name of the acceptor is one of the receiver's project.
    let clause = View::from(handoff).place_clause().filter(|_| is_named || is_withdrawn);
    let actor = clause.map_or(actor.clone(), |clause| format!("{actor} {clause}"));
    // Of the receiver's agents, and of an operator who stands there: an answer goes to them.
    let is_there = by_receiver || is_withdrawn && is_named && place == Some(&handoff.to_project_id);
    let is_elsewhere = is_there && !is_local && matches!(from.kind, ActorType::Agent | ActorType::Project);
    let news = Message {
        project_id: handoff.from_project_id.clone(),
        message_id: env.id(),
        seq: tx.next_seq(&handoff.from_project_id)?,
        kind: "StatusUpdate".into(),
        from_identity: from.name.to_owned(),
        from_type: from.kind,
        from_project_id: is_elsewhere.then(|| handoff.to_project_id.clone()),
        to_identity: handoff.from_identity.clone(),
        subject: subject(handoff, &actor, (&receiver, what)),
        body: body(handoff),
        created_at: env.now,
        ..Message::default()
    };
    if handoff.state == State::Failed && is_unread(tx, &news)? {
        return Ok(());
    }
    Ok(message::insert(tx, &news)?)
}

/// Whether another agent of the sender's project took it back: the sender hears of that.
fn is_withdrawn_by_other(handoff: &Handoff, by: Actor<'_>) -> bool {
    handoff.state == State::Cancelled
        && by.kind == ActorType::Agent
        && check_identity(by.name).is_ok()
        && identity_key(by.name) != identity_key(&handoff.from_identity)
}

/// Who brought a hand-off into its state: the ending says it, where one of GitHub's users has the name of an agent, or where it is only
/// known in which project that was.
fn actor<'a>(handoff: &'a Handoff, by: &'a str) -> Actor<'a> {
    let ended = HandoffDetails::of(handoff).ended.filter(|_| handoff.state.is_answered());
    match ended {
        Some(ended) if ended.by_type == ActorType::Project && is_shared_name(by) => {
            Actor { name: &handoff.to_project_id, kind: ActorType::Project }
        }
        Some(ended) if ended.by == by => Actor { name: by, kind: ended.by_type },
        _ => Actor::agent(by),
    }
}

fn actor_text(receiver: &str, (by, is_named): (Actor<'_>, bool)) -> String {
    match (is_named, by.kind) {
        (false, _) => isolation::project_label(receiver),
        (true, ActorType::Agent) => format!("{} of {receiver}", by.name),
        (true, _) => by.label(),
    }
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

/// Another name of the repository in which the issues of hand-offs are.
pub(super) struct RepositoryMove<'a> {
    pub(super) before: &'a str,
    pub(super) now: &'a str,
    /// The receiver's registration names it, too, from now on.
    pub(super) is_registered: bool,
}

/// Signals to the sender of these hand-offs that their issues are in a repository with another name.
pub(super) fn signal_move(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoffs: &[Handoff],
    moved: &RepositoryMove<'_>,
) -> Result<(), Failure> {
    let Some(first) = handoffs.first().filter(|first| check_identity(&first.from_identity).is_ok()) else {
        return Ok(());
    };
    let (before, now) = (moved.before, moved.now);
    let to = given_name(tx, &first.to_project_id)?.unwrap_or_else(|| first.to_project_id.clone());
    let (what, more) = named_handoffs(handoffs, &to, "went along");
    let registration = match moved.is_registered {
        true => format!("the registration of {to} names {now} from now on\n"),
        false => String::new(),
    };
    let subject = format!("{before} is called {now} now: {what}");
    signal_system(tx, env, first, (subject, format!("{registration}{more}")))
}

/// Signals to the sender of these hand-offs that the repository of their issues is not to be found.
pub(super) fn signal_missing(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    handoffs: &[Handoff],
    repo: &str,
) -> Result<(), Failure> {
    let Some(first) = handoffs.first().filter(|first| check_identity(&first.from_identity).is_ok()) else {
        return Ok(());
    };
    let to = given_name(tx, &first.to_project_id)?.unwrap_or_else(|| first.to_project_id.clone());
    let why = first.last_error.as_deref().map(|why| format!("why: {why}\n")).unwrap_or_default();
    let (what, more) = named_handoffs(handoffs, &to, "cannot be followed");
    let subject = format!("{repo}{MISSING}{what}");
    let id = if handoffs.len() == 1 { &first.handoff_id } else { "ID" };
    let next = format!(
        "where the repository is there again and the token may read it, this goes on by itself\n\
         or take it back, and leave it anew: baton handoff cancel {id}\n"
    );
    signal_system(tx, env, first, (subject, format!("{why}{next}{more}")))
}

/// Hand-offs of one sender to a receiver in a clause, and the commands that show them.
fn named_handoffs(handoffs: &[Handoff], to: &str, fate: &str) -> (String, String) {
    let named = |one: &Handoff| format!("{} \"{}\"", short(&one.handoff_id), quotable(&one.subject, SUBJECT));
    match handoffs {
        [one] => (
            format!("hand-off {} to {to} {fate}", named(one)),
            format!("more: baton handoff show {}", one.handoff_id),
        ),
        several => {
            let lines =
                several.iter().map(|one| format!("{}: baton handoff show {}\n", named(one), one.handoff_id));
            (
                format!("{} hand-offs to {to} {fate}", several.len()),
                lines.collect::<String>().trim_end().to_owned(),
            )
        }
    }
}

/// Signals to the sender of a hand-off what Baton itself has to say.
fn signal_system(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    of: &Handoff,
    (subject, body): (String, String),
) -> Result<(), Failure> {
    let news = Message {
        project_id: of.from_project_id.clone(),
        message_id: env.id(),
        seq: tx.next_seq(&of.from_project_id)?,
        kind: "StatusUpdate".into(),
        from_identity: SYSTEM.name.to_owned(),
        from_type: SYSTEM.kind,
        to_identity: of.from_identity.clone(),
        subject,
        body,
        created_at: env.now,
        ..Message::default()
    };
    Ok(message::insert(tx, &news)?)
}

fn subject(handoff: &Handoff, actor: &str, (to, news): (&str, News)) -> String {
    let what = format!("hand-off {} \"{}\"", short(&handoff.handoff_id), quotable(&handoff.subject, SUBJECT));
    match handoff.state {
        State::Expired => format!("{what} to {to} has expired: it was not accepted in time"),
        State::Failed => format!("{what} to {to}{FAILED}"),
        state if news == News::Reason => format!("{actor} says why {what} was {}", state.as_str()),
        state => format!("{what} was {} by {actor}", state.as_str()),
    }
}

fn body(handoff: &Handoff) -> String {
    let id = &handoff.handoff_id;
    let section = |title: &str, text: Option<&str>| {
        let text = text.map(str::trim).filter(|text| !text.is_empty());
        text.map(|text| format!("{title}: {text}\n")).unwrap_or_default()
    };
    // Without another word, the reason of who ended it by force is what there is to read.
    let forced = HandoffDetails::of(handoff).ended.and_then(|ended| ended.forced);
    let forced = forced.filter(|why| handoff.result.as_ref() != Some(why));
    let title = if handoff.result.is_some() { "why in another's place" } else { "reason" };
    let forced = section(title, forced.as_deref());
    let words = match handoff.state {
        State::Completed => section("result", handoff.result.as_deref()) + &forced,
        State::Declined => section("reason", handoff.result.as_deref()) + &forced,
        State::Cancelled => forced,
        State::Failed => section("why", handoff.last_error.as_deref()),
        _ => String::new(),
    };
    let next = match handoff.state {
        State::Failed => format!(
            "mend what it names, then: baton handoff retry {id}\nor take it back: baton handoff cancel {id}"
        ),
        State::Expired | State::Declined => format!(
            "its description and all else: baton handoff show {id}\nleave it anew with these: baton handoff create --replaces {id}"
        ),
        _ => format!("more: baton handoff show {id}"),
    };
    format!("{words}{next}")
}
