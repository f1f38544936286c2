//! `baton_show`: one baton, by its id, with its packet.

use baton_model::baton::Baton;
use baton_model::refusal::{Kind, Refusal};
use baton_model::time::Timestamp;
use baton_store::{Failure, baton, delta, session, session_commit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list::{Row, location, row};
use super::spent::spending;
use super::withdraw::withdrawal;
use crate::card::viewer_key;
use crate::op::{Cx, Meta, Operation};
use crate::project::VisibleProjects;
use crate::resolve;
use crate::session::OriginCommit;

/// The most commits that are named.
const MAX_COMMITS: i64 = 1_000;

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
    /// The identity that looks, else the caller's: the answer says what it can do with the baton.
    #[serde(default)]
    pub identity: Option<String>,
}

/// Answer of `baton_show`.
#[derive(Serialize, Deserialize)]
pub struct ShowOutput {
    /// The baton.
    #[serde(flatten)]
    pub row: Row,
    /// Its packet, as it was wrapped.
    pub packet: Option<String>,
    /// The commits that were made in the session which left it, the oldest first; at most a thousand. Who shared its working copy may
    /// have made some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<OriginCommit>,
}

impl Operation for Show {
    const META: Meta = Meta::read("baton_show", "Show a baton with its packet");
    type Input = ShowInput;
    type Output = ShowOutput;

    fn run(input: ShowInput, cx: &mut Cx<'_>) -> Result<ShowOutput, Failure> {
        let of = baton_by_id(cx, &input.id, input.project.as_deref())?;
        let Cx { store, env } = cx;
        let viewer = viewer_key(env, input.identity.as_deref());
        store.read(|tx| {
            let holder = match &of.holder_session_id {
                Some(id) => session::get(tx, &of.project_id, id)?,
                None => None,
            };
            let packet = delta::get(tx, &of.project_id, &of.baton_id)?.map(|wrap| wrap.body);
            let mut row = row(env, of.clone(), holder.as_ref());
            row.location = location(tx, env, &row)?;
            row.actions = row.actions_for(&viewer);
            row.actions.retain(|one| one.is_permitted(&env.caller.grant));
            row.withdrawn = withdrawal(tx, &of)?;
            row.spent = spending(tx, &of)?;
            let made = session_commit::of(tx, &of.project_id, &of.session_id, MAX_COMMITS)?;
            let commits =
                made.into_iter().map(|made| OriginCommit { id: made.id, made_at: Timestamp(made.at) });
            Ok(ShowOutput { row, packet, commits: commits.collect() })
        })
    }
}

/// The baton with this id or unique prefix, in the named project or in all that the caller reaches.
pub(super) fn baton_by_id(cx: &mut Cx<'_>, id: &str, project: Option<&str>) -> Result<Baton, Failure> {
    let shown = VisibleProjects::read(cx, project, project.is_none())?;
    let Cx { store, env } = cx;
    store.read(|tx| {
        let reaches = |project_id: &str| env.caller.grant.reaches(project_id) && shown.contains(project_id);
        let (project_id, baton_id) = resolve::object_by_prefix(
            tx,
            ("baton", id),
            baton::by_prefix_everywhere,
            reaches,
            unknown_refusal,
        )?;
        Ok(baton::get(tx, &project_id, &baton_id)?.ok_or_else(|| unknown_refusal(id))?)
    })
}

pub(super) fn unknown_refusal(id: &str) -> Refusal {
    Refusal::new(
        Kind::NotFound,
        "baton_unknown",
        format!("there is no baton `{}`", baton_model::id::visible(id)),
        "`baton batons` lists those that wait",
    )
}
