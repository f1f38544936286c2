//! `lease_list`: who works on which paths right now.

use baton_model::id::identity_key;
use baton_model::lease::{FileLease, Row, pattern};
use baton_store::{Failure, lease};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Lists leases.
pub struct List;

/// Input of `lease_list`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Only those that this path or glob touches.
    #[serde(default)]
    pub path: Option<String>,
    /// Only those of this identity.
    #[serde(default)]
    pub holder: Option<String>,
}

/// Answer of `lease_list`, oldest first.
#[derive(Serialize, Deserialize)]
pub struct ListOutput {
    /// The project.
    pub project_id: String,
    /// The rows of this page.
    pub items: Vec<Row>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for List {
    const META: Meta = Meta::read("lease_list", "List who works on which paths right now");
    type Input = ListInput;
    type Output = ListOutput;

    fn run(input: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        let path = input.path.as_deref().map(pattern::check).transpose()?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let now = cx.env.now;
        let held = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            Ok(lease::held_leases(tx, &project_id, now)?)
        })?;
        let holder = input.holder.as_deref().map(identity_key);
        let wanted = |lease: &&FileLease| {
            path.as_ref().is_none_or(|path| pattern::touches(path, &lease.pattern))
                && holder.as_ref().is_none_or(|key| identity_key(&lease.identity) == *key)
        };
        let items = held.iter().filter(wanted).map(FileLease::row).collect();
        Ok(ListOutput { project_id, items, next: None })
    }
}
