//! The worker: an agent's loop without a human. One task, one session, one command; nothing is carried in memory.

mod backoff;
mod limit;
mod offer;
mod outcome;
mod pause;
mod preset;
mod record;
mod run;
pub(crate) mod tail;

use std::path::PathBuf;
use std::time::Duration;

use baton_model::agent::WORKER;
use baton_model::id::visible;
use baton_model::time::{Millis, Timestamp};
use baton_ops::message::{Delivered, DeliveredInput};
use baton_ops::op::Caller;
use baton_ops::session::{
    End, EndInput, Heartbeat, HeartbeatInput, Pickup, PickupInput, PickupOutput, Start, StartInput,
};
use baton_ops::task::{self as tasks, ClaimTask, ClaimTaskInput, Show, ShowInput};
use baton_tools::Launcher;
use serde::Serialize;
use serde_json::Value;

use crate::app::App;
use crate::error::AppError;
use crate::{clock, host, process};
use backoff::Backoff;
use outcome::Outcome;
pub(crate) use preset::preset;
use record::FinishedCommand;
use run::{Command, CommandEnd, Stop};

/// What a worker is to do.
pub(crate) struct Plan {
    /// The identity that it works under.
    pub name: String,
    /// Whether the user gave it that name.
    pub is_named: bool,
    /// The role whose tasks it takes.
    pub role: String,
    /// Skills beyond those of the role.
    pub skills: Vec<String>,
    /// End after so many tasks.
    pub most: Option<u64>,
    /// End when nothing is ready.
    pub once: bool,
    /// Stop a command after this long, in milliseconds; else the role says.
    pub max_duration: Option<Millis>,
    /// Pause between two looks for work, in milliseconds.
    pub poll: Millis,
    /// The first pause after a failure, in milliseconds; 0 for none.
    pub backoff: Millis,
    /// The command.
    pub command: Vec<String>,
    /// The tool that it runs, if it is a known one.
    pub launcher: Option<Launcher>,
}

/// Works until it has done enough, or is interrupted.
pub(crate) fn run(mut plan: Plan, app: &mut App) -> Result<(), AppError> {
    if let Some(program) = plan.command.first() {
        run::require_program(program)?;
    }
    let mut stop = Stop::listen()?;
    if !plan.is_named && app.config.server.is_some() {
        plan.name = offer::permitted_name(&plan, app)?;
    }
    let plan = &plan;
    let mut worker = Worker {
        plan,
        caller: caller(plan, app),
        registered_at: 0,
        max_duration: None,
        backoff: Backoff::new(plan.backoff),
        capacity: 1,
        is_at_limit: false,
    };
    let result = worker.run_tasks(app, &mut stop);
    let left = worker.leave(app);
    result.and(left)
}

/// The worker as operations see it: a process of its own, with no session between two tasks.
fn caller(plan: &Plan, app: &mut App) -> Caller {
    let mut caller = app.caller();
    caller.identity = Some(plan.name.clone());
    caller.location.process = process::own_fingerprint();
    caller.session = None;
    caller.surface = plan.launcher.map_or(WORKER, |launcher| launcher.tool.surface).to_owned();
    caller
}

struct Worker<'a> {
    plan: &'a Plan,
    caller: Caller,
    registered_at: Millis,
    max_duration: Option<Millis>,
    backoff: Backoff,
    /// How many tasks it is registered for.
    capacity: i64,
    /// Whether the ledger knows of a limit at which its provider stopped it.
    is_at_limit: bool,
}

/// What a worker answers that found nothing to do.
#[derive(Serialize)]
struct Idle<'a> {
    identity: &'a str,
    task_id: Option<&'a str>,
    outcome: &'static str,
    /// Until when its provider takes no requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
}

/// What a worker answers after a task.
#[derive(Serialize)]
struct FinishedRun<'a> {
    project_id: &'a str,
    identity: &'a str,
    task_id: &'a str,
    session_id: &'a str,
    outcome: &'static str,
    reason: &'a str,
}

/// A task in hand.
struct ClaimedTask {
    task_id: String,
    project_id: String,
    session_id: String,
    token: Option<i64>,
    packet: Value,
    role: Option<String>,
    message_id: Option<String>,
    /// How often it was tried before.
    attempts: i64,
}

impl Worker<'_> {
    /// Works until it has done enough, or is interrupted.
    fn run_tasks(&mut self, app: &mut App, stop: &mut Stop) -> Result<(), AppError> {
        let plan = self.plan;
        let mut done = 0;
        self.register(app)?;
        if let Some(until) = self.known_limit(app)? {
            if plan.once {
                return self.show_limit(app, until);
            }
            if self.pause(app, stop, until.0.saturating_sub(clock::now()))? {
                return Err(AppError::Interrupted);
            }
        }
        loop {
            self.register(app)?;
            match self.next(app)? {
                Some(task_id) => {
                    let next = self.work(app, stop, &task_id)?;
                    done += 1;
                    let Some(pause) = next else { return Err(AppError::Interrupted) };
                    if plan.most.is_some_and(|most| done >= most) {
                        return Ok(());
                    }
                    if self.pause(app, stop, pause)? {
                        return Err(AppError::Interrupted);
                    }
                }
                None if plan.once => {
                    let outcome = "nothing_ready";
                    let idle = Idle { identity: &plan.name, task_id: None, outcome, until: None };
                    return app.show(&idle, |_| "nothing is ready\n".to_owned());
                }
                None => {
                    let pause = Duration::from_millis(u64::try_from(plan.poll).unwrap_or(1_000));
                    if stop.within(pause) {
                        return Err(AppError::Interrupted);
                    }
                }
            }
        }
    }

    /// Works on one task in a session of its own. Returns how long to pause then; nothing if it was interrupted.
    fn work(&mut self, app: &mut App, stop: &mut Stop, task_id: &str) -> Result<Option<Millis>, AppError> {
        self.read_checkout(app);
        let session_id = self.begin(app, task_id)?;
        self.caller.session = Some(session_id.clone());
        let held = match self.claim(app, task_id, session_id) {
            Ok(held) => held,
            Err(AppError::Refused(refusal)) => {
                // Another worker holds the task by now.
                app.remark(&format!("{}: {}", visible(task_id), refusal.message));
                self.end(app)?;
                return Ok(Some(0));
            }
            Err(other) => return Err(other),
        };
        let finished = match self.run(app, stop, &held) {
            Err(AppError::Refused(refusal)) if refusal.code == "command_unstartable" => {
                // Nothing was tried.
                self.give_back_untried(app, &held, &refusal.message)?;
                self.end(app)?;
                return Err(refusal.into());
            }
            other => other?,
        };
        let held = self.follow_rename(app, held)?;
        let recorded = self.record(app, &held, &finished)?;
        let pause = self.note(app, &held, &finished)?;
        self.end(app)?;
        let done = FinishedRun {
            project_id: &held.project_id,
            identity: &self.plan.name,
            task_id: &held.task_id,
            session_id: &held.session_id,
            outcome: recorded,
            reason: finished.outcome.reason(),
        };
        app.show(&done, |done| {
            let why =
                if done.reason.is_empty() { String::new() } else { format!(": {}", visible(done.reason)) };
            format!("{} {}{why}\n", visible(done.task_id), done.outcome)
        })?;
        Ok((finished.ending != CommandEnd::Interrupted).then_some(pause))
    }

    /// Opens the session: a pickup of the baton that the task names, else a fresh start.
    fn begin(&self, app: &mut App, task_id: &str) -> Result<String, AppError> {
        let input = ShowInput {
            project: app.project.clone(),
            id: task_id.to_owned(),
            full: true,
            ..ShowInput::default()
        };
        let task = app.run_as::<Show>(&self.caller, &input)?.task;
        let named = |key: &str| {
            let places = [&task.handoff_instructions, &task.agent_context];
            places.into_iter().flatten().find_map(|context| context.get(key)?.as_str().map(str::to_owned))
        };
        if let Some(baton) = named("baton_id").or_else(|| named("handoff_id")) {
            let input = PickupInput {
                project: app.project.clone(),
                identity: Some(self.plan.name.clone()),
                target_id: Some(baton),
                ..PickupInput::default()
            };
            match app.run_as::<Pickup>(&self.caller, &input) {
                Ok(PickupOutput { session_id: Some(session_id), .. }) => return Ok(session_id),
                Ok(_) => {}
                Err(AppError::Refused(refusal)) => {
                    app.remark(&format!("the task's baton: {}", refusal.message))
                }
                Err(other) => return Err(other),
            }
        }
        let (project, identity) = (app.project.clone(), Some(self.plan.name.clone()));
        let started =
            app.run_as::<Start>(&self.caller, &StartInput { project, identity, ..StartInput::default() })?;
        Ok(started.session_id)
    }

    fn claim(&self, app: &mut App, task_id: &str, session_id: String) -> Result<ClaimedTask, AppError> {
        let input = ClaimTaskInput {
            project: app.project.clone(),
            id: Some(task_id.to_owned()),
            while_alive: true,
            ..ClaimTaskInput::default()
        };
        let claimed = app.run_as::<ClaimTask>(&self.caller, &input)?;
        let task = match claimed.task {
            Some(tasks::ClaimedTask::Open(task)) => Some(task.view),
            Some(tasks::ClaimedTask::Withheld { .. }) | None => None,
        };
        Ok(ClaimedTask {
            task_id: task.as_ref().map_or_else(|| task_id.to_owned(), |task| task.id.clone()),
            project_id: claimed.project_id,
            session_id,
            token: claimed.token,
            packet: claimed.packet.unwrap_or_default(),
            message_id: task.as_ref().and_then(|task| task.routing_text("message")),
            attempts: task.as_ref().and_then(|task| task.attempts).unwrap_or_default(),
            role: task.and_then(|task| task.agent_role),
        })
    }

    /// Runs the command on the packet; while it runs, the session is kept alive, and with it the lease.
    fn run(&self, app: &mut App, stop: &mut Stop, held: &ClaimedTask) -> Result<FinishedCommand, AppError> {
        let command = (self.plan.command.as_slice(), self.plan.launcher);
        let mut command = Command::start(command, &folder(app), held_vars(app, self, held), &held.packet)?;
        if let Some(id) = &held.message_id {
            let read =
                DeliveredInput { project: Some(held.project_id.clone()), message_ids: vec![id.clone()] };
            app.run_as::<Delivered>(&self.caller, &read)?;
        }
        let beat = (app.config.limits.stale_after / 4).clamp(100, 30_000);
        let (mut beaten, mut warned) = (clock::now(), false);
        let ending = loop {
            if let Some(status) = command.try_wait()? {
                break CommandEnd::Ended(status);
            }
            if stop.within(Duration::from_millis(20)) {
                break CommandEnd::Interrupted;
            }
            let now = clock::now();
            if let Some(most) = self.max_duration {
                let ran = now.saturating_sub(command.started_at);
                if ran >= most {
                    break CommandEnd::TooLong(most);
                }
                if !warned && ran >= most / 5 * 4 {
                    warned = true;
                    let text =
                        "is near its max_session_duration; it is stopped then, and the task goes to another";
                    app.remark(&format!("{} {text}", visible(&held.task_id)));
                }
            }
            if now.saturating_sub(beaten) >= beat {
                beaten = now;
                let (project, session) = (Some(held.project_id.clone()), Some(held.session_id.clone()));
                let input = HeartbeatInput { project, session, ..HeartbeatInput::default() };
                if let Err(AppError::Refused(refusal)) = app.run_as::<Heartbeat>(&self.caller, &input) {
                    app.remark(&format!("{}: {}", visible(&held.task_id), refusal.message));
                    break CommandEnd::Lost;
                }
            }
        };
        if !matches!(ending, CommandEnd::Ended(_)) {
            command.stop();
        }
        let report = command.result();
        let is_silent = report.is_none();
        let mut outcome = Outcome::of(&ending, report, held.role.as_deref());
        // A test that failed may speak of limits. A coding agent that says nothing else and ends with an error was stopped by one.
        let failed = matches!(ending, CommandEnd::Ended(status) if !status.success()) && is_silent;
        let limit = match failed {
            true if self.tool().is_some() || !outcome.is_work() => command.limit(),
            true => command.limit_beside_no_test(),
            false => None,
        };
        // What a provider says about its limit says nothing about the task.
        outcome = match limit.is_some() {
            true => outcome.without_result(),
            false => outcome.with_output(&command.last_output()),
        };
        Ok(FinishedCommand { ending, outcome, result_file: command.clear(), limit })
    }

    /// Reads what is checked out now: commands commit and switch branches between two calls.
    fn read_checkout(&mut self, app: &App) {
        if let Some(cwd) = &app.config.cwd {
            self.caller = host::caller_at(&self.caller, cwd);
        }
    }

    /// Ends the session; a refusal, as for one that is released already, is ignored.
    fn end(&mut self, app: &mut App) -> Result<(), AppError> {
        self.read_checkout(app);
        let input = EndInput { project: app.project.clone(), ..EndInput::default() };
        let result = app.run_as::<End>(&self.caller, &input);
        self.caller.session = None;
        match result {
            Ok(_) | Err(AppError::Refused(_)) => Ok(()),
            Err(other) => Err(other),
        }
    }
}

/// Where packets and results lie while a command runs.
pub(crate) fn folder(app: &App) -> PathBuf {
    app.config.data_dir.join("work")
}

/// Environment variables of the command: task, session, project and identity.
fn held_vars(app: &App, worker: &Worker<'_>, held: &ClaimedTask) -> Vec<(&'static str, String)> {
    let mut vars = vec![
        ("BATON_TASK", held.task_id.clone()),
        ("BATON_SESSION", held.session_id.clone()),
        ("BATON_PROJECT", held.project_id.clone()),
        ("BATON_IDENTITY", worker.plan.name.clone()),
        ("BATON_PROCESS", process::own_fingerprint()),
        ("BATON_SUPERVISOR", process::own_fingerprint()),
    ];
    if let Some((store, _)) = app.config.origins.get("store").filter(|(_, from)| from == "--store") {
        vars.push(("BATON_STORE", store.clone()));
    }
    vars
}
