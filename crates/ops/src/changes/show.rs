//! `changes_show`: which files the changes of a baton concern.

use baton_model::access::Scope;
use baton_model::changes::REFERENCES;
use baton_model::id::visible;
use baton_store::{Failure, Tx, changes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::lineage::given_from_here;
use super::{BatonChanges, find, no_changes_refusal, refuse_others};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Shows changes.
pub struct Show;

/// Input of `changes_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// The baton, by its id or a unique prefix of one; else the newest one with changes.
    #[serde(default)]
    pub baton_id: Option<String>,
    /// In place of a baton: the full name of the reference in a remote under which its changes are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// Answer of `changes_show`.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The project.
    pub project_id: String,
    /// The changes.
    pub changes: BatonChanges,
    /// Other batons whose changes are kept under the same reference of a remote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<String>,
    /// Whether the caller may drop them.
    #[serde(default)]
    pub is_droppable: bool,
    /// Files that sessions gave along from the caller's working copy, with this baton or one before it on its line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_here: Vec<String>,
    /// For each of them what it held when it went along last, as the manifest of changes says it; empty where that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given_fingerprints: Vec<String>,
}

impl Operation for Show {
    const META: Meta = Meta::read("changes_show", "Show which files the changes of a baton concern");
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let Cx { store, env } = cx;
        store.read(|tx| {
            resolve::require_project(tx, &project_id)?;
            let found = match input.reference.as_deref() {
                Some(reference) => {
                    of_reference(tx, &project_id, reference)?.into_iter().next().ok_or_else(|| {
                        no_changes_refusal(format!(
                            "no baton of project {project_id} has changes under {}",
                            visible(reference)
                        ))
                    })?
                }
                None => BatonChanges::read(find(tx, env, &project_id, input.baton_id.as_deref())?)?,
            };
            let reference = found.manifest.remote.as_ref().map(|copy| copy.reference.as_str());
            let sharing = reference.map(|name| of_reference(tx, &project_id, name)).transpose()?;
            let others = sharing.into_iter().flatten().filter(|other| other.baton_id != found.baton_id);
            let shared_with = others.map(|other| other.baton_id).collect();
            let identity = resolve::identity(env.caller, None).unwrap_or_default();
            let is_own = refuse_others(env, (&found.baton_id, &found.identity), &identity).is_ok();
            let is_droppable = is_own && env.caller.grant.require(Scope::Write).is_ok();
            let given = given_from_here(tx, env, &project_id, &found.baton_id)?;
            Ok(ShowOutput {
                project_id: project_id.clone(),
                changes: found,
                shared_with,
                is_droppable,
                given_here: given.paths,
                given_fingerprints: given.fingerprints,
            })
        })
    }
}

/// The changes of all batons that are kept under a reference of a remote, whose name begins with the hash of their content.
pub(super) fn of_reference(
    tx: &mut Tx<'_>,
    project_id: &str,
    reference: &str,
) -> Result<Vec<BatonChanges>, Failure> {
    let name = reference.strip_prefix(REFERENCES).unwrap_or_default();
    let hash = name.split('-').next().unwrap_or_default();
    let mut found = Vec::new();
    for stored in changes::by_content(tx, project_id, hash)? {
        let one = BatonChanges::read(stored)?;
        if one.manifest.remote.as_ref().is_some_and(|copy| copy.reference == reference) {
            found.push(one);
        }
    }
    Ok(found)
}
