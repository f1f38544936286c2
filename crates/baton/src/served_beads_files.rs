//! The Beads files of projects whose folders are on a server's machine while the server stands in none of them: what claims or gives out
//! a task there goes by the file, as a command in that folder does.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::beads_file_service::{BeadsFileService, Exclusive};
use crate::config::{self, Config};
use crate::host::Machine;
use crate::repo_file::RepoFile;

/// How many files are kept open; the one that was not needed for the longest time is closed first.
const MAX_FILES: usize = 64;

/// The files of a server's machine.
pub(crate) struct ServedBeadsFiles {
    config: Config,
    machine: String,
    files: Mutex<Vec<ServedFile>>,
}

/// A file that is kept in step on a thread of its own. The one that was needed last stands last.
struct ServedFile {
    folder: String,
    project_id: String,
    service: Arc<BeadsFileService>,
}

impl ServedBeadsFiles {
    /// None open yet.
    pub(crate) fn new(config: &Config, machine: &Machine) -> Arc<Self> {
        Arc::new(Self { config: config.clone(), machine: machine.id.clone(), files: Mutex::default() })
    }

    /// The machine on which the files are.
    pub(crate) fn machine(&self) -> &str {
        &self.machine
    }

    fn files(&self) -> MutexGuard<'_, Vec<ServedFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files of these folders, for whichever of them a mirror is on now, in the order in which every server takes their turns.
    pub(crate) fn of_folders(&self, project_id: &str, folders: &[String]) -> Vec<Arc<BeadsFileService>> {
        let mut found: Vec<Arc<BeadsFileService>> =
            folders.iter().filter_map(|folder| self.of_folder(project_id, folder)).collect();
        found.sort_by_cached_key(|service| service.path());
        found
    }

    fn of_folder(&self, project_id: &str, folder: &str) -> Option<Arc<BeadsFileService>> {
        let settings = config::in_folder(&self.config, Path::new(folder)).ok();
        let path = settings.as_ref().and_then(|settings| Some(settings.beads_file.as_ref()?.path()));
        let mut files = self.files();
        let known = files.iter().position(|file| file.folder == folder).map(|at| files.remove(at));
        let is_same = |file: &ServedFile| Some(file.service.path()) == path && file.project_id == project_id;
        let known = match known {
            Some(known) if is_same(&known) => Some(known),
            // The mirror is off by now, or leads elsewhere.
            Some(other) => {
                stop(other);
                None
            }
            None => None,
        };
        let own = self.config.beads_file.as_ref().map(RepoFile::path);
        if own.is_some() && own == path {
            return None;
        }
        let file = match known {
            Some(known) => known,
            None => {
                let service = BeadsFileService::of_client(&settings?)?;
                ServedFile { folder: folder.to_owned(), project_id: project_id.to_owned(), service }
            }
        };
        let service = Arc::clone(&file.service);
        files.push(file);
        if files.len() > MAX_FILES {
            stop(files.remove(0));
        }
        Some(service)
    }

    /// Writes the open files of a project, without waiting: its tasks may have changed.
    pub(crate) fn export(&self, project_id: &str) {
        for file in self.files().iter().filter(|file| file.project_id == project_id) {
            file.service.export();
        }
    }

    /// Writes what is left to write and ends.
    pub(crate) fn stop(&self) {
        for file in self.files().drain(..) {
            file.service.stop();
        }
    }
}

/// Ends a file's thread when that has done what it does now.
fn stop(file: ServedFile) {
    std::thread::spawn(move || file.service.stop());
}

/// The files by which a server goes.
#[derive(Clone)]
pub(crate) struct ServerBeadsFiles {
    /// That of the folder in which it stands.
    pub own: Option<Arc<BeadsFileService>>,
    /// Those of other folders of its machine.
    pub served: Arc<ServedBeadsFiles>,
}

impl ServerBeadsFiles {
    /// As the settings of a server have them.
    pub(crate) fn open(config: &Config, machine: &Machine) -> Self {
        Self { own: BeadsFileService::of_server(config), served: ServedBeadsFiles::new(config, machine) }
    }

    /// Writes what is left to write and ends.
    pub(crate) fn stop(&self) {
        self.own.iter().for_each(|own| own.stop());
        self.served.stop();
    }
}

/// The turns at all files by which an operation goes.
pub(crate) struct FileTurns {
    held: Vec<Exclusive>,
    /// Which files could not be brought in step, and why.
    warnings: Vec<String>,
}

impl FileTurns {
    /// Takes the turn at each; none where there is no file.
    pub(crate) async fn take(files: &[Arc<BeadsFileService>]) -> Option<Self> {
        let mut turns = Self { held: Vec::new(), warnings: Vec::new() };
        for file in files {
            match file.hold().await {
                Ok(turn) => turns.held.extend(turn),
                Err(why) => turns.warnings.push(why),
            }
        }
        (!turns.held.is_empty() || !turns.warnings.is_empty()).then_some(turns)
    }

    /// Whether a file is written when this is over.
    pub(crate) fn is_held(&self) -> bool {
        !self.held.is_empty()
    }

    /// Which files could not be brought in step, and why.
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// After the operation: what it did is in the files when this is over.
    pub(crate) async fn finish(self) {
        for turn in self.held {
            turn.finish().await;
        }
    }
}
