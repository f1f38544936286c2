//! `share_revoke`: take a share back.

use baton_model::access::Scope;
use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::share::ShareRow;
use baton_store::{Failure, share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Takes a share back.
pub struct Revoke;

/// Input of `share_revoke`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeInput {
    /// Id of the share, or a unique prefix of it.
    pub id: String,
}

/// Answer of `share_revoke`.
#[derive(Serialize, Deserialize)]
pub struct RevokeOutput {
    /// The share, without its secret.
    #[serde(flatten)]
    pub shown: ShareRow,
    /// It was taken back before.
    pub revoked_before: bool,
}

impl Operation for Revoke {
    const META: Meta =
        Meta::write("share_revoke", "Take a share back: its address answers no more").scope(Scope::Operator);
    type Input = RevokeInput;
    type Output = RevokeOutput;

    fn run(input: RevokeInput, cx: &mut Cx<'_>) -> Result<RevokeOutput, Failure> {
        let Cx { store, env } = cx;
        let now = env.now;
        let (_, share_id) = store.read(|tx| {
            let reaches = |id: &str| env.caller.grant.reaches(id);
            resolve::object_by_prefix(tx, ("share", &input.id), share::by_prefix, reaches, unknown_refusal)
        })?;
        store.write_shared(|tx| {
            let is_new = share::revoke(tx, &share_id, now)?;
            let of = share::get(tx, &share_id)?.ok_or_else(|| unknown_refusal(&input.id))?;
            Ok(RevokeOutput { shown: of.row(now), revoked_before: !is_new })
        })
    }
}

fn unknown_refusal(id: &str) -> Refusal {
    Refusal::new(
        Kind::NotFound,
        "share_unknown",
        format!("there is no share `{}`", visible(id)),
        "`baton share list` names them",
    )
}
