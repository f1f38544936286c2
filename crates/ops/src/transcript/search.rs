//! `transcript_search`: sessions in which something was said, done or printed.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use baton_model::query::check_query;
use baton_model::refusal::Refusal;
use baton_store::search::{self, Hit};
use baton_store::{Failure, Fault, Tx, project_root};
use baton_transcripts::Header;
use baton_transcripts::search::{Query, entries, snippet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find::{agent_ids, registered};
use super::index::{self, RefreshStats};
use super::isolation::View;
use super::row::Row;
use crate::op::{Cx, Meta, Operation, Reach};
use crate::resolve;

/// Passages that are looked at for one query: those of the newest sessions.
const MAX_HITS: i64 = 4_000;
/// What is answered when nothing is said about it.
const LIMIT: usize = 10;

/// Searches transcripts.
pub struct Search;

/// Input of `transcript_search`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchInput {
    /// Words that all occur, `"phrases"`, and beginnings of words: `pars*`.
    pub query: String,
    /// Only these tools: `claude`, `codex`, …
    #[serde(default)]
    pub agents: Vec<String>,
    /// Only sessions of this project's folders, or of this folder.
    #[serde(default)]
    pub project: Option<String>,
    /// Only sessions with an entry at or after this instant, in epoch milliseconds.
    #[serde(default)]
    pub since_ms: Option<i64>,
    /// At most so many sessions; 10 when absent, 0 for all.
    #[serde(default)]
    pub limit: Option<i64>,
    /// Searches what is indexed, without looking for new and changed sessions first.
    #[serde(default)]
    pub no_refresh: bool,
}

/// Answer of `transcript_search`.
#[derive(Serialize, Deserialize)]
pub struct SearchOutput {
    /// The project.
    pub project_id: Option<String>,
    /// The best first.
    pub items: Vec<MatchingSession>,
    /// Sessions that match; more than `items` when there is a limit.
    pub total: usize,
    /// Whether so much matches that only the newest of it was ranked.
    pub partial: bool,
    /// Words of the query that were left out because there were too many.
    pub left_out: usize,
    /// How much is searched, and what was read for it.
    pub index: IndexState,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

/// A session that was found, with its best passage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchingSession {
    /// The session.
    #[serde(flatten)]
    pub transcript: Row,
    /// Where the passage stands: `agent:id#line`.
    pub place: String,
    /// Its line in the file.
    pub line: u64,
    /// Who speaks in it.
    pub role: Option<String>,
    /// What is said around the words of the query.
    pub snippet: Option<String>,
    /// How good it is: more is better.
    pub score: i64,
    /// Passages of the session that match.
    pub passages: usize,
    /// Whether it is the transcript of a sub-agent.
    pub subagent: bool,
}

/// How much is searched, and what was read for it.
#[derive(Debug, Serialize, Deserialize)]
pub struct IndexState {
    /// Sessions.
    pub sessions: i64,
    /// Passages.
    pub passages: i64,
    /// Size in bytes.
    pub bytes: i64,
    /// What looking for new and changed sessions did; none where that was not wanted.
    pub refreshed: Option<RefreshStats>,
}

/// Where is searched: in these folders, where any are named, and in what is shown from here.
struct FolderFilter<'a> {
    roots: Option<Vec<String>>,
    view: View<'a>,
}

/// A session that was found.
struct RankedSession {
    session: i64,
    /// Its best passage.
    best: Hit,
    score: i64,
    passages: usize,
}

impl Operation for Search {
    const META: Meta = Meta::read(
        "transcript_search",
        "Search what was said, called and printed in sessions of every coding agent",
    )
    .reach(Reach::Everything)
    .on_callers_disk();
    type Input = SearchInput;
    type Output = SearchOutput;

    fn run(input: SearchInput, cx: &mut Cx<'_>) -> Result<SearchOutput, Failure> {
        check_query(&input.query)?;
        let input = SearchInput { agents: agent_ids(&input.agents)?, ..input };
        let query = Query::parse(&input.query);
        if query.terms.is_empty() {
            let hint = "give words that occur in it: letters, digits, ideographs or pictographs";
            return Err(Refusal::invalid("query_empty", "there is no word in this query", hint).into());
        }
        let within = FolderFilter {
            roots: roots(input.project.as_deref(), cx)?,
            view: View::of(cx, input.project.as_deref())?,
        };
        let target = index::target(cx.env.host);
        match search(&input, cx, &query, &within, &target) {
            // What another process has made anew is opened again, once.
            Err(Failure::Fault(fault)) if search::was_rebuilt(&fault) => {
                search(&input, cx, &query, &within, &target)
            }
            // What is damaged is made anew, once.
            Err(Failure::Fault(fault)) if search::needs_rebuild(&fault) => {
                search::remove_index(&target);
                search(&input, cx, &query, &within, &target)
            }
            answer => answer,
        }
    }
}

fn search(
    input: &SearchInput,
    cx: &mut Cx<'_>,
    query: &Query,
    within: &FolderFilter<'_>,
    target: &baton_store::Target,
) -> Result<SearchOutput, Failure> {
    let mut index = index::open(target, cx.env.now)?;
    let refreshed = if input.no_refresh {
        None
    } else {
        let folders = registered(cx)?;
        Some(index::refresh(&mut index, &cx.env, &folders, &input.agents)?)
    };
    let limit = match input.limit {
        None => LIMIT,
        Some(0) => usize::MAX,
        Some(n) => usize::try_from(n).unwrap_or(usize::MAX),
    };
    let (ranked, partial, items, totals) = index.read(|tx| {
        let among = candidate_ids(tx, input, within)?;
        let (mut ranked, partial) = ranked(tx, query, among.as_deref())?;
        if ranked.len() < limit && query.terms.len() > 1 {
            scattered(tx, query, among.as_deref(), limit, &mut ranked)?;
        }
        let items = ranked.iter().take(limit).map(|one| item(tx, query, one)).collect::<Result<_, _>>()?;
        Ok((ranked.len(), partial, items, search::totals(tx)?))
    })?;
    Ok(SearchOutput {
        project_id: resolve::project_id(cx.store, &cx.env, input.project.as_deref())
            .ok()
            .or_else(|| input.project.clone()),
        items,
        total: ranked,
        partial,
        left_out: query.left_out,
        index: IndexState { sessions: totals.0, passages: totals.1, bytes: totals.2, refreshed },
        next: None,
    })
}

/// The folders of the project that is named; the name itself where it is a folder.
pub(super) fn roots(project: Option<&str>, cx: &mut Cx<'_>) -> Result<Option<Vec<String>>, Failure> {
    let Some(name) = project else { return Ok(None) };
    let machine = cx.env.caller.location.machine.clone();
    let known = cx.store.read(|tx| Ok(project_root::folders(tx, name, &machine)?))?;
    Ok(Some(if known.is_empty() { vec![name.to_owned()] } else { known }))
}

/// The sessions in which may be searched, where the search is narrowed.
fn candidate_ids(
    tx: &mut Tx<'_>,
    input: &SearchInput,
    within: &FolderFilter<'_>,
) -> Result<Option<Vec<i64>>, Fault> {
    let FolderFilter { roots, view } = within;
    if input.agents.is_empty() && roots.is_none() && input.since_ms.is_none() && view.is_open() {
        return Ok(None);
    }
    let agents: HashSet<&str> = input.agents.iter().map(String::as_str).collect();
    let is_of =
        |one: &search::SearchScope| input.project.as_ref().is_some_and(|project| view.is_of(one, project));
    let is_below = |cwd: &str, roots: &[String]| roots.iter().any(|root| Path::new(cwd).starts_with(root));
    let is_in = |one: &search::SearchScope| {
        roots.as_ref().is_none_or(|roots| is_below(&one.cwd, roots) || is_of(one))
    };
    let matches = |one: &search::SearchScope| {
        (agents.is_empty() || agents.contains(one.agent.as_str()))
            && input.since_ms.is_none_or(|since| one.updated_at >= since)
            && is_in(one)
            && view.shows(one)
    };
    Ok(Some(search::scopes(tx)?.into_iter().filter(matches).map(|one| one.number).collect()))
}

/// Sessions with a passage in which the whole query occurs, the best first.
fn ranked(
    tx: &mut Tx<'_>,
    query: &Query,
    among: Option<&[i64]>,
) -> Result<(Vec<RankedSession>, bool), Fault> {
    let hits = search::hits(tx, &query.expression(), among, MAX_HITS)?;
    let partial = i64::try_from(hits.len()).is_ok_and(|found| found >= MAX_HITS);
    let mut sessions: HashMap<i64, RankedSession> = HashMap::new();
    for hit in hits {
        let new = RankedSession { session: hit.session(), best: hit, score: 0, passages: 0 };
        let one = sessions.entry(hit.session()).or_insert(new);
        one.passages += 1;
        // Of equals the first passage, which is the one with the lowest id.
        if hit.score >= one.best.score {
            one.best = hit;
        }
    }
    let mut ranked: Vec<RankedSession> = sessions.into_values().collect();
    for one in &mut ranked {
        // A session that comes back to it is worth more, up to half as much again.
        let again = i64::try_from(one.passages.min(11)).unwrap_or(1) - 1;
        one.score = one.best.score + one.best.score / 20 * again;
    }
    // Of equals the newest.
    ranked.sort_by_key(|one| std::cmp::Reverse((one.score, one.session)));
    Ok((ranked, partial))
}

/// Adds sessions in which every term occurs, though not in one passage: they come last.
fn scattered(
    tx: &mut Tx<'_>,
    query: &Query,
    among: Option<&[i64]>,
    limit: usize,
    ranked: &mut Vec<RankedSession>,
) -> Result<(), Fault> {
    let mut rarest: Option<(usize, String)> = None;
    let mut common: Option<HashSet<i64>> = among.map(|numbers| numbers.iter().copied().collect());
    for term in &query.terms {
        let expression = term.expression();
        let sessions: HashSet<i64> = search::sessions(tx, &expression)?.into_iter().collect();
        if rarest.as_ref().is_none_or(|(count, _)| sessions.len() < *count) {
            rarest = Some((sessions.len(), expression));
        }
        common = Some(match common {
            None => sessions,
            Some(common) => common.intersection(&sessions).copied().collect(),
        });
    }
    let known: HashSet<i64> = ranked.iter().map(|one| one.session).collect();
    let mut further: Vec<i64> =
        common.unwrap_or_default().into_iter().filter(|one| !known.contains(one)).collect();
    further.sort_unstable_by_key(|number| std::cmp::Reverse(*number));
    further.truncate(limit - ranked.len());
    let Some((_, rarest)) = rarest else { return Ok(()) };
    for session in further {
        if let Some(best) = search::hits(tx, &rarest, Some(&[session]), 1)?.pop() {
            ranked.push(RankedSession { session, best, score: 0, passages: 0 });
        }
    }
    Ok(())
}

/// A session as it is shown.
fn item(tx: &mut Tx<'_>, query: &Query, one: &RankedSession) -> Result<MatchingSession, Fault> {
    let header: Header = search::header(tx, one.session)?
        .and_then(|header| serde_json::from_str(&header).ok())
        .unwrap_or_default();
    let packed = search::packed(tx, one.best)?.unwrap_or_default();
    let shown = snippet(&entries(&packed), query);
    let line = shown.as_ref().map_or(0, |shown| shown.line);
    let (role, text) = shown.map(|shown| (shown.role, shown.text)).unzip();
    Ok(MatchingSession {
        transcript: Row::from(&header),
        place: format!("{}:{}#{line}", header.tool_id, header.id),
        line,
        role,
        snippet: text,
        score: one.score,
        passages: one.passages,
        subagent: header.subagent,
    })
}
