//! `key_create`: make a key pair on this machine and list its public half.

use baton_store::key::PublicKey;
use baton_store::{Failure, key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ListedKey, check_force, key_listed_refusal, put};
use crate::force_request::ForceRequest;
use crate::op::{Cx, Meta, Operation};
use crate::project::require_active;
use crate::resolve;

/// Makes a key.
pub struct Create;

/// Input of `key_create`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity whose key it is.
    #[serde(default)]
    pub identity: Option<String>,
    /// Replace another key that is listed for it.
    #[serde(default)]
    pub force: bool,
    /// Why force is used; written into the ledger.
    #[serde(default)]
    pub why: Option<String>,
}

/// Answer of `key_create`: the public key.
#[derive(Serialize, Deserialize)]
pub struct CreateOutput {
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

impl Operation for Create {
    const META: Meta = Meta::write(
        "key_create",
        "Make a key on this machine, unless there is one, and list its public half",
    );
    type Input = CreateInput;
    type Output = CreateOutput;

    fn run(input: CreateInput, cx: &mut Cx<'_>) -> Result<CreateOutput, Failure> {
        let force = ForceRequest { given: input.force, why: input.why.as_deref() };
        check_force(force)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let before = cx.store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            Ok(key::get(tx, &project_id, &identity)?)
        })?;
        let own = cx.env.host.own_key(&project_id, &identity)?;
        // No key is made that could not be listed.
        if let Some(known) = before.filter(|known| own.as_ref() != Some(&known.recipient) && !input.force) {
            return Err(key_listed_refusal(&known).into());
        }
        let recipient = match own {
            Some(own) => own,
            None => cx.env.host.make_key(&project_id, &identity)?,
        };
        let Cx { store, env } = cx;
        let (made, now) = store.write(&[&project_id], |tx| {
            require_active(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let known = crate::agent::first_name(tx, &project_id, &identity)?;
            let made = PublicKey {
                identity: known.unwrap_or_else(|| identity.clone()),
                recipient: recipient.clone(),
                added_by: identity.clone(),
                added_at: env.now,
            };
            let now = put(tx, env, &project_id, &made, force)?;
            Ok((made, now))
        })?;
        Ok(CreateOutput { project_id, identity, key: ListedKey::from(&made), listed_now: now })
    }
}
