//! `token_list`: every access token, without its secret.

use baton_model::access::Scope;
use baton_store::{Failure, token};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::op::{Access, Cx, Operation, Reach};

/// Lists tokens.
pub(crate) struct List;

/// Input of `token_list`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

/// Answer of `token_list`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Output {
    project_id: Option<String>,
    items: Vec<Value>,
    next: Option<i64>,
}

impl Operation for List {
    const NAME: &'static str = "token_list";
    const DOC: &'static str = "List the access tokens, without their secrets";
    const ACCESS: Access = Access::Read;
    const SCOPE: Scope = Scope::Operator;
    const REACH: Reach = Reach::Everything;
    type Input = Input;
    type Output = Output;

    fn run(_: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let tokens = cx.store.read(|tx| Ok(token::list(tx)?))?;
        let items = tokens.iter().map(|token| token.to_json(cx.env.now)).collect();
        Ok(Output { project_id: None, items, next: None })
    }
}
