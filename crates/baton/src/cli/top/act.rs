//! What can be done with a row of `baton top`: the keys of its actions, what each asks for, and the operation that it is.

use baton_model::handoff::State;
use baton_model::id::visible;
use baton_model::row_action::{OfferedAction, RowAction};
use baton_model::tracker::{Warning, WarningKind};
use baton_ops::baton::{Withdraw, WithdrawInput};
use baton_ops::handoff::{
    Action as AdvanceAction, Advance, AdvanceInput, Create, CreateInput, CreateOutput, HandoffOrBaton, Retry,
    RetryInput, Row, Show, ShowInput,
};
use baton_ops::message::{MailAck, MailAckInput, MailSend, MailSendInput};
use baton_ops::session::{End, EndInput, Pickup, PickupInput, Reassign, ReassignInput};
use baton_ops::task::{ClaimTask, ClaimTaskInput, Update, UpdateInput};

use super::state::{Field, Noun, Target};
use crate::app::App;
use crate::error::AppError;

/// The key of an action, and its words.
pub(super) fn key(action: RowAction) -> (char, &'static str) {
    match action {
        RowAction::PickUp | RowAction::Accept => ('p', "pick up"),
        RowAction::TakeOver => ('p', "take over"),
        RowAction::Withdraw => ('w', "withdraw"),
        RowAction::Reassign => ('r', "reassign"),
        RowAction::Decline => ('d', "decline"),
        RowAction::Complete => ('e', "complete"),
        RowAction::Cancel => ('x', "cancel"),
        RowAction::Retry => ('t', "try now"),
        RowAction::LeaveAnew => ('n', "leave anew"),
        RowAction::Reply => ('a', "answer"),
        RowAction::Acknowledge => ('y', "acknowledge"),
        RowAction::Reopen => ('o', "open again"),
        RowAction::Claim => ('c', "claim"),
    }
}

/// The action that a letter means for a target.
pub(super) fn of_letter(letter: char, target: &Target) -> Option<&OfferedAction> {
    target.actions.iter().find(|one| key(one.action).0 == letter)
}

/// The keys that mean something for a target, with a word for each. What is another's business is not advertised.
pub(super) fn hints(target: &Target) -> String {
    if target.noun == Noun::Project {
        return "Enter only this project · 0 all".to_owned();
    }
    let own = target.actions.iter().filter(|one| one.in_place_of.is_none());
    let hint = |one: &OfferedAction| {
        let (letter, word) = key(one.action);
        format!("{letter} {word}")
    };
    own.map(hint).collect::<Vec<_>>().join(" · ")
}

/// What to say of a letter that means nothing for a row, and something for others.
pub(super) fn absent(letter: char) -> Option<String> {
    let all = [
        RowAction::PickUp,
        RowAction::Withdraw,
        RowAction::Reassign,
        RowAction::Decline,
        RowAction::Complete,
        RowAction::Cancel,
        RowAction::Retry,
        RowAction::LeaveAnew,
        RowAction::Reply,
        RowAction::Acknowledge,
        RowAction::Reopen,
        RowAction::Claim,
    ];
    let word = all.into_iter().map(key).find(|(known, _)| *known == letter)?.1;
    Some(format!("nothing to {word} here"))
}

/// Its name, as the prompt has it.
pub(super) fn title(offered: &OfferedAction) -> String {
    let word = key(offered.action).1;
    let (first, rest) = word.split_at(1);
    let place = offered.in_place_of.as_deref().map(|who| format!(" for {}", visible(who)));
    format!("{}{rest}{}", first.to_uppercase(), place.unwrap_or_default())
}

const NAME: &str = "your name";
const TO: &str = "to";
const NEW_RECEIVER: &str = "for a name";
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
    Do { offered: OfferedAction, target: Target, fields: Vec<Field> },
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
}

impl Request<'_> {
    /// What was typed into a field; nothing where it was left empty.
    fn field_value(&self, name: &str) -> Option<String> {
        let field = self.fields.iter().find(|field| field.name == name)?;
        Some(field.value.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn identity(&self) -> Option<String> {
        self.field_value(NAME)
    }

    fn project(&self) -> Option<String> {
        Some(self.target.project_id.clone())
    }

    fn is_forced(&self) -> bool {
        self.offered.in_place_of.is_some()
    }
}

/// Does it; what to say, and how it is taken back.
pub(super) fn run(app: &mut App, deed: &Action) -> Result<(String, Option<Undo>), AppError> {
    let request = match deed {
        Action::Do { offered, target, fields } => Request { offered, target, fields },
        Action::Undo(undo) => return take_back(app, undo).map(|message| (message, None)),
    };
    let message = match request.offered.action {
        RowAction::PickUp | RowAction::Accept | RowAction::TakeOver => return pick_up(app, &request),
        RowAction::Decline => advance(app, &request, AdvanceAction::Decline)?,
        RowAction::Complete => advance(app, &request, AdvanceAction::Complete)?,
        RowAction::Cancel => advance(app, &request, AdvanceAction::Cancel)?,
        RowAction::Retry => retry(app, &request)?,
        RowAction::LeaveAnew => leave_anew(app, &request)?,
        RowAction::Withdraw
        | RowAction::Reassign
        | RowAction::Reply
        | RowAction::Acknowledge
        | RowAction::Reopen
        | RowAction::Claim => in_project(app, &request)?,
    };
    Ok((message, None))
}

/// What is done about a thing of one project.
fn in_project(app: &mut App, request: &Request<'_>) -> Result<String, AppError> {
    let (project, identity, id) = (request.project(), request.identity(), request.target.id.clone());
    match request.offered.action {
        RowAction::Withdraw => {
            let (force, why) = (request.is_forced(), request.field_value(WHY));
            app.run::<Withdraw>(&WithdrawInput { id, project, identity, force, why })?;
            Ok("the baton is withdrawn".to_owned())
        }
        RowAction::Reassign => {
            let to = request.field_value(TO).unwrap_or_default();
            let input = ReassignInput { project, identity, session: id, to, why: None };
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
        RowAction::Reopen => {
            let (status, append_notes) = (Some("open".to_owned()), request.field_value(TEXT));
            let input = UpdateInput { project, identity, id, status, append_notes, ..UpdateInput::default() };
            app.run::<Update>(&input)?;
            Ok("the task is open again".to_owned())
        }
        _ => {
            let input = ClaimTaskInput { project, identity, id: Some(id), ..ClaimTaskInput::default() };
            app.run::<ClaimTask>(&input)?;
            Ok("claimed".to_owned())
        }
    }
}

fn advance(app: &mut App, request: &Request<'_>, action: AdvanceAction) -> Result<String, AppError> {
    let input = AdvanceInput {
        id: request.target.id.clone(),
        action,
        identity: request.identity(),
        result: request.field_value(TEXT),
        force: request.is_forced(),
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

/// Sends once more what came back: the same words and the same packet, to whom it was for, to another name or to another project.
fn leave_anew(app: &mut App, request: &Request<'_>) -> Result<String, AppError> {
    let input = ShowInput { id: request.target.id.clone(), ..ShowInput::default() };
    let shown = app.run::<Show>(&input)?;
    let HandoffOrBaton::Handoff(row) = shown.handoff else { return Ok("nothing to leave anew".to_owned()) };
    let view = row.handoff;
    let to = request.field_value(NEW_RECEIVER);
    let project = request.field_value(PROJECT).filter(|project| *project != view.to_project_id);
    // A name, a role and a tracker are those of the project that had it.
    let is_same = project.is_none();
    let place = view.task.map(|task| task.metadata).filter(|_| is_same).unwrap_or_default();
    let input = CreateInput {
        from_project_id: Some(view.from_project_id),
        to_project_id: project.unwrap_or(view.to_project_id),
        identity: request.identity(),
        subject: view.subject,
        description: shown.description.unwrap_or_default(),
        packet_text: shown.packet,
        to_role: view.to_role.filter(|_| is_same && to.is_none()),
        to_identity: to.or(view.to_identity.filter(|_| is_same)),
        issues_github_repo: place.github_repo,
        local: place.tracker.as_deref() == Some("local"),
        ..CreateInput::default()
    };
    match app.run::<Create>(&input)? {
        CreateOutput::Made(made) => {
            let is_repeated = |one: &&Warning| one.kind == WarningKind::SameHandoff;
            let repeated = made.warnings.iter().flatten().find(is_repeated);
            let warning = repeated.map(|one| format!(", but {}", visible(&one.message)));
            Ok(format!("{}{}", retried(&made.row), warning.unwrap_or_default()))
        }
        CreateOutput::Preview(_) => Ok("nothing was sent".to_owned()),
    }
}

/// What a try came to: where it is still not through, what stands in the way.
fn retried(row: &Row) -> String {
    let view = &row.handoff;
    let of_steps = row.steps.iter().find_map(|step| step.last_error.as_ref());
    match (view.state, view.last_error.as_ref().or(of_steps)) {
        (State::Planned | State::Pending | State::Failed, Some(error)) => {
            format!("still not through: {}", visible(error))
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
    let hint = if undo.is_some() { " · u gives it back" } else { "" };
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
