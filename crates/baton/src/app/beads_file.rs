//! The Beads file of the working directory's project, around the operations that a command runs.

use std::time::Duration;

use baton_model::refusal::Refusal;
use baton_ops::op::{Caller, Operation};
use baton_ops::task::{BeadsExport, BeadsExportInput, BeadsImport, BeadsImportInput, BeadsImportOutput};
use baton_ops::{ImportRequest, Lines};

use super::App;
use crate::beads;
use crate::beads_file::{self, FileTurn, LOCKED};
use crate::error::AppError;
use crate::repo_file::RepoFile;

impl App {
    /// Takes the lines of a Beads file in, one after another.
    pub(crate) fn import_lines(
        &mut self,
        request: &ImportRequest<'_>,
        lines: &mut dyn Lines,
    ) -> Result<BeadsImportOutput, AppError> {
        let caller = self.caller();
        let answer = match self.config.server {
            // A request holds all of them.
            Some(_) => {
                let input = lines_input(request, lines)?;
                match self.import_remotely(&caller, &input) {
                    // The client of a token that is no operator's takes its lines in, and no line out.
                    Err(AppError::Refused(no))
                        if no.code == "scope_missing" && input.partial == Some(false) =>
                    {
                        self.import_remotely(&caller, &BeadsImportInput { partial: None, ..input })?
                    }
                    answer => answer?,
                }
            }
            None => self.within(&caller, |cx| baton_ops::import_lines(cx, request, lines))?,
        };
        self.changed_project = Some(answer.project_id.clone());
        Ok(answer)
    }

    fn import_remotely(
        &mut self,
        caller: &Caller,
        input: &BeadsImportInput,
    ) -> Result<BeadsImportOutput, AppError> {
        let input = serde_json::to_value(input).map_err(anyhow::Error::from)?;
        let answer = self.call_remote(caller, baton_ops::all::find(BeadsImport::NAME)?, input)?;
        Ok(serde_json::from_value(answer).map_err(anyhow::Error::from)?)
    }

    /// Imports the configured Beads file if it has changed since the last look, and writes it if the tasks of this project have
    /// changed. The file belongs to the project of the working directory: writes in another project do not
    /// concern it. Errors are reported once and fail no command.
    pub(crate) fn sync_beads_file(&mut self, written: Option<&str>) {
        let Some(file) = self.config.beads_file.clone() else { return };
        let reported =
            self.last_seen_beads_file.as_ref().map(|(_, reported)| reported.clone()).unwrap_or_default();
        let mark = beads_file::mark(&file);
        let is_seen =
            mark.is_none() || self.last_seen_beads_file.as_ref().map(|(seen, _)| seen) == mark.as_ref();
        if written.is_none() && is_seen {
            return;
        }
        // A look asks operations itself, which are not to look again.
        self.last_seen_beads_file = Some((mark.unwrap_or_default(), reported.clone()));
        let own = beads::own_project(self).filter(|own| written.is_none_or(|written| written == own));
        let Some(project) = own else { return };
        let direction = if written.is_some() { beads::Direction::Both } else { beads::Direction::Import };
        let done = beads::sync_beads_file(self, &project, &file, direction);
        self.report_sync(&file, done);
    }

    /// The project to which the working directory belongs, whatever a variable, a setting or the command line names.
    pub(crate) fn folder_project(&mut self) -> Option<String> {
        let caller = Caller { project: None, ..self.caller() };
        let input = BeadsExportInput { only_seq: true, ..BeadsExportInput::default() };
        Some(self.run_as::<BeadsExport>(&caller, &input).ok()?.project_id)
    }

    /// The turn at a Beads file. After a wait that was given up, later ones only try, until one succeeds: a command waits once.
    pub(crate) fn file_turn(&mut self, file: &RepoFile) -> Result<FileTurn, Refusal> {
        let patience = if self.is_file_locked { Duration::ZERO } else { self.lock_patience };
        let turn = FileTurn::wait(file, &self.config.data_dir, patience);
        self.is_file_locked = matches!(&turn, Err(refusal) if refusal.code == LOCKED);
        turn
    }

    /// The right to write the Beads file, which holds what the tasks are: what another ledger writes there is seen, and what is
    /// written here is there before another looks. None where there is no such file, or it cannot be brought in step.
    pub(super) fn take_file_turn(&mut self) -> Option<(beads::ExclusiveTurn, RepoFile)> {
        // A server sees to it itself.
        let file = self.config.beads_file.clone().filter(|_| self.config.server.is_none())?;
        let project = beads::own_project(self)?;
        match beads::ExclusiveTurn::take(self, project, &file) {
            Ok((held, complaints)) => {
                self.report_sync(&file, Ok(complaints));
                Some((held, file))
            }
            Err(error) => {
                self.report_sync(&file, Err(error));
                None
            }
        }
    }

    pub(super) fn finish_file_turn(&mut self, (held, file): (beads::ExclusiveTurn, RepoFile)) {
        let done = held.finish(self);
        self.report_sync(&file, done);
    }

    /// Reports complaints about the file, each once.
    fn report_sync(&mut self, file: &RepoFile, done: Result<Vec<String>, AppError>) {
        let path = file.path();
        let why = match done {
            Ok(complaints) => {
                let lines = complaints.iter().map(|text| format!("{}, {text}", path.display()));
                lines.collect::<Vec<_>>().join("\n")
            }
            Err(error) => format!("{} is not in step: {}", path.display(), error.text().trim_end()),
        };
        let reported = self.last_seen_beads_file.as_ref().map(|(_, reported)| reported.as_str());
        if !why.is_empty() && Some(why.as_str()) != reported {
            self.remark(&format!("warning: {why}"));
        }
        self.last_seen_beads_file = Some((beads_file::mark(file).unwrap_or_default(), why));
    }
}

/// The input of `beads_import` with all lines in it.
fn lines_input(request: &ImportRequest<'_>, lines: &mut dyn Lines) -> Result<BeadsImportInput, Refusal> {
    let mut all = Vec::new();
    lines.rewind()?;
    loop {
        match lines.next() {
            Ok(Some(line)) => all.push(line),
            Ok(None) => break,
            // In its place stands what is no line of a task either.
            Err(refusal) if request.lenient && refusal.code == "beads_invalid" => all.push("\u{fffd}".into()),
            Err(refusal) => return Err(refusal),
        }
    }
    Ok(BeadsImportInput {
        project: request.project.map(str::to_owned),
        identity: request.identity.map(str::to_owned),
        lines: all,
        dry_run: request.dry_run,
        partial: Some(request.partial),
        lenient: request.lenient,
    })
}
