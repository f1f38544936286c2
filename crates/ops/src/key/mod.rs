//! Keys: who can be sent what only they can read. The ledger lists public keys; private ones stay with their machine.

mod add;
mod create;
mod list;
mod remove;

use baton_model::delta::Kind;
use baton_model::id::{check_label, identity_key};
use baton_model::refusal::{self, Refusal};
use baton_model::time::Timestamp;
use baton_store::key::PublicKey;
use baton_store::{Failure, Tx, key};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::force_request::ForceRequest;
use crate::ledger::{Author, append_json};
use crate::op::Env;
pub use add::{Add, AddInput, AddOutput};
pub use create::{Create, CreateInput, CreateOutput};
pub use list::{List, ListInput, ListOutput, Row};
pub use remove::{Remove, RemoveInput, RemoveOutput};

/// A listed public key, as answers and the ledger show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedKey {
    /// The identity whose key it is.
    pub name: String,
    /// The key, `age1…`.
    pub public_key: String,
    /// Who listed it.
    pub added_by: String,
    /// When it was listed.
    pub added_at: Timestamp,
}

impl From<&PublicKey> for ListedKey {
    fn from(key: &PublicKey) -> Self {
        Self {
            name: key.identity.clone(),
            public_key: key.recipient.clone(),
            added_by: key.added_by.clone(),
            added_at: Timestamp(key.added_at),
        }
    }
}

/// Whether a listed key may be replaced or removed.
fn check_force(force: ForceRequest<'_>) -> Result<(), Refusal> {
    match (force.given, force.why) {
        (true, Some(why)) => check_label("reason", why),
        (true, None) => {
            let what = "a listed key is replaced or removed by force only with a reason";
            Err(Refusal::invalid("why_missing", what, "say --why REASON"))
        }
        (false, _) => Ok(()),
    }
}

/// Adds a key to the list. Replacing another one needs force and a reason, because the holder of the new key can read
/// the identity's mail. Returns whether the list changed.
fn put(
    tx: &mut Tx<'_>,
    env: &mut Env<'_>,
    project_id: &str,
    key: &PublicKey,
    force: ForceRequest<'_>,
) -> Result<bool, Failure> {
    let before = key::get(tx, project_id, &key.identity)?;
    match &before {
        Some(known) if known.recipient == key.recipient => return Ok(false),
        Some(known) if !force.given => return Err(key_listed_refusal(known).into()),
        _ => {}
    }
    key::put(tx, project_id, key)?;
    let replaced = before.map(|before| before.recipient);
    let body = json!({
        "summary": format!("key of {} listed", key.identity),
        "key": ListedKey::from(key), "replaces": replaced, "forced": replaced.is_some(), "why": force.why,
    });
    append_json(tx, env, &Author { project_id, identity: &key.added_by, session: None }, Kind::Other, &body)?;
    Ok(true)
}

fn key_listed_refusal(known: &PublicKey) -> Refusal {
    Refusal::new(
        refusal::Kind::Conflict,
        "key_listed",
        format!("another key of {} is listed already, by {}", known.identity, known.added_by),
        "bring the private key from the machine that has it, or replace it with --force --why REASON",
    )
    .with("key", json!(ListedKey::from(known)))
}

/// Whether two names are one identity.
fn same(a: &str, b: &str) -> bool {
    identity_key(a) == identity_key(b)
}
