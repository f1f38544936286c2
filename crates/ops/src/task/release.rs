//! `task_release`: give a task back that its agent could not do.

use baton_model::delta::Kind;
use baton_model::id::visible;
use baton_model::refusal::{self, Refusal};
use baton_model::row_action::TaskState;
use baton_model::task::Task;
use baton_model::task::filter::is_assigned_to;
use baton_model::time::TEN_YEARS;
use baton_store::{Failure, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::answer::TaskAnswer;
use super::assignee::{check_assignee, tell_assignee};
use super::by_id_to_change;
use super::claim_expiry::{is_claim_live, release};
use super::claim_right::{announce_loss, refuse_closed};
use super::comment::LateComment;
use super::write::{TaskRequest, answer, change, check_and_renew_lease, claimant, reload, write_or_keep};
use crate::force_request::{ForceRequest, require_holder};
use crate::handoff::acceptor::require_task_acceptor;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};

/// Gives a task back.
pub struct Release;

/// Input of `task_release`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleaseInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that gives it back.
    #[serde(default)]
    pub identity: Option<String>,
    /// Task id or a unique prefix of one.
    pub id: String,
    /// The fencing token of the claim: the write is refused when the lease is lost.
    #[serde(default)]
    pub token: Option<i64>,
    /// Why it could not be done: kept with the attempt, and read by the person who decides after too many of them.
    #[serde(default)]
    pub why: Option<String>,
    /// Do not count it as an attempt: it was never begun.
    #[serde(default)]
    pub untried: bool,
    /// Do not offer it again before so many milliseconds have passed.
    #[serde(default)]
    pub retry_after_ms: Option<i64>,
    /// With `why`: give it back although another agent has it. The attempt is that agent's, who is told.
    #[serde(default)]
    pub force: bool,
    /// Who holds it, as the caller knows; empty where none is expected. Refused before anything is written where another holds it by now.
    #[serde(default)]
    pub holder: Option<String>,
    /// Whom to assign it to in the same step, who is told; without it, it is free. No other agent can take it in between.
    #[serde(default)]
    pub assignee: Option<String>,
}

/// Answer of `task_release`: the task as it is now.
#[derive(Serialize, Deserialize)]
pub struct ReleaseOutput {
    /// The task.
    #[serde(flatten)]
    pub task: TaskAnswer,
}

impl Operation for Release {
    const META: Meta = Meta::write("task_release", "Give a claimed task back, for another agent to take")
        .changes_tasks()
        .reads_tasks();
    type Input = ReleaseInput;
    type Output = ReleaseOutput;

    fn run(input: ReleaseInput, cx: &mut Cx<'_>) -> Result<ReleaseOutput, Failure> {
        let (project, identity) = (input.project.as_deref(), input.identity.as_deref());
        let wanted = TaskRequest { project, identity, verb: Self::NAME, id: &input.id };
        let words = |_: &mut Tx<'_>, _: &Author<'_>| LateComment::reason(input.why.as_deref(), false);
        write_or_keep(cx, &wanted, words, |tx, env, author| attempt(tx, env, author, &input))
    }
}

fn attempt(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    input: &ReleaseInput,
) -> Result<ReleaseOutput, Failure> {
    let mut known = by_id_to_change(tx, author.project_id, &input.id)?;
    if input.holder.is_some() {
        refuse_closed(&known)?;
    }
    let what = format!("task {}", known.task_id);
    require_holder(&what, input.holder.as_deref(), TaskState::of(&known).holder)?;
    let assignee = input.assignee.as_deref().filter(|name| !name.is_empty());
    check_assignee(assignee)?;
    if input.force {
        take_back(tx, env, author, &known, input.why.as_deref())?;
    } else {
        check_and_renew_lease(tx, env, author, &mut known, input.token)?;
    }
    refuse_unheld(&known, author, input.force)?;
    let why = input.why.as_deref().unwrap_or("it was given back");
    if let Some(pause) = input.retry_after_ms.filter(|pause| *pause > 0) {
        known.defer_until = Some(env.now.saturating_add(pause.min(TEN_YEARS)));
    }
    let after = release(tx, &known, (!input.untried).then_some(why), env.now)?;
    let body = json!({
        "summary": format!("task {} is free again: {why}", after.task_id), "task_id": after.task_id,
    });
    append_json(tx, env, author, Kind::Other, &body)?;
    let mut after = reload(tx, after)?;
    if let Some(name) = assignee {
        let wanted = Task { assignee: Some(name.to_owned()), ..after.clone() };
        let given = change(tx, env, author, &after, wanted, &format!("is for {}", visible(name)))?;
        tell_assignee(tx, env, author, (&after, &given))?;
        after = given;
    }
    Ok(ReleaseOutput { task: answer(&after, env, author) })
}

/// Tells the holder of a live claim, where that is another agent, that the task is taken back.
fn take_back(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    author: &Author<'_>,
    known: &Task,
    why: Option<&str>,
) -> Result<(), Failure> {
    let Some(why) = why.filter(|why| !why.trim().is_empty()) else {
        let what = "a task is taken back from another agent only with a reason, which it is told";
        return Err(Refusal::invalid(
            "why_missing",
            what,
            "say why: `baton task release ID --force --why REASON`",
        )
        .into());
    };
    let force = ForceRequest { given: true, why: Some(why) };
    require_task_acceptor(tx, env, known, author.identity, force)?;
    let asker = claimant(env, author);
    match &known.claim {
        Some(claim) if !claim.is_of(&asker) && is_claim_live(tx, env, known)? => {
            announce_loss(tx, env, author, (known, claim), ("back", why))
        }
        _ => Ok(()),
    }
}

/// Refuses a task without a claim. What another tool has put in progress has no lease here: its assignee gives it back, and others do so by
/// force.
fn refuse_unheld(known: &Task, author: &Author<'_>, forced: bool) -> Result<(), Refusal> {
    refuse_closed(known)?;
    let id = &known.task_id;
    let assignee = known.assignee.as_deref().filter(|_| known.status == "in_progress");
    match assignee {
        _ if known.claim.is_some() => Ok(()),
        Some(_) if forced || is_assigned_to(known, author.identity) => Ok(()),
        Some(name) => {
            let what = format!("task {id} is in progress with {}, without a lease here", visible(name));
            let hint = format!("`baton task release {id} --force --why REASON` gives it back");
            Err(Refusal::new(refusal::Kind::Conflict, "task_claimed", what, hint)
                .with("task_id", id.clone())
                .with("holder", name.to_owned()))
        }
        None => Err(Refusal::new(
            refusal::Kind::Conflict,
            "task_not_claimed",
            format!("nobody has claimed task {id}"),
            "there is nothing to give back",
        )),
    }
}
