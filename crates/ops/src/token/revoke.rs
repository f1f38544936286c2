//! `token_revoke`: take an access token back.

use baton_model::access::{Scope, TokenRow};
use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, Tx, token};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation, Reach};
use crate::resolve;

/// Takes a token back.
pub struct Revoke;

/// Input of `token_revoke`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeInput {
    /// Token id or a unique prefix of one.
    pub id: String,
}

/// Answer of `token_revoke`.
#[derive(Serialize, Deserialize)]
pub struct RevokeOutput {
    /// The token, without its secret.
    #[serde(flatten)]
    pub shown: TokenRow,
    /// It was taken back before.
    pub revoked_before: bool,
}

impl Operation for Revoke {
    const META: Meta = Meta::write("token_revoke", "Take an access token back")
        .scope(Scope::Operator)
        .reach(Reach::Everything);
    type Input = RevokeInput;
    type Output = RevokeOutput;

    fn run(input: RevokeInput, cx: &mut Cx<'_>) -> Result<RevokeOutput, Failure> {
        let now = cx.env.now;
        cx.store.write_shared(|tx| {
            let token_id = by_prefix(tx, &input.id)?;
            let revoked = token::revoke(tx, &token_id, now)?;
            let token = token::get(tx, &token_id)?.ok_or_else(|| unknown_refusal(&input.id))?;
            Ok(RevokeOutput { shown: token.row(now), revoked_before: !revoked })
        })
    }
}

fn by_prefix(tx: &mut Tx<'_>, id: &str) -> Result<String, Failure> {
    let ids: Vec<String> = token::list(tx)?.into_iter().map(|token| token.token_id).collect();
    if let Some(exact) = ids.iter().find(|known| *known == id) {
        return Ok(exact.clone());
    }
    let found: Vec<String> = ids.into_iter().filter(|known| id.len() >= 4 && known.starts_with(id)).collect();
    match found.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(unknown_refusal(id).into()),
        many => Err(resolve::ambiguous_id_refusal("token", id, many).into()),
    }
}

fn unknown_refusal(id: &str) -> Refusal {
    Refusal::new(
        Kind::NotFound,
        "token_unknown",
        format!("there is no token `{}`", baton_model::id::visible(id)),
        "`baton token list` names them",
    )
}
