//! `baton beads merge` and `baton beads driver`: how git merges the Beads file.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use baton_model::refusal::{Kind, Refusal};
use baton_model::task::conflict::Conflict;
use serde::Serialize;

use crate::app::{App, Format};
use crate::beads_file_note::BeadsFileNote;
use crate::error::AppError;
use crate::git;
use crate::merge_driver::{self, Changes, Setup};
use crate::repo_file::RepoFile;

/// Merge the Beads file as a git merge driver, or set that up
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    what: DriverFile,
}

#[derive(clap::Subcommand)]
enum DriverFile {
    /// Merge another version of the file into ours task by task, as a git merge driver
    Merge {
        /// Common ancestor (%O)
        base: PathBuf,
        /// Our version (%A); replaced by the merged one
        ours: PathBuf,
        /// Their version (%B)
        theirs: PathBuf,
    },
    /// Set up the merge driver in this repository, or show whether it is set up
    Driver {
        /// Add a line to .gitattributes and a section to this clone's settings
        #[arg(long, conflicts_with = "remove")]
        install: bool,
        /// Remove both again
        #[arg(long)]
        remove: bool,
    },
}

pub(super) fn run(args: Args, app: &mut App) -> Result<(), AppError> {
    match args.what {
        DriverFile::Merge { base, ours, theirs } => match merge_driver::merge(&base, &ours, &theirs) {
            Ok((text, conflicts)) => {
                RepoFile::from_user_path(&ours).replace(&text).map_err(std::io::Error::from)?;
                print_conflicts(app, &conflicts);
                Ok(())
            }
            Err(refusal) => {
                // The marks of a conflict, as without a driver: nothing of either side is dropped.
                let words = [&ours, &base, &theirs].map(|path| path.to_string_lossy());
                let folder = app.config.cwd.clone().unwrap_or_default();
                git::merge_lines(&folder, words.each_ref().map(AsRef::as_ref));
                Err(refusal.into())
            }
        },
        DriverFile::Driver { install, remove } => {
            let wanted = match (install, remove) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            };
            set_up(app, wanted)
        }
    }
}

/// Whether git uses the driver here, and what was changed.
#[derive(Serialize)]
struct Status {
    installed: bool,
    changed: Changes,
}

/// Sets the merge driver up or removes it, and says how things stand.
pub(super) fn set_up(app: &App, wanted: Option<bool>) -> Result<(), AppError> {
    let (is_installed, changes) = change(app, wanted)?;
    let answer = Status { installed: is_installed, changed: changes };
    let unchanged = match wanted {
        Some(false) => "nothing was set up here that could be removed\n",
        _ => "",
    };
    app.show(&answer, |status| {
        let unchanged = if status.changed.is_empty() { unchanged } else { "" };
        format!("{unchanged}{}", text(&status.changed, status.installed))
    })
}

/// Sets the merge driver up or removes it; whether it is installed now, and what was changed.
pub(super) fn change(app: &App, wanted: Option<bool>) -> Result<(bool, Changes), AppError> {
    let setup = setup(app).ok_or_else(no_repository_refusal)?;
    let changes = match wanted {
        Some(true) => setup.install(&std::env::current_exe()?)?,
        Some(false) => setup.remove()?,
        None => Vec::new(),
    };
    Ok((setup.is_installed(), changes))
}

/// Names what both sides had changed differently, and leaves it for the ledger to say.
fn print_conflicts(app: &App, conflicts: &[Conflict]) {
    for conflict in conflicts {
        app.remark(&format!("warning: {}", conflict.summary()));
    }
    let Some(file) = app.config.beads_file.as_ref().filter(|_| !conflicts.is_empty()) else { return };
    let note = BeadsFileNote::of(&file.path(), &app.config.data_dir);
    if let Err(error) = note.and_then(|note| note.add_settled(conflicts)) {
        app.remark(&format!("warning: the ledger will not say so: {error}"));
    }
}

/// Of the repository in which the command runs.
fn setup(app: &App) -> Option<Setup> {
    let mirror = app.config.beads_file.as_ref().map(RepoFile::path);
    Setup::of(app.config.cwd.as_deref()?, mirror.as_deref())
}

/// What `baton init` makes of it: done where it is wanted, asked on a terminal, else mentioned. Nothing where there is no file to
/// merge, and where git knows already.
pub(super) fn offer(app: &App, is_wanted: bool, is_declined: bool) -> Result<Option<Changes>, AppError> {
    let setup = match (setup(app), is_wanted) {
        (Some(setup), _) => setup,
        (None, true) => return Err(no_repository_refusal().into()),
        (None, false) => return Ok(None),
    };
    let has_file = setup.has_file() || app.config.beads_file.is_some();
    if !is_wanted && (is_declined || !has_file || setup.is_installed()) {
        return Ok(None);
    }
    let mut err = std::io::stderr();
    if !is_wanted && (app.format != Format::Text || !std::io::stdin().is_terminal() || !err.is_terminal()) {
        app.remark("`baton init --merge-driver` lets git merge the Beads file field by field");
        return Ok(None);
    }
    if !is_wanted {
        let what = "a line in .gitattributes and a section in .git/config";
        write!(err, "Let git merge the Beads file field by field ({what})? [y/N] ")?;
        err.flush()?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        if !matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
            return Ok(None);
        }
    }
    Ok(Some(setup.install(&std::env::current_exe()?)?))
}

/// What was changed, a line each, and how things stand.
pub(super) fn text(changes: &[String], is_installed: bool) -> String {
    let mut text: String = changes.iter().map(|change| format!("changed {change}\n")).collect();
    text.push_str(match is_installed {
        true => "git merges the Beads file field by field; `baton beads driver --remove` undoes it\n",
        false => "git merges the Beads file line by line; `baton beads driver --install` changes that\n",
    });
    text
}

fn no_repository_refusal() -> Refusal {
    Refusal::new(
        Kind::NotFound,
        "no_repository",
        "this is no git repository",
        "call it in the repository whose file it is",
    )
}
