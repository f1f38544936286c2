//! `project_search`: everything in which some words occur, over all projects, for a person who looks for something.

use std::cmp::Reverse;

use baton_model::query::check_query;
use baton_model::refusal::Refusal;
use baton_model::time::Timestamp;
use baton_store::hit::{Cursor, Hit, SearchTarget, holding};
use baton_store::{Failure, Tx, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::isolation;
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// How many are looked at at a time.
const PAGE_SIZE: i64 = 500;
/// How many that hold the rarest word are looked at of each kind in a project.
const MAX_SCANNED: i64 = 20_000;

/// Searches.
pub struct Search;

/// Input of `project_search`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchInput {
    /// Words, all of which must occur in what is found, in any case: in its name, its text, who it is of, or its project.
    pub query: String,
    /// Only in this project; else in the one that the caller named, or in all that are not isolated.
    #[serde(default)]
    pub project: Option<String>,
    /// At most so many; 0 for all.
    #[serde(default = "default_limit")]
    pub limit: usize,
}

impl Default for SearchInput {
    fn default() -> Self {
        Self { query: Default::default(), project: Default::default(), limit: default_limit() }
    }
}

fn default_limit() -> usize {
    200
}

/// Something that was found.
#[derive(Serialize, Deserialize)]
pub struct SearchRow {
    /// The project that it is in.
    pub project_id: String,
    /// What it is.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The beginning of what else is said of it.
    pub about: String,
    /// When it was last written; none of a project.
    pub at: Option<Timestamp>,
}

/// Answer of `project_search`: projects, tasks and their comments, batons, sessions, hand-offs, messages by their subject, leases by
/// paths and reason, and what was noted, decided and why, found out, remembered or said at a checkpoint; newest first.
#[derive(Serialize, Deserialize)]
pub struct SearchOutput {
    /// The project.
    pub project_id: Option<String>,
    /// The rows of this page.
    pub items: Vec<SearchRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<usize>,
    /// Whether there is so much of a kind in a project that its older ones were not looked at: more words find them.
    pub more: bool,
}

impl Operation for Search {
    const META: Meta = Meta::read(
        "project_search",
        "Search tasks, batons, sessions, hand-offs, mail and decisions of all projects by words",
    );
    type Input = SearchInput;
    type Output = SearchOutput;

    fn run(input: SearchInput, cx: &mut Cx<'_>) -> Result<SearchOutput, Failure> {
        check_query(&input.query)?;
        let words: Vec<String> = input.query.split_whitespace().map(str::to_lowercase).collect();
        // The store looks for one word, the rest is sorted out here: the longest leaves the least.
        let Some(rarest) = words.iter().max_by_key(|word| (word.is_ascii(), word.len())) else {
            let what = "the search has no word in it";
            return Err(Refusal::invalid("query_invalid", what, "give the words that you look for").into());
        };
        let named = input.project.as_deref().or(cx.env.caller.project.as_deref());
        let only = match named {
            Some(name) => Some(resolve::project_id(cx.store, &cx.env, Some(name))?),
            // Who stands in an isolated project looks into that one alone.
            None => isolation::isolated_project(cx)?,
        };
        let grant = &cx.env.caller.grant;
        let limit = if input.limit == 0 { usize::MAX } else { input.limit };
        let (mut found, mut more) = (Vec::new(), false);
        cx.store.read(|tx| {
            let mut projects: Vec<String> = match &only {
                Some(one) => {
                    resolve::require_project(tx, one)?;
                    vec![one.clone()]
                }
                None => {
                    let open = project::list(tx)?.into_iter().filter(|project| !project.is_isolated);
                    open.map(|project| project.project_id).collect()
                }
            };
            projects.retain(|project_id| grant.reaches(project_id));
            for project_id in projects {
                let own = Hit {
                    kind: "project".to_owned(),
                    id: project_id.clone(),
                    title: project_id.clone(),
                    about: String::new(),
                    at: i64::MAX,
                };
                // A word of the project's own name says nothing about what is in it.
                let word = if project_id.contains(rarest.as_str()) { "" } else { rarest };
                let wanted = |hit: &Hit| holds(hit, &project_id, &words);
                let mut hits: Vec<Hit> = std::iter::once(own).filter(wanted).collect();
                for among in SearchTarget::ALL {
                    more |= search_part(tx, (&project_id, among, word), wanted, (&mut hits, limit))?;
                }
                found.extend(hits.into_iter().map(|hit| (project_id.clone(), hit)));
            }
            Ok(())
        })?;
        found.sort_by_key(|(_, hit)| Reverse(hit.at));
        let next = (found.len() > limit).then_some(limit);
        found.truncate(limit);
        let items = found.iter().map(|(project_id, hit)| row(project_id, hit)).collect();
        Ok(SearchOutput { project_id: only, items, next, more })
    }
}

/// Looks at what holds the rarest word, newest first, until there are more than are asked for or there is nothing older. Says
/// whether it gave up before.
fn search_part(
    tx: &mut Tx<'_>,
    (project_id, among, word): (&str, SearchTarget, &str),
    wanted: impl Fn(&Hit) -> bool,
    (found, limit): (&mut Vec<Hit>, usize),
) -> Result<bool, Failure> {
    let enough = found.len().saturating_add(limit);
    let mut cursor = Cursor::default();
    for _ in 0..MAX_SCANNED / PAGE_SIZE {
        let page = holding(tx, project_id, among, word, (&mut cursor, PAGE_SIZE))?;
        let is_last = i64::try_from(page.len()).is_ok_and(|count| count < PAGE_SIZE);
        found.extend(page.into_iter().filter(&wanted));
        if is_last || found.len() > enough {
            return Ok(false);
        }
    }
    Ok(true)
}

fn holds(hit: &Hit, project_id: &str, words: &[String]) -> bool {
    let text = format!("{} {} {} {} {project_id}", hit.kind, hit.id, hit.title, hit.about).to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

fn row(project_id: &str, hit: &Hit) -> SearchRow {
    SearchRow {
        project_id: project_id.to_owned(),
        kind: hit.kind.clone(),
        id: hit.id.clone(),
        title: hit.title.clone(),
        about: hit.about.chars().take(200).collect(),
        at: (hit.at != i64::MAX).then_some(Timestamp(hit.at)),
    }
}
