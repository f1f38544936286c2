//! Worktrees that became projects of their own, before Baton knew whose they are: found, and merged after asking.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::Path;

use baton_model::delta::Kind;
use baton_model::id::visible;
use baton_model::refusal::{self, Refusal};
use baton_ops::ledger::{LedgerList, LedgerListInput};
use baton_ops::project::{self, ListInput, Merge, MergeInput, Split, SplitInput};
use serde::Serialize;

use crate::app::{App, Format};
use crate::error::AppError;
use crate::{git, render};

/// A worktree that is registered for another project than its repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct StrayWorktree {
    /// The project that it is registered for.
    pub project_id: String,
    /// Its folder.
    pub path: String,
    /// The project of its repository.
    pub belongs_to: String,
    /// Whether that project has other folders, so that only this one moves.
    pub is_one_of_several: bool,
}

impl StrayWorktree {
    /// The command that gives it to the project of its repository.
    fn command(&self) -> String {
        let Self { project_id, path, belongs_to, .. } = self;
        match self.is_one_of_several {
            true => format!("baton project split {path} --to {belongs_to}"),
            false => format!("baton project merge {project_id} --into {belongs_to}"),
        }
    }

    /// What a person reads of it.
    pub(super) fn text(&self) -> String {
        let (path, own, other) = (visible(&self.path), visible(&self.project_id), visible(&self.belongs_to));
        format!(
            "worktree {path} is project {own}, and its repository is project {other}\n  next: baton doctor --fix, or {}\n",
            visible(&self.command())
        )
    }
}

/// The worktrees of this machine that are registered for another project than their repository.
pub(super) fn find(app: &mut App) -> Result<Vec<StrayWorktree>, AppError> {
    let projects = app.run::<project::List>(&ListInput {})?.items;
    let owners: BTreeMap<&str, &str> = projects
        .iter()
        .flat_map(|row| row.roots.iter().map(|root| (root.as_str(), row.project.project_id.as_str())))
        .collect();
    let mut found = Vec::new();
    for row in &projects {
        for root in &row.roots {
            let Some(repository) = git::repository(Path::new(root)).ok().filter(|own| own.is_worktree) else {
                continue;
            };
            let owner = repository.main.as_deref().and_then(|main| owners.get(main));
            let owner = owner.filter(|owner| **owner != row.project.project_id);
            if let Some(owner) = owner
                && !is_split(&row.project.project_id, root, app)?
            {
                found.push(StrayWorktree {
                    project_id: row.project.project_id.clone(),
                    path: root.clone(),
                    belongs_to: (*owner).to_owned(),
                    is_one_of_several: row.roots.len() > 1,
                });
            }
        }
    }
    Ok(found)
}

/// Whether the folder was given to this project on purpose.
fn is_split(project_id: &str, root: &str, app: &mut App) -> Result<bool, AppError> {
    let (project, kind) = (Some(project_id.to_owned()), Some(Kind::Other.as_str().to_owned()));
    let input = LedgerListInput { project, kind, newest: true, ..LedgerListInput::default() };
    let entries = app.run::<LedgerList>(&input)?.items;
    let mut bodies = entries.iter().rev().map(|entry| entry.fields());
    let last_move = bodies.find(|body| body.paths.iter().any(|path| path == root));
    Ok(last_move.is_some_and(|body| body.split_from.is_some()))
}

/// Gives each to the project of its repository, after asking.
pub(super) fn fix(stray: &[StrayWorktree], is_sure: bool, app: &mut App) -> Result<(), AppError> {
    for one in stray {
        if !is_sure && !is_confirmed(one, app)? {
            continue;
        }
        let (from, into) = (one.project_id.clone(), one.belongs_to.clone());
        let undo = if one.is_one_of_several {
            let input = SplitInput { path: one.path.clone(), to: into, ..SplitInput::default() };
            Some(app.run::<Split>(&input)?.undo)
        } else {
            app.run::<Merge>(&MergeInput { from, into, ..MergeInput::default() })?.undo
        };
        let (path, other) = (visible(&one.path), visible(&one.belongs_to));
        app.remark(&format!(
            "{path} is a place of project {other} now; undo: {}",
            visible(&undo.unwrap_or_default())
        ));
    }
    Ok(())
}

fn is_confirmed(one: &StrayWorktree, app: &App) -> Result<bool, AppError> {
    let mut err = std::io::stderr();
    if app.format != Format::Text || !std::io::stdin().is_terminal() || !err.is_terminal() {
        let what = "projects would be merged, and there is nobody to ask";
        let hint = format!("look with `{} --dry-run`, then say --yes", one.command());
        return Err(Refusal::new(refusal::Kind::Refused, "fix_needs_yes", what, hint).into());
    }
    let question = format!("{}Do this: {}? [y/N] ", one.text(), visible(&one.command()));
    write!(err, "{}", render::for_terminal(&question, false))?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
