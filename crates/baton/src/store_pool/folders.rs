//! The folders of the project that a call is about, on the machine of its server.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use baton_model::session::ProcessLocation;
use baton_ops::input::InputView;
use baton_ops::op::Caller;
use baton_ops::project::{Show, ShowInput, ShowOutput};

use super::Pool;
use crate::runner::Call;

/// How long the folders of a project count as known, before the ledger is asked again.
const KNOWN_FOR: Duration = Duration::from_secs(5);
/// How many projects' folders are remembered.
const MAX_PROJECTS: usize = 1_000;

/// The folders of projects, as the ledger knew them a moment ago.
#[derive(Default)]
pub(super) struct Folders(Mutex<Vec<ProjectFolders>>);

/// The folders of one project.
#[derive(Clone)]
pub(super) struct ProjectFolders {
    /// What the project was called in the call.
    name: String,
    pub(super) project_id: String,
    pub(super) folders: Vec<String>,
    asked_at: Instant,
}

impl Folders {
    fn projects(&self) -> MutexGuard<'_, Vec<ProjectFolders>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of the project that a call is about, on this machine.
    pub(super) async fn of_call(&self, call: &Call, machine: &str, pool: &Pool) -> Option<ProjectFolders> {
        let named = call.input.as_object().and_then(|fields| InputView(fields).project());
        let name = match named.or(call.caller.project.as_deref()) {
            Some(name) => name.to_owned(),
            // A caller in a folder names no project.
            None => show(None, call.caller.clone(), pool).await?.project.project_id,
        };
        let is_known = |known: &&ProjectFolders| known.name == name && known.asked_at.elapsed() < KNOWN_FOR;
        if let Some(known) = self.projects().iter().find(is_known) {
            return Some(known.clone());
        }
        let location = ProcessLocation { machine: machine.to_owned(), ..ProcessLocation::default() };
        let shown = show(Some(name.clone()), Caller { location, ..Caller::default() }, pool).await?;
        let (project_id, folders) = (shown.project.project_id, shown.roots);
        let found = ProjectFolders { name, project_id, folders, asked_at: Instant::now() };
        let mut projects = self.projects();
        projects.retain(|other| other.name != found.name && other.asked_at.elapsed() < KNOWN_FOR);
        if projects.len() < MAX_PROJECTS {
            projects.push(found.clone());
        }
        Some(found)
    }
}

/// What the ledger knows of a project, whatever the caller's token reaches: nothing of it is in an answer.
async fn show(project: Option<String>, caller: Caller, pool: &Pool) -> Option<ShowOutput> {
    let caller = Caller { grant: Caller::default().grant, ..caller };
    Box::pin(pool.run_typed::<Show>(&ShowInput { project }, caller)).await.ok()
}
