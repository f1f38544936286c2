//! `key_list`: whose public keys are listed.

use baton_store::{Failure, key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ListedKey, same};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Lists keys.
pub struct List;

/// Input of `key_list`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Only the key of this identity.
    #[serde(default)]
    pub name: Option<String>,
}

/// A listed key.
#[derive(Serialize, Deserialize)]
pub struct Row {
    /// The key.
    #[serde(flatten)]
    pub key: ListedKey,
    /// Whether its private half is on this machine.
    pub here: bool,
}

/// Answer of `key_list`, by identity.
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
    const META: Meta = Meta::read("key_list", "List the public keys of a project");
    type Input = ListInput;
    type Output = ListOutput;

    fn run(input: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let mut keys = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            Ok(key::list(tx, &project_id)?)
        })?;
        keys.retain(|key| input.name.as_ref().is_none_or(|name| same(name, &key.identity)));
        let host = cx.env.host;
        let row = |key: &key::PublicKey| {
            let own = host.own_key(&project_id, &key.identity).ok().flatten();
            Row { key: ListedKey::from(key), here: own.as_ref() == Some(&key.recipient) }
        };
        let items = keys.iter().map(row).collect();
        Ok(ListOutput { project_id, items, next: None })
    }
}
