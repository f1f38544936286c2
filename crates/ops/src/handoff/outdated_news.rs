//! News that waits unread while the hand-off goes on: it says how that stands by then, and names no command that would be refused or
//! would take back what was mended.

use baton_model::actor::ActorType;
use baton_model::handoff::Handoff;
use baton_model::id::{check_identity, short};
use baton_model::message::Message;
use baton_store::{Failure, Tx, message};

use crate::op::Env;
use crate::saga::SYSTEM_IDENTITY;

/// How the subject of a failure ends.
pub(super) const FAILED: &str = " has failed";
/// What the subject of one that was mended goes on with.
const MENDED: &str = " had failed, and is ";
/// What the subject about a repository that is gone says.
pub(super) const MISSING: &str = " is not to be found any more: ";

/// What waits unread for the sender of a hand-off, from Baton itself and about this one.
fn unread(tx: &mut Tx<'_>, env: &Env<'_>, of: &Handoff) -> Result<Vec<Message>, Failure> {
    if check_identity(&of.from_identity).is_err() {
        return Ok(Vec::new());
    }
    let mut waiting = message::pending(tx, &of.from_project_id, &of.from_identity, env.now)?;
    waiting.retain(|one| {
        one.from_type == ActorType::System
            && one.from_identity == SYSTEM_IDENTITY
            && one.body.contains(&of.handoff_id)
    });
    Ok(waiting)
}

/// After a hand-off has come into another state. `failure`: what is said of it where it has failed once more.
pub(super) fn follow_state(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    now: &Handoff,
    failure: Option<&str>,
) -> Result<(), Failure> {
    let state = now.state.as_str();
    for one in unread(tx, env, now)? {
        let failed = one.subject.strip_suffix(FAILED);
        let head = failed.or_else(|| one.subject.split_once(MENDED).map(|(head, _)| head));
        match (head, failure) {
            (Some(_), Some(failure)) if failed.is_none() || one.body != failure => {
                message::withdraw(tx, &one, env.now)?;
            }
            (Some(_), Some(_)) => {}
            (Some(head), None) => {
                let subject = format!("{head}{MENDED}{state} by now");
                let body = format!("more: baton handoff show {}", now.handoff_id);
                message::rewrite(tx, &one, (&subject, &body))?;
            }
            (None, _) if now.state.is_over() && one.subject.contains(MISSING) => {
                let body = without_commands(&one.body, &now.handoff_id);
                let note = format!("hand-off {} is {state} by now\n", short(&now.handoff_id));
                message::rewrite(tx, &one, (&one.subject, &(note + &body)))?;
            }
            (None, _) => {}
        }
    }
    Ok(())
}

/// A text without the lines that say how a hand-off is taken back.
fn without_commands(body: &str, id: &str) -> String {
    let command = format!("baton handoff cancel {id}");
    let rest: Vec<&str> = body.lines().filter(|line| !line.ends_with(&command)).collect();
    rest.join("\n")
}

/// After the repository of hand-offs is there again.
pub(super) fn follow_repository(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Handoff,
    repo: &str,
) -> Result<(), Failure> {
    let missing = format!("{repo}{MISSING}");
    for one in unread(tx, env, known)?.into_iter().filter(|one| one.subject.starts_with(&missing)) {
        let subject = format!("{repo} was not to be found for a while, and is there again");
        let body: Vec<&str> = one.body.lines().filter(|line| line.contains("baton handoff show ")).collect();
        message::rewrite(tx, &one, (&subject, &body.join("\n")))?;
    }
    Ok(())
}

/// After a hand-off was left anew: news of how it came back names no second time to do so.
pub(super) fn follow_replacement(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    before: &Handoff,
    new_id: &str,
) -> Result<(), Failure> {
    let anew = format!("--replaces {}", before.handoff_id);
    for one in unread(tx, env, before)?.into_iter().filter(|one| one.body.contains(&anew)) {
        let body = format!("it was left anew since\nmore: baton handoff show {new_id}");
        message::rewrite(tx, &one, (&one.subject, &body))?;
    }
    Ok(())
}
