//! `token_list`: every access token, without its secret.

use baton_model::access::{Scope, TokenRow};
use baton_store::{Failure, token};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation, Reach};

/// Lists tokens.
pub struct List;

/// Input of `token_list`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListInput {}

/// Answer of `token_list`.
#[derive(Serialize, Deserialize)]
pub struct ListOutput {
    /// The project.
    pub project_id: Option<String>,
    /// The rows of this page.
    pub items: Vec<TokenRow>,
    /// Cursor of the next page; absent on the last one.
    pub next: Option<i64>,
}

impl Operation for List {
    const META: Meta = Meta::read("token_list", "List the access tokens, without their secrets")
        .scope(Scope::Operator)
        .reach(Reach::Everything);
    type Input = ListInput;
    type Output = ListOutput;

    fn run(_: ListInput, cx: &mut Cx<'_>) -> Result<ListOutput, Failure> {
        let tokens = cx.store.read(|tx| Ok(token::list(tx)?))?;
        let items = tokens.iter().map(|token| token.row(cx.env.now)).collect();
        Ok(ListOutput { project_id: None, items, next: None })
    }
}
