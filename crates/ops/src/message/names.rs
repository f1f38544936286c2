//! What the other projects of messages are called.

use baton_model::access::Grant;
use baton_model::message::View;
use baton_store::{Failure, Store, Tx};

use crate::op::Env;
use crate::project_name::name_for;

/// Names the other projects of messages as they are called for the caller.
pub(super) fn name_projects<'a>(
    store: &mut Store,
    env: &Env<'_>,
    messages: impl Iterator<Item = &'a mut View>,
) -> Result<(), Failure> {
    let grant = &env.caller.grant;
    let far = messages.filter(|one| one.from_project_id.is_some() || one.to_project_id.is_some());
    let mut far: Vec<&mut View> = far.collect();
    if far.is_empty() {
        return Ok(());
    }
    store.read(|tx| {
        for one in &mut far {
            one.from_project_name = name(tx, grant, one.from_project_id.as_deref())?;
            one.to_project_name = name(tx, grant, one.to_project_id.as_deref())?;
        }
        Ok(())
    })
}

fn name(tx: &mut Tx<'_>, grant: &Grant, project_id: Option<&str>) -> Result<Option<String>, Failure> {
    project_id.map_or(Ok(None), |id| name_for(tx, grant, id))
}
