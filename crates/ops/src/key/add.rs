//! `key_add`: adds an identity's public key to the project's list.

use baton_model::id::check_identity;
use baton_store::Failure;
use baton_store::key::PublicKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ListedKey, check_force, put};
use crate::force_request::ForceRequest;
use crate::op::{Cx, Meta, Operation};
use crate::project::require_active;
use crate::resolve;
use crate::token_rights;

/// Lists a key.
pub struct Add;

/// Input of `key_add`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that lists it.
    #[serde(default)]
    pub identity: Option<String>,
    /// Whose key it is.
    pub name: String,
    /// The public key: `age1…`.
    pub public_key: String,
    /// Replace another key that is listed for it.
    #[serde(default)]
    pub force: bool,
    /// Why force is used; written into the ledger.
    #[serde(default)]
    pub why: Option<String>,
}

/// Answer of `key_add`: the key.
#[derive(Serialize, Deserialize)]
pub struct AddOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The key.
    #[serde(flatten)]
    pub key: ListedKey,
    /// Whether it is listed by this call; false: it was listed already.
    pub listed_now: bool,
}

impl Operation for Add {
    const META: Meta = Meta::write(
        "key_add",
        "List somebody's public key, so that they can be sent what only they can read",
    );
    type Input = AddInput;
    type Output = AddOutput;

    fn run(input: AddInput, cx: &mut Cx<'_>) -> Result<AddOutput, Failure> {
        let force = ForceRequest { given: input.force, why: input.why.as_deref() };
        check_force(force)?;
        check_identity(&input.name)?;
        cx.env.host.check_key(&input.public_key)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let (key, now) = store.write(&[&project_id], |tx| {
            require_active(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            if !input.force {
                token_rights::require_may_be(tx, env, &project_id, &input.name)?;
                token_rights::require_unregistered(tx, env, &project_id, &input.name)?;
            }
            let known = crate::agent::first_name(tx, &project_id, &input.name)?;
            let key = PublicKey {
                identity: known.unwrap_or_else(|| input.name.clone()),
                recipient: input.public_key.trim().to_owned(),
                added_by: identity.clone(),
                added_at: env.now,
            };
            let now = put(tx, env, &project_id, &key, force)?;
            Ok((key, now))
        })?;
        Ok(AddOutput { project_id, identity, key: ListedKey::from(&key), listed_now: now })
    }
}
