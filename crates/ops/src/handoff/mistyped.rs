//! Work that would be left for a project that is not known, or whose name is a slip.

use baton_model::refusal::{Kind, Refusal};
use baton_model::suggest::suggestions;
use baton_model::tracker::{Warning, WarningKind};
use baton_store::{Failure, Tx};
use serde_json::json;

use crate::op::Env;
use crate::resolve;

/// What is said of a receiver that may have to be registered. Which projects there are is no concern of a token that does not reach
/// them: it hears the same of each.
pub(super) fn placeholder_warning(
    project_id: &str,
    (is_known, is_reached): (bool, bool),
    dry_run: bool,
) -> Option<Warning> {
    let message = match (is_reached, is_known) {
        (true, true) => return None,
        (true, false) if dry_run => {
            format!("project {project_id} is not known and would be registered as a placeholder")
        }
        (true, false) => format!("project {project_id} was not known and is registered as a placeholder"),
        (false, _) => format!(
            "this token does not reach project {project_id}: if that is not known yet, it {} registered as a placeholder",
            if dry_run { "would be" } else { "is" }
        ),
    };
    Some(Warning { kind: WarningKind::PlaceholderProject, message })
}

/// Refuses the name of an unknown project that is near the ids and names of known ones, as far as the caller reaches them.
pub(super) fn refuse_mistyped(tx: &mut Tx<'_>, env: &Env<'_>, project_id: &str) -> Result<(), Failure> {
    let known = resolve::reached_words(tx, &env.caller.grant)?;
    let reached = known.iter().map(String::as_str);
    // Names of one or two letters are near to all others.
    let near = suggestions(project_id, reached.filter(|id| id.len().min(project_id.len()) > 2));
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
