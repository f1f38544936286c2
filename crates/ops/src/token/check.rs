//! `token_check`: what the bearer of a secret may do; asked by the server for every request.

use baton_model::access::{Scope, token_invalid};
use baton_store::{Failure, token};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hash;
use crate::op::{Access, Cx, Operation, Reach};

/// Checks a token.
pub(crate) struct Check;

/// Input of `token_check`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The secret; without one the answer says whether one is needed.
    #[serde(default)]
    token: Option<String>,
}

/// Answer of `token_check`.
#[derive(Serialize, Deserialize, Default)]
pub(crate) struct Output {
    /// Whether any token was made for this store, and not taken back.
    needed: bool,
    /// The token's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_id: Option<String>,
    /// Its scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<Scope>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The identities that it may act as; its own name where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    identities: Option<Vec<String>>,
    /// Its projects; all where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    projects: Option<Vec<String>>,
}

impl Operation for Check {
    const NAME: &'static str = "token_check";
    const DOC: &'static str = "Say what the bearer of an access token may do";
    const ACCESS: Access = Access::Read;
    const REACH: Reach = Reach::Everything;
    type Input = Input;
    type Output = Output;

    fn run(input: Input, cx: &mut Cx<'_>) -> Result<Output, Failure> {
        let now = cx.env.now;
        cx.store.read(|tx| {
            let needed = token::any(tx)?;
            let Some(secret) = &input.token else {
                return Ok(Output { needed, ..Output::default() });
            };
            let token = token::by_hash(tx, &hash(secret))?.filter(|token| token.is_valid(now));
            let token = token.ok_or_else(token_invalid)?;
            Ok(Output {
                needed,
                identities: token.identities().cloned(),
                name: Some(token.name),
                token_id: Some(token.token_id),
                scope: Some(token.grant.scope),
                projects: token.grant.projects,
            })
        })
    }
}
