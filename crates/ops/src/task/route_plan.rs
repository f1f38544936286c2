//! What a pass of the router is going to do: read, decide, write nothing.

use std::collections::BTreeMap;

use baton_model::agent::Agent;
use baton_model::handoff_message::Kind;
use baton_model::id::identity_key;
use baton_model::role::{Roles, role_key};
use baton_model::route::{self, CandidateAgent, Judgement, Policy, Requirements};
use baton_model::task::Task;
use baton_model::time::rfc3339;
use baton_store::{Failure, Tx, agent, message, task};
use task::TaskList;

use super::by_id_to_change;
use crate::op::Env;

/// Tasks read at once.
const PAGE: i64 = 200;
/// The most waiting tasks that one answer names.
const MAX_WAITING: usize = 1_000;
/// So many of the newest messages say who was given work last.
const LOOKED_BACK: i64 = 2_000;

/// What is asked of a pass.
pub(super) struct PassRequest<'a> {
    pub(super) id: Option<&'a str>,
    pub(super) role: Option<&'a str>,
    pub(super) agent: Option<&'a str>,
    pub(super) limit: usize,
    pub(super) explain: bool,
}

/// How every agent was judged, where that is to be explained.
type Scores = Option<Vec<Judgement>>;

/// One thing to do.
pub(super) enum Step {
    /// The task goes to an agent.
    Give { task: Box<Task>, to: String, max_tasks: i64, scores: Scores },
    /// No agent can take it. `news`: the reason is to be recorded; `tell`: a human is to be notified.
    Wait { task: Box<Task>, why: String, news: bool, tell: bool, scores: Scores },
    /// It was requested by id, and cannot be assigned in its present state.
    Unready { task: Box<Task>, why: String },
    /// It was tried too often.
    Block { task: Box<Task>, scores: Scores },
}

/// A pass as it was planned.
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// What the agent asked for has and did not begin.
    pub(super) not_begun: Vec<String>,
    /// More could be given than the limit lets.
    pub(super) more: bool,
}

/// Plans a pass.
pub(super) fn plan(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    ask: &PassRequest<'_>,
    roles: &Roles,
    policy: &Policy,
) -> Result<Plan, Failure> {
    let not_begun = match ask.agent {
        Some(name) => not_begun(tx, project_id, name)?,
        None => Vec::new(),
    };
    let mut made = Plan { steps: Vec::new(), not_begun, more: false };
    if let Some(id) = ask.id {
        made.steps.extend(plan_for_task(tx, env, project_id, (id, ask), (roles, policy))?);
        return Ok(made);
    }
    // A pass that finds nothing to do looks at no agent.
    let mut agents: Option<Vec<CandidateAgent>> = None;
    let (mut given, mut waiting, mut last) = (0, 0, None);
    loop {
        let tasks = task::page(tx, project_id, TaskList::Ready(env.now), last.as_ref(), PAGE)?;
        let full = i64::try_from(tasks.len()).unwrap_or(i64::MAX) == PAGE;
        last = tasks.last().cloned();
        for found in tasks.into_iter().filter(|task| is_asked(task, ask)) {
            if given >= ask.limit {
                made.more = true;
                return Ok(made);
            }
            if agents.is_none() {
                agents = Some(candidates(tx, env, project_id, roles)?);
            }
            let Some(step) = decide(found, agents.as_deref_mut().unwrap_or_default(), ask, (env.now, policy))
            else {
                continue;
            };
            given += usize::from(matches!(step, Step::Give { .. }));
            // What waits and was written down long ago is named up to a limit, so that an answer has one.
            let old = matches!(step, Step::Wait { news: false, .. });
            waiting += usize::from(old);
            if !old || waiting <= MAX_WAITING {
                made.steps.push(step);
            }
        }
        if !full {
            return Ok(made);
        }
    }
}

/// What happens to the one task that was asked for by its id.
fn plan_for_task(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    (id, ask): (&str, &PassRequest<'_>),
    (roles, policy): (&Roles, &Policy),
) -> Result<Option<Step>, Failure> {
    let mut agents = candidates(tx, env, project_id, roles)?;
    let found = by_id_to_change(tx, project_id, id)?;
    Ok(match unready(&found, env.now) {
        Some(why) => Some(Step::Unready { task: Box::new(found), why }),
        None => decide(found, &mut agents, ask, (env.now, policy)),
    })
}

fn is_asked(task: &Task, ask: &PassRequest<'_>) -> bool {
    let role = task.agent_role.as_deref().map(role_key);
    role.is_some() && ask.role.is_none_or(|wanted| role == Some(role_key(wanted)))
}

/// Why a task that was asked for by its id cannot be routed, if so.
fn unready(task: &Task, now: i64) -> Option<String> {
    let with = task.assignee.as_deref().map(|name| format!(" with {name}")).unwrap_or_default();
    if task.status != "open" {
        return Some(format!("it is {}{with}", task.status.replace('_', " ")));
    }
    if task.agent_role.is_none() {
        return Some("it wants no role: the router leaves it alone".to_owned());
    }
    if task.readiness.blocked {
        return Some("it waits for other tasks: `baton task blocked` names them".to_owned());
    }
    if task.readiness.wait_until > now {
        return Some(format!("it is deferred until {}", rfc3339(task.readiness.wait_until)));
    }
    (!task.readiness.ready).then(|| "it is not of a kind that agents work on".to_owned())
}

fn scores(
    ask: &PassRequest<'_>,
    task: &Task,
    agents: &[CandidateAgent],
    (now, policy): (i64, &Policy),
) -> Scores {
    let wanted = Requirements::of(task, now, policy).filter(|_| ask.explain)?;
    Some(route::explain(&wanted, agents))
}

/// What happens to a ready task; an agent that gets it has one more from then on.
fn decide(
    found: Task,
    agents: &mut [CandidateAgent],
    ask: &PassRequest<'_>,
    when: (i64, &Policy),
) -> Option<Step> {
    let (now, policy) = when;
    let wanted = Requirements::of(&found, now, policy)?;
    let scores = scores(ask, &found, agents, when);
    let task = Box::new(found);
    if route::is_spent(&task, policy) {
        return Some(Step::Block { task, scores });
    }
    let mut chosen = route::best(&wanted, agents);
    if let Some(name) = ask.agent {
        let at = agents.iter().position(|agent| identity_key(&agent.name) == identity_key(name))?;
        let score = route::judge(&wanted, &agents[at]).ok()?;
        // Who asks gets it, unless it failed at it before and another could try.
        if score.failed == 0 {
            chosen = Some(at);
        }
        chosen = Some(chosen.filter(|best| *best == at)?);
    }
    match chosen {
        Some(at) => {
            let newest = agents.iter().map(|agent| agent.last_used).max().unwrap_or_default();
            let agent = &mut agents[at];
            agent.open_claims += 1;
            agent.last_used = newest.saturating_add(1);
            Some(Step::Give { task, to: agent.name.clone(), max_tasks: agent.max_tasks, scores })
        }
        None => {
            let waited = route::queued_at(&task).map(|since| now.saturating_sub(since));
            let tell =
                waited.is_some_and(|waited| waited >= policy.escalate_after) && !route::was_notified(&task);
            let why = route::no_candidate_reason(&wanted, agents);
            Some(Step::Wait { news: tell || waited.is_none(), task, why, tell, scores })
        }
    }
}

/// Every registered agent with what it has and when it was last given something.
fn candidates(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    project_id: &str,
    roles: &Roles,
) -> Result<Vec<CandidateAgent>, Failure> {
    let claims = claims(tx, project_id)?;
    let mut used: BTreeMap<String, i64> = BTreeMap::new();
    for (to, seq, kind) in message::receivers(tx, project_id, LOOKED_BACK)? {
        if Kind::from_word(&kind).is_some() {
            used.entry(identity_key(&to)).or_insert(seq);
        }
    }
    let candidate = |agent: Agent| {
        let key = identity_key(&agent.identity);
        CandidateAgent {
            open_claims: claims.get(&key).copied().unwrap_or_default(),
            last_used: used.get(&key).copied().unwrap_or_default(),
            ..CandidateAgent::of(&agent, agent.capability(roles), env.now, env.limits)
        }
    };
    Ok(agent::list(tx, project_id)?.into_iter().map(candidate).collect())
}

/// Number of claimed tasks by identity.
pub(super) fn claims(tx: &mut Tx<'_>, project_id: &str) -> Result<BTreeMap<String, i64>, Failure> {
    let mut claims: BTreeMap<String, i64> = BTreeMap::new();
    for (by, count) in task::claimers(tx, project_id)? {
        *claims.entry(identity_key(&by)).or_default() += count;
    }
    Ok(claims)
}

fn not_begun(tx: &mut Tx<'_>, project_id: &str, name: &str) -> Result<Vec<String>, Failure> {
    let given = task::given_to(tx, project_id, name)?.into_iter();
    Ok(given.filter(route::awaits_start).map(|task| task.task_id).collect())
}
