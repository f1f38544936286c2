//! Who may cancel a hand-off: the project that sent it, and once it is accepted the identity that sent it.

use baton_model::handoff::{Handoff, State};
use baton_model::id::{identity_key, is_shared_name, short, visible};
use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, Tx};

use super::{acceptor, isolation};
use crate::op::Env;
use crate::token_rights;

/// Refuses to cancel what another has sent. With force an operator may; returns the reason then.
pub(super) fn require_sender(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    known: &Handoff,
    (identity, here): (&str, Option<&str>),
    (force, why): (bool, Option<&str>),
) -> Result<Option<String>, Failure> {
    let is_inside = here == Some(known.from_project_id.as_str());
    // An unnamed sender is known by its project alone: any other of that project acts as it.
    let is_sender = identity_key(&known.from_identity) == identity_key(identity)
        && token_rights::is_bound_or_local(env, identity)
        && (is_inside || !is_shared_name(identity));
    // An offered hand-off is withdrawn by any caller that acts for the project: a token that reaches it stands in no other.
    let acts_for_project = is_inside || here.is_none();
    if is_sender || acts_for_project && known.state != State::Accepted {
        return Ok(None);
    }
    if !force {
        return Err(not_senders(tx, env, known, is_inside)?.into());
    }
    acceptor::forced(env, why).map(Some)
}

fn not_senders(tx: &mut Tx<'_>, env: &Env<'_>, known: &Handoff, is_inside: bool) -> Result<Refusal, Failure> {
    let id = &known.handoff_id;
    let project_id = isolation::sender_for(known, Some(&env.caller.grant));
    let sender = match is_inside || !isolation::is_separated(tx, known)? {
        true => format!("{} of project {project_id}", visible(&known.from_identity)),
        false => isolation::project_label(&project_id),
    };
    let (what, hint) = match known.state {
        State::Accepted => (
            "who alone cancels it now that it is accepted",
            format!(
                "leave it to the sender; its acceptor declines it: `baton handoff decline {id} --why REASON`"
            ),
        ),
        _ => (
            "whose project cancels it",
            format!("decline it if it is yours to answer: `baton handoff decline {id} --why REASON`"),
        ),
    };
    Ok(Refusal::new(
        Kind::Conflict,
        "handoff_not_yours",
        format!("hand-off {} was sent by {sender}, {what}", short(id)),
        format!("{hint}; an operator cancels it with `baton handoff cancel {id} --force --why REASON`"),
    )
    .with("handoff_id", id.clone()))
}
