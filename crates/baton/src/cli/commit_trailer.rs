//! `baton commit-trailer`: called by the git hook of `baton init --commit-trailer`

use std::path::PathBuf;

use baton_model::id::{identity_key, is_shared_name};
use baton_model::session::View;
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

/// Where nothing says which agent commits, the message stays as it is.
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

/// The baton that the committing agent holds, else its session: by `BATON_SESSION`, by its process, or by its own name.
fn current_id(app: &mut App) -> Result<Option<String>, AppError> {
    let root = app.config.cwd.as_deref().and_then(git::root).map(|root| root.display().to_string());
    let status =
        app.run::<Status>(&StatusInput { project: app.project.clone(), ..StatusInput::default() })?;
    let is_here = |session: &View| {
        let copy = session.copy.as_ref().map(|copy| copy.root.as_str());
        copy.is_some() && copy == root.as_deref() && !session.is_elsewhere
    };
    let here: Vec<View> = status.card.sessions.into_iter().filter(is_here).collect();
    let identity = app.config.origins.get("identity").filter(|(_, origin)| origin.starts_with("env "));
    let identity = identity.map(|(name, _)| name.as_str());
    let committer = committer(&here, app.config.session.as_deref(), identity);
    Ok(committer.map(|session| session.baton_id.as_ref().unwrap_or(&session.session_id).clone()))
}

/// The one of the open sessions of a working copy in which a commit is made. A session that happens to be the only one there proves
/// nothing: the commit may be a person's in another shell.
fn committer<'a>(here: &'a [View], named: Option<&str>, identity: Option<&str>) -> Option<&'a View> {
    if let Some(id) = named {
        return here.iter().find(|session| id.len() >= 4 && session.session_id.starts_with(id));
    }
    let has_name =
        |session: &&View| identity.is_none_or(|name| identity_key(name) == identity_key(&session.identity));
    let one = |found: Vec<&'a View>| match found.as_slice() {
        [session] => Some(*session),
        _ => None,
    };
    let own: Vec<&View> = here.iter().filter(|session| session.is_own).collect();
    if !own.is_empty() {
        return one(own.into_iter().filter(has_name).collect());
    }
    // A name says who commits where the environment gives it, and where it is not the name of many.
    identity.filter(|name| !is_shared_name(name))?;
    one(here.iter().filter(|session| session.fresh).filter(has_name).collect())
}

#[cfg(test)]
mod tests {
    use baton_model::session::{Limits, ProcessLocation, Session};

    use super::*;

    /// An open session; `is_own`: its process is the one that commits.
    fn session(id: &str, identity: &str, is_own: bool) -> View {
        let session = Session {
            project_id: "shop".into(),
            session_id: id.into(),
            identity: identity.into(),
            surface: "human".into(),
            location: ProcessLocation::default(),
            started_at: 0,
            heartbeat_at: 0,
            last_verb: "start".into(),
            release: None,
            thread_id: id.into(),
            inherited_from: None,
            picked_up_session_id: None,
            baton_id: None,
            opened_by: None,
            stale_after: 0,
            working_copy: None,
        };
        View { is_own, ..session.view(0, Limits::default()) }
    }

    #[test]
    fn a_commit_gets_the_trailer_of_the_one_that_makes_it_and_of_no_other() {
        let (ann, bob) = (|own| session("aaaa1", "Ann", own), |own| session("bbbb1", "Bob", own));
        for (name, here, named, identity, expected) in [
            ("a person beside one agent", vec![bob(false)], None, None, None),
            ("a person beside two", vec![ann(false), bob(false)], None, None, None),
            ("an agent by its process", vec![ann(false), bob(true)], None, None, Some("bbbb1")),
            ("its process under another name", vec![ann(false), bob(true)], None, Some("Ann"), None),
            ("an agent by its name", vec![ann(false), bob(false)], None, Some("bob"), Some("bbbb1")),
            ("another that has no session", vec![bob(false)], None, Some("Cat"), None),
            ("the name of many", vec![session("cccc1", "Bot", false)], None, Some("Bot"), None),
            ("by its session", vec![ann(false), bob(true)], Some("aaaa1"), None, Some("aaaa1")),
            ("by the beginning of its id", vec![ann(false)], Some("aaaa"), None, Some("aaaa1")),
            ("a session that has ended", vec![bob(true)], Some("aaaa1"), Some("Ann"), None),
            ("two of one process", vec![ann(true), bob(true)], None, None, None),
            ("two of one process, by name", vec![ann(true), bob(true)], None, Some("Ann"), Some("aaaa1")),
        ] {
            let found = committer(&here, named, identity).map(|session| session.session_id.as_str());
            assert_eq!(found, expected, "{name}");
        }
    }
}
