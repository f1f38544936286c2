//! Finds the message that is meant, and checks that the caller takes part in it.

use baton_model::id::{caller_name, is_shared_name, short, visible};
use baton_model::message::{Message, Participation};
use baton_model::refusal::{Kind, Refusal};
use baton_model::role::role_key;
use baton_store::{Failure, Tx, agent, message};

use crate::resolve;

/// The message of this id or unique prefix, without a check of its addressee.
pub(super) fn by_id(tx: &mut Tx<'_>, project_id: &str, id: &str) -> Result<Message, Failure> {
    if let Some(found) = message::get(tx, project_id, id)? {
        return Ok(found);
    }
    let ids =
        if id.len() >= 4 && id.is_ascii() { message::by_prefix(tx, project_id, id)? } else { Vec::new() };
    match ids.as_slice() {
        [one] => message::get(tx, project_id, one)?.ok_or_else(|| unknown_refusal(project_id, id).into()),
        [] => Err(unknown_refusal(project_id, id).into()),
        many => Err(resolve::ambiguous_id_refusal("message", id, many).into()),
    }
}

fn unknown_refusal(project_id: &str, id: &str) -> Refusal {
    Refusal::new(
        Kind::NotFound,
        "message_unknown",
        format!("project {project_id} has no message `{}`", visible(id)),
        "`baton mail inbox --all` lists yours",
    )
}

/// The message of this id, and what this identity is to it. Refused when it is none of its business.
pub(super) fn own(
    tx: &mut Tx<'_>,
    project_id: &str,
    id: &str,
    identity: &str,
) -> Result<(Message, Participation), Failure> {
    let found = by_id(tx, project_id, id)?;
    let roles = agent::roles(tx, project_id, identity)?;
    match found.part_of(identity, &roles) {
        Some(part) => Ok((found, part)),
        None => Err(held_by_another_refusal(&found, identity, &roles).into()),
    }
}

/// The refusal for a message that is not addressed to the identity.
pub(super) fn held_by_another_refusal(found: &Message, identity: &str, roles: &[String]) -> Refusal {
    let role = found.to_role.as_deref().filter(|_| found.to_project_id.is_none());
    match role {
        Some(role) if found.waits_for_role() => Refusal::new(
            Kind::Refused,
            "role_missing",
            format!("message {} is for whoever of role {role} takes it first", short(&found.message_id)),
            format!(
                "register for it: baton agent register --as {} --role {role}",
                named_or_placeholder(identity)
            ),
        )
        .with("role", role),
        Some(role) if roles.iter().any(|own| role_key(own) == role_key(role)) => role_taken_refusal(found),
        _ => Refusal::new(
            Kind::NotFound,
            "message_unknown",
            format!("there is no such message for {}", caller_name(identity)),
            format!("`baton mail inbox --as {} --all` lists what there is", named_or_placeholder(identity)),
        ),
    }
}

/// The name in a command that the caller is to give, also a caller without one.
fn named_or_placeholder(identity: &str) -> &str {
    if is_shared_name(identity) { "NAME" } else { identity }
}

/// The refusal for a role's message that another identity has taken.
pub(super) fn role_taken_refusal(found: &Message) -> Refusal {
    Refusal::new(
        Kind::Conflict,
        "message_taken",
        format!("{} has taken message {}", found.to_identity, short(&found.message_id)),
        "`baton mail inbox` lists what else waits",
    )
    .with("message_id", found.message_id.clone())
    .with("taken_by", found.to_identity.clone())
}

/// Takes a message out of the mailbox of its role, if it lies there: from now on it belongs to this identity.
pub(super) fn take(
    tx: &mut Tx<'_>,
    mut found: Message,
    part: Participation,
    identity: &str,
) -> Result<Message, Failure> {
    if part != Participation::Role {
        return Ok(found);
    }
    if !message::take(tx, &found, identity)? {
        return Err(role_taken_refusal(&by_id(tx, &found.project_id, &found.message_id)?).into());
    }
    identity.clone_into(&mut found.to_identity);
    Ok(found)
}
