//! `share_list`: the shares of a project, without their secrets.

use baton_model::access::Scope;
use baton_model::share::{Share, ShareRow};
use baton_store::{Failure, share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::page::{Position, page_size, row_limit};
use crate::project::merged_from;
use crate::resolve;

/// Lists shares.
pub struct List;

/// Input of `share_list`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// At most so many, 200 at the most; 50 when it is left out.
    #[serde(default)]
    pub limit: Option<i64>,
    /// `next` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// Answer of `share_list`.
#[derive(Serialize, Deserialize)]
pub struct ListOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page, the newest first.
    pub items: Vec<ShareRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<String>,
}

impl Operation for List {
    const META: Meta = Meta::read("share_list", "List the shares of a project, without their secrets")
        .scope(Scope::Operator);
    type Input = ListInput;
    type Output = ListOutput;

    fn run(input: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        let limit = page_size(input.limit, 50, 200);
        let after =
            input.cursor.as_deref().map(Position::parse).transpose()?.unwrap_or_else(Position::newest);
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        let mut found = store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let mut found = share::page(tx, &project_id, (after.at, &after.id), row_limit(limit + 1))?;
            // The addresses of a project that was merged into this one are open as before.
            for merged in
                merged_from(tx, &project_id)?.iter().filter(|merged| env.caller.grant.reaches(merged))
            {
                found.extend(share::page(tx, merged, (after.at, &after.id), row_limit(limit + 1))?);
            }
            Ok(found)
        })?;
        found.sort_by(|a, b| (b.created_at, &b.share_id).cmp(&(a.created_at, &a.share_id)));
        let is_more = found.len() > limit;
        found.truncate(limit);
        let place = |last: &Share| Position { at: last.created_at, id: last.share_id.clone() }.to_string();
        let next = found.last().filter(|_| is_more).map(place);
        let items = found.iter().map(|one| one.row(env.now)).collect();
        Ok(ListOutput { project_id, items, next })
    }
}
