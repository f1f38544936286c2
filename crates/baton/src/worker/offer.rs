//! Which tasks a worker is offered: it registers, asks the router, and is offered none after it has ended.

use baton_model::time::Millis;
use baton_ops::agent::{Register, RegisterInput};
use baton_ops::task::{Release, ReleaseInput, Route, RouteInput, RouteOutput};

use super::{Plan, Worker, caller};
use crate::app::App;
use crate::error::AppError;
use crate::{clock, router};

/// How often an idle worker says that it is there.
const REGISTER_EVERY: Millis = 30_000;

/// What a worker says of itself.
fn registration(plan: &Plan, app: &App) -> RegisterInput {
    RegisterInput {
        project: app.project.clone(),
        identity: Some(plan.name.clone()),
        roles: Some(vec![plan.role.clone()]),
        program: plan.launcher.map(|launcher| launcher.tool.id.to_owned()),
        skills: Some(plan.skills.clone()).filter(|skills| !skills.is_empty()),
        ..RegisterInput::default()
    }
}

/// The name of a worker that the user gave none: its own, or the first of those that its access token is bound to.
pub(super) fn permitted_name(plan: &Plan, app: &mut App) -> Result<String, AppError> {
    let (input, caller) = (registration(plan, app), caller(plan, app));
    match app.run_as::<Register>(&caller, &input) {
        Ok(_) => Ok(plan.name.clone()),
        Err(AppError::Refused(refusal)) if refusal.code == "identity_not_bound" => {
            let bound = refusal.details.get("identities").and_then(|names| names.get(0)?.as_str());
            bound.map(str::to_owned).ok_or(AppError::Refused(refusal))
        }
        Err(other) => Err(other),
    }
}

impl Worker<'_> {
    /// Registers, which is also its sign of life while it has nothing to do.
    pub(super) fn register(&mut self, app: &mut App) -> Result<(), AppError> {
        let now = clock::now();
        let every = REGISTER_EVERY.min(app.config.limits.stale_after / 3);
        if now.saturating_sub(self.registered_at) < every && self.registered_at > 0 {
            return Ok(());
        }
        let input = registration(self.plan, app);
        let mut registered = app.run_as::<Register>(&self.caller, &input)?;
        if registered.agent.max_tasks == 0 {
            // One of its name ended, or was ended while it paused.
            let input = RegisterInput { max_tasks: Some(1), ..input };
            registered = app.run_as::<Register>(&self.caller, &input)?;
        }
        self.capacity = registered.agent.max_tasks;
        let minutes = registered.agent.max_session_duration;
        self.max_duration = self.plan.max_duration.or(minutes.map(|minutes| minutes.saturating_mul(60_000)));
        self.registered_at = now;
        Ok(())
    }

    /// The next task: one that the router gave it, else one that it may take by the same rules.
    pub(super) fn next(&self, app: &mut App) -> Result<Option<String>, AppError> {
        let pass = self.route(app)?;
        let given = pass.items.into_iter().next().map(|row| row.task.task_id);
        Ok(pass.not_begun.into_iter().next().or(given))
    }

    /// A pass of the router for this worker.
    fn route(&self, app: &mut App) -> Result<RouteOutput, AppError> {
        let input = RouteInput {
            project: app.project.clone(),
            agent: Some(self.plan.name.clone()),
            agent_role: Some(self.plan.role.clone()),
            limit: Some(1),
            ..router::settings(&app.config.route)
        };
        app.run_as::<Route>(&self.caller, &input)
    }

    /// Registers how many tasks the agent takes at once. Returns how many it took before.
    pub(super) fn set_capacity(&mut self, app: &mut App, max_tasks: i64) -> Result<i64, AppError> {
        let before = self.capacity;
        let input = RegisterInput { max_tasks: Some(max_tasks), ..registration(self.plan, app) };
        self.capacity = app.run_as::<Register>(&self.caller, &input)?.agent.max_tasks;
        Ok(before)
    }

    /// Takes no tasks from now on, and gives back what the router gave it meanwhile. A refusal, as of a project that is gone, is ignored.
    pub(super) fn leave(&mut self, app: &mut App) -> Result<(), AppError> {
        match self.give_back_unbegun(app) {
            Err(AppError::Refused(_)) => Ok(()),
            left => left,
        }
    }

    fn give_back_unbegun(&mut self, app: &mut App) -> Result<(), AppError> {
        // How many tasks an agent takes beyond one is the user's word: it would not be known again.
        if self.capacity <= 1 {
            self.set_capacity(app, 0)?;
        }
        for id in self.route(app)?.not_begun {
            let back = ReleaseInput {
                project: app.project.clone(),
                id,
                why: Some(format!("{} ended before it began with it", self.plan.name)),
                untried: true,
                ..ReleaseInput::default()
            };
            app.run_as::<Release>(&self.caller, &back)?;
        }
        Ok(())
    }
}
