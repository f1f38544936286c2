//! `transcript_withdraw`: take back what was pushed.

use baton_model::delta::Kind;
use baton_model::id::{check_label, identity_key, short};
use baton_model::refusal::{self, Refusal};
use baton_store::transcript_copy::{self, StoredCopy};
use baton_store::{Failure, Tx};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::copies::{CopyQuery, copies_of_session, find};
use super::push::CopyRow;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};
use crate::resolve;

/// Withdraws copies.
pub struct Withdraw;

/// Input of `transcript_withdraw`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that withdraws.
    #[serde(default)]
    pub identity: Option<String>,
    /// Id of the session, or a unique prefix of it; else all that this identity has pushed to the project.
    #[serde(default)]
    pub id: Option<String>,
    /// The tool that wrote it.
    #[serde(default)]
    pub agent: Option<String>,
    /// Who pushed it, where several have pushed a session of this id; else the caller's own is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pushed_by: Option<String>,
    /// Withdraw what another identity has pushed.
    #[serde(default)]
    pub force: bool,
    /// Why force is used; written into the ledger.
    #[serde(default)]
    pub why: Option<String>,
}

/// Answer of `transcript_withdraw`.
#[derive(Serialize, Deserialize)]
pub struct WithdrawOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// What was withdrawn.
    pub items: Vec<CopyRow>,
}

impl Operation for Withdraw {
    const META: Meta = Meta::write("transcript_withdraw", "Take back sessions that were pushed to a project");
    type Input = WithdrawInput;
    type Output = WithdrawOutput;

    fn run(input: WithdrawInput, cx: &mut Cx<'_>) -> Result<WithdrawOutput, Failure> {
        input.why.iter().try_for_each(|why| check_label("reason", why))?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let items = store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            let mut items = Vec::new();
            for copy in selection(tx, env, &input, (&project_id, &identity))? {
                items.push(withdraw(tx, env, &input, (&project_id, &identity, &copy))?);
            }
            Ok(items)
        })?;
        Ok(WithdrawOutput { project_id, identity, items })
    }
}

fn selection(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    input: &WithdrawInput,
    (project_id, identity): (&str, &str),
) -> Result<Vec<StoredCopy>, Failure> {
    if let Some(id) = &input.id {
        let query = CopyQuery { id, agent: input.agent.as_deref(), pushed_by: input.pushed_by.as_deref() };
        let own = copies_of_session(tx, project_id, &query)?
            .into_iter()
            .find(|copy| is_pusher(env, copy, identity));
        return Ok(vec![match own {
            Some(own) => own,
            None => find(tx, project_id, &query)?,
        }]);
    }
    let mut all = transcript_copy::list(tx, project_id)?;
    all.retain(|copy| is_pusher(env, copy, identity));
    if all.is_empty() {
        let what = format!("{identity} has pushed nothing to project {project_id}");
        let hint = "`baton transcripts pushed` lists what others did";
        return Err(Refusal::new(refusal::Kind::NotFound, "transcript_not_pushed", what, hint).into());
    }
    Ok(all)
}

fn withdraw(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    input: &WithdrawInput,
    (project_id, identity, copy): (&str, &str, &StoredCopy),
) -> Result<CopyRow, Failure> {
    let forced = input.force && !is_pusher(env, copy, identity);
    if !forced {
        require_pusher(env, copy, identity)?;
    } else if input.why.is_none() {
        let what = "what another agent has pushed is withdrawn only with a reason";
        return Err(Refusal::invalid(
            "why_missing",
            what,
            "say why: `baton transcripts withdraw ID --force --why REASON`",
        )
        .into());
    }
    let row = CopyRow::read(copy)?;
    transcript_copy::remove(tx, project_id, copy)?;
    let summary = format!("session {} of {} was withdrawn", short(&copy.transcript_id), copy.agent);
    let mut body = json!({ "summary": summary, "transcript_id": copy.transcript_id, "agent": copy.agent,
        "pushed_by": copy.identity });
    if forced {
        body["forced"] = json!(true);
        body["why"] = json!(input.why);
    }
    append_json(tx, env, &Author { project_id, identity, session: None }, Kind::Other, &body)?;
    Ok(row)
}

/// Whether the caller is who pushed a copy.
fn is_pusher(env: &Env<'_>, copy: &StoredCopy, identity: &str) -> bool {
    let bearer = env.caller.grant.bearer.as_ref();
    copy.identity_key == identity_key(identity)
        && bearer.is_none_or(|bearer| bearer.owns(&copy.identity, copy.opened_by.as_deref()))
}

/// Refuses to replace or withdraw what another caller has pushed.
pub(super) fn require_pusher(env: &Env<'_>, copy: &StoredCopy, identity: &str) -> Result<(), Refusal> {
    if is_pusher(env, copy, identity) {
        return Ok(());
    }
    let what =
        format!("session {} was pushed by {}, not by {identity}", short(&copy.transcript_id), copy.identity);
    let hint = format!(
        "act as {0}: `--as {0}`; or have an operator withdraw it: `baton transcripts withdraw {1} --pushed-by {0} --force --why REASON`",
        copy.identity, copy.transcript_id
    );
    Err(Refusal::new(refusal::Kind::Conflict, "transcript_not_yours", what, hint))
}
