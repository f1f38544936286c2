//! A worker pauses after a failure; meanwhile it takes no tasks, and a person is told once where the agent itself is at fault.

use baton_model::id::visible;
use baton_model::time::Millis;
use baton_ops::message::{Send, SendInput};

use super::backoff::{Notice, Verdict, with_jitter};
use super::record::FinishedCommand;
use super::run::{CommandEnd, Stop};
use super::{ClaimedTask, Worker};
use crate::app::App;
use crate::clock;
use crate::error::AppError;

impl Worker<'_> {
    /// Takes note of what came of a task, and tells a person where the agent itself is at fault. Returns how long to pause.
    pub(super) fn note(
        &mut self,
        app: &mut App,
        held: &ClaimedTask,
        finished: &FinishedCommand,
    ) -> Result<Millis, AppError> {
        let verdict = match (&finished.ending, &finished.limit) {
            (CommandEnd::Interrupted | CommandEnd::Lost, _) => return Ok(0),
            (_, Some(limit)) => Verdict::Stopped(limit),
            _ if finished.outcome.is_work() => Verdict::Worked,
            _ => Verdict::Failed,
        };
        let (pause, notice) = self.backoff.note(&held.task_id, verdict, clock::now());
        let is_news = match verdict {
            Verdict::Stopped(stop) => self.record_limit_reached(app, stop.names_end().then_some(pause))?,
            Verdict::Worked => {
                self.record_limit_over(app)?;
                true
            }
            Verdict::Failed => true,
        };
        if let Some(notice) = notice {
            self.notify(app, &notice, pause, is_news)?;
        }
        Ok(pause)
    }

    /// Says it on standard error, and to a person unless it was told before.
    fn notify(&self, app: &mut App, notice: &Notice, pause: Millis, is_news: bool) -> Result<(), AppError> {
        let (subject, body) = notice.text(&self.plan.name, with_jitter(pause), crate::clock::now());
        app.remark(&visible(&subject));
        if !is_news {
            return Ok(());
        }
        let input = SendInput {
            project: app.project.clone(),
            identity: Some(self.plan.name.clone()),
            to: app.config.route.human.clone(),
            kind: "Blocker".to_owned(),
            subject,
            body,
            ..SendInput::default()
        };
        match app.run_as::<Send>(&self.caller, &input) {
            Ok(_) => Ok(()),
            Err(AppError::Refused(refusal)) => {
                app.remark(&refusal.message);
                Ok(())
            }
            Err(other) => Err(other),
        }
    }

    /// Pauses. No task is given to the agent meanwhile. Says whether it was interrupted.
    pub(super) fn pause(&mut self, app: &mut App, stop: &mut Stop, pause: Millis) -> Result<bool, AppError> {
        if pause <= 0 {
            return Ok(false);
        }
        let takes = self.set_capacity(app, 0)?;
        let interrupted = stop.within(with_jitter(pause));
        self.set_capacity(app, takes.max(1))?;
        Ok(interrupted)
    }
}
