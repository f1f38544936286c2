//! The projects that a list shows: the one that is meant, or all that the caller may see.

use baton_store::{Failure, project};

use super::isolation;
use crate::op::Cx;
use crate::resolve;

/// The projects that a list shows.
pub(crate) struct VisibleProjects {
    /// The one that is meant; none where all are.
    pub(crate) only: Option<String>,
    ids: Vec<String>,
}

impl VisibleProjects {
    /// The project that is named or stood in; with `all`, every one that the caller reaches and that is not isolated. A caller
    /// in an isolated project sees that one alone.
    pub(crate) fn read(cx: &mut Cx<'_>, named: Option<&str>, all: bool) -> Result<Self, Failure> {
        let only = match all {
            false => Some(resolve::project_id(cx.store, &cx.env, named)?),
            true => {
                resolve::check_callers_project(cx.store, &cx.env)?;
                isolation::isolated_project(cx)?
            }
        };
        let grant = &cx.env.caller.grant;
        let ids = cx.store.read(|tx| match &only {
            Some(one) => {
                resolve::require_project(tx, one)?;
                Ok(vec![one.clone()])
            }
            None => {
                let open = project::list(tx)?.into_iter().filter(|project| !project.is_isolated);
                Ok(open.map(|project| project.project_id).filter(|id| grant.reaches(id)).collect())
            }
        })?;
        Ok(Self { only, ids })
    }

    /// Whether a project is among them.
    pub(crate) fn contains(&self, project_id: &str) -> bool {
        self.ids.iter().any(|id| id == project_id)
    }

    /// Their ids.
    pub(crate) fn ids(&self) -> &[String] {
        &self.ids
    }
}
