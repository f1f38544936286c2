//! `ledger_list`: read the ledger from a cursor.

use baton_model::delta::{Delta, Kind, Row};
use baton_model::refusal::Refusal;
use baton_store::{Failure, Tx, delta, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Reads the ledger.
pub struct LedgerList;

/// Input of `ledger_list`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LedgerListInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Only deltas after this number.
    #[serde(default)]
    pub after: i64,
    /// The newest deltas, oldest first. Numbers have gaps, so do not count back from the highest to find them.
    #[serde(default)]
    pub newest: bool,
    /// Only this kind.
    #[serde(default)]
    pub kind: Option<String>,
    /// Only this session.
    #[serde(default)]
    pub session: Option<String>,
    /// Only deltas at or after this instant, in epoch milliseconds.
    #[serde(default)]
    pub since_ms: Option<i64>,
    /// At most so many; the rest is behind `next`.
    #[serde(default)]
    pub limit: Option<i64>,
    /// In place of each body one line that says what happened.
    #[serde(default)]
    pub brief: bool,
    /// With each delta's `chain`, and with its exact body as `body_text` where JSON would not give it back: what an export
    /// is made of.
    #[serde(default)]
    pub chain: bool,
}

/// Answer of `ledger_list`.
#[derive(Serialize, Deserialize)]
pub struct LedgerListOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
    /// There where the project is isolated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_isolated: bool,
}

impl Operation for LedgerList {
    const META: Meta = Meta::read("ledger_list", "Read the project's ledger in order, from a cursor");
    type Input = LedgerListInput;
    type Output = LedgerListOutput;

    fn run(input: LedgerListInput, cx: &mut Cx<'_>) -> Result<LedgerListOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let limit = input.limit.unwrap_or(1_000).clamp(1, 10_000);
        let (deltas, is_isolated) = cx.store.read(|tx| {
            let own = project::get(tx, &project_id)?.ok_or_else(|| resolve::unknown_project(&project_id))?;
            Ok((read(tx, &project_id, &input, limit)?, own.is_isolated))
        })?;
        let full = !input.newest && i64::try_from(deltas.len()).unwrap_or(i64::MAX) == limit;
        let next = deltas.last().filter(|_| full).map(|(delta, _)| delta.seq);
        let wanted = |(delta, _): &&(Delta, String)| {
            input.kind.as_ref().is_none_or(|kind| delta.kind.as_str() == kind)
                && input
                    .session
                    .as_ref()
                    .is_none_or(|id| delta.session_id.as_ref().is_some_and(|s| s.starts_with(id)))
                && input.since_ms.is_none_or(|since| delta.created_at >= since)
        };
        let show = |(delta, chain): &(Delta, String)| row(delta, input.brief, input.chain.then_some(chain));
        let items = deltas.iter().filter(wanted).map(show).collect();
        Ok(LedgerListOutput { project_id, items, next, is_isolated })
    }
}

/// The deltas of a page, oldest first, each with its `chain` where that is read.
fn read(
    tx: &mut Tx<'_>,
    project_id: &str,
    input: &LedgerListInput,
    limit: i64,
) -> Result<Vec<(Delta, String)>, Failure> {
    if !input.newest {
        return Ok(delta::chained(tx, project_id, input.after, limit)?);
    }
    if input.chain {
        let hint = "leave out one of the two: a chain is read from its beginning";
        return Err(Refusal::invalid("input_invalid", "`newest` and `chain` do not go together", hint).into());
    }
    // Of one kind, however much of others came since.
    let found = match input.kind.as_deref().map(Kind::from_word).filter(|kind| *kind != Kind::Other) {
        Some(kind) => delta::newest_kind(tx, project_id, kind, limit)?,
        None => delta::newest(tx, project_id, i64::MIN, limit)?,
    };
    let newest = found.into_iter().rev();
    Ok(newest.filter(|delta| delta.seq > input.after).map(|delta| (delta, String::new())).collect())
}

fn row(delta: &Delta, brief: bool, chain: Option<&String>) -> Row {
    if brief {
        return Row { chain: chain.cloned(), ..delta.brief() };
    }
    let body = delta.body_json();
    let written = body.to_string();
    let is_exact = delta.kind == Kind::Wrap || written == delta.body;
    let body_text = (chain.is_some() && !is_exact).then(|| delta.body.clone());
    Row { body: Some(body), body_text, chain: chain.cloned(), ..delta.head() }
}
