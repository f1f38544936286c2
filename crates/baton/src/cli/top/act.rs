//! What can be done with a row of `baton top`.

use baton_model::handoff::State;
use baton_model::id::visible;
use baton_ops::handoff::{Retry, RetryInput, Row};
use baton_ops::message::{MailAck, MailAckInput, MailSend, MailSendInput};
use baton_ops::session::{End, EndInput, Pickup, PickupInput, Reassign, ReassignInput};
use baton_ops::task::{ClaimTask, ClaimTaskInput};

use super::state::Target;
use crate::app::App;
use crate::error::AppError;

/// A deed that asks for something first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ActionKind {
    PickUp,
    Reassign,
    Answer,
    Acknowledge,
    Retry,
    Claim,
}

impl ActionKind {
    /// What a letter means for a target.
    pub(super) fn of(letter: char, target: &Target) -> Option<Self> {
        match (letter, target) {
            ('p', Target::Baton { .. }) => Some(Self::PickUp),
            // What is offered is picked up, and what was accepted and left is taken over.
            ('p', Target::Handoff { state: State::Offered | State::Accepted, .. }) => Some(Self::PickUp),
            ('r', Target::Session { .. }) => Some(Self::Reassign),
            ('a', Target::Message { .. }) => Some(Self::Answer),
            ('y', Target::Message { is_asked: true, .. }) => Some(Self::Acknowledge),
            ('t', Target::Handoff { state: State::Planned | State::Pending | State::Failed, .. }) => {
                Some(Self::Retry)
            }
            ('c', Target::Task { .. }) => Some(Self::Claim),
            _ => None,
        }
    }

    /// The keys that mean something for a target, with a word for each.
    pub(super) fn hints(target: &Target) -> &'static str {
        match target {
            Target::Baton { .. } => "p pick up",
            Target::Handoff { state: State::Offered | State::Accepted, .. } => "p pick up",
            Target::Handoff { state: State::Planned | State::Pending | State::Failed, .. } => "t try now",
            Target::Session { .. } => "r reassign",
            Target::Message { is_asked: true, .. } => "a answer · y acknowledge",
            Target::Message { .. } => "a answer",
            Target::Task { .. } => "c claim",
            Target::Project { .. } => "Enter only this project · 0 all",
            Target::Handoff { .. } | Target::Paths { .. } => "",
        }
    }

    /// What to say of a letter that means nothing for a row, and something for others.
    pub(super) fn absent(letter: char) -> Option<String> {
        let verb = match letter {
            'p' => "pick up",
            'r' => "reassign",
            'a' => "answer",
            'y' => "acknowledge",
            't' => "try again",
            'c' => "claim",
            _ => return None,
        };
        Some(format!("nothing to {verb} here"))
    }

    /// Its name, as the prompt has it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::PickUp => "Pick up",
            Self::Reassign => "Reassign",
            Self::Answer => "Answer",
            Self::Acknowledge => "Acknowledge",
            Self::Retry => "Try now",
            Self::Claim => "Claim",
        }
    }

    /// What it asks for: first the name under which one acts.
    pub(super) fn fields(self, identity: &str) -> Vec<(&'static str, String)> {
        let mut fields = vec![("your name", identity.to_owned())];
        match self {
            Self::Reassign => fields.push(("to", String::new())),
            Self::Answer => fields.push(("text", String::new())),
            Self::PickUp | Self::Acknowledge | Self::Retry | Self::Claim => {}
        }
        fields
    }
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
    Do { verb: ActionKind, target: Target, values: Vec<String> },
    Undo(Undo),
}

impl Action {
    /// The name under which it is done.
    pub(super) fn identity(&self) -> Option<&String> {
        match self {
            Self::Do { values, .. } => values.first(),
            Self::Undo(_) => None,
        }
    }
}

/// Does it; what to say, and how it is taken back.
pub(super) fn run(app: &mut App, deed: &Action) -> Result<(String, Option<Undo>), AppError> {
    let (verb, target, values) = match deed {
        Action::Do { verb, target, values } => (*verb, target, values),
        Action::Undo(undo) => return take_back(app, undo).map(|message| (message, None)),
    };
    let identity = values.first().cloned();
    let second = || values.get(1).cloned().unwrap_or_default();
    let message = match (verb, target) {
        (ActionKind::PickUp, Target::Baton { project_id, id }) => {
            return pick_up(app, identity, (Some(project_id), id));
        }
        (ActionKind::PickUp, Target::Handoff { id, .. }) => return pick_up(app, identity, (None, id)),
        (ActionKind::Reassign, Target::Session { project_id, id }) => {
            let (project, to) = (Some(project_id.clone()), second());
            let input = ReassignInput { project, identity, session: id.clone(), to, why: None };
            format!("the baton waits for {}", visible(&app.run::<Reassign>(&input)?.to))
        }
        (ActionKind::Answer, Target::Message { project_id, id, .. }) => {
            let (project, reply_to) = (Some(project_id.clone()), Some(id.clone()));
            let input =
                MailSendInput { project, identity, reply_to, body: second(), ..MailSendInput::default() };
            app.run::<MailSend>(&input)?;
            "sent".to_owned()
        }
        (ActionKind::Acknowledge, Target::Message { project_id, id, .. }) => {
            let (project, message_id) = (Some(project_id.clone()), id.clone());
            let input = MailAckInput { project, identity, message_id, ..MailAckInput::default() };
            format!("{} is told", visible(&app.run::<MailAck>(&input)?.to))
        }
        (ActionKind::Retry, Target::Handoff { id, .. }) => {
            let progress = app.run::<Retry>(&RetryInput { id: id.clone(), identity, repo: None })?;
            retried(&progress.row)
        }
        (ActionKind::Claim, Target::Task { project_id, id }) => {
            let (project, id) = (Some(project_id.clone()), Some(id.clone()));
            let input = ClaimTaskInput { project, identity, id, ..ClaimTaskInput::default() };
            app.run::<ClaimTask>(&input)?;
            "claimed".to_owned()
        }
        // A key means something only for the targets that `ActionKind::of` names.
        _ => String::new(),
    };
    Ok((message, None))
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

fn pick_up(
    app: &mut App,
    identity: Option<String>,
    (project_id, id): (Option<&String>, &str),
) -> Result<(String, Option<Undo>), AppError> {
    let handoff_id = Some(id.to_owned());
    let input = PickupInput {
        project: project_id.cloned(),
        identity,
        target_id: handoff_id,
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
