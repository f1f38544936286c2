//! `lease_list`: who works on which paths right now.

use baton_model::id::identity_key;
use baton_model::lease::{Lease, pattern};
use baton_store::{Failure, lease};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Lists leases.
pub(crate) struct List;

/// Input of `lease_list`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Only those that this path or glob touches.
    #[serde(default)]
    path: Option<String>,
    /// Only those of this identity.
    #[serde(default)]
    holder: Option<String>,
}

/// Answer of `lease_list`, oldest first.
#[derive(Serialize)]
pub(crate) struct Output {
    project_id: String,
    items: Vec<Value>,
    next: Option<i64>,
}

impl Operation for List {
    const NAME: &'static str = "lease_list";
    const DOC: &'static str = "List who works on which paths right now";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let path = input.path.as_deref().map(pattern::check).transpose()?;
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let now = cx.env.now;
        let held = cx.store.read(|tx| {
            resolve::known(tx, &project_id)?;
            Ok(lease::held(tx, &project_id, now)?)
        })?;
        let holder = input.holder.as_deref().map(identity_key);
        let wanted = |lease: &&Lease| {
            path.as_ref().is_none_or(|path| pattern::touches(path, &lease.pattern))
                && holder.as_ref().is_none_or(|key| identity_key(&lease.identity) == *key)
        };
        let items = held.iter().filter(wanted).map(Lease::to_json).collect();
        Ok(Output { project_id, items, next: None })
    }
}
