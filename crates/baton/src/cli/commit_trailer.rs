//! `baton commit-trailer`: called by the git hook of `baton init --commit-trailer`

use std::path::PathBuf;

use baton_ops::session::{Status, StatusInput};

use crate::app::App;
use crate::commit_hook::with_trailer;
use crate::error::AppError;
use crate::git;
use crate::repo_file::{MAX_SMALL_FILE_BYTES, RepoFile};

/// Add the trailer `Baton: ID` to a commit message
#[derive(clap::Args)]
pub(super) struct Args {
    /// File with the message, as git names it
    file: PathBuf,
}

/// Without an agent at work in this working copy, or with several of whom none is the caller, the message stays as it is.
pub(super) fn run(args: &Args, app: &mut App) -> Result<(), AppError> {
    let Some(id) = current_id(app)? else { return Ok(()) };
    let cwd = app.config.cwd.clone().unwrap_or_default();
    let file = RepoFile::from_user_path(&cwd.join(&args.file));
    let message = file.text(MAX_SMALL_FILE_BYTES).ok().flatten().unwrap_or_default();
    if let Some(message) = with_trailer(&message, &id) {
        file.replace(&message).map_err(std::io::Error::from)?;
    }
    Ok(())
}

/// The baton that the agent at work here holds, else its session.
fn current_id(app: &mut App) -> Result<Option<String>, AppError> {
    let root = app.config.cwd.as_deref().and_then(git::root).map(|root| root.display().to_string());
    let own = app.config.session.clone();
    let status =
        app.run::<Status>(&StatusInput { project: app.project.clone(), ..StatusInput::default() })?;
    let is_here = |copy_root: Option<&str>| copy_root.is_some() && copy_root == root.as_deref();
    let here = status
        .card
        .sessions
        .into_iter()
        .filter(|session| session.live && is_here(session.copy.as_ref().map(|copy| copy.root.as_str())));
    let mut here: Vec<_> = here.collect();
    if let Some(own) = here.iter().position(|session| Some(&session.session_id) == own.as_ref()) {
        here = vec![here.swap_remove(own)];
    }
    match here.len() {
        1 => Ok(here.pop().map(|session| session.baton_id.unwrap_or(session.session_id))),
        _ => Ok(None),
    }
}
