//! `ledger_list`: read the ledger from a cursor.

use baton_model::delta::{Delta, Kind, Row};
use baton_model::id::identity_key;
use baton_model::project::redacted_address;
use baton_model::refusal::Refusal;
use baton_store::{Failure, Tx, delta, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Cx, Meta, Operation};
use crate::page::row_limit;
use crate::project::{export_out_of_reach_refusal, hidden_merge};
use crate::resolve;

/// Deltas that are read at once where only some of them are wanted.
const BATCH_SIZE: usize = 500;
/// Deltas that are looked at for one page.
const MAX_SCANNED: usize = 20_000;

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
    /// With `newest`: those before this number, which is `earlier` of the page before.
    #[serde(default)]
    pub before: Option<i64>,
    /// Only this kind.
    #[serde(default)]
    pub kind: Option<String>,
    /// Only of this identity.
    #[serde(default)]
    pub by: Option<String>,
    /// Only with all of these words in the line that says what happened.
    #[serde(default)]
    pub text: Option<String>,
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
pub struct DeltaListOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
    /// With `newest`: `before` for what is older; absent where nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<i64>,
    /// There where the project is isolated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_isolated: bool,
}

impl Operation for LedgerList {
    const META: Meta = Meta::read("ledger_list", "Read the project's ledger in order, from a cursor");
    type Input = LedgerListInput;
    type Output = DeltaListOutput;

    fn run(input: LedgerListInput, cx: &mut Cx<'_>) -> Result<DeltaListOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let filter = Filter::of(&input);
        let (page, is_isolated) = cx.store.read(|tx| {
            let own =
                project::get(tx, &project_id)?.ok_or_else(|| resolve::no_project_refusal(&project_id))?;
            let page = match input.newest {
                true => newest(tx, &project_id, &input, &filter)?,
                false => onward(tx, &project_id, &input, &filter)?,
            };
            Ok((page, own.is_isolated))
        })?;
        let mut items = Vec::with_capacity(page.found.len());
        for (mut delta, chain) in page.found {
            if let Some(body) = hidden_merge(&delta, &cx.env.caller.grant) {
                if input.chain {
                    return Err(export_out_of_reach_refusal(&project_id).into());
                }
                delta.body = body;
            }
            if !input.chain
                && let Some(body) = without_webhook(&delta)
            {
                delta.body = body;
            }
            items.push(row(&delta, input.brief, input.chain.then_some(&chain)));
        }
        Ok(DeltaListOutput { project_id, items, next: page.next, earlier: page.earlier, is_isolated })
    }
}

/// The body of an entry about a registration without the whole address of a webhook, which earlier versions wrote into it.
fn without_webhook(entry: &Delta) -> Option<String> {
    if entry.kind != Kind::Other || !entry.body.contains("\"webhook_url\":\"") {
        return None;
    }
    let mut body: Value = serde_json::from_str(&entry.body).ok()?;
    let url = body.get_mut("project")?.get_mut("webhook_url")?;
    let shown = redacted_address(url.as_str()?);
    *url = shown.into();
    Some(body.to_string())
}

/// What a reader asked for.
struct Filter<'a> {
    input: &'a LedgerListInput,
    identity: Option<String>,
    words: Vec<String>,
}

impl<'a> Filter<'a> {
    fn of(input: &'a LedgerListInput) -> Self {
        let words = input.text.as_deref().unwrap_or_default().split_whitespace();
        Self {
            input,
            identity: input.by.as_deref().map(identity_key),
            words: words.map(str::to_lowercase).collect(),
        }
    }

    fn wants(&self, delta: &Delta) -> bool {
        let is_of = |id: &String| delta.session_id.as_ref().is_some_and(|session| session.starts_with(id));
        self.input.kind.as_ref().is_none_or(|kind| delta.kind.as_str() == kind)
            && self.input.session.as_ref().is_none_or(is_of)
            && self.input.since_ms.is_none_or(|since| delta.created_at >= since)
            && self.identity.as_ref().is_none_or(|key| identity_key(&delta.identity) == *key)
            && self.has_words(delta)
    }

    /// Whether others are read beside those that are wanted.
    fn is_narrow(&self) -> bool {
        let input = self.input;
        let is_other = input.kind.as_deref().is_some_and(|kind| Kind::from_word(kind) == Kind::Other);
        is_other || input.session.is_some() || self.identity.is_some() || !self.words.is_empty()
    }

    fn has_words(&self, delta: &Delta) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let line = delta.headline().to_lowercase();
        self.words.iter().all(|word| line.contains(word))
    }
}

/// The deltas of a page, the oldest first, each with its `chain` where that is read.
#[derive(Default)]
struct LedgerPage {
    found: Vec<(Delta, String)>,
    next: Option<i64>,
    earlier: Option<i64>,
}

/// From the beginning on.
fn onward(
    tx: &mut Tx<'_>,
    project_id: &str,
    input: &LedgerListInput,
    filter: &Filter<'_>,
) -> Result<LedgerPage, Failure> {
    let limit = limit(input);
    let mut found = delta::chained(tx, project_id, input.after, limit)?;
    let is_full = found.len() == usize::try_from(limit).unwrap_or(usize::MAX);
    let next = found.last().filter(|_| is_full).map(|(delta, _)| delta.seq);
    found.retain(|(delta, _)| filter.wants(delta));
    Ok(LedgerPage { found, next, earlier: None })
}

/// From the end back, as far as it takes to fill the page, and no farther than is read in a moment.
fn newest(
    tx: &mut Tx<'_>,
    project_id: &str,
    input: &LedgerListInput,
    filter: &Filter<'_>,
) -> Result<LedgerPage, Failure> {
    if input.chain {
        let hint = "leave out one of the two: a chain is read from its beginning";
        return Err(Refusal::invalid("input_invalid", "`newest` and `chain` do not go together", hint).into());
    }
    // Of one kind, however much of others came since.
    let kind = input.kind.as_deref().map(Kind::from_word).filter(|kind| *kind != Kind::Other);
    let most = usize::try_from(limit(input)).unwrap_or(usize::MAX);
    let size = if filter.is_narrow() { BATCH_SIZE.max(most + 1) } else { most + 1 };
    let (mut page, mut seq, mut looked) = (LedgerPage::default(), input.before.unwrap_or(i64::MAX), 0);
    loop {
        let batch = delta::page_before(tx, project_id, kind, seq, row_limit(size))?;
        let is_last = batch.len() < size;
        looked += batch.len();
        for delta in batch {
            if delta.seq <= input.after {
                page.found.reverse();
                return Ok(page);
            }
            if page.found.len() == most {
                page.earlier = Some(seq);
                page.found.reverse();
                return Ok(page);
            }
            seq = delta.seq;
            if filter.wants(&delta) {
                page.found.push((delta, String::new()));
            }
        }
        if is_last || looked >= MAX_SCANNED {
            page.earlier = Some(seq).filter(|_| !is_last);
            page.found.reverse();
            return Ok(page);
        }
    }
}

/// At most so many rows.
fn limit(input: &LedgerListInput) -> i64 {
    input.limit.unwrap_or(1_000).clamp(1, 10_000)
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
