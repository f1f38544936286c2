//! `project_show`: one project.

use baton_model::project::View;
use baton_store::{Failure, project, project_root};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{RelatedProject, isolation};
use crate::op::{Cx, Meta, Operation};
use crate::resolve;

/// Shows a project.
pub struct Show;

/// Input of `project_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Project id; else from the working directory.
    #[serde(default)]
    pub project: Option<String>,
}

/// Answer of `project_show`: the project's fields and its folders on this machine.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The project.
    #[serde(flatten)]
    pub project: View,
    /// Names that lead to it beside its id: its own, and those that it had before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Its folders.
    pub roots: Vec<String>,
    /// Related projects.
    pub related: Vec<RelatedProject>,
    /// Asked from outside of an isolated project, or from one of another: phase, focus, webhook and last wrap are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outline: bool,
}

impl Operation for Show {
    const META: Meta = Meta::read("project_show", "Show a project's registration");
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let project_id = resolve::project_id(cx.store, &cx.env, input.project.as_deref())?;
        let isolated = isolation::isolated_project(cx)?;
        let own = resolve::project_id(cx.store, &cx.env, None).ok();
        let caller = cx.env.caller;
        let machine = caller.location.machine.clone();
        cx.store.read(|tx| {
            let project =
                project::get(tx, &project_id)?.ok_or_else(|| resolve::no_project_refusal(&project_id))?;
            let related = match project.is_isolated {
                true => Vec::new(),
                false => project::related(tx, &project_id)?
                    .into_iter()
                    .filter(|r| !r.is_isolated && caller.grant.reaches(&r.project_id))
                    .map(RelatedProject::from)
                    .collect(),
            };
            let names = project::names(tx, &project_id)?;
            let roots = project_root::roots(tx, &project_id, &machine)?;
            let is_inside = own.as_ref() == Some(&project_id)
                || caller.grant.projects.as_ref().is_some_and(|reached| *reached == [project_id.as_str()]);
            let outline = !is_inside && (project.is_isolated || isolated.is_some());
            let shown = if outline { project.outline() } else { project };
            let shown = isolation::shown_to(&caller.grant, shown);
            Ok(ShowOutput { project: View::from(&shown), names, roots, related, outline })
        })
    }
}
