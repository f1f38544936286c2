//! The visibility of isolated projects, from outside and from inside: that other projects exist is shown, their content
//! is not.

use baton_store::{Failure, project};

use crate::op::Cx;
use crate::resolve;

/// The isolated project in which a caller stands who names none.
pub(crate) fn standing_in(cx: &mut Cx<'_>) -> Result<Option<String>, Failure> {
    let Ok(own) = resolve::project_id(cx.store, &cx.env, None) else { return Ok(None) };
    let is_isolated =
        cx.store.read(|tx| Ok(project::get(tx, &own)?.is_some_and(|project| project.is_isolated)))?;
    Ok(Some(own).filter(|_| is_isolated))
}

/// The projects whose content is shown to a caller who names an object and no project: the one that he stands in, and all others
/// unless either of the two is isolated.
pub(crate) struct UnnamedScope {
    own: Option<String>,
    isolated: Vec<String>,
}

impl UnnamedScope {
    /// Reads where the caller stands and which projects are isolated.
    pub(crate) fn read(cx: &mut Cx<'_>) -> Result<Self, Failure> {
        let own = resolve::project_id(cx.store, &cx.env, None).ok();
        let isolated = cx.store.read(|tx| {
            let all = project::list(tx)?.into_iter().filter(|project| project.is_isolated);
            Ok(all.map(|project| project.project_id).collect())
        })?;
        Ok(Self { own, isolated })
    }

    /// Whether a project's content is shown.
    pub(crate) fn contains(&self, project_id: &str) -> bool {
        let is_isolated = |id: &str| self.isolated.iter().any(|isolated| isolated == id);
        match self.own.as_deref() {
            Some(own) if own == project_id => true,
            own => !own.is_some_and(is_isolated) && !is_isolated(project_id),
        }
    }
}
