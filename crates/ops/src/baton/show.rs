//! `baton_show`: one baton, by its id, with its packet.

use baton_model::refusal::{Kind, Refusal};
use baton_store::{Failure, baton, delta, session};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list::{Row, location, row};
use crate::op::{Cx, Meta, Operation};
use crate::project::VisibleProjects;
use crate::resolve;

/// Shows a baton.
pub struct Show;

/// Input of `baton_show`.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowInput {
    /// Id of the baton, or a unique prefix of it.
    pub id: String,
    /// Project id; else the baton is looked for in all that the caller reaches.
    #[serde(default)]
    pub project: Option<String>,
}

/// Answer of `baton_show`.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The baton.
    #[serde(flatten)]
    pub row: Row,
    /// Its packet, as it was wrapped.
    pub packet: Option<String>,
}

impl Operation for Show {
    const META: Meta = Meta::read("baton_show", "Show a baton with its packet");
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let shown = VisibleProjects::read(cx, input.project.as_deref(), input.project.is_none())?;
        let Cx { store, env } = cx;
        store.read(|tx| {
            let reaches =
                |project_id: &str| env.caller.grant.reaches(project_id) && shown.contains(project_id);
            let (project_id, baton_id) = resolve::object_by_prefix(
                tx,
                ("baton", &input.id),
                baton::by_prefix_everywhere,
                reaches,
                unknown,
            )?;
            let of = baton::get(tx, &project_id, &baton_id)?.ok_or_else(|| unknown(&input.id))?;
            let holder = match &of.holder_session_id {
                Some(id) => session::get(tx, &project_id, id)?,
                None => None,
            };
            let packet = delta::get(tx, &project_id, &baton_id)?.map(|wrap| wrap.body);
            let mut row = row(env, of, holder.as_ref());
            row.location = location(tx, env, &row)?;
            Ok(ShowOutput { row, packet })
        })
    }
}

fn unknown(id: &str) -> Refusal {
    Refusal::new(
        Kind::NotFound,
        "baton_unknown",
        format!("there is no baton `{}`", baton_model::id::visible(id)),
        "`baton batons` lists those that wait",
    )
}
