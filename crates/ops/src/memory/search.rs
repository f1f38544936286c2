//! `memory_search`: finds memories by text, importance and recency.

use baton_model::id::check_label;
use baton_model::memory::{View, score};
use baton_model::query::check_query;
use baton_model::refusal::Refusal;
use baton_store::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::by_id;
use super::retrieval::{MatchBasis, ScoredMemory, SearchMethod, retrieve};
use super::scope::searched;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Finds memories.
pub struct Search;

/// Input of `memory_search`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Words; none: the newest and most important.
    #[serde(default)]
    pub query: String,
    /// The memory of this id, or of a unique prefix of it, alone, also where it was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Only this kind.
    #[serde(default)]
    pub kind: Option<String>,
    /// Only those with every one of these tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Look into related projects as well; isolated ones take no part, on either side.
    #[serde(default)]
    pub related: bool,
    /// The most that are returned, up to 100; 0 for every one.
    #[serde(default = "default_limit")]
    pub limit: usize,
}

impl Default for SearchInput {
    fn default() -> Self {
        Self {
            project: Default::default(),
            query: Default::default(),
            id: Default::default(),
            kind: Default::default(),
            tags: Default::default(),
            related: Default::default(),
            limit: default_limit(),
        }
    }
}

fn default_limit() -> usize {
    10
}

/// A recalled memory.
#[derive(Serialize, Deserialize)]
pub struct Row {
    /// The memory.
    #[serde(flatten)]
    pub memory: View,
    /// How it ranks: 0 to 1, to three places.
    pub score: f64,
}

/// Answer of `memory_search`.
#[derive(Serialize, Deserialize)]
pub struct SearchOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
    /// Projects that were searched.
    pub searched: Vec<String>,
    /// `hybrid`: words and vectors; `qdrant`: words and Qdrant; `text`: words alone; `newest`: nothing was asked for.
    pub recall: SearchMethod,
    /// `words`: without a model, a search finds words, their forms, slips and synonyms of the trade, and not other words for the same thing;
    /// `meaning`: a model was asked as well. Missing where nothing was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches_by: Option<MatchBasis>,
    /// Why not in a better way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall_why: Option<String>,
}

impl Operation for Search {
    const META: Meta =
        Meta::read("memory_search", "Recall memories by text, importance and recency").searches_index();
    type Input = SearchInput;
    type Output = SearchOutput;

    fn run(input: SearchInput, cx: &mut Cx<'_>) -> Result<SearchOutput, Failure> {
        check_query(&input.query)?;
        for label in input.tags.iter().chain(&input.kind) {
            check_label("tag", label)?;
        }
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        if let Some(id) = &input.id {
            check_named_alone(&input)?;
            return named_memory(cx, project_id, id);
        }
        let Cx { store, env } = cx;
        let (now, grant) = (env.now, &env.caller.grant);
        // What a batch has written may be taken back: it is not to be remembered as seen.
        let cache = env.host.matrices().filter(|_| !store.is_batch_open());
        let (searched, found) = store.read(|tx| {
            let mut searched = searched(tx, &project_id, input.related)?;
            searched.retain(|project| grant.reaches(project));
            // One with a certain tag may be older than the best ones.
            let is_whole = input.limit == 0 || !input.tags.is_empty();
            let found = retrieve(tx, env, cache, (&searched, &input.query, is_whole))?;
            Ok((searched, found))
        })?;
        let mut ranked: Vec<(f64, ScoredMemory)> = found
            .candidates
            .into_iter()
            .filter(|c| input.kind.as_ref().is_none_or(|kind| *kind == c.memory.kind))
            .filter(|c| input.tags.iter().all(|tag| c.memory.tags.contains(tag)))
            .map(|c| (score(c.matched, &c.memory, now), c))
            .collect();
        ranked.sort_by(|(a, x), (b, y)| {
            b.total_cmp(a).then_with(|| y.memory.memory_id.cmp(&x.memory.memory_id))
        });
        let most = if input.limit == 0 { usize::MAX } else { input.limit.min(100) };
        let items = ranked.iter().take(most).map(|(score, c)| row(*score, c)).collect();
        Ok(SearchOutput {
            project_id,
            items,
            next: None,
            searched,
            recall: found.method,
            matches_by: found.basis,
            recall_why: found.why,
        })
    }
}

/// Refuses a search beside an id: one of the two would count for nothing.
fn check_named_alone(input: &SearchInput) -> Result<(), Refusal> {
    let is_searched =
        !input.query.is_empty() || input.kind.is_some() || !input.tags.is_empty() || input.related;
    if !is_searched {
        return Ok(());
    }
    Err(Refusal::invalid(
        "input_invalid",
        "`id` names one memory, and nothing is searched beside it",
        "leave out `query`, `kind`, `tags` and `related`, or leave out `id`",
    ))
}

/// A memory that is named: no search is made for it.
fn named_memory(cx: &mut Cx<'_>, project_id: String, id: &str) -> Result<SearchOutput, Failure> {
    let memory = cx.store.read(|tx| {
        resolve::require_project(tx, &project_id)?;
        by_id(tx, &project_id, id)
    })?;
    Ok(SearchOutput {
        items: vec![Row { memory: View::from(&memory), score: 1.0 }],
        next: None,
        searched: vec![project_id.clone()],
        project_id,
        recall: SearchMethod::Newest,
        matches_by: None,
        recall_why: None,
    })
}

fn row(score: f64, candidate: &ScoredMemory) -> Row {
    Row { memory: View::from(&candidate.memory), score: (score * 1_000.0).round() / 1_000.0 }
}
