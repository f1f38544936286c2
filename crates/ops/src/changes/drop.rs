//! `changes_drop`: remove the changes of a baton from the ledger.

use baton_model::changes::RemoteContent;
use baton_model::delta::Kind;
use baton_store::{Failure, changes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{BatonChanges, find, lineage, refuse_others, unnamed};
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Drops changes.
pub struct Drop;

/// Input of `changes_drop`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DropInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that drops them.
    #[serde(default)]
    pub identity: Option<String>,
    /// The baton, by its id or a unique prefix of one.
    pub baton_id: String,
}

/// Answer of `changes_drop`: what was dropped.
#[derive(Serialize, Deserialize)]
pub struct DropOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// The changes.
    pub changes: BatonChanges,
    /// Earlier batons of the same line that had the same changes, and have them no longer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<String>,
    /// References in remotes that no baton of the project has any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unnamed: Vec<RemoteContent>,
}

impl Operation for Drop {
    const META: Meta = Meta::write("changes_drop", "Remove the changes of a baton; the baton stays");
    type Input = DropInput;
    type Output = DropOutput;

    fn run(input: DropInput, cx: &mut Cx<'_>) -> Result<DropOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        let Cx { store, env } = cx;
        let (changes, earlier, unnamed) = store.write(&[&project_id], |tx| {
            resolve::require(tx, &project_id)?;
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let stored = find(tx, env, &project_id, Some(&input.baton_id)).map_err(nothing_to_drop)?;
            refuse_others(env, (&stored.baton_id, &stored.identity), &identity)?;
            let earlier = lineage::remove_earlier(tx, env, (&project_id, &identity), &stored)?;
            changes::remove(tx, &project_id, &stored)?;
            let dropped = BatonChanges::read(stored)?;
            let what = format!("changes of baton {} dropped", dropped.baton_id);
            let body = json!({ "summary": what, "baton_id": dropped.baton_id, "files": dropped.manifest.files.len(),
                "content_hash": dropped.manifest.content_hash });
            let author = Author { project_id: &project_id, identity: &identity, session: None };
            append_json(tx, env, &author, Kind::Other, &body)?;
            let given_up = earlier.remotes.into_iter().chain(dropped.manifest.remote.clone());
            let unnamed = unnamed(tx, &project_id, given_up)?;
            Ok((dropped, earlier.baton_ids, unnamed))
        })?;
        Ok(DropOutput { project_id, identity, changes, earlier, unnamed })
    }
}

/// The same failure; of a baton without changes it does not say how it would get some.
fn nothing_to_drop(failure: Failure) -> Failure {
    match failure {
        Failure::Refused(mut refusal) if refusal.code == "changes_none" => {
            refusal.hint = "there is nothing to drop".into();
            Failure::Refused(refusal)
        }
        other => other,
    }
}
