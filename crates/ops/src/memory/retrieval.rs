//! Retrieval of memories: the candidates (words in the ledger, vectors, an external index) are looked up in the ledger, which alone says
//! what there is and what was withdrawn, and ranked by their relevance.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use baton_model::memory::{Memory, query_words};
use baton_model::memory_index::{
    MisspeltWords, QuantizedVector, VectorKind, WordQuery, hashing, relevance, terms,
};
use baton_store::{Failure, Tx, memory, search_memory};

use crate::memory_index::{MatrixCache, nearest, text_of};
use crate::op::Env;

/// The most candidates that each ranking gives for a project.
const CANDIDATES: usize = 200;
/// Memories of a project, the newest, that are read for words with slips: ten milliseconds' worth.
const SPELLING_LIMIT: i64 = 10_000;

/// A memory, and how well it matches: 0 to 1.
pub(super) struct ScoredMemory {
    pub(super) memory: Memory,
    pub(super) matched: f64,
}

/// How memories were searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMethod {
    /// The newest: the query has no words.
    Newest,
    /// By words alone.
    Text,
    /// By words and by vectors in the ledger.
    Hybrid,
    /// By words and by an index outside.
    Qdrant,
}

/// What a search compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchBasis {
    /// Words: their forms, words with slips and, without a model, synonyms of the trade.
    Words,
    /// The words, and the meaning as a model sees it.
    Meaning,
}

/// What was found, in what way, and why not in a better one.
pub(super) struct RetrievalResult {
    pub(super) candidates: Vec<ScoredMemory>,
    pub(super) method: SearchMethod,
    /// None where nothing was asked for.
    pub(super) basis: Option<MatchBasis>,
    pub(super) why: Option<String>,
}

/// A ranking: project, memory, and a score that compares within it only.
type Ranking = Vec<((String, String), f64)>;

/// Memories of these projects that may answer the question, none of them withdrawn; without any word, the newest. `is_whole`: every
/// one, not only the best. Vectors are
/// kept between two calls where there is a place for them.
pub(super) fn retrieve(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    cache: Option<&MatrixCache>,
    (projects, query, is_whole): (&[String], &str, bool),
) -> Result<RetrievalResult, Failure> {
    let words = query_words(query);
    if words.is_empty() {
        return newest(tx, projects, is_whole);
    }
    let (method, why, second) = add_index_hits(tx, env, cache, (projects, query))?;
    let basis = match_basis(env);
    // What an index outside finds is found, whatever its vectors are. Without any vector the words alone decide.
    let kind = match (method, basis) {
        (SearchMethod::Text, _) | (SearchMethod::Hybrid, MatchBasis::Words) => VectorKind::Hashed,
        _ => VectorKind::Model,
    };
    let beginnings = WordQuery { beginnings: words.clone(), words: Vec::new() };
    let mut text = search_text(tx, projects, &beginnings, is_whole)?;
    if kind == VectorKind::Hashed {
        text.extend(search_text(tx, projects, &WordQuery::synonyms(query), is_whole)?);
    }
    let mut similarities: BTreeMap<(String, String), f64> =
        text.into_iter().map(|(id, _)| (id, 0.0)).collect();
    let scale = match method {
        // The scores of an external index compare within its answer only.
        SearchMethod::Qdrant => second.iter().map(|(_, score)| *score).fold(0.0, f64::max) * 2.0,
        _ => 1.0,
    };
    if scale > 0.0 {
        similarities.extend(second.into_iter().map(|(id, score)| (id, score / scale)));
    }
    let mut candidates = looked_up(tx, projects, similarities)?;
    add_misspelt(tx, projects, &words, &mut candidates)?;
    // Tags are words of a memory, too.
    let texts: Vec<String> = candidates.iter().map(|one| text_of(&one.memory)).collect();
    let found: Vec<(&str, f64)> =
        texts.iter().map(String::as_str).zip(candidates.iter().map(|one| one.matched)).collect();
    let matched = relevance(query, &found, kind);
    for (one, matched) in candidates.iter_mut().zip(matched) {
        one.matched = matched;
    }
    // A question without any term, of common words alone, finds what has those.
    if !terms(query).is_empty() {
        candidates.retain(|one| one.matched > 0.0);
    }
    Ok(RetrievalResult { candidates, method, basis: Some(basis), why })
}

/// Whether the question has a vector that a model made.
fn match_basis(env: &Env<'_>) -> MatchBasis {
    let setup = env.host.memory_index();
    let vector = env.caller.found.as_deref().and_then(|found| found.vector.as_ref());
    let is_by_model = vector.is_some_and(|(embedder, _)| setup.endpoint.as_ref() == Some(embedder));
    if is_by_model { MatchBasis::Meaning } else { MatchBasis::Words }
}

/// Adds memories that have words of the question with slips, where a word of it stands in no candidate: neither an index of words nor a
/// model's vectors are near those.
fn add_misspelt(
    tx: &mut Tx<'_>,
    projects: &[String],
    words: &[String],
    candidates: &mut Vec<ScoredMemory>,
) -> Result<(), Failure> {
    let indexed: Vec<String> = candidates.iter().map(|one| text_of(&one.memory)).collect();
    let Some(misspelt) = MisspeltWords::of(words, indexed.iter().map(String::as_str)) else {
        return Ok(());
    };
    let present: BTreeSet<String> = candidates.iter().map(|one| one.memory.memory_id.clone()).collect();
    let mut counts = Vec::new();
    for project in projects {
        for (id, text) in memory::texts(tx, project, SPELLING_LIMIT)? {
            let count = misspelt.count_in(&text);
            if count > 0 && !present.contains(&id) {
                counts.push((count, (project.clone(), id)));
            }
        }
    }
    counts.sort_by(|(one, _), (other, _)| other.cmp(one));
    counts.truncate(CANDIDATES);
    candidates.extend(looked_up(tx, projects, counts.into_iter().map(|(_, id)| (id, 0.0)))?);
    Ok(())
}

/// How many memories of a project are looked at: the best ones, or every one.
fn most_of(is_whole: bool) -> i64 {
    if is_whole { i64::MAX } else { i64::try_from(CANDIDATES).unwrap_or(i64::MAX) }
}

fn newest(tx: &mut Tx<'_>, projects: &[String], is_whole: bool) -> Result<RetrievalResult, Failure> {
    let mut candidates = Vec::new();
    for project in projects {
        let recent = memory::recent(tx, project, most_of(is_whole))?;
        candidates.extend(recent.into_iter().map(|memory| ScoredMemory { memory, matched: 0.0 }));
    }
    Ok(RetrievalResult { candidates, method: SearchMethod::Newest, basis: None, why: None })
}

#[allow(clippy::cast_precision_loss, reason = "weights are small")]
fn search_text(
    tx: &mut Tx<'_>,
    projects: &[String],
    words: &WordQuery,
    is_whole: bool,
) -> Result<Ranking, Failure> {
    let mut all = Vec::new();
    for project in projects {
        let found = search_memory::find(tx, project, words, most_of(is_whole))?;
        all.extend(found.into_iter().map(|(id, weight)| ((project.clone(), id), weight as f64)));
    }
    Ok(all)
}

/// The ranking beside the words: of the index outside where there is one, else of the vectors in the ledger.
fn add_index_hits(
    tx: &mut Tx<'_>,
    env: &Env<'_>,
    cache: Option<&MatrixCache>,
    (projects, query): (&[String], &str),
) -> Result<(SearchMethod, Option<String>, Ranking), Failure> {
    let setup = env.host.memory_index();
    let found = env.caller.found.as_deref();
    let why = || {
        let reason = found.and_then(|found| found.why.clone());
        Some(reason.unwrap_or_else(|| "nobody asked the index for this call".to_owned()))
    };
    if setup.outside {
        let Some(hits) = found.and_then(|found| found.hits.as_ref()) else {
            return Ok((SearchMethod::Text, why(), Vec::new()));
        };
        // An index outside may hold anything: what is of no project that was asked for goes no further.
        let relevant = hits.iter().filter(|(project, _, _)| projects.contains(project));
        let ranking = relevant.map(|(project, id, score)| ((project.clone(), id.clone()), *score)).collect();
        return Ok((SearchMethod::Qdrant, found.and_then(|found| found.why.clone()), ranking));
    }
    let question = match &setup.endpoint {
        None => QuantizedVector::of(&hashing(query)),
        Some(name) => match found.and_then(|found| found.vector.as_ref()).filter(|(by, _)| by == name) {
            Some((_, vector)) => QuantizedVector::of(vector),
            None => return Ok((SearchMethod::Text, why(), Vec::new())),
        },
    };
    let mut ranking = Vec::new();
    for project in projects {
        let near = nearest(tx, cache, &setup, project, (&question, CANDIDATES))?;
        ranking.extend(near.into_iter().map(|(id, cosine)| ((project.clone(), id), cosine)));
    }
    Ok((SearchMethod::Hybrid, None, ranking))
}

/// What the ledger has of it.
fn looked_up(
    tx: &mut Tx<'_>,
    projects: &[String],
    fused: impl IntoIterator<Item = ((String, String), f64)>,
) -> Result<Vec<ScoredMemory>, Failure> {
    let mut wanted: BTreeMap<String, Vec<(String, f64)>> = BTreeMap::new();
    for ((project, id), matched) in fused {
        wanted.entry(project).or_default().push((id, matched));
    }
    let mut candidates = Vec::new();
    for project in projects {
        let scores: BTreeMap<String, f64> = wanted.remove(project).into_iter().flatten().collect();
        let ids: Vec<String> = scores.keys().cloned().collect();
        for memory in memory::get_many(tx, project, &ids)? {
            if memory.withdrawn_at.is_none() {
                let matched = scores.get(&memory.memory_id).copied().unwrap_or_default();
                candidates.push(ScoredMemory { memory, matched });
            }
        }
    }
    Ok(candidates)
}
