//! `key_list`: whose public keys are listed.

use baton_store::{Failure, key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{same, to_json};
use crate::op::{Access, Cx, Operation};
use crate::resolve;

/// Lists keys.
pub(crate) struct List;

/// Input of `key_list`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Project id; else from the working directory.
    #[serde(default)]
    project: Option<String>,
    /// Only the key of this identity.
    #[serde(default)]
    name: Option<String>,
}

/// Answer of `key_list`, by identity. `here`: the private half is on this machine.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    project_id: String,
    items: Vec<Value>,
    next: Option<i64>,
}

impl Operation for List {
    const NAME: &'static str = "key_list";
    const DOC: &'static str = "List the public keys of a project";
    const ACCESS: Access = Access::Read;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let project_id = resolve::project_id(cx.store, cx.env.caller, input.project.as_deref())?;
        let mut keys = cx.store.read(|tx| {
            resolve::known(tx, &project_id)?;
            Ok(key::list(tx, &project_id)?)
        })?;
        keys.retain(|key| input.name.as_ref().is_none_or(|name| same(name, &key.identity)));
        let host = cx.env.host;
        let row = |key: &key::PublicKey| {
            let mut row = to_json(key);
            let own = host.own_key(&project_id, &key.identity).ok().flatten();
            row["here"] = json!(own.as_ref() == Some(&key.recipient));
            row
        };
        let items = keys.iter().map(row).collect();
        Ok(Output { project_id, items, next: None })
    }
}
