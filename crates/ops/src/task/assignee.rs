//! The agent for whom a task is: which names it may have, and that it hears of it.

use baton_model::id::{assignee_key, identity_key, visible};
use baton_model::message::{Message, ROLE};
use baton_model::refusal::{Kind, Refusal};
use baton_model::row_action::TaskState;
use baton_model::task::Task;
use baton_store::{Failure, Tx, message};

use crate::agent;
use crate::force_request::require_holder;
use crate::ledger::Author;
use crate::op::Env;

/// Refuses the address of a role: a task is for a role by its own field, and no agent has such a name.
pub(super) fn check_assignee(name: Option<&str>) -> Result<(), Refusal> {
    let Some(role) = name.and_then(|name| name.strip_prefix(ROLE)) else { return Ok(()) };
    let role = visible(role);
    Err(Refusal::invalid(
        "assignee_invalid",
        format!("`{ROLE}{role}` is the address of a role, and the assignee of a task is an agent"),
        format!("give it to the role: `baton task update ID --agent-role {role} --assignee ''`"),
    ))
}

/// Refuses a call that means another owner of a task than the one that it has: its holder, else its assignee. A call without one is not
/// checked.
pub(super) fn require_owner(task: &Task, expected: Option<&str>) -> Result<(), Refusal> {
    let Some(expected) = expected else { return Ok(()) };
    let (state, id) = (TaskState::of(task), &task.task_id);
    let owner = state.owner().unwrap_or_default();
    if state.holder.is_some() || assignee_key(expected.trim()) == assignee_key(owner) {
        return require_holder(&format!("task {id}"), Some(expected), state.owner());
    }
    let text = match (visible(expected), visible(owner)) {
        (expected, owner) if owner.is_empty() => {
            format!("task {id} is not {expected}'s any more, and nobody has it")
        }
        (expected, owner) if expected.is_empty() => format!("task {id} was given to {owner} meanwhile"),
        (expected, owner) => {
            format!("task {id} was given to {owner} meanwhile, and is not {expected}'s any more")
        }
    };
    let hint = "look at it again; if you mean it all the same, name who has it now: `--holder NAME`";
    Err(Refusal::new(Kind::Conflict, "holder_changed", text, hint).with("holder", owner.to_owned()))
}

/// Tells an agent that another one assigned an open task to it. A name that is unknown in the project is told nothing.
pub(super) fn tell_assignee(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    (before, after): (&Task, &Task),
) -> Result<(), Failure> {
    let named = after.assignee.as_deref().filter(|name| !name.is_empty());
    let Some(name) = named.filter(|_| after.is_open() && before.assignee != after.assignee) else {
        return Ok(());
    };
    if identity_key(name) == identity_key(author.identity) {
        return Ok(());
    }
    let Some(known) = agent::first_name(tx, author.project_id, name)? else { return Ok(()) };
    let notice = Message {
        project_id: author.project_id.to_owned(),
        message_id: env.id(),
        seq: tx.next_seq(author.project_id)?,
        kind: "TaskAssigned".into(),
        from_identity: author.identity.to_owned(),
        to_identity: known,
        subject: format!("{} gave you task {}: {}", visible(author.identity), after.task_id, after.title),
        body: format!("Begin it with `baton task claim {}`.", after.task_id),
        created_at: env.now,
        ..Message::default()
    };
    Ok(message::insert(tx, &notice)?)
}
