//! The turn at the Beads file: who has it reads the file, and writes it unless nothing was done but to read.

use std::path::PathBuf;

use super::sync_file;
use crate::app::App;
use crate::beads_file::FileTurn;
use crate::error::AppError;
use crate::repo_file::RepoFile;

/// What is to be done about the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Its changes are imported. It stays as it is: a reader changes no working copy.
    Import,
    /// After that, it is written.
    Both,
}

/// Imports changes of the file that the ledger has not seen, and brings the file up to date with the project's tasks. Returns
/// complaints about single lines, which stay as they are.
pub(crate) fn sync_beads_file(
    app: &mut App,
    project: &str,
    file: &RepoFile,
    direction: Direction,
) -> Result<Vec<String>, AppError> {
    let mut turn = app.file_turn(file)?;
    sync_file(app, project, &mut turn, (&file.path(), direction))
}

/// The turn at a file that is in step, held while an operation runs that only one ledger may carry out.
pub(crate) struct ExclusiveTurn {
    turn: FileTurn,
    project: String,
    path: PathBuf,
}

impl ExclusiveTurn {
    /// Waits for the turn and brings the file in step.
    pub(crate) fn take(
        app: &mut App,
        project: String,
        file: &RepoFile,
    ) -> Result<(Self, Vec<String>), AppError> {
        let (turn, path) = (app.file_turn(file)?, file.path());
        let mut held = Self { turn, project, path };
        let complaints = held.sync(app)?;
        Ok((held, complaints))
    }

    fn sync(&mut self, app: &mut App) -> Result<Vec<String>, AppError> {
        sync_file(app, &self.project, &mut self.turn, (&self.path, Direction::Both))
    }

    /// Writes what the operation did and ends the turn.
    pub(crate) fn finish(mut self, app: &mut App) -> Result<Vec<String>, AppError> {
        self.sync(app)
    }
}
