//! The router of a server: gives work out in every project, on a thread with a store of its own. Of several servers on a
//! ledger one routes.

use std::sync::Arc;
use std::time::Duration;

use baton_model::duty;
use baton_model::route::{Policy, ROUTER};
use baton_ops::all;
use baton_ops::op::{Caller, Cx, Env};
use baton_ops::project::{List, ListInput};
use baton_ops::task::{BeadsExport, BeadsExportInput, Route, RouteInput, RouteOutput};
use baton_store::{Failure, Store};
use tokio::runtime::Handle;

use crate::clock;
use crate::config::Config;
use crate::error::AppError;
use crate::host::Machine;
use crate::leadership::Duties;
use crate::served_beads_files::{FileTurns, ServerBeadsFiles};
use crate::services::{Service, ServiceHandle, StopSignal};

/// Pause between two passes.
const PASS_INTERVAL: Duration = Duration::from_secs(1);

/// The settings as input of `task_route`.
pub(crate) fn settings(policy: &Policy) -> RouteInput {
    RouteInput {
        fallback_after_s: Some(policy.fallback_after / 1000),
        escalate_after_s: Some(policy.escalate_after / 1000),
        max_attempts: Some(policy.max_attempts),
        human: Some(policy.human.clone()),
        ..RouteInput::default()
    }
}

/// What a pass needs.
struct RoutingPass {
    store: Store,
    machine: Arc<Machine>,
    duties: Arc<Duties>,
    config: Config,
    caller: Caller,
    /// Other ledgers may give their tasks out, too, so that a pass holds the turns at those of a project.
    files: ServerBeadsFiles,
    /// Who the server is for its own project.
    owner: Caller,
    runtime: Handle,
}

/// Starts the router. The files come with the runtime on which their turns are waited for.
pub(crate) fn start(
    config: &Config,
    machine: &Arc<Machine>,
    duties: &Arc<Duties>,
    (files, runtime): (ServerBeadsFiles, Handle),
) -> Result<ServiceHandle, AppError> {
    let mut store = Store::open(&config.store, clock::now())?;
    machine.observe(&mut store);
    let (machine, duties) = (Arc::clone(machine), Arc::clone(duties));
    let mut caller = Caller { surface: ROUTER.to_owned(), ..Caller::default() };
    caller.location.machine.clone_from(&machine.id);
    let (config, owner) = (config.clone(), machine.caller(config));
    let pass = RoutingPass { store, machine, duties, config, caller, files, owner, runtime };
    Ok(ServiceHandle::start(pass, PASS_INTERVAL)?)
}

impl Service for RoutingPass {
    const NAME: &'static str = "router";

    fn pass(&mut self, _: &StopSignal) -> Duration {
        if let Err(failure) = self.route() {
            tracing::error!(%failure, "work cannot be given out");
        }
        PASS_INTERVAL
    }
}

impl RoutingPass {
    fn route(&mut self) -> Result<(), Failure> {
        if self.duties.fence(duty::ROUTE).is_none() {
            return Ok(());
        }
        let caller = self.caller.clone();
        let projects = self.with(&caller, |cx| all::call_typed::<List>(&ListInput::default(), cx))?;
        let mirrored = self.beads_file_project();
        // The work of a merged project goes on in another.
        let active = projects.items.iter().filter(|row| row.project.merged_into.is_none());
        for row in active {
            let id = &row.project.project_id;
            if self.duties.fence(duty::ROUTE).is_none() {
                break;
            }
            let input = RouteInput { project: Some(id.clone()), ..settings(&self.config.route) };
            let own = self.files.own.iter().filter(|_| mirrored.as_ref() == Some(id)).cloned();
            let files: Vec<_> = own.chain(self.files.served.of_folders(id, &row.roots)).collect();
            let turns = self.runtime.block_on(FileTurns::take(&files));
            let routed = self.with(&caller, |cx| all::call_typed::<Route>(&input, cx));
            if let Some(turns) = turns {
                self.runtime.block_on(turns.finish());
            }
            match routed {
                Ok(pass) => log(id, &pass),
                // A roles file with a fault holds up its own project, and no other.
                Err(Failure::Refused(refusal)) => tracing::warn!(project = %id, "{}", refusal.message),
                Err(fault) => return Err(fault),
            }
        }
        Ok(())
    }

    /// The project whose tasks the mirrored file holds.
    fn beads_file_project(&mut self) -> Option<String> {
        self.files.own.as_ref()?;
        let owner = self.owner.clone();
        let input = BeadsExportInput { only_seq: true, ..BeadsExportInput::default() };
        // A folder that is not registered, or not any more, has no project.
        Some(self.with(&owner, |cx| all::call_typed::<BeadsExport>(&input, cx)).ok()?.project_id)
    }

    fn with<T>(
        &mut self,
        caller: &Caller,
        f: impl FnOnce(&mut Cx<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let env = Env {
            now: self.machine.now(),
            random: &mut clock::random,
            caller,
            limits: self.config.limits,
            host: self.machine.as_ref(),
        };
        f(&mut Cx { store: &mut self.store, env })
    }
}

fn log(project: &str, pass: &RouteOutput) {
    for row in &pass.items {
        tracing::info!(%project, task = %row.task.task_id, agent = %row.agent, "a task was given out");
    }
    for row in &pass.blocked {
        tracing::warn!(%project, task = %row.task.task_id, "a task is blocked after too many attempts");
    }
}
