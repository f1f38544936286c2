//! What else belongs to a project that is merged: mail that waits, leases that are held, hand-offs that are open. Its
//! ledger is read no more, so nothing may be left there that an agent or a user waits for.

use baton_model::agent::Agent;
use baton_model::delta::Kind;
use baton_model::handoff::{Handoff, State};
use baton_model::id::short;
use baton_model::lease::{FileLease, admit};
use baton_model::message::Message;
use baton_model::refusal::{self, Refusal};
use baton_model::session::{ReleaseReason, Session};
use baton_model::time::rfc3339;
use baton_model::transcript_copy::CopyManifest;
use baton_store::transcript_copy::{self, StoredCopy};
use baton_store::{Failure, Tx, agent, handoff, lease, message, project, session};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::isolation::opens_isolated_refusal;
use super::merge::MergeInput;
use crate::handoff::details::HandoffDetails;
use crate::ledger::{Author, append_json};
use crate::op::Env;
use crate::project_name::title;
use crate::session::{Releaser, release};

/// Refuses to merge a project to which hand-offs are open: their tasks stay in its ledger.
pub(super) fn require_no_open_handoffs(tx: &mut Tx<'_>, from: &str) -> Result<(), Failure> {
    let is_open = |state| matches!(state, State::Planned | State::Pending | State::Offered | State::Accepted);
    let mut open = handoff::of_project(tx, from)?;
    open.retain(|one| one.to_project_id == from && is_open(one.state));
    if open.is_empty() {
        return Ok(());
    }
    let ids: Vec<String> = open.iter().map(|one| short(&one.handoff_id).to_owned()).collect();
    let what = format!("hand-offs to project {} are open: {}", title(tx, from)?, ids.join(", "));
    let hint = "end each first: `baton handoff complete ID`, `decline ID`, or `cancel ID` by its sender";
    Err(Refusal::new(refusal::Kind::Conflict, "handoffs_open", what, hint).with("handoffs", ids).into())
}

/// The hand-offs that a project sent and whose result it still waits for.
pub(super) fn awaited_handoffs(tx: &mut Tx<'_>, from: &str) -> Result<Vec<String>, Failure> {
    let is_awaited = |one: &Handoff| {
        let is_over =
            matches!(one.state, State::Completed | State::Declined | State::Cancelled | State::Expired);
        one.from_project_id == from && !is_over
    };
    Ok(handoff::of_project(tx, from)?.into_iter().filter(is_awaited).map(|one| one.handoff_id).collect())
}

/// Makes the other project the sender of what this one waits for: it hears what becomes of it.
pub(super) fn move_sent(tx: &mut Tx<'_>, (from, into): (&str, &str)) -> Result<Vec<String>, Failure> {
    let awaited = awaited_handoffs(tx, from)?;
    for id in &awaited {
        set_sender(tx, id, (from, into))?;
    }
    Ok(awaited)
}

/// Makes another project the sender of a hand-off. Its receiver goes on knowing it by the project from which it was sent.
pub(super) fn set_sender(tx: &mut Tx<'_>, id: &str, (from, into): (&str, &str)) -> Result<(), Failure> {
    let Some(mut sent) = handoff::get(tx, id)? else { return Ok(()) };
    let mut details = HandoffDetails::of(&sent);
    let former = details.sent_as.take().unwrap_or_else(|| from.to_owned());
    details.sent_as = Some(former).filter(|former| former != into);
    sent.plan = details.to_text();
    handoff::put(tx, &sent)?;
    Ok(handoff::set_sender(tx, id, into)?)
}

/// Mail that waits, by what becomes of it.
pub(super) struct WaitingMail {
    /// It goes to the mailboxes of the other project.
    pub movable: Vec<Message>,
    /// It is encrypted for keys of this project: it can be read here alone.
    pub sealed: Vec<Message>,
}

/// The mail that waits in a project.
pub(super) fn waiting_mail(tx: &mut Tx<'_>, env: &Env<'_>, from: &str) -> Result<WaitingMail, Failure> {
    let waiting = message::waiting(tx, from, env.now)?.into_iter();
    let (sealed, movable) = waiting.partition(|mail| mail.readers.is_some());
    Ok(WaitingMail { movable, sealed })
}

/// A message that a merge moved.
#[derive(Serialize, Deserialize)]
pub(super) struct MovedMail {
    from: String,
    to: String,
    /// Whether the other project had its sender's copy, which became the message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    was_copy: bool,
}

/// Puts mail that waits into the mailboxes of the other project, and says which.
pub(super) fn move_mail(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    (from, into): (&str, &str),
) -> Result<Vec<MovedMail>, Failure> {
    let mut all = Vec::new();
    for mail in &waiting_mail(tx, env, from)?.movable {
        let mut moved = Message { project_id: into.to_owned(), seq: tx.next_seq(into)?, ..mail.clone() };
        // Mail from the other project has left its sender's copy there, under the same id: that is the message from now on.
        let was_copy = message::adopt_copy(tx, &moved)?;
        if !was_copy {
            if message::get(tx, into, &mail.message_id)?.is_some() {
                moved.message_id = env.id();
            }
            message::insert(tx, &moved)?;
        }
        message::mark_moved(tx, from, &mail.message_id, env.now)?;
        all.push(MovedMail { from: mail.message_id.clone(), to: moved.message_id, was_copy });
    }
    Ok(all)
}

/// The messages that go back with an undoing, each before and after the merge: not what was acknowledged since, or recalled.
fn returning_mail(
    tx: &mut Tx<'_>,
    (from, into): (&str, &str),
    moved: &[MovedMail],
) -> Result<Vec<(Message, Message, bool)>, Failure> {
    let mut all = Vec::new();
    for one in moved {
        let before = message::get(tx, from, &one.from)?;
        let now = message::get(tx, into, &one.to)?;
        let now = now.filter(|now| now.acked_at.is_none() && now.recalled_at.is_none());
        // What asks for no answer is over once it was read.
        let now = now.filter(|now| now.delivered_at.is_none() || now.ack_by.is_some());
        all.extend(before.zip(now).map(|(before, now)| (before, now, one.was_copy)));
    }
    Ok(all)
}

/// Takes mail back that a merge moved, and says how much.
pub(super) fn take_mail_back(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (from, into): (&str, &str),
    moved: &[MovedMail],
) -> Result<usize, Failure> {
    let returning = returning_mail(tx, (from, into), moved)?;
    for (before, now, was_copy) in &returning {
        message::put_back(tx, before, now)?;
        match was_copy {
            true => message::make_copy(tx, now, from)?,
            false => message::withdraw(tx, now, env.now)?,
        }
    }
    Ok(returning.len())
}

/// How much mail, and how many leases, an undoing would take back.
pub(super) fn count_returning(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (from, into): (&str, &str),
    (mail, leases): (&[MovedMail], &[String]),
) -> Result<(usize, usize), Failure> {
    let mail = returning_mail(tx, (from, into), mail)?.len();
    Ok((mail, returning_leases(tx, env, into, leases)?.len()))
}

/// Sessions that were pushed to a project, by what becomes of them.
pub(super) struct PushedCopies {
    /// They go to the other project.
    pub movable: Vec<StoredCopy>,
    /// How many stay: encrypted for keys of this project, or the other one takes none.
    pub left: usize,
}

/// The sessions that were pushed to a project.
pub(super) fn pushed_copies(tx: &mut Tx<'_>, (from, into): (&str, &str)) -> Result<PushedCopies, Failure> {
    let is_taken = project::get(tx, into)?.is_some_and(|project| project.takes_transcripts);
    let is_plain = |copy: &StoredCopy| {
        serde_json::from_str::<CopyManifest>(&copy.manifest).is_ok_and(|manifest| manifest.readers.is_none())
    };
    let (movable, left): (Vec<_>, Vec<_>) =
        transcript_copy::list(tx, from)?.into_iter().partition(|copy| is_taken && is_plain(copy));
    Ok(PushedCopies { movable, left: left.len() })
}

/// A session that was pushed to a project and moved with it.
#[derive(Serialize, Deserialize)]
pub(super) struct MovedCopy {
    agent: String,
    transcript_id: String,
    content_hash: String,
}

/// Moves the sessions that were pushed to a project, and says which. Of what one identity pushed of a session the newer copy stays.
pub(super) fn move_copies(tx: &mut Tx<'_>, (from, into): (&str, &str)) -> Result<Vec<MovedCopy>, Failure> {
    let mut moved = Vec::new();
    for copy in pushed_copies(tx, (from, into))?.movable {
        let named = (copy.agent.as_str(), copy.transcript_id.as_str());
        match transcript_copy::get(tx, into, named, &copy.identity_key)? {
            Some(there) if there.created_at > copy.created_at => {
                transcript_copy::remove(tx, from, &copy)?;
                continue;
            }
            Some(there) => transcript_copy::remove(tx, into, &there)?,
            None => {}
        }
        transcript_copy::relocate(tx, (from, into), &copy)?;
        let StoredCopy { agent, transcript_id, content_hash, .. } = copy;
        moved.push(MovedCopy { agent, transcript_id, content_hash });
    }
    Ok(moved)
}

/// Takes those back that a merge moved: not what was pushed anew since, or withdrawn.
pub(super) fn take_copies_back(
    tx: &mut Tx<'_>,
    (from, into): (&str, &str),
    moved: &[MovedCopy],
) -> Result<(), Failure> {
    for one in moved {
        let is_moved = |copy: &StoredCopy| {
            copy.agent == one.agent
                && copy.transcript_id == one.transcript_id
                && copy.content_hash == one.content_hash
        };
        if let Some(copy) = transcript_copy::list(tx, into)?.into_iter().find(is_moved) {
            transcript_copy::relocate(tx, (into, from), &copy)?;
        }
    }
    Ok(())
}

/// Registers the agents of a project in the other one, where they have their roles from then on. One that is registered there keeps
/// what it said there, and gets the roles that it had here besides.
pub(super) fn move_agents(tx: &mut Tx<'_>, env: &Env<'_>, (from, into): (&str, &str)) -> Result<(), Failure> {
    for moved in agent::list(tx, from)? {
        let mut agent = match agent::get(tx, into, &moved.identity)? {
            Some(known) => Agent { updated_at: env.now, ..known },
            None => Agent { project_id: into.to_owned(), roles: Vec::new(), ..moved.clone() },
        };
        let lacking: Vec<String> =
            moved.roles.iter().filter(|role| !agent.roles.contains(role)).cloned().collect();
        agent.roles.extend(lacking);
        agent::put(tx, &agent)?;
    }
    Ok(())
}

/// Ends the open sessions of silent agents, because their folders go to another project. The other project knows each by the same
/// id, so that a later call of its agent is refused with `session_released`, and kept.
pub(super) fn end_open(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    into: &str,
    (identity, why): (&str, &str),
    open: Vec<Session>,
) -> Result<(), Failure> {
    for mut open in open {
        let by = Releaser { identity, reason: ReleaseReason::Operator, why: Some(why), successor: None };
        release(tx, env, &mut open, &by)?;
        let known = Session {
            project_id: into.to_owned(),
            baton_id: None,
            inherited_from: None,
            picked_up_session_id: None,
            // The last of this name here, after what was carried over for it.
            started_at: env.now,
            ..open
        };
        session::insert(tx, &known)?;
        // Registering writes no release.
        session::put(tx, &known)?;
        let body = json!({ "summary": "known from another project", "surface": known.surface });
        append_json(tx, env, &Author::session(&known), Kind::Start, &body)?;
    }
    Ok(())
}

/// Refuses a merge of an isolated project into an open one: all readers of that one would read its words, and an undo
/// does not take back what was read.
pub(super) fn require_isolation_kept(tx: &mut Tx<'_>, input: &MergeInput) -> Result<(), Failure> {
    let mut is_isolated =
        |id: &str| Ok::<_, Failure>(project::get(tx, id)?.is_some_and(|one| one.is_isolated));
    if !is_isolated(&input.from)? || is_isolated(&input.into)? {
        return Ok(());
    }
    Err(opens_isolated_refusal(&input.from, &input.into).into())
}

/// Refuses a merge after which two agents would hold the same paths.
pub(super) fn require_no_lease_conflict(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (from, into): (&str, &str),
) -> Result<(), Failure> {
    let held = lease::held_leases(tx, into, env.now)?;
    for one in lease::held_leases(tx, from, env.now)? {
        let moved = FileLease { project_id: into.to_owned(), session_id: None, ..one };
        admit(&moved, &held, |_| false, env.now).map_err(|refusal| {
            let what = format!(
                "{} of project {from} cannot go to {into}: {}",
                moved.describe(env.now),
                refusal.message
            );
            let hint = format!(
                "let one of them give it back (`baton lease release`), or merge after {}",
                rfc3339(moved.expires_at)
            );
            Refusal { message: what, hint, ..refusal }
        })?;
    }
    Ok(())
}

/// Moves the leases that are held, and says which. Each holds until its time is up: the session in which it was taken is none of the
/// other project.
pub(super) fn move_leases(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (from, into): (&str, &str),
) -> Result<Vec<String>, Failure> {
    let held = lease::held_leases(tx, from, env.now)?;
    relocate_leases(tx, env, into, &held)?;
    Ok(held.into_iter().map(|one| one.lease_id).collect())
}

fn relocate_leases(tx: &mut Tx<'_>, env: &Env<'_>, into: &str, held: &[FileLease]) -> Result<(), Failure> {
    for one in held {
        lease::put(tx, &FileLease { project_id: into.to_owned(), session_id: None, ..one.clone() })?;
        lease::put(tx, &FileLease { released_at: Some(env.now), ..one.clone() })?;
    }
    Ok(())
}

/// The leases that a merge moved and that are still held.
fn returning_leases(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    into: &str,
    moved: &[String],
) -> Result<Vec<FileLease>, Failure> {
    let mut held = lease::held_leases(tx, into, env.now)?;
    held.retain(|one| moved.contains(&one.lease_id));
    Ok(held)
}

/// Takes those back that a merge moved and that are still held, and says how many.
pub(super) fn take_leases_back(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    (from, into): (&str, &str),
    moved: &[String],
) -> Result<usize, Failure> {
    let held = returning_leases(tx, env, into, moved)?;
    relocate_leases(tx, env, from, &held)?;
    Ok(held.len())
}
