//! `task_claim`: take a task to work on it, alone, under a lease.

use baton_model::id::{check_label, visible};
use baton_model::refusal::Refusal;
use baton_model::route;
use baton_model::row_action::TaskState;
use baton_model::task::bounded::Unfitted;
use baton_model::task::claim::{Claim, LEASE_WITHOUT_SESSION, MAX_LEASE, claimed_refusal};
use baton_model::task::filter::is_assigned_to;
use baton_model::task::{Task, bounded, sealed};
use baton_model::time::{Timestamp, bounds_hint, seconds_within};
use baton_store::{Failure, Tx, task};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use task::TaskList;

use super::answer::ClaimedTask;
use super::beads_renames::successor;
use super::claim_expiry::{liveness, release_expired_claims};
use super::claim_filter::{AgentFilter, claim_filter};
use super::claim_right::{preempt, refuse_closed, refuse_unready};
use super::surroundings::reload_with_surroundings;
use super::write::{answer, claimant, is_elsewhere, refuse_elsewhere, write, write_change};
use super::{by_id_to_change, collect, secret};
use crate::force_request::{ForceRequest, require_holder};
use crate::handoff::acceptor::{require_task_acceptor, take_from_acceptor};
use crate::handoff::claimant::is_overdue;
use crate::idempotency::replay::{Replay, mark_replayed};
use crate::ledger::Author;
use crate::op::{Cx, Env, Meta, Operation};
use crate::token_rights;

/// Takes a task.
pub struct ClaimTask;

/// Input of `task_claim`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimTaskInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that works on it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Task id or a unique prefix of one; without it, the first that is ready.
    #[serde(default)]
    pub id: Option<String>,
    /// Without an id: only one that wants this role.
    #[serde(default)]
    pub agent_role: Option<String>,
    /// Without an id: only one with at least one of these tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Without an id: only one that this agent may take, by the role that its name says.
    #[serde(default)]
    pub for_agent: Option<String>,
    /// How long the lease lasts after each sign of life, in seconds, at most a day; else as long as a session counts as fresh, and two
    /// hours without a session.
    #[serde(default)]
    pub lease_s: Option<i64>,
    /// Hold it only while the session's process lives: no time is promised, and when the process ends, the task is free. Without
    /// it the claim holds until `expires_at`, also when the process of a single command is gone by then.
    #[serde(default)]
    pub while_alive: bool,
    /// Take it although something holds it back; with `why`, although another holds it.
    #[serde(default)]
    pub force: bool,
    /// Who holds it, as the caller knows; empty where none is expected. Refused before anything is written where another holds it by now.
    #[serde(default)]
    pub holder: Option<String>,
    /// Why it is taken from its holder: written into the ledger, and told to the holder.
    #[serde(default)]
    pub why: Option<String>,
    /// Bytes that the packet may have; else by role.
    #[serde(default)]
    pub budget: Option<usize>,
}

/// Answer of `task_claim`: the task with its claim, and the packet that its agent works from. Without an id, `task` may be
/// missing: nothing is ready.
#[derive(Serialize, Deserialize)]
pub struct ClaimTaskOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The session.
    pub session_id: Option<String>,
    /// Whether the caller has it.
    pub claimed: bool,
    /// Fencing token of the claim.
    pub token: Option<i64>,
    /// Until when the claim is promised; with `while_alive` signs of life move that on.
    pub expires_at: Option<Timestamp>,
    /// The task.
    pub task: Option<ClaimedTask>,
    /// The hand-off packet.
    pub packet: Option<Value>,
    /// Whether what the packet holds is encrypted where it is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sensitive: bool,
    /// Marks the answer of a repeated request.
    #[serde(flatten)]
    pub replay: Replay,
}

impl ClaimTaskOutput {
    /// Applies the budget of the packet where the server left that to the client, which has decrypted it.
    pub fn truncate(&mut self) {
        if let Some(unfitted) = self.packet.as_ref().and_then(Unfitted::read) {
            self.packet = Some(unfitted.packet());
        }
    }
}

/// What became of a claim that was answered before: the task as it is, and nothing of it that another one has now.
fn replay(mut answer: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
    let text = |field: &Value| field.as_str().unwrap_or_default().to_owned();
    let (project_id, task_id) = (text(&answer["project_id"]), text(&answer["task"]["id"]));
    let Cx { store, env } = cx;
    let found = store.read(|tx| {
        let Some(found) = task::get(tx, &project_id, &task_id)? else { return Ok(None) };
        let found = successor(tx, &found)?.unwrap_or(found);
        let session_liveness = liveness(tx, env, &found)?;
        Ok(Some((found, session_liveness)))
    })?;
    let Some((found, session_liveness)) = found.filter(|_| answer["claimed"] == true) else {
        mark_replayed(&mut answer, None, &[]);
        return Ok(answer);
    };
    let live = found.claim.as_ref().filter(|claim| claim.expires_at(session_liveness) > env.now);
    if let Some(claim) = live.filter(|claim| answer["token"] == claim.token) {
        let renamed =
            (found.task_id != task_id).then(|| format!("task {task_id} is called {} now", found.task_id));
        mark_replayed(&mut answer, renamed, &[("task", shown(&found))]);
        answer["expires_at"] = json!(baton_model::time::rfc3339(claim.expires_at(session_liveness)));
        return Ok(answer);
    }
    let since = match live {
        Some(claim) => format!("task {task_id} is claimed by {}", claim.holder().describe()),
        None if found.is_open() => {
            format!("the claim of task {task_id} is over: it ran out or was given back")
        }
        None => format!("task {task_id} is {}", found.status),
    };
    let now_so = [
        ("claimed", json!(false)),
        ("token", Value::Null),
        ("expires_at", Value::Null),
        ("packet", Value::Null),
        ("task", shown(&found)),
    ];
    mark_replayed(&mut answer, Some(since), &now_so);
    Ok(answer)
}

/// The task as the answer of a repeated request shows it.
fn shown(found: &Task) -> Value {
    match sealed::is_sensitive(found) {
        true => json!({ "id": found.task_id, "status": found.status, "sensitive": true }),
        false => found.to_json(),
    }
}

impl Operation for ClaimTask {
    const META: Meta = Meta::write("task_claim", "Take a task to work on it alone, under a lease")
        .changes_tasks()
        .reads_tasks()
        .needs_file_lock();
    type Input = ClaimTaskInput;
    type Output = ClaimTaskOutput;

    fn replay(answer: Value, cx: &mut Cx<'_>) -> Result<Value, Failure> {
        replay(answer, cx)
    }

    fn run(input: ClaimTaskInput, cx: &mut Cx<'_>) -> Result<ClaimTaskOutput, Failure> {
        let lease = requested_lease(&input)?;
        if let Some(why) = &input.why {
            check_label("reason", why)?;
        }
        let for_agent = AgentFilter::find(cx, input.project.as_deref(), input.for_agent.as_deref())?;
        let request = (input.project.as_deref(), input.identity.as_deref(), Self::NAME);
        write(cx, request, |tx, env, author| {
            release_expired_claims(tx, env, author)?;
            let found = match &input.id {
                Some(id) => Some(by_id_to_change(tx, author.project_id, id)?),
                None => first(tx, env, author, (&input, for_agent.as_ref()))?,
            };
            let mut plain = found.clone();
            if let Some(plain) = &mut plain {
                // Decrypted before the claim: a caller that cannot read a task cannot claim it.
                secret::open(env.host, plain, author.identity)?;
            }
            let claimed = match found {
                Some(found) => {
                    let what = format!("task {}", found.task_id);
                    require_holder(&what, input.holder.as_deref(), TaskState::of(&found).holder)?;
                    let force = ForceRequest { given: input.force, why: input.why.as_deref() };
                    let claimed = take(tx, env, author, &found, lease, force)?;
                    Some(reload_with_surroundings(tx, claimed)?)
                }
                None => None,
            };
            let packet = claimed.as_ref().zip(plain).map(|((task, around), plain)| {
                let readable = Task {
                    agent_context: plain.agent_context,
                    handoff_instructions: plain.handoff_instructions,
                    ..task.clone()
                };
                let budget = input.budget.unwrap_or_else(|| bounded::budget_of(task.agent_role.as_deref()));
                match Unfitted::of(&readable, around, budget) {
                    Some(unfitted) => unfitted.in_place(),
                    None => bounded::packet(&readable, around, budget),
                }
            });
            let task = claimed.map(|(task, _)| task);
            let claim = task.as_ref().and_then(|task| task.claim.clone());
            Ok(ClaimTaskOutput {
                project_id: author.project_id.to_owned(),
                identity: author.identity.to_owned(),
                session_id: author.session.map(|session| session.session_id.clone()),
                claimed: task.is_some(),
                token: claim.as_ref().map(|claim| claim.token),
                expires_at: claim.map(|claim| Timestamp(claim.base_expiry)),
                sensitive: task.as_ref().is_some_and(sealed::is_sensitive),
                packet,
                task: task.map(|task| ClaimedTask::Open(Box::new(answer(&task, env, author)))),
                replay: Replay::default(),
            })
        })
    }
}

/// The lease that is asked for.
#[derive(Clone, Copy)]
struct RequestedLease {
    span: Option<i64>,
    while_alive: bool,
}

fn requested_lease(input: &ClaimTaskInput) -> Result<RequestedLease, Refusal> {
    let span = match input.lease_s {
        Some(seconds) => seconds_within(seconds, MAX_LEASE).map(Some).ok_or_else(|| {
            let what = format!("a lease cannot last {seconds} seconds");
            let hint = format!("{}; every sign of life makes it longer", bounds_hint(MAX_LEASE));
            Refusal::invalid("lease_invalid", what, hint)
        }),
        None => Ok(None),
    };
    Ok(RequestedLease { span: span?, while_alive: input.while_alive })
}

/// The task to claim: the first that the router gave to the caller, else the first ready one that matches and is
/// assigned to no other agent.
fn first(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    author: &Author<'_>,
    (input, for_agent): (&ClaimTaskInput, Option<&AgentFilter>),
) -> Result<Option<Task>, Failure> {
    let mut filter = claim_filter(input.agent_role.as_deref(), &input.tags, for_agent);
    filter.unassigned = false;
    // What the router gave it comes first. What a caller without a session has taken up already it does not ask for again;
    // a session takes that over, too.
    let given = task::given_to(tx, author.project_id, author.identity)?;
    let asker = claimant(env, author);
    let is_elsewhere = |claim: &Claim| author.session.is_some_and(|own| is_elsewhere(env, own, claim));
    let is_own = |task: &Task| {
        task.claim.as_ref().is_none_or(|claim| claim.is_proven_of(&asker) && !is_elsewhere(claim))
    };
    let waits = |task: &Task| is_own(task) && (author.session.is_some() || route::awaits_start(task));
    if let Some(own) = given.into_iter().find(|task| waits(task) && filter.takes(task)) {
        return Ok(Some(own));
    }
    let mut after = 0;
    loop {
        let (found, more) =
            collect(tx, author.project_id, env, (TaskList::Ready(env.now), &filter), (after, 50))?;
        let free = |task: &&Task| {
            task.assignee.as_deref().is_none_or(|name| {
                is_assigned_to(task, author.identity) || Some(name) == input.for_agent.as_deref()
            }) && sealed::check_reader(task, author.identity).is_ok()
        };
        for task in found.iter().filter(free) {
            if !is_overdue(tx, env, task)? {
                return Ok(Some(task.clone()));
            }
        }
        if !more {
            return Ok(None);
        }
        after += found.len();
    }
}

fn take(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    found: &Task,
    wanted_lease: RequestedLease,
    force: ForceRequest<'_>,
) -> Result<Task, Failure> {
    let session_id = author.session.map(|session| session.session_id.clone());
    let asker = claimant(env, author);
    let session_liveness = liveness(tx, env, found)?;
    let live = found.claim.as_ref().filter(|claim| claim.expires_at(session_liveness) > env.now);
    let refused = live.and_then(|claim| match claim.is_proven_of(&asker) {
        true => refuse_elsewhere(env, author, found, claim).err(),
        false => Some(claimed_refusal(found, claim, session_liveness)),
    });
    let own = live.filter(|_| refused.is_none());
    if let (Some(claim), Some(refusal)) = (live, refused) {
        let Some(why) = force.why.filter(|_| force.given) else { return Err(refusal.into()) };
        preempt(tx, env, author, found, claim, why)?;
    }
    if own.is_none() {
        refuse_closed(found)?;
        if force.given {
            take_from_acceptor(tx, env, found, author.identity, force)?;
        } else {
            refuse_unready(tx, found, author)?;
            require_task_acceptor(tx, env, found, author.identity, ForceRequest::default())?;
        }
    }
    let default_span = if session_id.is_some() { env.limits.stale_after } else { LEASE_WITHOUT_SESSION };
    // What the router gave lasts only until it is taken up.
    let begun = own.filter(|_| !route::awaits_start(found));
    let lease_span = wanted_lease.span.or(begun.map(|claim| claim.lease_span)).unwrap_or(default_span);
    let guaranteed_span = if wanted_lease.while_alive && session_id.is_some() { 0 } else { lease_span };
    let mut wanted = found.clone();
    // Who has it already keeps the token: asking once more is no second claim.
    if own.is_none() {
        wanted.claim_token = tx.next_number(author.project_id, found.claim_token)?;
    }
    wanted.claim = Some(Claim {
        by: author.identity.to_owned(),
        session_id,
        location: Some(env.caller.location.clone()),
        token: wanted.claim_token,
        lease_span,
        base_expiry: env.now.saturating_add(guaranteed_span),
        access_token_id: token_rights::token_id(env),
    });
    route::begin(&mut wanted);
    wanted.set_status("in_progress", env.now);
    wanted.assignee = Some(author.identity.to_owned());
    // Where no holder was ousted, the reason stands in no other entry.
    let why = force.why.filter(|_| force.given && (live.is_none() || own.is_some()));
    let why = why.map(|why| format!(" by force: {}", visible(why))).unwrap_or_default();
    let what = format!("is claimed by {}{why}", author.identity);
    write_change(tx, env, author, found, wanted, &what)
}
