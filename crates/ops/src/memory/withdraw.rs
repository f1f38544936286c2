//! `memory_withdraw`: a memory that is never recalled again.

use baton_model::delta::Kind;
use baton_model::id::{check_identity, identity_key};
use baton_model::memory::{Memory, View};
use baton_model::printable::quotable;
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, Tx, memory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::by_id;
use crate::card::SUBJECT;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};
use crate::{resolve, session};

/// Withdraws a memory.
pub struct Withdraw;

/// Input of `memory_withdraw`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that withdraws it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Memory id or a unique prefix of one.
    pub id: String,
    /// Why it is not true any more.
    #[serde(default)]
    pub why: Option<String>,
}

/// Answer of `memory_withdraw`: the memory.
#[derive(Serialize, Deserialize)]
pub struct WithdrawOutput {
    /// The memory.
    #[serde(flatten)]
    pub memory: View,
}

impl Operation for Withdraw {
    const META: Meta =
        Meta::write("memory_withdraw", "Withdraw a memory, so that it is never recalled again");
    type Input = WithdrawInput;
    type Output = WithdrawOutput;

    fn run(input: WithdrawInput, cx: &mut Cx<'_>) -> Result<WithdrawOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let memory = store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let known = by_id(tx, &project_id, &input.id)?;
            let key = (project_id.as_str(), known.memory_id.as_str());
            if !memory::withdraw(tx, key, &identity, input.why.as_deref(), env.now)? {
                return Err(withdrawn_before_refusal(&known.memory_id).into());
            }
            let own = resolve::default_session(tx, env, &project_id, &identity)?;
            let author = Author { project_id: &project_id, identity: &identity, session: own.as_ref() };
            let summary = format!("memory withdrawn: {}", super::add::headline(&known.text));
            let body = json!({ "summary": summary, "memory_id": known.memory_id, "why": input.why });
            let delta = append_json(tx, env, &author, Kind::Remember, &body)?;
            super::enqueue_removal(tx, env, &project_id, &known.memory_id, delta.seq)?;
            notify_author(tx, env, &known, (&identity, input.why.as_deref()))?;
            by_id(tx, &project_id, &known.memory_id)
        })?;
        Ok(WithdrawOutput { memory: View::from(&memory) })
    }
}

/// Signals to the author of a memory that another identity withdrew it, with the text, which no search finds any more.
fn notify_author(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    memory: &Memory,
    (by, why): (&str, Option<&str>),
) -> Result<(), Failure> {
    let author = memory.identity.as_str();
    if identity_key(author) == identity_key(by) || check_identity(author).is_err() {
        return Ok(());
    }
    let subject = format!("{by} withdrew your memory \"{}\"", quotable(&memory.text, SUBJECT));
    let why = why.unwrap_or("no reason was given");
    let body = format!("{why}\n\nIt said:\n{}", memory.text);
    session::send_signal(tx, env, (&memory.project_id, by, author), (&subject, &body))
}

fn withdrawn_before_refusal(id: &str) -> Refusal {
    let what = "the memory was withdrawn before";
    Refusal::new(refusal::Kind::Conflict, "memory_withdrawn", what, "there is nothing left to do")
        .with("memory_id", id)
}
