//! `share_show`: what the address of a share shows. The server runs it for a caller who has only the address.

use baton_model::share::share_invalid_refusal;
use baton_model::time::Timestamp;
use baton_store::{Failure, share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::view::{SharedView, Subject, view};
use crate::op::{Cx, Meta, Operation, Reach};
use crate::token;

/// Shows what is shared.
pub struct Show;

/// Input of `share_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// The secret of the share.
    pub secret: String,
}

impl Operation for Show {
    const META: Meta = Meta::read("share_show", "Show the baton or thread of a share, without secrets")
        .reach(Reach::Everything);
    type Input = ShowInput;
    type Output = SharedView;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<SharedView, Failure> {
        let Cx { store, env } = cx;
        store.read(|tx| {
            let found = share::by_hash(tx, &token::hash(&input.secret))?;
            let of = found.filter(|of| of.is_valid(env.now)).ok_or_else(share_invalid_refusal)?;
            let subject = Subject { project_id: of.project_id, kind: of.kind, object_id: of.object_id };
            view(tx, env, subject, Some(Timestamp(of.expires_at)))
        })
    }
}
