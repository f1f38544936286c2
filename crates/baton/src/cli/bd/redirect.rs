//! `.beads/redirect`, by which Beads takes the issues of another folder.

use std::path::{Path, PathBuf};

use baton_model::id::visible;
use baton_model::refusal::{Kind, Refusal};
use baton_model::shell::shell_word;
use baton_ops::project::{Show, ShowInput};

use super::args::{Command, Setup};
use crate::app::App;
use crate::config::variable;
use crate::git;
use crate::repo_file::RepoFile;

/// The file, from the root of a working copy.
const REDIRECT: &str = ".beads/redirect";
/// The most bytes of it that are read.
const MAX_BYTES: u64 = 4096;

/// Refuses to register a folder, or to say that it has no issues, where its redirect names those of another repository: what a file of a
/// repository says does not choose the issues alone. Where the folder has issues of its own, a remark says so to the caller that asks which
/// these are. In a worktree the redirect names those of the same repository, which are shared anyway.
pub(super) fn refuse(command: &Command, app: &mut App) -> Result<(), Refusal> {
    let is_chosen = ["BEADS_DIR", "BEADS_DB", "BD_DB"].iter().any(|name| variable(name).is_some());
    let Some(cwd) = app.config.cwd.clone().filter(|_| !is_chosen) else { return Ok(()) };
    let root = git::root(&cwd).unwrap_or(cwd);
    let Some(target) = target(&root) else { return Ok(()) };
    if is_same_repository(&root, &target) {
        return Ok(());
    }
    let path = target.display().to_string();
    let what = format!("{REDIRECT} names the issues of {}, and is not followed by itself", visible(&path));
    let is_registration = matches!(command, Command::Setup(Setup::Init(_) | Setup::Bootstrap(_)));
    if !is_registration && app.run::<Show>(&ShowInput::default()).is_ok() {
        if asks_for_place(command) {
            let path = shell_word(&path);
            app.remark(&format!(
                "{what}: these are the issues of this folder; `export BEADS_DIR={path}` takes those"
            ));
        }
        return Ok(());
    }
    let hint = format!(
        "`export BEADS_DIR={}` takes those; to keep issues of this folder, remove {REDIRECT} and run `bd init`",
        shell_word(&path)
    );
    Err(Refusal::new(Kind::Refused, "redirect_not_followed", what, hint))
}

/// Whether a command asks which issues these are.
fn asks_for_place(command: &Command) -> bool {
    matches!(command, Command::Setup(Setup::Where | Setup::Info { .. } | Setup::Doctor(_)))
}

/// The folder that the redirect names, from the root of the working copy.
fn target(root: &Path) -> Option<PathBuf> {
    let text = RepoFile::new(root, REDIRECT).text(MAX_BYTES).ok()??;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'))?;
    Some(root.join(line))
}

fn is_same_repository(root: &Path, target: &Path) -> bool {
    let common_dir = |root: &Path| git::repository(root).ok().map(|repository| repository.common_dir);
    let other = git::root(target).or_else(|| target.parent().and_then(git::root));
    let own = common_dir(root);
    own.is_some() && own == other.as_deref().and_then(common_dir)
}
