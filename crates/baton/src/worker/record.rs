//! Recording what came of a command: its task is closed, or given back. The file that the command wrote is removed once all of it is
//! in the ledger; else it stays, and its path is printed.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_model::usage_limit::ProviderStop;
use baton_ops::answer::RefusalView;
use baton_ops::task::{Close, CloseInput, Release, ReleaseInput, Show, ShowInput, Update, UpdateInput};
use serde_json::{Map, Value};

use super::outcome::Outcome;
use super::run::CommandEnd;
use super::{ClaimedTask, Worker};
use crate::app::App;
use crate::error::AppError;
use crate::private_file;

/// A command that is over.
pub(super) struct FinishedCommand {
    /// How it ended.
    pub ending: CommandEnd,
    /// What that means for the task.
    pub outcome: Outcome,
    /// The file of its result, if it wrote one.
    pub result_file: Option<PathBuf>,
    /// The limit of its provider that stopped it.
    pub limit: Option<ProviderStop>,
}

/// What the ledger says to the parts of a result.
#[derive(Default)]
struct Refusals(Vec<Refusal>);

impl Refusals {
    /// Takes a refusal out of an answer; other errors stay.
    fn collect<T>(&mut self, answer: Result<T, AppError>) -> Result<Option<T>, AppError> {
        match answer {
            Ok(done) => Ok(Some(done)),
            Err(AppError::Refused(refusal)) => {
                self.0.push(refusal);
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }
}

impl Worker<'_> {
    /// The task under the id that it has now: another home may have given it one while the command ran.
    pub(super) fn follow_rename(&self, app: &mut App, held: ClaimedTask) -> Result<ClaimedTask, AppError> {
        let mut held = held;
        let mut met = HashSet::new();
        while met.insert(held.task_id.clone()) {
            let input = ShowInput {
                project: Some(held.project_id.clone()),
                id: held.task_id.clone(),
                ..ShowInput::default()
            };
            let task = match app.run_as::<Show>(&self.caller, &input) {
                Ok(found) => found.task,
                Err(AppError::Refused(_)) => break,
                Err(other) => return Err(other),
            };
            let to = task.other_text("renamed_to").filter(|_| task.status == "tombstone");
            let Some(to) = to else { break };
            app.remark(&format!("{} is called {} now", visible(&held.task_id), visible(&to)));
            held.task_id = to;
        }
        Ok(held)
    }

    /// Records the outcome: closes the task, or gives it back with the attempt counted. Returns the word for what was done.
    pub(super) fn record(
        &self,
        app: &mut App,
        held: &ClaimedTask,
        finished: &FinishedCommand,
    ) -> Result<&'static str, AppError> {
        let mut refusals = Refusals::default();
        let word = match &finished.ending {
            CommandEnd::Lost => "lost",
            _ => match self.closed_by_command(app, held, finished)? {
                Some(word) => word,
                None => self.record_outcome(app, held, finished, &mut refusals)?,
            },
        };
        let is_read = matches!(finished.outcome, Outcome::Closed { .. } | Outcome::Failed { .. });
        let is_recorded = is_read && refusals.0.is_empty();
        for refusal in &refusals.0 {
            app.remark(&format!("{}: {}", visible(&held.task_id), refusal.message));
        }
        if let Some(file) = &finished.result_file {
            match is_recorded {
                true => drop(fs::remove_file(file)),
                false => {
                    // What a link leads to is not the worker's to change.
                    if fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file()) {
                        private_file::restrict(file)?;
                    }
                    app.remark(&format!(
                        "{}: not all that the command wrote is recorded; it is kept in {}",
                        visible(&held.task_id),
                        file.display()
                    ));
                }
            }
        }
        Ok(word)
    }

    fn record_outcome(
        &self,
        app: &mut App,
        held: &ClaimedTask,
        finished: &FinishedCommand,
        refusals: &mut Refusals,
    ) -> Result<&'static str, AppError> {
        let outcome = &finished.outcome;
        match outcome {
            Outcome::Closed { result, reason, context, instructions } => {
                let none = Map::new();
                self.update(app, held, (&none, instructions), refusals)?;
                let input = CloseInput {
                    project: Some(held.project_id.clone()),
                    id: held.task_id.clone(),
                    token: held.token,
                    result: Some(*result),
                    reason: Some(reason.clone()),
                    context: context.clone(),
                    ..CloseInput::default()
                };
                if refusals.collect(app.run_as::<Close>(&self.caller, &input))?.is_some() {
                    return Ok(result.as_str());
                }
                // It came too late: the refusal says that the words are a comment now, and there is nothing to give back.
                if refusals.0.last().is_some_and(|refusal| RefusalView(refusal).kept_comment()) {
                    return Ok("lost");
                }
            }
            Outcome::Failed { context, instructions, .. } => {
                self.update(app, held, (context, instructions), refusals)?;
            }
            Outcome::Unreadable(_) | Outcome::Interrupted => {}
        }
        // What it says cannot be recorded: that is a failure of the agent, and both reasons go with the attempt.
        let why = match refusals.0.last() {
            None => outcome.reason().to_owned(),
            Some(refusal) => {
                format!("{}; its result was not recorded: {}", outcome.reason(), refusal.message)
            }
        };
        // A limit, and an agent that fails at everything, say nothing about the task.
        let is_untried = matches!(outcome, Outcome::Interrupted)
            || finished.limit.is_some()
            || self.backoff.is_agent_at_fault();
        let back = ReleaseInput {
            project: Some(held.project_id.clone()),
            id: held.task_id.clone(),
            token: held.token,
            why: Some(why),
            untried: is_untried,
            retry_after_ms: (!is_untried).then(|| self.backoff.task_pause(held.attempts)),
            ..ReleaseInput::default()
        };
        let released = refusals.collect(app.run_as::<Release>(&self.caller, &back))?;
        Ok(if released.is_some() { "given_back" } else { "lost" })
    }

    /// Gives a task back whose command was never started.
    pub(super) fn give_back_untried(
        &self,
        app: &mut App,
        held: &ClaimedTask,
        why: &str,
    ) -> Result<(), AppError> {
        let back = ReleaseInput {
            project: Some(held.project_id.clone()),
            id: held.task_id.clone(),
            token: held.token,
            why: Some(why.to_owned()),
            untried: true,
            ..ReleaseInput::default()
        };
        Refusals::default().collect(app.run_as::<Release>(&self.caller, &back)).map(drop)
    }

    /// The result with which the command has closed the task itself; none where it did not. A command that says what it did by
    /// closing, and not by a file, has left nothing to record.
    fn closed_by_command(
        &self,
        app: &mut App,
        held: &ClaimedTask,
        finished: &FinishedCommand,
    ) -> Result<Option<&'static str>, AppError> {
        if finished.result_file.is_some() {
            return Ok(None);
        }
        let input = ShowInput {
            project: Some(held.project_id.clone()),
            id: held.task_id.clone(),
            ..ShowInput::default()
        };
        let task = match app.run_as::<Show>(&self.caller, &input) {
            Ok(found) => found.task,
            Err(AppError::Refused(_)) => return Ok(None),
            Err(other) => return Err(other),
        };
        let is_own = task.assignee.as_deref().is_some_and(|name| {
            baton_model::id::identity_key(name) == baton_model::id::identity_key(&self.plan.name)
        });
        let word = if task.result.as_deref() == Some("fail") { "fail" } else { "pass" };
        Ok((task.status == "closed" && is_own).then_some(word))
    }

    /// Merges what the command found out into the task.
    fn update(
        &self,
        app: &mut App,
        held: &ClaimedTask,
        (context, instructions): (&Map<String, Value>, &Map<String, Value>),
        refusals: &mut Refusals,
    ) -> Result<(), AppError> {
        if context.is_empty() && instructions.is_empty() {
            return Ok(());
        }
        let given = |fields: &Map<String, Value>| (!fields.is_empty()).then(|| fields.clone());
        let input = UpdateInput {
            project: Some(held.project_id.clone()),
            id: held.task_id.clone(),
            token: held.token,
            agent_context: given(context),
            handoff_instructions: given(instructions),
            merge: true,
            ..UpdateInput::default()
        };
        refusals.collect(app.run_as::<Update>(&self.caller, &input)).map(drop)
    }
}
