//! `transcript_list`: sessions of every tool, newest first.

use std::path::Path;

use baton_store::{Failure, project_root};
use baton_transcripts::{Filter, SessionListing};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::find::{agent_ids, list};
use super::isolation::View;
use super::row::Row;
use crate::op::{Cx, Meta, Operation, Reach};
use crate::resolve;

/// Lists transcripts.
pub struct List;

/// Input of `transcript_list`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// Only these tools: `claude`, `codex`, …
    #[serde(default)]
    pub agents: Vec<String>,
    /// Only sessions of this project's folders, or of this folder.
    #[serde(default)]
    pub project: Option<String>,
    /// Only sessions with an entry at or after this instant, in epoch milliseconds.
    #[serde(default)]
    pub since_ms: Option<i64>,
    /// At most so many; 0 for all.
    #[serde(default)]
    pub limit: Option<i64>,
}

/// Answer of `transcript_list`.
#[derive(Serialize, Deserialize)]
pub struct ListOutput {
    /// The project.
    pub project_id: Option<String>,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// How many there are in all.
    pub total: usize,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for List {
    const META: Meta = Meta::write(
        "transcript_list",
        "List sessions of every coding agent on this machine, this project's first",
    )
    .reach(Reach::Everything)
    .on_callers_disk()
    .only_caches()
    .slow("looking through the sessions of this machine");
    type Input = ListInput;
    type Output = ListOutput;

    fn run(input: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        let agents = agent_ids(&input.agents)?;
        let filter = Filter { agents, since_ms: input.since_ms, ..Filter::default() };
        let machine = cx.env.caller.location.machine.clone();
        let known = match &input.project {
            Some(name) => cx.store.read(|tx| Ok(project_root::folders(tx, name, &machine)?))?,
            None => cx.env.caller.git_root.iter().cloned().collect(),
        };
        let own = match &input.project {
            Some(name) => Some(name.clone()),
            None => resolve::project_id(cx.store, &cx.env, None).ok(),
        };
        let roots = if known.is_empty() { input.project.iter().cloned().collect() } else { known };
        let limit = match input.limit.unwrap_or(0) {
            0 => usize::MAX,
            n => usize::try_from(n).unwrap_or(usize::MAX),
        };
        let view = View::of(cx, input.project.as_deref())?;
        let is_in = |one: &SessionListing| {
            is_below(&roots, one.brief.cwd.as_deref())
                || own.as_deref().is_some_and(|own| view.is_of(one, own))
        };
        let mut total = 0;
        let headers = list(cx, &filter, |listed| {
            listed.retain(|one| view.shows(one));
            if input.project.is_some() {
                listed.retain(is_in);
            } else {
                listed.sort_by_key(|one| !is_in(one));
            }
            total = listed.len();
            listed.truncate(limit);
            Ok(())
        })?;
        // Sessions are listed in any folder, registered or not.
        let host = cx.env.host;
        let items = headers.into_iter().map(|header| Row {
            here: is_below(&roots, header.cwd.as_deref())
                || own.as_deref().is_some_and(|own| view.is_of(&header, own)),
            is_open: host.is_conversation_open(&header.tool_id, &header.id),
            ..Row::from(header)
        });
        let items = items.collect();
        let here = resolve::project_id(cx.store, &cx.env, input.project.as_deref()).ok();
        Ok(ListOutput { project_id: here.or(input.project), items, total, next: None })
    }
}

fn is_below(roots: &[String], cwd: Option<&str>) -> bool {
    cwd.is_some_and(|cwd| roots.iter().any(|root| Path::new(cwd).starts_with(root)))
}
