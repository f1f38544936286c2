//! What can be done with a row of `baton top`: the keys of its actions, what each asks for, and the operation that it is.

mod keys;
mod leave_anew;
mod task;
mod write;

use baton_model::handoff::State;
use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::row_action::{OfferedAction, RowAction};
use baton_ops::baton::{Withdraw, WithdrawInput};
use baton_ops::handoff::{Action as AdvanceAction, Advance, AdvanceInput, Retry, RetryInput, Row};
use baton_ops::message::{MailAck, MailAckInput, MailSend, MailSendInput, Retract, RetractInput};
use baton_ops::session::{End, EndInput, Pickup, PickupInput, Reassign, ReassignInput, Show, ShowInput};

pub(super) use self::keys::{absent, hints, of_letter, title};
use super::state::{Field, Target};
use crate::app::App;
use crate::error::AppError;

const NAME: &str = "your name";
const TO: &str = "to";
const NEW_RECEIVER: &str = "for a person or an agent";
const SUBJECT: &str = "about";
const ASSIGNEE: &str = "give it to";
const PROJECT: &str = "another project";
const TEXT: &str = "text";
const WHY: &str = "why";
const REPOSITORY: &str = "another repository";

/// What it asks for: first the name under which one acts.
pub(super) fn fields(offered: &OfferedAction, identity: &str) -> Vec<Field> {
    let field = |name, is_optional| Field { name, value: String::new(), is_optional };
    let mut fields = vec![Field { name: NAME, value: identity.to_owned(), is_optional: false }];
    let is_anothers = offered.in_place_of.is_some();
    match offered.action {
        RowAction::Reassign => fields.push(field(TO, false)),
        RowAction::Write => {
            let to = Field { name: TO, value: offered.receivers.join(", "), is_optional: false };
            fields.extend([to, field(SUBJECT, false), field(TEXT, false)]);
        }
        RowAction::Assign => fields.push(field(ASSIGNEE, true)),
        RowAction::Release => {
            fields.extend([field(ASSIGNEE, true), field(WHY, !is_anothers)]);
            return fields;
        }
        RowAction::Close | RowAction::End => fields.push(field(WHY, true)),
        RowAction::Reply => fields.push(field(TEXT, false)),
        RowAction::Retry => fields.push(field(REPOSITORY, true)),
        RowAction::LeaveAnew => fields.extend([field(NEW_RECEIVER, true), field(PROJECT, true)]),
        RowAction::Decline | RowAction::Complete | RowAction::Cancel | RowAction::Reopen => {
            fields.push(field(TEXT, true));
        }
        RowAction::Withdraw if !is_anothers => fields.push(field(WHY, true)),
        RowAction::Withdraw
        | RowAction::PickUp
        | RowAction::Accept
        | RowAction::TakeOver
        | RowAction::Acknowledge
        | RowAction::Retract
        | RowAction::Claim => {}
    }
    if is_anothers {
        fields.push(field(WHY, false));
    }
    fields
}

/// A pickup that can be taken back for a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Undo {
    project_id: String,
    session_id: String,
    identity: String,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Do { offered: OfferedAction, target: Target, fields: Vec<Field>, warnings: Vec<&'static str> },
    Undo(Undo),
}

impl Action {
    /// The name under which it is done.
    pub(super) fn identity(&self) -> Option<&str> {
        match self {
            Self::Do { fields, .. } => fields.first().map(|field| field.value.trim()),
            Self::Undo(_) => None,
        }
    }
}

/// An action on a target, with what was given for it.
struct Request<'a> {
    offered: &'a OfferedAction,
    target: &'a Target,
    fields: &'a [Field],
    /// Codes of the refusals that were read for it: Enter once more does it all the same.
    warnings: &'a [&'static str],
}

/// The codes of refusals after which Enter does it all the same: what they warn of is known then.
pub(super) const WARNINGS: [&str; 2] = [AT_WORK, UNKNOWN];

/// The agent whose session is reassigned is at work.
const AT_WORK: &str = "agent_at_work";
/// No agent has had the name to which it goes.
const UNKNOWN: &str = "recipient_unknown";

impl Request<'_> {
    /// What was typed into a field; nothing where it was left empty.
    fn field_value(&self, name: &str) -> Option<String> {
        let field = self.fields.iter().find(|field| field.name == name)?;
        Some(field.value.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn identity(&self) -> Option<String> {
        self.field_value(NAME)
    }

    /// The project in which it is done: that of the row, or that from which a message was sent.
    fn project(&self) -> Option<String> {
        Some(self.offered.project_id.clone().unwrap_or_else(|| self.target.project_id.clone()))
    }

    fn is_known(&self, code: &str) -> bool {
        self.warnings.contains(&code)
    }

    /// Who holds it, as the row says: what is completed or taken back in their place is not another's, and what is given to another has
    /// not been given meanwhile.
    fn holder(&self) -> Option<String> {
        if self.offered.action == RowAction::Assign {
            return Some(self.offered.assignee.clone().unwrap_or_default());
        }
        let is_of_holder = matches!(self.offered.action, RowAction::Complete | RowAction::Release);
        self.offered.in_place_of.clone().filter(|_| is_of_holder)
    }

    /// What it is done to: what the row is about, or what a task waits for.
    fn id(&self) -> String {
        self.offered.task_id.clone().unwrap_or_else(|| self.target.id.clone())
    }

    fn is_forced(&self) -> bool {
        self.offered.in_place_of.is_some()
    }
}

/// Does it; what to say, and how it is taken back.
pub(super) fn run(app: &mut App, deed: &Action) -> Result<(String, Option<Undo>), AppError> {
    let request = match deed {
        Action::Do { offered, target, fields, warnings } => Request { offered, target, fields, warnings },
        Action::Undo(undo) => return take_back(app, undo).map(|message| (message, None)),
    };
    let message = match request.offered.action {
        RowAction::PickUp | RowAction::Accept | RowAction::TakeOver => return pick_up(app, &request),
        RowAction::Decline => advance(app, &request, AdvanceAction::Decline)?,
        RowAction::Complete => advance(app, &request, AdvanceAction::Complete)?,
        RowAction::Cancel => advance(app, &request, AdvanceAction::Cancel)?,
        RowAction::Retry => retry(app, &request)?,
        RowAction::LeaveAnew => leave_anew::send(app, &request)?,
        RowAction::Withdraw
        | RowAction::Reassign
        | RowAction::Reply
        | RowAction::Acknowledge
        | RowAction::Retract
        | RowAction::End => in_project(app, &request)?,
        RowAction::Write => write::send(app, &request)?,
        RowAction::Reopen | RowAction::Claim | RowAction::Release | RowAction::Assign | RowAction::Close => {
            task::run(app, &request)?
        }
    };
    Ok((message, None))
}

/// What is done about a thing of one project.
fn in_project(app: &mut App, request: &Request<'_>) -> Result<String, AppError> {
    let (project, identity, id) = (request.project(), request.identity(), request.target.id.clone());
    match request.offered.action {
        RowAction::Withdraw => {
            let (force, why) = (request.is_forced(), request.field_value(WHY));
            app.run::<Withdraw>(&WithdrawInput { id, project, identity, force, holder: None, why })?;
            Ok("the baton is withdrawn".to_owned())
        }
        RowAction::Reassign => {
            refuse_at_work(app, request)?;
            let to = request.field_value(TO).unwrap_or_default();
            let wait = request.is_known(UNKNOWN);
            let input = ReassignInput { project, identity, session: id, to, wait, holder: None, why: None };
            Ok(format!("the baton waits for {}", visible(&app.run::<Reassign>(&input)?.to)))
        }
        RowAction::Reply => {
            let body = request.field_value(TEXT).unwrap_or_default();
            let reply_to = Some(id);
            let input = MailSendInput { project, identity, reply_to, body, ..MailSendInput::default() };
            app.run::<MailSend>(&input)?;
            Ok("sent".to_owned())
        }
        RowAction::Acknowledge => {
            let input = MailAckInput { project, identity, message_id: id, ..MailAckInput::default() };
            Ok(format!("{} is told", visible(&app.run::<MailAck>(&input)?.to)))
        }
        RowAction::Retract => {
            let input = RetractInput { project, identity, message_id: id };
            app.run::<Retract>(&input)?;
            Ok("taken back: nobody reads it".to_owned())
        }
        _ => {
            let (session, reason) = (Some(id), request.field_value(WHY));
            let input = EndInput { project, identity, session, reason, ..EndInput::default() };
            let freed = app.run::<End>(&input)?.freed_baton_id.is_some();
            let baton = if freed { ", and its baton waits again" } else { "" };
            Ok(format!("the session has ended{baton}"))
        }
    }
}

/// Refuses to end the session of an agent that is at work, until that was read.
fn refuse_at_work(app: &mut App, request: &Request<'_>) -> Result<(), AppError> {
    if request.is_known(AT_WORK) {
        return Ok(());
    }
    let input = ShowInput { session: request.target.id.clone(), project: request.project() };
    let session = app.run::<Show>(&input)?.row.session;
    if !session.live {
        return Ok(());
    }
    let what = format!("{} is at work: its session ends at once", visible(&session.identity));
    Err(Refusal::invalid(AT_WORK, what, "Enter once more does it all the same").into())
}

fn advance(app: &mut App, request: &Request<'_>, action: AdvanceAction) -> Result<String, AppError> {
    let input = AdvanceInput {
        id: request.target.id.clone(),
        action,
        identity: request.identity(),
        result: request.field_value(TEXT),
        force: request.is_forced(),
        holder: request.holder(),
        why: request.field_value(WHY),
    };
    let moved = app.run::<Advance>(&input)?;
    Ok(format!("the hand-off is {}", moved.handoff.handoff.state.as_str()))
}

fn retry(app: &mut App, request: &Request<'_>) -> Result<String, AppError> {
    let input = RetryInput {
        id: request.target.id.clone(),
        identity: request.identity(),
        repo: request.field_value(REPOSITORY),
    };
    Ok(retried(&app.run::<Retry>(&input)?.row))
}

/// What a try came to: where it is still not through, what stands in the way.
fn retried(row: &Row) -> String {
    let view = &row.handoff;
    let of_steps = row.steps.iter().find_map(|step| step.last_error.as_ref());
    match (view.state, view.last_error.as_ref().or(of_steps)) {
        (State::Planned | State::Pending | State::Failed, Some(error)) => {
            format!("still not through: {}", visible(error))
        }
        (State::Cancelled | State::Declined | State::Expired | State::Completed, _) => {
            format!("nothing was tried: the hand-off is {}", view.state.as_str())
        }
        (state, _) => format!("the hand-off is {}", state.as_str()),
    }
}

fn pick_up(app: &mut App, request: &Request<'_>) -> Result<(String, Option<Undo>), AppError> {
    let input = PickupInput {
        project: request.project(),
        identity: request.identity(),
        target_id: Some(request.target.id.clone()),
        ..PickupInput::default()
    };
    let taken = app.run::<Pickup>(&input)?;
    let identity = taken.identity.clone();
    let message = format!("{} holds the baton", visible(&identity));
    // A session that was open before has other work: its end would give back more than this baton.
    let undo = taken.session_id.clone().filter(|_| taken.started).map(|session_id| Undo {
        project_id: taken.project_id.clone(),
        session_id,
        identity,
    });
    let later = " · later e ends your session under 2 Agents, which gives it back, and `baton wrap` hands over what was done";
    let hint = if undo.is_some() { format!(" · u gives it back{later}") } else { String::new() };
    Ok((format!("{message}{hint}"), undo))
}

fn take_back(app: &mut App, undo: &Undo) -> Result<String, AppError> {
    let input = EndInput {
        project: Some(undo.project_id.clone()),
        identity: Some(undo.identity.clone()),
        session: Some(undo.session_id.clone()),
        reason: Some("picked up by mistake".to_owned()),
        ..EndInput::default()
    };
    app.run::<End>(&input)?;
    Ok("the baton waits again".to_owned())
}
