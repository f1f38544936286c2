//! The roles that apply in a project: built-in ones, and those of the roles file in its repository on this machine.

use baton_model::role::Roles;
use baton_store::{Failure, Store, project_root};

use crate::op::{Cx, Env};
use crate::resolve;

/// Refuses an unknown role for a task. Without a role the roles file is not read.
pub(crate) fn check(cx: &mut Cx<'_>, project: Option<&str>, role: Option<&str>) -> Result<(), Failure> {
    let Some(role) = role.filter(|role| !role.is_empty()) else { return Ok(()) };
    let project_id = resolve::project_id(cx.store, &cx.env, project)?;
    of_project(cx.store, &cx.env, &project_id)?.check_known(role)?;
    Ok(())
}

/// Reads them. The file is looked at before any write begins, so that no transaction waits for a disk.
pub(crate) fn of_project(store: &mut Store, env: &Env<'_>, project_id: &str) -> Result<Roles, Failure> {
    let machine = &env.caller.location.machine;
    let roots = store.read(|tx| Ok(project_root::roots(tx, project_id, machine)?))?;
    for root in roots {
        if let Some((path, text)) = env.host.role_file(&root)? {
            return Ok(Roles::with_file(&path, &text)?);
        }
    }
    Ok(Roles::default())
}
