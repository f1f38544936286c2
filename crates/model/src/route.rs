//! Who gets a task: one pure function from a task and the agents to a choice, with a reason for every agent.

mod attempts;
mod explain;

pub use explain::{Judgement, Verdict, explain};
use serde_json::{Map, Value, json};

pub use self::attempts::{attempts, failed, last_failure, mark_death};
use self::attempts::{deaths, failed_by};
use crate::agent::{Agent, Capability};
use crate::handoff_message::Kind;
use crate::id::{assignee_key, identity_key};
use crate::role::role_key;
use crate::session::Limits;
use crate::task::{Task, sealed};
use crate::time::{Millis, rfc3339};

/// After how long without an agent a generalist may take a task, in milliseconds.
pub const FALLBACK_AFTER: Millis = 5 * 60_000;
/// Time without an agent, in milliseconds, after which a human is notified.
pub const ESCALATE_AFTER: Millis = 30 * 60_000;
/// After how many attempts a task is blocked.
pub const MAX_ATTEMPTS: i64 = 5;
/// Recipient of escalations when no agent can take a task.
pub const HUMAN: &str = "human";
/// Under which name the router acts.
pub const ROUTER: &str = "router";
/// After how many workers that died at a task, one after the other, it is blocked: it takes its agents with it.
pub const MAX_DEATHS: usize = 3;

/// An agent as the router sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidateAgent {
    /// The identity.
    pub name: String,
    /// Its roles, as [`role_key`] makes them; none for a generalist.
    pub roles: Vec<String>,
    /// Its skills and those of its roles, in lower case.
    pub skills: Vec<String>,
    /// How many tasks it may have at once.
    pub max_tasks: i64,
    /// How many it has.
    pub open_claims: i64,
    /// A number that is higher the later it was given work; 0 for never.
    pub last_used: i64,
    /// Whether it was seen recently.
    pub fresh: bool,
}

impl CandidateAgent {
    /// A registered agent with what its roles make of it.
    pub fn of(agent: &Agent, can: Capability, now: Millis, limits: Limits) -> Self {
        Self {
            name: agent.identity.clone(),
            roles: can.roles.iter().map(|role| role_key(role)).collect(),
            skills: can.skills,
            max_tasks: can.max_tasks,
            open_claims: 0,
            last_used: 0,
            fresh: agent.is_fresh(now, limits),
        }
    }
}

/// What a task asks of its agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirements {
    /// The role, as [`role_key`] makes it.
    pub role: String,
    /// Skills, in lower case: one of them at least.
    pub tags: Vec<String>,
    /// The identity that it is meant for.
    pub meant_for: Option<String>,
    /// Who failed at it before, once for every time.
    pub failed_by: Vec<String>,
    /// Whether it waited so long that a generalist may take it.
    pub fallback: bool,
    /// Who can read it, where it is sensitive.
    pub readers: Option<Vec<String>>,
}

impl Requirements {
    /// What this task asks for; nothing without a role.
    pub fn of(task: &Task, now: Millis, policy: &Policy) -> Option<Self> {
        let role = task.agent_role.as_deref().filter(|role| !role.trim().is_empty())?;
        let waited = queued_at(task).map_or(0, |since| now.saturating_sub(since));
        Some(Self {
            role: role_key(role),
            tags: task.specialist_tags.iter().map(|tag| tag.to_lowercase()).collect(),
            meant_for: task.assignee.clone(),
            failed_by: failed_by(task),
            fallback: waited >= policy.fallback_after,
            readers: sealed::readers(task).map(|names| names.into_iter().map(str::to_owned).collect()),
        })
    }
}

/// When the router changes its ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// See [`FALLBACK_AFTER`].
    pub fallback_after: Millis,
    /// See [`ESCALATE_AFTER`].
    pub escalate_after: Millis,
    /// See [`MAX_ATTEMPTS`].
    pub max_attempts: i64,
    /// See [`HUMAN`].
    pub human: String,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            fallback_after: FALLBACK_AFTER,
            escalate_after: ESCALATE_AFTER,
            max_attempts: MAX_ATTEMPTS,
            human: HUMAN.to_owned(),
        }
    }
}

/// How well an agent fits; the lowest is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score {
    /// A specialist comes before a generalist.
    pub generalist: bool,
    /// How often it failed at this task.
    pub failed: usize,
    /// How many tags it lacks.
    pub lacking: usize,
    /// How many tasks it has.
    pub open_claims: i64,
    /// When it was last given work.
    pub last_used: i64,
}

/// Why an agent is not asked, in the order of the rules: the later, the nearer it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ineligibility {
    /// The task is meant for another.
    MeantForAnother,
    /// It has other roles.
    Role,
    /// It has no role, and it is too early for that.
    TooEarly,
    /// It has none of the skills.
    Skills,
    /// It has no key to decrypt the task.
    NotAReader,
    /// It was not seen recently.
    Silent,
    /// It takes no tasks for now: a worker that pauses or ended.
    Closed,
    /// It has as many tasks as it may have.
    Full,
}

impl Ineligibility {
    /// A clause about the agent.
    pub fn reason(self) -> &'static str {
        match self {
            Self::MeantForAnother => "the task is meant for another",
            Self::Role => "has other roles",
            Self::TooEarly => "is a generalist, and a specialist may still come",
            Self::Skills => "has none of the skills",
            Self::NotAReader => "has no key to read it with",
            Self::Silent => "was not heard of lately",
            Self::Closed => "takes no tasks for now",
            Self::Full => "has as many tasks as it may have",
        }
    }
}

/// Judges one agent: the first rule that it does not meet, or how well it fits.
pub fn judge(wanted: &Requirements, agent: &CandidateAgent) -> Result<Score, Ineligibility> {
    let same = |name: &str| identity_key(name) == identity_key(&agent.name);
    if wanted.meant_for.as_deref().is_some_and(|name| assignee_key(name) != assignee_key(&agent.name)) {
        return Err(Ineligibility::MeantForAnother);
    }
    let generalist = agent.roles.is_empty();
    if generalist && !wanted.fallback && wanted.meant_for.is_none() {
        return Err(Ineligibility::TooEarly);
    }
    if !generalist && !agent.roles.contains(&wanted.role) {
        return Err(Ineligibility::Role);
    }
    let has = wanted.tags.iter().filter(|tag| agent.skills.contains(tag)).count();
    if has == 0 && !wanted.tags.is_empty() && !generalist {
        return Err(Ineligibility::Skills);
    }
    if wanted.readers.as_ref().is_some_and(|names| !names.iter().any(|name| same(name))) {
        return Err(Ineligibility::NotAReader);
    }
    if !agent.fresh {
        return Err(Ineligibility::Silent);
    }
    if agent.max_tasks == 0 {
        return Err(Ineligibility::Closed);
    }
    if agent.open_claims >= agent.max_tasks {
        return Err(Ineligibility::Full);
    }
    Ok(Score {
        generalist,
        failed: wanted.failed_by.iter().filter(|name| same(name)).count(),
        lacking: wanted.tags.len() - has,
        open_claims: agent.open_claims,
        last_used: agent.last_used,
    })
}

/// Whether an agent may be given this task, now or once it is fresh and below its limit.
pub fn may_take(task: &Task, agent: &CandidateAgent) -> bool {
    let idle = CandidateAgent { fresh: true, open_claims: 0, max_tasks: 1, ..agent.clone() };
    // Who has no role may take any, in the end.
    Requirements::of(task, 0, &Policy::default())
        .is_some_and(|wanted| judge(&Requirements { fallback: true, ..wanted }, &idle).is_ok())
}

/// The place of the best agent among these: who failed least, then most of the skills, then the fewest tasks, then used
/// longest ago, then by name. The order that they come in does not matter.
pub fn best(wanted: &Requirements, agents: &[CandidateAgent]) -> Option<usize> {
    let able = agents.iter().enumerate().filter_map(|(at, agent)| Some((judge(wanted, agent).ok()?, at)));
    able.min_by(|(a, x), (b, y)| {
        a.cmp(b).then_with(|| identity_key(&agents[*x].name).cmp(&identity_key(&agents[*y].name)))
    })
    .map(|(_, at)| at)
}

/// A sentence that says why no agent is eligible.
pub fn no_candidate_reason(wanted: &Requirements, agents: &[CandidateAgent]) -> String {
    let count =
        |refusal: Ineligibility| agents.iter().filter(|agent| judge(wanted, agent) == Err(refusal)).count();
    let of_role = agents.iter().filter(|agent| agent.roles.contains(&wanted.role)).count();
    if let Some(name) = &wanted.meant_for {
        return format!("it is meant for {name}, who cannot take it now");
    }
    if of_role == 0 {
        return format!("no agent with the role {} is registered", wanted.role);
    }
    let parts = [
        (count(Ineligibility::Skills), format!("without any of {}", wanted.tags.join(", "))),
        (count(Ineligibility::NotAReader), "without a key to read it with".to_owned()),
        (count(Ineligibility::Silent), "not heard of lately".to_owned()),
        (count(Ineligibility::Closed), "taking no tasks for now".to_owned()),
        (count(Ineligibility::Full), "with as many tasks as allowed".to_owned()),
    ];
    let reasons: Vec<String> =
        parts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    format!("{of_role} with the role {}: {}", wanted.role, reasons.join(", "))
}

/// The type of the message that goes out with an assignment: the one that was stored, else what the context says.
pub fn message_kind(task: &Task) -> Kind {
    let stored = task.pending_type.as_deref().and_then(Kind::from_word);
    stored.unwrap_or(if task.agent_context.is_empty() { Kind::TaskAssignment } else { Kind::TaskHandoff })
}

/// What the router remembers with a task, under `route`: since when it waits and why, or what it sent last.
fn remembered<'a>(task: &'a Task, key: &str) -> Option<&'a Value> {
    task.extra.get("route")?.get(key).filter(|value| !value.is_null())
}

/// Since when it waits for an agent.
pub fn queued_at(task: &Task) -> Option<Millis> {
    remembered(task, "queued_at").and_then(Value::as_str).and_then(crate::time::parse_rfc3339)
}

/// Why it waits for an agent, or was blocked.
pub fn routing_reason(task: &Task) -> Option<&str> {
    remembered(task, "why")
        .and_then(Value::as_str)
        .filter(|_| matches!(task.status.as_str(), "open" | "blocked"))
}

/// Whether a human was notified that no agent takes it.
pub fn was_notified(task: &Task) -> bool {
    remembered(task, "told_at").is_some()
}

/// Records that the task waits and why; with `tell`, that a human was notified.
pub fn queue(task: &mut Task, why: &str, tell: bool, now: Millis) {
    let since = queued_at(task).unwrap_or(now);
    let notified_at = if tell { Some(json!(rfc3339(now))) } else { remembered(task, "told_at").cloned() };
    let mut row = allowances(task);
    row.insert("queued_at".into(), json!(rfc3339(since)));
    row.insert("why".into(), json!(why));
    row.extend(notified_at.map(|notified_at| ("told_at".to_owned(), notified_at)));
    task.extra.insert("route".into(), Value::Object(row));
}

/// What of it outlives the assignments: how much a human has allowed.
fn allowances(task: &Task) -> Map<String, Value> {
    let value = |key: &str| Some((key.to_owned(), remembered(task, key)?.clone()));
    ["allowed", "deaths_before", "attempts_before"].into_iter().filter_map(value).collect()
}

/// Writes down which message went out with the assignment.
pub fn record_sent(task: &mut Task, kind: Kind, message_id: &str) {
    let mut row = allowances(task);
    row.insert("message".into(), json!(message_id));
    row.insert("type".into(), json!(kind.as_str()));
    task.extra.insert("route".into(), Value::Object(row));
}

/// Whether its agent was given it and has not taken it up yet.
pub fn awaits_start(task: &Task) -> bool {
    last_sent(task).is_some() && remembered(task, "begun") != Some(&Value::Bool(true))
}

/// Writes down that the agent has taken it up.
pub fn begin(task: &mut Task) {
    if let Some(Value::Object(row)) = task.extra.get_mut("route").filter(|row| row["message"].is_string()) {
        row.insert("begun".into(), json!(true));
    }
}

/// Forgets which message was sent: the task is unassigned again.
pub fn forget_sent(task: &mut Task) {
    let row = allowances(task);
    match row.is_empty() {
        true => _ = task.extra.shift_remove("route"),
        false => _ = task.extra.insert("route".into(), Value::Object(row)),
    }
}

/// The type and the id of the message that went out with the last assignment.
pub fn last_sent(task: &Task) -> Option<(&str, &str)> {
    Some((remembered(task, "type")?.as_str()?, remembered(task, "message")?.as_str()?))
}

/// Writes down that it was opened again: the attempts from now on count.
pub fn reopen(task: &mut Task) {
    if task.attempts == 0 {
        return;
    }
    let mut row = allowances(task);
    row.insert("attempts_before".into(), json!(task.attempts));
    task.extra.insert("route".into(), Value::Object(row));
}

fn attempts_before(task: &Task) -> i64 {
    remembered(task, "attempts_before").and_then(Value::as_i64).unwrap_or(0)
}

/// How often it was tried since it was last opened again.
pub fn recent_attempts(task: &Task) -> i64 {
    task.attempts.saturating_sub(attempts_before(task)).max(0)
}

/// Whether it was tried too often; a human who opens it again gives it as many attempts once more.
pub fn is_spent(task: &Task, policy: &Policy) -> bool {
    let usual = policy.max_attempts.saturating_add(attempts_before(task));
    let allowed = remembered(task, "allowed").and_then(Value::as_i64).unwrap_or(0).max(usual);
    policy.max_attempts > 0 && (task.attempts >= allowed || deaths(task) >= MAX_DEATHS)
}

/// Why a task that is spent is given up.
pub fn spent_reason(task: &Task) -> String {
    match (deaths(task), task.attempts) {
        (deaths, _) if deaths >= MAX_DEATHS => {
            format!("{deaths} workers died at it, one after the other")
        }
        (_, 1) => "1 attempt was not enough".to_owned(),
        (_, attempts) => format!("{attempts} attempts were not enough"),
    }
}

/// Writes down that it is blocked after too many attempts.
pub fn give_up(task: &mut Task, why: &str, policy: &Policy, now: Millis) {
    let allowed = task.attempts.saturating_add(policy.max_attempts);
    let mut row = allowances(task);
    let given_up = [
        ("why", json!(why)),
        ("told_at", json!(rfc3339(now))),
        ("allowed", json!(allowed)),
        ("deaths_before", json!(task.attempts)),
    ];
    row.extend(given_up.map(|(key, value)| (key.to_owned(), value)));
    task.extra.insert("route".into(), Value::Object(row));
}

/// Gives a task as many attempts as another of its circle was given by a human: both count the same turns.
pub fn share_allowance(task: &mut Task, from: &Task) {
    let allowed = |task: &Task| remembered(task, "allowed").and_then(Value::as_i64);
    let Some(more) = allowed(from).filter(|more| allowed(task).is_none_or(|own| own < *more)) else { return };
    match task.extra.get_mut("route") {
        Some(Value::Object(row)) => _ = row.insert("allowed".into(), json!(more)),
        _ => _ = task.extra.insert("route".into(), json!({ "allowed": more })),
    }
}

#[cfg(test)]
mod tests;
