//! Dependencies of an issue.

use baton_model::id::visible;
use baton_model::refusal::Refusal;
use baton_ops::task::{self as tasks, DependencyChange, LinkedTask};
use serde::Serialize;

use super::annotate::shown;
use super::args::Dep;
use super::verbs::lines;
use super::{Out, shape};
use crate::cli::task;
use crate::error::AppError;

/// A dependency that was added or removed.
#[derive(Serialize)]
struct Link {
    status: DependencyChange,
    issue_id: String,
    depends_on_id: String,
    #[serde(rename = "type")]
    kind: String,
}

pub(super) fn dep(
    verb: Option<Dep>,
    id: Option<String>,
    blocks: Option<String>,
    out: &mut Out<'_>,
) -> Result<(), AppError> {
    let (id, on, kind, remove) = match (verb, id, blocks) {
        (Some(Dep::Add { id, on, blocked_by, depends_on, kind }), ..) => {
            (id, on.or(blocked_by).or(depends_on).unwrap_or_default(), kind, false)
        }
        (Some(Dep::Remove { id, on }), ..) => (id, on, "blocks".into(), true),
        (Some(Dep::Tree { id, direction }), ..) => {
            let (project, up) = (out.project(), direction == "up");
            let input = tasks::TreeInput { project, id, up, ..tasks::TreeInput::default() };
            let tree = out.app.run::<tasks::Tree>(&input)?;
            return out.print(&tree.items, |rows| task::tree(rows));
        }
        (Some(Dep::List { id }), ..) => {
            let found = shown(&id, out)?.dependencies;
            let issues: Vec<LinkedTask> = found.into_iter().map(shape::linked).collect();
            return out.print(&issues, |issues| lines(issues.iter().map(shape::linked_line)));
        }
        (Some(Dep::Cycles), ..) => {
            let found = out.app.run::<tasks::Cycles>(&tasks::CyclesInput { project: out.project() })?;
            return out.print(&found.items, |cycles| task::cycles(cycles));
        }
        (None, Some(id), Some(blocks)) => (blocks, id, "blocks".into(), false),
        _ => {
            return Err(Refusal::invalid(
                "usage",
                "what is to be done?",
                "bd dep add ID ON, or bd dep ID --blocks ID",
            )
            .into());
        }
    };
    let (project, identity) = (out.project(), out.identity());
    let input =
        tasks::DependInput { project, identity, id, on, kind, remove, ..tasks::DependInput::default() };
    let done = out.app.run::<tasks::Depend>(&input)?;
    let link = Link {
        status: done.status,
        issue_id: done.issue_id,
        depends_on_id: done.depends_on_id,
        kind: done.kind,
    };
    out.print(&link, |link| {
        let word = if remove { "Removed" } else { "Added" };
        format!("✓ {word} dependency: {} → {}\n", visible(&link.issue_id), visible(&link.depends_on_id))
    })
}
