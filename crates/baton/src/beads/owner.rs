//! The project that a Beads file belongs to: one, whichever settings and variables name the file.

use std::path::Path;

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::task::{BeadsExport, BeadsExportInput};

use super::{head, is_same, of_project};
use crate::app::App;
use crate::beads_file::FileTurn;
use crate::error::AppError;
use crate::git;
use crate::repo_file::RepoFile;

/// Refuses to write the tasks of another project into the file of this folder.
pub(super) fn require_own_file(
    app: &mut App,
    file: &RepoFile,
    named: Option<String>,
) -> Result<(), AppError> {
    let is_configured = app.config.beads_file.as_ref().is_some_and(|own| is_same(&own.path(), &file.path()));
    let (Some(named), true) = (named, is_configured) else { return Ok(()) };
    let wanted = head(app, Some(&named))?.project_id;
    match app.folder_project().filter(|own| *own != wanted) {
        None => Ok(()),
        Some(own) => {
            let (path, own, wanted) = (file.path(), visible(&own), visible(&wanted));
            let what = format!("{} is the file of project {own}, and not of {wanted}", path.display());
            let hint =
                format!("name project {own}, or another file: `baton --project {wanted} export beads FILE`");
            Err(Refusal::new(Kind::NotFound, "place_elsewhere", what, hint).into())
        }
    }
}

/// Refuses a file outside of the repository, as the user's own settings name one for every folder, that is in step with another
/// project already: each would take the other's tasks in. A file that is gone is free, and so is that of a project that is gone.
pub(super) fn require_single_project(
    app: &mut App,
    project: &str,
    turn: &FileTurn,
    path: &Path,
) -> Result<(), AppError> {
    let root = app.config.cwd.as_deref().and_then(git::root);
    if root.is_some_and(|root| path.starts_with(root)) {
        return Ok(());
    }
    let before = turn.project().filter(|before| before != project && path.exists());
    let known = |id: String| {
        let input = BeadsExportInput { only_seq: true, ..of_project(Some(&id)) };
        app.run::<BeadsExport>(&input).ok()
    };
    let still = before.and_then(known).map(|found| found.project_id);
    if let Some(other) = still.filter(|other| other != project) {
        let (path, own, other) = (path.display(), visible(project), visible(&other));
        let what = format!("{path} is in step with project {other}, and so not with {own}");
        let hint = format!(
            "keep a file for each project: `[tasks]` and `mirror = true` in the .baton.toml of its repository; or, to give {path} to \
             {own}, move the file away first"
        );
        return Err(Refusal::new(Kind::Refused, "beads_shared", what, hint).with("project_id", other).into());
    }
    if turn.project().as_deref() != Some(project) {
        turn.set_project(project)?;
    }
    Ok(())
}
