//! `token_check`: what the bearer of a secret may do; asked by the server for every request.

use baton_model::access::{Scope, token_invalid_refusal};
use baton_store::{Failure, token};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hash;
use crate::op::{Cx, Meta, Operation, Reach};

/// Checks a token.
pub struct Check;

/// Input of `token_check`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckInput {
    /// The secret; without one the answer says whether one is needed.
    #[serde(default)]
    pub token: Option<String>,
}

/// Answer of `token_check`.
#[derive(Serialize, Deserialize, Default)]
pub struct CheckOutput {
    /// Whether a token was ever made for this store.
    pub needed: bool,
    /// The token's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_id: Option<String>,
    /// Its scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The identities that it may act as; its own name where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identities: Option<Vec<String>>,
    /// Its projects; all where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projects: Option<Vec<String>>,
}

impl Operation for Check {
    const META: Meta =
        Meta::read("token_check", "Say what the bearer of an access token may do").reach(Reach::Everything);
    type Input = CheckInput;
    type Output = CheckOutput;

    fn run(input: CheckInput, cx: &mut Cx<'_>) -> Result<CheckOutput, Failure> {
        let now = cx.env.now;
        cx.store.read(|tx| {
            let needed = token::has_any(tx)?;
            let Some(secret) = &input.token else {
                return Ok(CheckOutput { needed, ..CheckOutput::default() });
            };
            let token = token::by_hash(tx, &hash(secret))?.filter(|token| token.is_valid(now));
            let token = token.ok_or_else(token_invalid_refusal)?;
            Ok(CheckOutput {
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
