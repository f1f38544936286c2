//! `key_remove`: take a public key off the list. What was encrypted for it stays readable with it.

use baton_model::delta::Kind;
use baton_model::id::visible;
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, key};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{ListedKey, check_force, same};
use crate::force_request::ForceRequest;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;
use crate::token_rights;

/// Removes a key.
pub struct Remove;

/// Input of `key_remove`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that takes it off.
    #[serde(default)]
    pub identity: Option<String>,
    /// Whose key it is.
    pub name: String,
    /// Remove the key of another identity.
    #[serde(default)]
    pub force: bool,
    /// Why force is used; written into the ledger.
    #[serde(default)]
    pub why: Option<String>,
}

/// Answer of `key_remove`: the key.
#[derive(Serialize, Deserialize)]
pub struct RemoveOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The key.
    #[serde(flatten)]
    pub key: ListedKey,
}

impl Operation for Remove {
    const META: Meta = Meta::write("key_remove", "Take a public key off the list");
    type Input = RemoveInput;
    type Output = RemoveOutput;

    fn run(input: RemoveInput, cx: &mut Cx<'_>) -> Result<RemoveOutput, Failure> {
        let force = ForceRequest { given: input.force, why: input.why.as_deref() };
        check_force(force)?;
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            if !input.force {
                token_rights::require_may_be(tx, env, &project_id, &input.name)?;
                token_rights::require_unregistered(tx, env, &project_id, &input.name)?;
            }
            let Some(known) = key::get(tx, &project_id, &input.name)? else {
                let what = format!("no key of `{}` is listed in project {project_id}", visible(&input.name));
                let hint = "`baton key list` shows those that are";
                return Err(Refusal::new(refusal::Kind::NotFound, "key_unknown", what, hint).into());
            };
            // A caller that could remove a listed key could list another in its place, which `key_add` refuses.
            let is_own = same(&identity, &known.identity) && token_rights::is_bound_or_local(env, &known.identity);
            if !(is_own || input.force) {
                return Err(key_of_another_refusal(&known).into());
            }
            key::remove(tx, &project_id, &input.name)?;
            let author = Author { project_id: &project_id, identity: &identity, session: None };
            let body = json!({ "summary": format!("key of {} taken off the list", known.identity), "key": ListedKey::from(&known), "forced": input.force, "why": force.why });
            append_json(tx, env, &author, Kind::Other, &body)?;
            Ok(RemoveOutput { project_id: project_id.clone(), identity: identity.clone(), key: ListedKey::from(&known) })
        })
    }
}

fn key_of_another_refusal(known: &key::PublicKey) -> Refusal {
    let name = visible(&known.identity);
    Refusal::new(
        refusal::Kind::Conflict,
        "key_not_yours",
        format!("the key is {name}'s, who alone removes it without force"),
        format!("as {name}: `baton key remove {name} --as {name}`; in another's place: `baton key remove {name} --force --why REASON`"),
    )
    .with("key", json!(ListedKey::from(known)))
}
