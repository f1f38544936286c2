//! Reading other tools' transcripts on this machine for a ledger that is elsewhere.
//!
//! The operations that do so ask a store for three things: where projects are on this machine, in which of them the hooks of
//! conversations spoke, and the headers it has kept. So the client has a small store of its own, one for each server. All of it
//! but what hooks noted can be made again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use baton_model::session::Limits;
use baton_ops::op::{Caller, Cx, Env};
use baton_ops::project_folders::{ProjectFolders, note};
use baton_ops::transcript::{DocumentRequest, read_for_remote};
use baton_store::{Failure, Fault, Store, Target};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::clock;
use crate::error::AppError;
use crate::host::Machine;

/// A read request.
pub(super) enum DiskRead {
    /// An operation on transcripts, by its name, with its input.
    Operation(&'static baton_ops::op::OperationEntry, Value),
    /// A transcript for an operation that writes it into the ledger.
    Transcript(DocumentRequest),
}

/// The small store of a client of this server.
pub(crate) fn client_store(data_dir: &Path, url: &str) -> PathBuf {
    let digest = Sha256::digest(url.as_bytes());
    let name: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    data_dir.join(format!("client-{name}.db"))
}

/// This machine's transcripts.
#[derive(Clone)]
pub(super) struct Disk {
    machine: Arc<Machine>,
    limits: Limits,
    store: PathBuf,
}

impl Disk {
    /// For a client of this server, with its small store in the data directory.
    pub(super) fn new(machine: Arc<Machine>, limits: Limits, data_dir: &Path, url: &str) -> Self {
        Self { machine, limits, store: client_store(data_dir, url) }
    }

    /// Reads, with the projects that the server knows. Blocks for as long as it takes.
    pub(super) fn read(
        &self,
        reading: DiskRead,
        caller: &Caller,
        projects: &[ProjectFolders],
    ) -> Result<Value, AppError> {
        let mut store = self.open()?;
        note(&mut store, &caller.location.machine, projects, clock::now())?;
        let machine: &Machine = &self.machine;
        let env =
            Env { now: clock::now(), random: &mut clock::random, caller, limits: self.limits, host: machine };
        let mut cx = Cx { store: &mut store, env };
        let answer: Result<Value, Failure> = match reading {
            DiskRead::Operation(entry, input) => (entry.run)(input, &mut cx),
            DiskRead::Transcript(request) => read_for_remote(&mut cx, &request),
        };
        store.leave();
        Ok(answer?)
    }

    /// Where nothing can be kept, a store in memory does for once.
    fn open(&self) -> Result<Store, Fault> {
        Store::open(&Target::File(self.store.clone()), clock::now())
            .or_else(|_| Store::open(&Target::Memory, clock::now()))
    }
}
