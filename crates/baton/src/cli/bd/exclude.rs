//! `bd init --stealth`: git does not show the folder of issues as new, in this clone alone.

use std::path::Path;

use baton_model::refusal::{Kind, Refusal};

use super::Out;
use crate::error::AppError;
use crate::git;
use crate::repo_file::{MAX_SMALL_FILE_BYTES, RepoFile};

/// The file of a repository in which a user keeps what git is not to add, for himself.
const EXCLUDE: &str = "info/exclude";
/// The line about the folder of issues.
const FOLDER: &str = ".beads/";

/// Adds the folder to what git leaves out, unless it is there.
pub(super) fn beads_folder(out: &Out<'_>) -> Result<(), AppError> {
    let root = out.app.config.cwd.as_deref().and_then(git::root).ok_or_else(no_repository_refusal)?;
    let common_dir = git::repository(&root).map_err(|_| no_repository_refusal())?.common_dir;
    let file = RepoFile::new(Path::new(&common_dir), EXCLUDE);
    let text = file
        .text(MAX_SMALL_FILE_BYTES)
        .map_err(|fault| unwritable_refusal(&file.path(), &fault.to_string()))?;
    let text = text.unwrap_or_default();
    if text.lines().any(|line| line.trim() == FOLDER) {
        return Ok(());
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let changed = format!("{text}{end}{FOLDER}\n");
    file.replace(&changed).map_err(|fault| unwritable_refusal(&file.path(), &fault.to_string()))?;
    out.remark(&format!(
        "git leaves {FOLDER} out in this clone: a line in {} says so",
        file.path().display()
    ));
    Ok(())
}

fn no_repository_refusal() -> Refusal {
    let hint = "`git init` makes one; without it nothing shows the folder";
    Refusal::new(Kind::NotFound, "no_repository", "there is no git repository here", hint)
}

fn unwritable_refusal(path: &Path, why: &str) -> Refusal {
    let what = format!("{} was not written: {why}", path.display());
    Refusal::new(Kind::Outside, "exclude_failed", what, format!("add the line `{FOLDER}` to it yourself"))
}
