//! `token_revoke`: take an access token back.

use baton_model::access::{Scope, Token, TokenRow};
use baton_model::id::identity_key;
use baton_model::refusal::{Kind, Refusal};
use baton_model::time::Millis;
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
    /// Token id, a unique prefix of one, or the token's name where only one has it.
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
            let token_id = find(tx, &input.id, now)?;
            let revoked = token::revoke(tx, &token_id, now)?;
            let token = token::get(tx, &token_id)?.ok_or_else(|| unknown_refusal(&input.id))?;
            Ok(RevokeOutput { shown: token.row(now), revoked_before: !revoked })
        })
    }
}

/// The token that an id means, a unique prefix of one, or a name. A name that a valid token has is that one's; of those that are valid no
/// more it is whose else.
fn find(tx: &mut Tx<'_>, named: &str, now: Millis) -> Result<String, Failure> {
    let tokens = token::list(tx)?;
    let by_id = |token: &&Token| token.token_id == named;
    let by_prefix = |token: &&Token| named.len() >= 4 && token.token_id.starts_with(named);
    let by_name = |token: &&Token| identity_key(&token.name) == identity_key(named);
    let valid_by_name = |token: &&Token| by_name(token) && token.is_valid(now);
    let ids = |is_meant: &dyn Fn(&&Token) -> bool| {
        tokens.iter().filter(is_meant).map(|token| token.token_id.clone()).collect::<Vec<_>>()
    };
    for found in [ids(&by_id), ids(&by_prefix), ids(&valid_by_name), ids(&by_name)] {
        match found.as_slice() {
            [] => {}
            [one] => return Ok(one.clone()),
            many => return Err(resolve::ambiguous_id_refusal("token", named, many).into()),
        }
    }
    Err(unknown_refusal(named).into())
}

fn unknown_refusal(named: &str) -> Refusal {
    Refusal::new(
        Kind::NotFound,
        "token_unknown",
        format!("there is no token `{}`, by its id or by its name", baton_model::id::visible(named)),
        "`baton token list` names them",
    )
}
