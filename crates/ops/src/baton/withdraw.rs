//! `baton_withdraw`: take back a baton that the caller left. It is offered to no agent any more, and stays readable.

use baton_model::access::Scope;
use baton_model::accounting::Remark;
use baton_model::baton::Baton;
use baton_model::delta::Kind;
use baton_model::id::{check_label, identity_key, short};
use baton_model::refusal::Refusal;
use baton_model::time::Timestamp;
use baton_store::{Failure, Tx, baton, delta, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::list::{Row, Withdrawal, row};
use super::show::baton_by_id;
use super::spent::spending;
use crate::force_request::require_holder;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Env, Meta, Operation};
use crate::session::{brought_words_remarks, update_baton};
use crate::{resolve, token_rights};

/// The most entries of a session among which its withdrawal is looked for.
const MAX_SCANNED_ENTRIES: i64 = 50;

/// Takes a baton back.
pub struct Withdraw;

/// Input of `baton_withdraw`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawInput {
    /// Id of the baton, or a unique prefix of it.
    pub id: String,
    /// Project id; else the baton is looked for in all that the caller reaches.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that takes it back.
    #[serde(default)]
    pub identity: Option<String>,
    /// Take back what another left; for operators.
    #[serde(default)]
    pub force: bool,
    /// Who holds it, as the caller knows; empty where none is expected. Refused before anything is written where another holds it by now.
    #[serde(default)]
    pub holder: Option<String>,
    /// Why; written into the ledger.
    #[serde(default)]
    pub why: Option<String>,
}

/// Answer of `baton_withdraw`.
#[derive(Serialize, Deserialize)]
pub struct WithdrawOutput {
    /// The identity that acted.
    pub identity: String,
    /// The baton.
    #[serde(flatten)]
    pub row: Row,
    /// What others brought of its conversation: no later pickup shows it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words_of_others: Vec<Remark>,
}

impl Operation for Withdraw {
    const META: Meta = Meta::write("baton_withdraw", "Take back a baton that nobody holds");
    type Input = WithdrawInput;
    type Output = WithdrawOutput;

    fn run(input: WithdrawInput, cx: &mut Cx<'_>) -> Result<WithdrawOutput, Failure> {
        if let Some(why) = &input.why {
            check_label("reason", why)?;
        }
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let known = baton_by_id(cx, &input.id, input.project.as_deref())?;
        let project_id = known.project_id;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let found = baton::get(tx, &project_id, &known.baton_id)?;
            let found = found.ok_or_else(|| super::show::unknown_refusal(&input.id))?;
            let is_forced = require_right(env, &found, &input, &identity)?;
            let holder = match &found.holder_session_id {
                Some(id) => session::get(tx, &project_id, id)?,
                None => None,
            };
            let name = holder.as_ref().map(|holder| holder.identity.as_str());
            let what = format!("baton {}", short(&found.baton_id));
            require_holder(&what, input.holder.as_deref(), name)?;
            found.check_withdrawal(holder.as_ref(), env.now)?;
            let withdrawn = found.withdrawn();
            update_baton(tx, &withdrawn)?;
            write_down(tx, env, &found, (&input, &identity, is_forced))?;
            let withdrawal =
                Withdrawal { by: identity.clone(), at: Timestamp(env.now), why: input.why.clone() };
            let spent = spending(tx, &withdrawn)?;
            let row = Row { withdrawn: Some(withdrawal), spent, ..row(env, withdrawn, None) };
            let of_baton = (found.baton_id.as_str(), found.session_id.as_str());
            let words_of_others = brought_words_remarks(tx, env, &project_id, of_baton)?;
            Ok(WithdrawOutput { identity: identity.clone(), row, words_of_others })
        })
    }
}

/// Refuses who did not leave it; an operator may with force and a reason. Says whether it is force.
fn require_right(
    env: &Env<'_>,
    found: &Baton,
    input: &WithdrawInput,
    identity: &str,
) -> Result<bool, Failure> {
    let is_own = identity_key(&found.identity) == identity_key(identity);
    if is_own && token_rights::is_bound_or_local(env, identity) {
        return Ok(false);
    }
    if !input.force {
        return Err(found.not_yours_refusal().into());
    }
    env.caller.grant.require(Scope::Operator)?;
    if input.why.is_none() {
        let what = "a baton that another left is taken back only with a reason";
        return Err(Refusal::invalid("why_missing", what, "say --why REASON").into());
    }
    Ok(true)
}

/// Writes it into the ledger, in the line of work of the session that left the baton.
fn write_down(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    found: &Baton,
    (input, identity, is_forced): (&WithdrawInput, &str, bool),
) -> Result<(), Failure> {
    let left = session::get(tx, &found.project_id, &found.session_id)?;
    let author = Author { project_id: &found.project_id, identity, session: left.as_ref() };
    let mut body = json!({
        "summary": format!("baton withdrawn: {}", found.summary),
        "withdrawn_baton_id": found.baton_id,
        "why": input.why,
    });
    if is_forced {
        body["forced"] = json!(true);
    }
    append_json(tx, env, &author, Kind::Other, &body)?;
    Ok(())
}

/// That a baton was taken back, as the ledger has it; nothing of one that goes on, or that its wrap finished.
pub(super) fn withdrawal(tx: &mut Tx<'_>, of: &Baton) -> Result<Option<Withdrawal>, Failure> {
    if !of.is_finished() {
        return Ok(None);
    }
    let entries = delta::newest_of_session(tx, &of.project_id, &of.session_id, MAX_SCANNED_ENTRIES)?;
    let found = entries.iter().filter(|entry| entry.kind == Kind::Other).find_map(|entry| {
        let body: Value = serde_json::from_str(&entry.body).ok()?;
        let is_this = body["withdrawn_baton_id"].as_str() == Some(&of.baton_id);
        let why = body["why"].as_str().map(str::to_owned);
        is_this.then(|| Withdrawal { by: entry.identity.clone(), at: Timestamp(entry.created_at), why })
    });
    Ok(found)
}
