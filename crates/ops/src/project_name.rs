//! Names of projects beside their ids: what `baton project rename` gives. Most calls name an id, so a name is looked up only
//! where an id is unknown: the call is refused as such, has written nothing, and is run once more with what the name leads to.

use baton_model::access::Grant;
use baton_model::project::title as project_title;
use baton_model::refusal::Refusal;
use baton_model::time::Millis;
use baton_store::{Failure, Store, Tx, project};
use serde_json::Value;

use crate::op::Caller;
use crate::resolve::{UNKNOWN, no_project_refusal};

/// A name that a project got, and the id that it keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenamedProject {
    /// The name, now or earlier.
    pub name: String,
    /// Its id.
    pub project_id: String,
}

/// The project whose name an operation took for an id, unless it was looked up for this call already.
pub(crate) fn look_up(failure: &Failure, store: &mut Store, caller: &Caller) -> Option<RenamedProject> {
    let Failure::Refused(refusal) = failure else { return None };
    let named = refusal.details.get("project_id").and_then(Value::as_str);
    let name = named.filter(|name| refusal.code == UNKNOWN && caller.id_of(name) == *name)?;
    let project_id = store.read(|tx| Ok(project::of_name(tx, name)?)).ok().flatten()?;
    Some(RenamedProject { name: name.to_owned(), project_id })
}

/// What a project is called since it was renamed.
pub(crate) fn given_name(tx: &mut Tx<'_>, project_id: &str) -> Result<Option<String>, Failure> {
    Ok(project::get(tx, project_id)?.and_then(|project| project.name))
}

/// The same for who reaches the project: to another one it has no name.
pub(crate) fn name_for(tx: &mut Tx<'_>, grant: &Grant, project_id: &str) -> Result<Option<String>, Failure> {
    if grant.reaches(project_id) { given_name(tx, project_id) } else { Ok(None) }
}

/// What people call a project, in a sentence.
pub(crate) fn title(tx: &mut Tx<'_>, project_id: &str) -> Result<String, Failure> {
    Ok(project_title(project_id, given_name(tx, project_id)?.as_deref()))
}

/// Whether a refusal names the id of a project that the caller named otherwise, and that is unknown to it.
pub(crate) fn is_hidden(refusal: &Refusal, caller: &Caller) -> bool {
    let id = refusal.details.get("project_id").and_then(Value::as_str).filter(|_| refusal.code == UNKNOWN);
    id.is_some_and(|id| caller.renamed.iter().any(|one| one.project_id == id))
}

/// Registers a project unless it is there; says whether it was not. What another project is called is no id of a new one.
pub(crate) fn register(
    tx: &mut Tx<'_>,
    project_id: &str,
    is_placeholder: bool,
    now: Millis,
) -> Result<bool, Failure> {
    if !tx.has_project(project_id) {
        project::lock_names(tx)?;
        refuse(tx, project_id)?;
    }
    Ok(project::create(tx, project_id, is_placeholder, now)?)
}

/// Refuses an id that is none of a project as unknown where another project is or was called so: the call is repeated with that.
pub(crate) fn refuse(tx: &mut Tx<'_>, id: &str) -> Result<(), Failure> {
    match project::of_name(tx, id)? {
        Some(_) => Err(no_project_refusal(id).into()),
        None => Ok(()),
    }
}
