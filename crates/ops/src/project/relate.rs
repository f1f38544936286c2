//! `project_relate`: say that two projects belong together, or not any more.

use baton_model::delta::Kind;
use baton_model::id::{check_label, check_project};
use baton_model::refusal::{self, Refusal};
use baton_store::{Failure, project};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::merged::refuse_merged;
use crate::ledger::{Author, append_json};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Relates two projects.
pub struct Relate;

/// Input of `project_relate`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RelateInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
    /// Identity that relates them.
    #[serde(default)]
    pub identity: Option<String>,
    /// The other project.
    pub to: String,
    /// What they are to each other: a label.
    #[serde(default = "related")]
    pub kind: String,
    /// Take the relation away.
    #[serde(default)]
    pub remove: bool,
}

impl Default for RelateInput {
    fn default() -> Self {
        Self {
            project: Default::default(),
            identity: Default::default(),
            to: Default::default(),
            kind: related(),
            remove: Default::default(),
        }
    }
}

fn related() -> String {
    "related".into()
}

/// A project that belongs together with another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelatedProject {
    /// The other project.
    pub project_id: String,
    /// What they are to each other: a label.
    pub kind: String,
}

impl From<project::Relation> for RelatedProject {
    fn from(relation: project::Relation) -> Self {
        Self { project_id: relation.project_id, kind: relation.kind }
    }
}

/// Answer of `project_relate`.
#[derive(Serialize, Deserialize)]
pub struct RelateOutput {
    /// The project.
    pub project_id: String,
    /// The identity that acted.
    pub identity: String,
    /// Related projects.
    pub related: Vec<RelatedProject>,
}

impl Operation for Relate {
    const META: Meta =
        Meta::write("project_relate", "Relate two projects, so that recall may look into both");
    type Input = RelateInput;
    type Output = RelateOutput;

    fn run(input: RelateInput, cx: &mut Cx<'_>) -> Result<RelateOutput, Failure> {
        check_project(&input.to)?;
        check_label("kind", &input.kind)?;
        if project::NAME_KINDS.contains(&input.kind.as_str()) {
            let what = format!("`{}` is how a project's names are kept", input.kind);
            return Err(Refusal::invalid("relation_invalid", what, "use another kind").into());
        }
        let input = RelateInput { to: cx.env.caller.id_of(&input.to).to_owned(), ..input };
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let identity = resolve::identity(cx.env.caller, input.identity.as_deref())?;
        if project_id == input.to {
            let what = "a project is not related to itself";
            return Err(Refusal::invalid("relation_invalid", what, "name another project").into());
        }
        let Cx { store, env } = cx;
        store.write(&[&project_id, &input.to], |tx| {
            for id in [&project_id, &input.to] {
                if !env.caller.grant.reaches(id) {
                    return Err(resolve::no_project_refusal(id).into());
                }
                if !input.remove {
                    refuse_merged(tx, id)?;
                }
                let known = project::get(tx, id)?.ok_or_else(|| resolve::no_project_refusal(id))?;
                if known.is_isolated && !input.remove {
                    return Err(isolated_refusal(id).into());
                }
            }
            resolve::admit_and_beat(tx, env, &project_id, &identity, Self::NAME)?;
            let pair = (project_id.as_str(), input.to.as_str());
            let what = if input.remove {
                if !project::unrelate(tx, pair.0, pair.1)? {
                    return Err(unrelated_refusal(pair.0, pair.1).into());
                }
                "no longer related to"
            } else {
                project::relate(tx, pair, &input.kind, &identity, env.now)?;
                "related to"
            };
            for own in [pair.0, pair.1] {
                let author = Author { project_id: own, identity: &identity, session: None };
                // The ledger is read with tokens that do not reach the other project: its name stands in the relation alone.
                let body = json!({ "summary": format!("{what} another project") });
                append_json(tx, env, &author, Kind::Other, &body)?;
            }
            let others = project::related(tx, &project_id)?.into_iter();
            let related = others
                .filter(|r| env.caller.grant.reaches(&r.project_id))
                .map(RelatedProject::from)
                .collect();
            Ok(RelateOutput { project_id: project_id.clone(), identity: identity.clone(), related })
        })
    }
}

fn isolated_refusal(id: &str) -> Refusal {
    Refusal::new(
        refusal::Kind::Refused,
        "project_isolated",
        format!("project {id} is isolated: it takes part in nothing implicit"),
        "hand work to it explicitly with `baton handoff create`",
    )
    .with("project_id", id)
}

fn unrelated_refusal(one: &str, other: &str) -> Refusal {
    let what = format!("{one} and {other} are not related");
    Refusal::new(
        refusal::Kind::NotFound,
        "relation_unknown",
        what,
        "`baton project show` lists the related ones",
    )
}
