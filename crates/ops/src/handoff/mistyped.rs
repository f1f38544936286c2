//! Work that would be left for a project whose name is a slip.

use baton_model::refusal::{Kind, Refusal};
use baton_model::suggest::near;
use baton_store::{Failure, Tx, project};
use serde_json::json;

use crate::op::Env;

/// Refuses the name of an unknown project that is near those of known ones, as far as the caller reaches them.
pub(super) fn refuse_mistyped(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<(), Failure> {
    let known = project::ids(tx)?;
    let reached = known.iter().map(String::as_str).filter(|id| env.caller.grant.reaches(id));
    // Names of one or two letters are near to all others.
    let near = near(project_id, reached.filter(|id| id.len().min(project_id.len()) > 2));
    if near.is_empty() {
        return Ok(());
    }
    let refusal = Refusal::new(
        Kind::NotFound,
        "target_unknown",
        format!("there is no project `{project_id}` to leave work for"),
        format!(
            "did you mean {}? `--create` leaves it for one that is not registered yet",
            near.join(" or ")
        ),
    );
    Err(refusal.with("to_project_id", project_id).with("near", json!(near)).into())
}
