//! Agents: who works in a project, what they can do, and the roles that they have.

mod limit;
mod list;
mod list_roles;
mod register;
mod show;

pub use baton_model::agent::{Profile, State};
use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
pub use baton_model::role::{RoleOrigins, RoleRow};
use baton_model::suggest::suggestions;
use baton_store::{Failure, Tx, agent, session};
pub use limit::{Limit, LimitInput, LimitOutput};
pub use list::{List, ListInput, ListOutput, Row};
pub use list_roles::{ListRoles, ListRolesInput, ListRolesOutput};
pub use register::{Register, RegisterInput, RegisterOutput, Warning, WarningKind};
use serde_json::json;
pub use show::{Show, ShowInput, ShowOutput};

/// Every name that is known in a project: registered, or ever in a session.
pub(crate) fn known_names(tx: &mut Tx<'_>, project_id: &str) -> Result<Vec<String>, Failure> {
    let mut names: Vec<String> =
        agent::list(tx, project_id)?.into_iter().map(|agent| agent.identity).collect();
    for name in session::names(tx, project_id)? {
        if !names.iter().any(|known| known.eq_ignore_ascii_case(&name)) {
            names.push(name);
        }
    }
    Ok(names)
}

/// The name as it was first given, if this identity registered or ever had a session.
pub(crate) fn first_name(
    tx: &mut Tx<'_>,
    project_id: &str,
    identity: &str,
) -> Result<Option<String>, Failure> {
    match agent::get(tx, project_id, identity)? {
        Some(agent) => Ok(Some(agent.identity)),
        None => Ok(session::first_name(tx, project_id, identity)?),
    }
}

/// The refusal for a name that is not registered.
fn unknown(tx: &mut Tx<'_>, project_id: &str, name: &str) -> Result<Refusal, Failure> {
    let names = known_names(tx, project_id)?;
    let similar = suggestions(name, names.iter().map(String::as_str));
    let hint = match similar.as_slice() {
        [] => "`baton agent list --all` names those that are known".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    let what = format!("nobody called `{}` has registered in project {project_id}", visible(name));
    Ok(Refusal::new(Kind::NotFound, "agent_unknown", what, hint).with("near", json!(similar)))
}
