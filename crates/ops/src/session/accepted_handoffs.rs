//! The hand-offs from other projects that a session accepted and that are not ended: they go with its baton, and its holder answers for them.

use baton_model::accounting::{Remark, RemarkKind};
use baton_model::baton::Baton;
use baton_model::handoff::Handoff;
use baton_model::id::{identity_key, is_shared_name, short, visible};
use baton_model::session::Session;
use baton_model::task::Task;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, handoff, session, task};

use super::pickup_handoff::{baton_of, is_abandoned};
use crate::handoff::details::HandoffDetails;
use crate::op::Env;
use crate::ownership::is_at_work;
use crate::token_rights;

/// Of the accepted hand-offs of a project, those that this session answers for.
pub(crate) fn of_session<'a>(
    accepted: &'a [Handoff],
    session_id: &'a str,
    identity: &'a str,
) -> impl Iterator<Item = &'a Handoff> {
    accepted.iter().filter(move |one| {
        let details = HandoffDetails::of(one);
        match (&details.accepted_by, &details.accepted_as) {
            (Some(by), _) => by == session_id,
            (None, Some(name)) => !is_shared_name(name) && identity_key(name) == identity_key(identity),
            (None, None) => false,
        }
    })
}

/// Whether this session answers for any of them.
pub(super) fn is_acceptor(accepted: &[Handoff], own: &Session) -> bool {
    of_session(accepted, &own.session_id, &own.identity).next().is_some()
}

/// Makes the session that takes a baton the acceptor of what the one before it had accepted. A pickup that brought no baton passes nothing on.
pub(super) fn pass_on(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    accepted: &[Handoff],
    passed_on: Option<(&Session, &Baton)>,
    own: &Session,
) -> Result<(), Failure> {
    let Some((before, _)) = passed_on else { return Ok(()) };
    for one in of_session(accepted, &before.session_id, &before.identity) {
        let mut details = HandoffDetails::of(one);
        set_acceptor(env, &mut details, own);
        handoff::put(tx, &Handoff { plan: details.to_text(), updated_at: env.now, ..one.clone() })?;
        reassign_task(tx, env, one, &before.identity, own)?;
    }
    Ok(())
}

/// Writes down who has accepted it.
pub(super) fn set_acceptor(env: &Env<'_>, details: &mut HandoffDetails, own: &Session) {
    details.accepted_by = Some(own.session_id.clone());
    details.accepted_as = Some(own.identity.clone());
    details.accepted_at = Some(rfc3339(env.now));
    details.accepted_location = Some(own.location.clone());
    details.accepted_access_token = token_rights::token_id(env);
}

/// The open task of a hand-off goes from its acceptor to the next one.
pub(super) fn reassign_task(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    one: &Handoff,
    from: &str,
    own: &Session,
) -> Result<(), Failure> {
    let Some(id) = &one.task_id else { return Ok(()) };
    let Some(task) = task::get(tx, &one.to_project_id, id)? else { return Ok(()) };
    let is_theirs = |name: &String| identity_key(name) == identity_key(from);
    if !task.is_open() || !task.assignee.as_ref().is_some_and(is_theirs) {
        return Ok(());
    }
    let after = Task { assignee: Some(own.identity.clone()), updated_at: env.now, ..task.clone() };
    crate::task::update_without_delta(tx, &task, &after)
}

/// Says which hand-offs the picker of a baton answers for.
pub(super) fn accepted_remarks(accepted: &[Handoff], session_id: &str, identity: &str) -> Vec<Remark> {
    let remark = |one: &Handoff| {
        let (id, subject) = (short(&one.handoff_id), visible(&one.subject));
        let message = format!(
            "you answer for hand-off {id} (“{subject}”): when it is done, `baton handoff complete {id} --result TEXT`"
        );
        Remark { kind: RemarkKind::AcceptedHandoff, message }
    };
    of_session(accepted, session_id, identity).map(remark).collect()
}

/// The accepted hand-offs that have no acceptor any more when a session ends. `forced`: its own agent does not end it.
pub(super) fn when_ended(accepted: &[Handoff], ended: &Session, forced: bool) -> Vec<Remark> {
    let acceptor = if forced { visible(&ended.identity) } else { "you".to_owned() };
    let why = format!("which {acceptor} accepted, has no result");
    of_session(accepted, &ended.session_id, &ended.identity).map(|one| takeover_remark(one, &why)).collect()
}

/// An accepted hand-off that no session at work has.
pub(crate) struct UnattendedHandoff {
    /// Its id.
    pub(crate) handoff_id: String,
    /// What is said of it.
    pub(crate) remark: Remark,
}

/// The accepted hand-offs of a project whose acceptor is at work no more, and those that the viewer accepted in an earlier session and has
/// not taken into its present one: other agents may not take these over.
pub(crate) fn unattended<'a>(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    accepted: impl Iterator<Item = &'a Handoff>,
    viewer: Option<&str>,
) -> Result<Vec<UnattendedHandoff>, Failure> {
    let mut found = Vec::new();
    for one in accepted {
        let remark = if is_abandoned(tx, env, one)? {
            let by = HandoffDetails::of(one).accepted_as;
            let is_own =
                |name: &String| viewer.is_some_and(|viewer| identity_key(viewer) == identity_key(name));
            let by = match by {
                Some(name) if is_own(&name) => "you".to_owned(),
                Some(name) => visible(&name),
                None => "an agent".to_owned(),
            };
            takeover_remark(one, &format!("which {by} accepted, has nobody at work on it"))
        } else if let Some(viewer) = viewer
            && is_of_earlier_session(tx, env, one, (viewer, None))?
        {
            takeover_remark(one, "which you accepted in an earlier session, is not in this one")
        } else {
            continue;
        };
        found.push(UnattendedHandoff { handoff_id: one.handoff_id.clone(), remark });
    }
    Ok(found)
}

/// Whether this name accepted it in another session than its own one, which is over or silent, and no baton of that one waits.
fn is_of_earlier_session(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    one: &Handoff,
    (identity, own): (&str, Option<&str>),
) -> Result<bool, Failure> {
    let details = HandoffDetails::of(one);
    let is_own_name = |name: &String| !is_shared_name(name) && identity_key(name) == identity_key(identity);
    let by = details.accepted_by.filter(|_| details.accepted_as.as_ref().is_some_and(is_own_name));
    let Some(by) = by.filter(|by| own != Some(by.as_str())) else { return Ok(false) };
    let Some(earlier) = session::get(tx, &one.to_project_id, &by)? else { return Ok(false) };
    Ok(!is_at_work(env, &earlier) && baton_of(tx, one)?.is_none())
}

fn takeover_remark(one: &Handoff, why: &str) -> Remark {
    let (id, subject) = (short(&one.handoff_id), visible(&one.subject));
    let message = format!(
        "hand-off {id} (“{subject}”), {why}: `baton pickup --handoff {id}` goes on with it; to return it, pick it up and then say \
         `baton handoff decline {id} --why REASON`"
    );
    Remark { kind: RemarkKind::AcceptedHandoff, message }
}

/// Says of the hand-offs that a session accepted what becomes of them when it wraps.
pub(super) fn when_wrapped(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    accepted: &[Handoff],
    (own, is_done): (&Session, bool),
) -> Result<Vec<Remark>, Failure> {
    let remark = |one: &Handoff| {
        let (id, subject) = (short(&one.handoff_id), visible(&one.subject));
        let message = match is_done {
            true => format!(
                "hand-off {id} (“{subject}”), which you accepted, waits for its result: `baton handoff complete {id} --result TEXT`"
            ),
            false => format!(
                "hand-off {id} (“{subject}”), which you accepted, goes with this baton: whoever picks it up completes it"
            ),
        };
        Remark { kind: RemarkKind::AcceptedHandoff, message }
    };
    let mut remarks: Vec<Remark> = of_session(accepted, &own.session_id, &own.identity).map(remark).collect();
    for one in accepted {
        if is_of_earlier_session(tx, env, one, (&own.identity, Some(&own.session_id)))? {
            remarks.push(earlier_remark(one, is_done));
        }
    }
    Ok(remarks)
}

/// Says of a hand-off that an earlier session of the same name accepted that it does not go with what this one leaves.
fn earlier_remark(one: &Handoff, is_done: bool) -> Remark {
    let (id, subject) = (short(&one.handoff_id), visible(&one.subject));
    let what = format!("hand-off {id} (“{subject}”), which you accepted in an earlier session,");
    let message = match is_done {
        true => format!("{what} waits for its result: `baton handoff complete {id} --result TEXT`"),
        false => format!("{what} does not go with this baton: `baton pickup --handoff {id}` goes on with it"),
    };
    Remark { kind: RemarkKind::AcceptedHandoff, message }
}
