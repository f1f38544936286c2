//! `baton import beads`, `baton export beads`, and the file that is kept in step with the tasks.

use std::path::PathBuf;

use baton_model::accounting::plural;
use baton_model::id::visible;
use baton_model::task::conflict::Conflict;
use baton_ops::task::{BeadsImportOutput, EmptiedText};

use super::ActingIdentity;
use crate::app::App;
use crate::beads::{self, Exported};
use crate::error::AppError;
use crate::private_file;
use crate::repo_file::RepoFile;

/// Import from a file
#[derive(clap::Args)]
pub(super) struct ImportArgs {
    #[command(subcommand)]
    what: Import,
}

#[derive(clap::Subcommand)]
enum Import {
    /// Import tasks from a Beads file, merging field by field where both sides changed
    Beads {
        /// Beads file, or the folder of the repository or its .beads
        path: String,
        #[command(flatten)]
        who: ActingIdentity,
        /// Check and count without importing anything
        #[arg(long)]
        dry_run: bool,
    },
}

/// Export to a file
#[derive(clap::Args)]
pub(super) struct ExportArgs {
    #[command(subcommand)]
    what: Export,
}

#[derive(clap::Subcommand)]
enum Export {
    /// Export the tasks to a Beads file, unless it holds something the ledger has not seen
    Beads {
        /// Beads file, or the folder of the repository or its .beads
        path: String,
    },
}

pub(super) fn run_import(args: ImportArgs, app: &mut App) -> Result<(), AppError> {
    let Import::Beads { path, who, dry_run } = args.what;
    let answer = import(app, &path, who.identity.as_deref(), dry_run)?;
    app.show(&answer, |imported| {
        let would = if dry_run { "would be " } else { "" };
        let mut text = format!(
            "{} {} {would}new, {} {would}changed, {} as they were\n",
            imported.created,
            plural(imported.created, "task"),
            imported.updated,
            imported.unchanged
        );
        if imported.deleted > 0 {
            text.push_str(&format!("{} that were deleted elsewhere {would}noted\n", imported.deleted));
        }
        let others = imported.memories + imported.other_lines;
        if others > 0 {
            let lines =
                if others == 1 { "other line is kept as it is" } else { "other lines are kept as they are" };
            text.push_str(&format!("{others} {lines}\n"));
        }
        for complaint in &imported.complaints {
            text.push_str(&format!("warning: {}\n", visible(&complaint.text)));
        }
        for conflict in &imported.conflicts {
            text.push_str(&format!("warning: {}\n", conflict.summary()));
        }
        for emptied in &imported.emptied {
            text.push_str(&format!("warning: {}\n", emptied.summary()));
        }
        text
    })
}

pub(super) fn run_export(args: ExportArgs, app: &mut App) -> Result<(), AppError> {
    let Export::Beads { path } = args.what;
    let answer = export(app, &path)?;
    app.show(&answer, |done| {
        let path = visible(&done.path);
        format!("{} tasks are in {path}, {} lines were changed\n", done.tasks, done.changed)
    })
}

/// The file that is meant by a path to it, to its folder, or to the repository.
pub(super) fn file(path: &str, app: &App) -> RepoFile {
    let path = PathBuf::from(path);
    let path = match (path.is_dir(), path.file_name().is_some_and(|name| name == ".beads")) {
        (true, true) => path.join("issues.jsonl"),
        (true, false) => path.join(".beads/issues.jsonl"),
        _ => path,
    };
    RepoFile::named_in(app.config.cwd.as_deref(), &path)
}

/// Takes the tasks of a file in.
pub(super) fn import(
    app: &mut App,
    path: &str,
    identity: Option<&str>,
    dry_run: bool,
) -> Result<BeadsImportOutput, AppError> {
    let file = file(path, app);
    beads::import(app, &file, identity, dry_run)
}

/// Takes the tasks of a file in and writes it. What both sides had changed differently is reported.
pub(super) fn sync(
    app: &mut App,
    path: &str,
    identity: Option<&str>,
) -> Result<(BeadsImportOutput, Exported), AppError> {
    let file = file(path, app);
    let (taken, written) = beads::sync(app, &file, identity)?;
    remark_findings(app, &taken);
    Ok((taken, written))
}

/// Says what was found odd in lines, and what of them was not taken.
pub(super) fn remark_findings(app: &mut App, taken: &BeadsImportOutput) {
    let complaints = taken.complaints.iter().map(|complaint| visible(&complaint.text).to_string());
    let conflicts = taken.conflicts.iter().map(Conflict::summary);
    let emptied = taken.emptied.iter().map(EmptiedText::summary);
    for finding in complaints.chain(conflicts).chain(emptied).collect::<Vec<String>>() {
        app.remark(&format!("warning: {finding}"));
    }
}

/// Writes the tasks to a file that holds nothing else.
pub(super) fn export(app: &mut App, path: &str) -> Result<Exported, AppError> {
    let file = file(path, app);
    private_file::refuse_store(&file.path())?;
    beads::export(app, &file)
}

/// Synchronises the Beads file after tasks were written, where the settings ask for it. Errors are reported and fail
/// nothing: the ledger is complete, and the next write tries again.
pub(super) fn sync_after_write(app: &mut App) {
    let Some(project) = app.changed_project.clone() else { return };
    app.sync_beads_file(Some(&project));
}
