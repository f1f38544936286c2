//! `task_route`: give every ready task that wants a role to the agent that fits best.

use baton_model::refusal::Refusal;
use baton_model::route::{self, Policy};
use baton_model::time::{TEN_YEARS, bounds_hint, seconds_within};
use baton_store::{Failure, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::claim_expiry::{expired_claims, release_expired_claims};
use super::route_plan::{PassRequest, Step, plan};
use super::route_row::{Assignment, BlockedTask, RoutedTask, StepEffect, WaitState, WaitingTask};
use super::route_step::{block, offer_to_agent, wait};
use super::write::write;
use crate::op::{Cx, Meta, Operation};
use crate::project::require_not_merged;
use crate::{resolve, roles, token_rights};

/// Routes.
pub struct Route;

/// Input of `task_route`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Under which name assignments and messages are made; else `router`, or the caller's where its token may not act as that.
    #[serde(default)]
    pub identity: Option<String>,
    /// Only this task.
    #[serde(default)]
    pub id: Option<String>,
    /// Only tasks that want this role.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// Only what this agent may take: a worker asks for its next task.
    #[serde(default)]
    pub agent: Option<String>,
    /// At most so many assignments; 100 when nothing is said.
    #[serde(default)]
    pub limit: Option<usize>,
    /// Decide and change nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// With the score of every agent, or what speaks against it.
    #[serde(default)]
    pub explain: bool,
    /// After so many seconds without an agent a generalist may take it; else 300.
    #[serde(default)]
    pub fallback_after_s: Option<i64>,
    /// After so many seconds without an agent a human is told; else 1800.
    #[serde(default)]
    pub escalate_after_s: Option<i64>,
    /// After so many attempts a task is blocked and a human is told; else 5, 0 for never.
    #[serde(default)]
    pub max_attempts: Option<i64>,
    /// Who is told; else `human`.
    #[serde(default)]
    pub human: Option<String>,
}

/// Answer of `task_route`: assignments made, tasks that wait and why, tasks blocked after too many attempts, tasks
/// given back, and what the requested agent holds and has not begun.
#[derive(Serialize, Deserialize)]
pub struct RouteOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// The rows of this page.
    pub items: Vec<Assignment>,
    /// Tasks for which no agent is free.
    pub waiting: Vec<WaitingTask>,
    /// Tasks that are blocked.
    pub blocked: Vec<BlockedTask>,
    /// Tasks that were given back.
    pub given_back: Vec<String>,
    /// Tasks that no agent began in time.
    pub not_begun: Vec<String>,
    /// Whether more remains to be routed.
    pub more: bool,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
}

impl Operation for Route {
    const META: Meta =
        Meta::write("task_route", "Give ready tasks to the agents that fit best, each with its message")
            .changes_tasks()
            .reads_tasks()
            .needs_file_lock();
    type Input = RouteInput;
    type Output = RouteOutput;

    fn run(input: RouteInput, cx: &mut Cx<'_>) -> Result<RouteOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let name = author(cx, &project_id, input.identity.as_deref())?;
        let name = name.as_str();
        let policy = policy(&input)?;
        let roles = roles::of_project(cx.store, &cx.env, &project_id)?;
        cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            require_not_merged(tx, &project_id)
        })?;
        let given_back = if input.dry_run { Vec::new() } else { take_back(cx, &project_id, name)? };
        let ask = PassRequest {
            id: input.id.as_deref(),
            role: input.agent_role.as_deref(),
            agent: input.agent.as_deref(),
            limit: input.limit.unwrap_or(100),
            explain: input.explain,
        };
        let Cx { store, env } = cx;
        let env = &*env;
        let planned = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            plan(tx, env, &project_id, &ask, &roles, &policy)
        })?;
        let mut out = RouteOutput {
            project_id: project_id.clone(),
            identity: name.to_owned(),
            dry_run: input.dry_run,
            items: Vec::new(),
            waiting: Vec::new(),
            blocked: Vec::new(),
            given_back,
            not_begun: planned.not_begun,
            more: planned.more,
            next: None,
        };
        for step in planned.steps {
            let done = match input.dry_run {
                true => Some(StepEffect::default()),
                false => carry_out(cx, &out, &step, &policy)?,
            };
            // Another process has changed the task since: the next pass plans it anew.
            let Some(done) = done else { continue };
            add_row(&mut out, step, done);
        }
        Ok(out)
    }
}

/// Under which name assignments are made: the one that the call names, else the router's; the caller's own, where its token may not act
/// under that of the router.
fn author(cx: &mut Cx<'_>, project_id: &str, named: Option<&str>) -> Result<String, Failure> {
    if let Some(named) = named {
        return Ok(resolve::identity(cx.env.caller, Some(named))?);
    }
    let Cx { store, env } = cx;
    let env = &*env;
    match store.read(|tx| token_rights::require_may_be(tx, env, project_id, route::ROUTER)) {
        Ok(()) => Ok(route::ROUTER.to_owned()),
        Err(Failure::Refused(_)) => Ok(resolve::identity(env.caller, None)?),
        Err(fault) => Err(fault),
    }
}

/// Says in the answer what a step did.
fn add_row(out: &mut RouteOutput, step: Step, done: StepEffect) {
    match step {
        Step::Give { task, to, scores: candidates, .. } => out.items.push(Assignment {
            task: RoutedTask::from(&*task),
            agent: to,
            message_type: route::message_kind(&task),
            candidates,
            message_id: done.message_id,
            token: done.token,
        }),
        Step::Wait { task, why, tell, scores: candidates, .. } => {
            let state = WaitState::queued(&task, tell);
            out.waiting.push(WaitingTask { task: RoutedTask::from(&*task), why, state, candidates });
        }
        Step::Unready { task, why } => {
            let state = WaitState::Unready { ready: false };
            out.waiting.push(WaitingTask { task: RoutedTask::from(&*task), why, state, candidates: None });
        }
        Step::Block { task, scores: candidates } => out.blocked.push(BlockedTask {
            task: RoutedTask::from(&*task),
            failed_attempts: route::attempts(&task).to_vec(),
            candidates,
            why: done.why,
        }),
    }
}

fn policy(input: &RouteInput) -> Result<Policy, Refusal> {
    let usual = Policy::default();
    let span = |seconds: Option<i64>, usual: i64| match seconds {
        Some(0) => Ok(0),
        Some(n) => seconds_within(n, TEN_YEARS).ok_or_else(|| {
            let what = format!("{n} is no number of seconds to wait");
            Refusal::invalid("route_invalid", what, format!("{}, or 0", bounds_hint(TEN_YEARS)))
        }),
        None => Ok(usual),
    };
    let human = input.human.clone().unwrap_or(usual.human);
    baton_model::id::check_identity(&human)?;
    Ok(Policy {
        fallback_after: span(input.fallback_after_s, usual.fallback_after)?,
        escalate_after: span(input.escalate_after_s, usual.escalate_after)?,
        max_attempts: match input.max_attempts {
            Some(n) if n < 0 => return Err(negative_refusal()),
            Some(n) => n,
            None => usual.max_attempts,
        },
        human,
    })
}

fn negative_refusal() -> Refusal {
    Refusal::invalid("route_invalid", "spans and attempts are not negative", "give 0 or more")
}

/// Leases that ran out are given back first, in a transaction of its own, so that those tasks are routed with the others.
fn take_back(cx: &mut Cx<'_>, project_id: &str, name: &str) -> Result<Vec<String>, Failure> {
    let env = &cx.env;
    let is_late = cx.store.read(|tx| {
        resolve::require_project(tx, project_id)?;
        let is_due = !task::due_deferrals(tx, project_id, env.now)?.is_empty();
        Ok(is_due || !expired_claims(tx, env, project_id)?.is_empty())
    })?;
    if !is_late {
        return Ok(Vec::new());
    }
    let request = (Some(project_id), Some(name), Route::NAME);
    let given = write(cx, request, release_expired_claims)?;
    Ok(given.into_iter().map(|task| task.task_id).collect())
}

/// One step, in one transaction; nothing when the task or the agent is not as it was when the step was planned.
fn carry_out(
    cx: &mut Cx<'_>,
    out: &RouteOutput,
    step: &Step,
    policy: &Policy,
) -> Result<Option<StepEffect>, Failure> {
    if matches!(step, Step::Wait { news: false, .. } | Step::Unready { .. }) {
        return Ok(Some(StepEffect::default()));
    }
    let request = (Some(out.project_id.as_str()), Some(out.identity.as_str()), Route::NAME);
    write(cx, request, |tx, env, author| match step {
        Step::Give { task, to, max_tasks, .. } => offer_to_agent(tx, env, author, task, (to, *max_tasks)),
        Step::Wait { task, why, tell, .. } => wait(tx, env, author, task, (why, tell.then_some(policy))),
        Step::Block { task, .. } => block(tx, env, author, task, policy),
        Step::Unready { .. } => Ok(None),
    })
}
