//! `project_search`: everything in which some words occur, over all projects, for a person who looks for something.

use std::cmp::Reverse;

use baton_model::refusal::Refusal;
use baton_model::time::rfc3339;
use baton_store::hit::{Hit, holding};
use baton_store::{Failure, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// How many of each kind are looked at in a project.
const LOOKED_AT: i64 = 500;

/// Searches.
pub(crate) struct Search;

/// Input of `project_search`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Words, all of which must occur in what is found, in any case: in its name, its text, who it is of, or its project.
    query: String,
    /// Only in this project; else in the one that the caller named, or in all.
    #[serde(default)]
    project: Option<String>,
    /// At most so many; 0 for all.
    #[serde(default = "usual")]
    limit: usize,
}

fn usual() -> usize {
    200
}

/// Answer of `project_search`: projects, tasks, batons, sessions, hand-offs, messages by their subject, and what was noted,
/// decided, found out or remembered; newest first.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: Option<String>,
    items: Vec<Value>,
    next: Option<usize>,
    /// Whether there is so much of a kind in a project that only its newest were looked at.
    more: bool,
}

impl Operation for Search {
    const NAME: &'static str = "project_search";
    const DOC: &'static str =
        "Search tasks, batons, sessions, hand-offs, mail and decisions of all projects by words";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let words: Vec<String> = input.query.split_whitespace().map(str::to_lowercase).collect();
        // The store looks for one word, the rest is sorted out here: the longest leaves the least.
        let Some(rarest) = words.iter().max_by_key(|word| (word.is_ascii(), word.len())) else {
            let what = "the search has no word in it";
            return Err(Refusal::invalid("query_invalid", what, "give the words that you look for").into());
        };
        let named = input.project.as_deref().or(cx.env.caller.project.as_deref());
        let only = named.map(|name| resolve::project_id(cx.store, cx.env.caller, Some(name))).transpose()?;
        let grant = &cx.env.caller.grant;
        let (mut found, mut more) = (Vec::new(), false);
        cx.store.read(|tx| {
            let mut projects: Vec<String> = match &only {
                Some(one) => {
                    resolve::known(tx, one)?;
                    vec![one.clone()]
                }
                None => project::list(tx)?.into_iter().map(|project| project.project_id).collect(),
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
                let hits = holding(tx, &project_id, word, LOOKED_AT)?;
                more |= is_cut(&hits);
                found.extend(
                    std::iter::once(own)
                        .chain(hits)
                        .filter(|hit| holds(hit, &project_id, &words))
                        .map(|hit| (project_id.clone(), hit)),
                );
            }
            Ok(())
        })?;
        found.sort_by_key(|(_, hit)| Reverse(hit.at));
        let limit = if input.limit == 0 { usize::MAX } else { input.limit };
        let next = (found.len() > limit).then_some(limit);
        found.truncate(limit);
        let items = found.iter().map(|(project_id, hit)| row(project_id, hit)).collect();
        Ok(Output { project_id: only, items, next, more })
    }
}

/// Whether of some kind there is as much as is looked at.
fn is_cut(hits: &[Hit]) -> bool {
    let kinds = ["task", "baton", "session", "handoff", "message"];
    let most = usize::try_from(LOOKED_AT).unwrap_or(usize::MAX);
    let of = |kind: &str| hits.iter().filter(|hit| hit.kind == kind).count();
    let said = hits.iter().filter(|hit| !kinds.contains(&hit.kind.as_str())).count();
    said >= most || kinds.iter().any(|kind| of(kind) >= most)
}

fn holds(hit: &Hit, project_id: &str, words: &[String]) -> bool {
    let text = format!("{} {} {} {} {project_id}", hit.kind, hit.id, hit.title, hit.about).to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

fn row(project_id: &str, hit: &Hit) -> Value {
    let about: String = hit.about.chars().take(200).collect();
    let at = (hit.at != i64::MAX).then(|| rfc3339(hit.at));
    json!({ "project_id": project_id, "kind": hit.kind, "id": hit.id, "title": hit.title, "about": about, "at": at })
}
