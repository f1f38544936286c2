//! The limit of a worker's provider, as the ledger keeps it: another process of the agent does not ask the provider before it is over, and a
//! person gets one letter for each.

use baton_model::id::visible;
use baton_model::time::{Millis, Timestamp, rfc3339};
use baton_ops::agent::{Limit, LimitInput, LimitOutput};
use sha2::{Digest, Sha256};

use super::{Idle, Worker};
use crate::app::App;
use crate::error::AppError;

impl Worker<'_> {
    /// The coding agent that it runs, by `--agent` or as a plain command.
    pub(super) fn tool(&self) -> Option<&'static str> {
        let program = || baton_tools::launcher_of_program(self.plan.command.first()?);
        self.plan.launcher.or_else(program).map(|launcher| launcher.tool.id)
    }

    /// What tells its provider from another: the agent, or the digest of a command that is none. Its words may be secret.
    fn provider(&self) -> String {
        let command = || {
            let digest = Sha256::digest(self.plan.command.join("\0").as_bytes());
            digest.iter().take(8).fold("command ".to_owned(), |text, byte| format!("{text}{byte:02x}"))
        };
        self.tool().map_or_else(command, str::to_owned)
    }

    /// Asks the ledger; nothing where it is one of an earlier version, which knows of no limits.
    fn ask_ledger(&self, app: &mut App, more: LimitInput) -> Result<Option<LimitOutput>, AppError> {
        let input = LimitInput {
            project: app.project.clone(),
            identity: Some(self.plan.name.clone()),
            tool: self.provider(),
            ..more
        };
        match app.run_as::<Limit>(&self.caller, &input) {
            Ok(answer) => Ok(Some(answer)),
            Err(AppError::Refused(_)) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// When the limit ends at which another process of this agent was stopped.
    pub(super) fn known_limit(&mut self, app: &mut App) -> Result<Option<Timestamp>, AppError> {
        let until = self.ask_ledger(app, LimitInput::default())?.and_then(|answer| answer.until);
        self.is_at_limit = until.is_some();
        Ok(until)
    }

    /// Notes that its provider stopped it for so long. Returns whether the user is to be told.
    pub(super) fn record_limit_reached(
        &mut self,
        app: &mut App,
        span: Option<Millis>,
    ) -> Result<bool, AppError> {
        let input = LimitInput { reached: true, for_ms: span, ..LimitInput::default() };
        self.is_at_limit = true;
        Ok(self.ask_ledger(app, input)?.is_none_or(|answer| answer.is_news))
    }

    /// Notes that its provider answers again.
    pub(super) fn record_limit_over(&mut self, app: &mut App) -> Result<(), AppError> {
        if std::mem::take(&mut self.is_at_limit) {
            self.ask_ledger(app, LimitInput { over: true, ..LimitInput::default() })?;
        }
        Ok(())
    }

    /// Says that nothing was begun, and until when.
    pub(super) fn show_limit(&self, app: &mut App, until: Timestamp) -> Result<(), AppError> {
        let idle = Idle { identity: &self.plan.name, task_id: None, outcome: "at_limit", until: Some(until) };
        let name = visible(&self.plan.name);
        app.show(&idle, |_| {
            format!(
                "the provider of {name} takes no requests until {}; nothing was begun\n",
                rfc3339(until.0)
            )
        })
    }
}
