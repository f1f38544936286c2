//! The roles that apply in a project: built-in ones, and those of the roles file in its repository on this machine.

use baton_model::role::Roles;
use baton_store::{Failure, Store, project};

use crate::op::Env;

/// Reads them. The file is looked at before any write begins, so that no transaction waits for a disk.
pub(crate) fn of_project(store: &mut Store, env: &Env<'_>, project_id: &str) -> Result<Roles, Failure> {
    let machine = &env.caller.place.machine;
    let roots = store.read(|tx| Ok(project::roots(tx, project_id, machine)?))?;
    for root in roots {
        if let Some((path, text)) = env.host.role_file(&root)? {
            return Ok(Roles::with_file(&path, &text)?);
        }
    }
    Ok(Roles::default())
}
