//! What else is said where a folder leads to no project: that it is a git folder, or which project its untrusted `.baton.toml` names.

use baton_model::id::visible;
use baton_model::refusal::Refusal;

use crate::app::App;
use crate::error::AppError;
use crate::git;

/// Codes of refusals after which a project that the file names would be the way on.
const CODES: [&str; 3] = ["project_is_clone", "project_unresolved", "project_ambiguous"];

/// The way on from the git folder of a bare repository, which is no place of a project.
pub(crate) const WAY_TO_WORKTREE: &str = "run it in one of its worktrees; `git worktree list` names them, `git worktree add FOLDER BRANCH` makes one";

/// The same refusal; in the git folder of a bare repository with the way on from there.
fn in_git_folder(app: &App, refusal: Refusal) -> Refusal {
    let cwd = app.config.cwd.as_deref().filter(|_| refusal.code == "project_unresolved");
    let bare = cwd.filter(|cwd| git::root(cwd).is_none()).and_then(git::bare_folder);
    match bare {
        Some(_) => Refusal {
            message: format!("{}: it is the git folder of a bare repository", refusal.message),
            hint: format!("{WAY_TO_WORKTREE}; or say --project ID"),
            ..refusal
        },
        None => refusal,
    }
}

/// The same failure, with what the file names and how it comes to count.
pub(crate) fn name(app: &App, error: AppError) -> AppError {
    let AppError::Refused(refusal) = error else { return error };
    let refusal = in_git_folder(app, refusal);
    let file = app.config.repository.as_ref();
    let Some((file, claim)) = file.and_then(|file| Some((file, file.claim()?))) else {
        return refusal.into();
    };
    if !CODES.contains(&refusal.code) {
        return refusal.into();
    }
    let (path, claim) = (visible(&file.path.display().to_string()), visible(claim));
    let hint = format!(
        "{} {path} names project {claim}, and is not trusted: `baton trust` shows it and has that count",
        baton_model::printable::sentence(&refusal.hint)
    );
    Refusal { hint, ..refusal }.with("claimed_project", claim).into()
}
