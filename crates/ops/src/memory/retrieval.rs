//! Retrieval of memories: the candidates (words in the ledger, vectors, an external index) are looked up in the ledger, which alone says
//! what there is and what was withdrawn, and ranked by their relevance.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use baton_model::memory::{Memory, query_words};
use baton_model::memory_index::{QuantizedVector, VectorKind, hashing, relevance, terms};
use baton_store::{Failure, Tx, memory, search_memory};

use crate::memory_index::{MatrixCache, nearest};
use crate::op::Env;

/// The most candidates that each ranking gives for a project.
const CANDIDATES: usize = 200;

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

/// What was found, in what way, and why not in a better one.
pub(super) struct RetrievalResult {
    pub(super) candidates: Vec<ScoredMemory>,
    pub(super) method: SearchMethod,
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
    let text = search_text(tx, projects, &words, is_whole)?;
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
    let mut candidates = looked_up(tx, projects, similarities.into_iter())?;
    // What an index outside finds is found, whatever its vectors are. Without any vector the words alone decide.
    let kind = match (method, env.host.memory_index().endpoint) {
        (SearchMethod::Text, _) | (SearchMethod::Hybrid, None) => VectorKind::Hashed,
        _ => VectorKind::Model,
    };
    let found: Vec<(&str, f64)> =
        candidates.iter().map(|one| (one.memory.text.as_str(), one.matched)).collect();
    let matched = relevance(query, &found, kind);
    for (one, matched) in candidates.iter_mut().zip(matched) {
        one.matched = matched;
    }
    // A question without any term, of common words alone, finds what has those.
    if !terms(query).is_empty() {
        candidates.retain(|one| one.matched > 0.0);
    }
    Ok(RetrievalResult { candidates, method, why })
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
    Ok(RetrievalResult { candidates, method: SearchMethod::Newest, why: None })
}

#[allow(clippy::cast_precision_loss, reason = "weights are small")]
fn search_text(
    tx: &mut Tx<'_>,
    projects: &[String],
    words: &[String],
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
    fused: impl Iterator<Item = ((String, String), f64)>,
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
