//! The threads that own the store. A server sends them whole operations: one hop per operation, and everything that
//! waits is committed together (group commit), so that many clients share one flush.

mod folders;
mod pending;
mod queue;
mod queued_call;
mod written;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};

use baton_model::session::Limits;
use baton_ops::input::InputView;
use baton_ops::op::{Caller, Cx, Env, Host, Operation, TxMode};
use baton_ops::{all, idempotency};
use baton_store::{Failure, Fault, FaultKind, Store, Target};
use serde_json::Value;

use self::folders::Folders;
use self::pending::PendingCount;
use self::queue::Queue;
use self::queued_call::QueuedCall;
use self::written::WrittenProjects;
use crate::beads_file_service::BeadsFileService;
use crate::clock;
use crate::error::AppError;
use crate::handoff_driver::HandoffDriver;
use crate::host::Machine;
use crate::memory_index::IndexServices;
use crate::remote::{AnsweredQuestion, ClientHost, FACTS_REQUIRED};
use crate::runner::{self, Answer, Call};
use crate::served_beads_files::{ServedBeadsFiles, ServerBeadsFiles};
use crate::server_host::SocketHost;
use crate::traces;

/// The most operations that one commit carries.
const BATCH_SIZE: usize = 256;
/// Operations that may wait for a thread; more are refused, so that a flood cannot eat the memory.
const QUEUE: usize = 4_096;
/// How often a client's operation is run again after a deadlock, or while the store is busy.
const RETRIES: u32 = 5;

/// How many threads a process keeps, each with a connection of its own.
#[derive(Clone, Copy)]
pub(crate) struct Threads {
    /// That only read.
    readers: usize,
    /// That write, where the engine lets projects write side by side; else it is one.
    writers: usize,
    /// Whether calls come over a socket, from callers that this machine's disk is not for.
    served: bool,
}

impl Threads {
    /// For many clients.
    pub(crate) const MANY: Self = Self { readers: 2, writers: 8, served: true };
    /// For one client: a database has connections for many such processes.
    pub(crate) const ONE: Self = Self { readers: 1, writers: 1, served: false };
}

/// The store's threads.
pub(crate) struct Pool {
    writers: Vec<SyncSender<QueuedCall>>,
    readers: SyncSender<QueuedCall>,
    in_flight: AtomicUsize,
    written: Arc<WrittenProjects>,
    /// The external services of the memory index, if any are configured.
    index_services: Option<Arc<IndexServices>>,
    /// The Beads file of the tasks, if the settings name one.
    beads_file: Option<Arc<BeadsFileService>>,
    /// Beads files of projects outside the server's own folder.
    served_files: Option<Arc<ServedBeadsFiles>>,
    folders: Folders,
    /// What drives hand-offs, in a process that no server does it for.
    driver: Option<HandoffDriver>,
}

/// What every thread needs.
struct Shared {
    machine: Arc<Machine>,
    limits: Limits,
    written: Arc<WrittenProjects>,
    served: bool,
}

impl Pool {
    /// Opens the store on every thread. The first opening migrates it.
    pub(crate) fn open(
        target: &Target,
        machine: &Arc<Machine>,
        limits: Limits,
        threads: Threads,
    ) -> Result<Self, Fault> {
        let mut first = Store::open(target, clock::now())?;
        let side_by_side = first.kind() == "postgres";
        machine.follow_clock(&mut first);
        machine.observe(&mut first);
        let mut stores = vec![first];
        while side_by_side && stores.len() < threads.writers {
            let mut store = Store::open(target, clock::now())?;
            machine.observe(&mut store);
            stores.push(store);
        }
        let written = Arc::new(WrittenProjects::default());
        let (machine, served) = (Arc::clone(machine), threads.served);
        let shared = Arc::new(Shared { machine, limits, written: Arc::clone(&written), served });
        let writers = stores.into_iter().map(|store| spawn_writer(store, &shared)).collect::<Vec<_>>();
        let readers = match target {
            // A store in memory has one connection: what reads must go where it is.
            Target::Memory => writers.first().cloned(),
            _ => Some(spawn_readers(target, &shared, threads.readers)?),
        };
        let readers = readers.ok_or_else(|| Fault::other("no store thread was started".to_owned()))?;
        let outside = shared.machine.index_services().map_err(|error| Fault::other(format!("{error:?}")))?;
        Ok(Self {
            writers,
            readers,
            in_flight: AtomicUsize::new(0),
            written,
            index_services: outside,
            beads_file: None,
            served_files: None,
            folders: Folders::default(),
            driver: None,
        })
    }

    /// Keeps this Beads file in step with the ledger, too.
    pub(crate) fn with_beads_file(self, mirror: Option<Arc<BeadsFileService>>) -> Self {
        Self { beads_file: mirror, ..self }
    }

    /// Goes by the files of a server, too, from now on.
    pub(crate) fn with_server_files(self, files: &ServerBeadsFiles) -> Self {
        Self { served_files: Some(Arc::clone(&files.served)), ..self.with_beads_file(files.own.clone()) }
    }

    /// Drives hand-offs itself from now on.
    pub(crate) fn with_driver(self, driver: HandoffDriver) -> Self {
        Self { driver: Some(driver), ..self }
    }

    /// Runs an operation on a thread of the store.
    pub(crate) async fn run(&self, name: &str, input: Value, caller: Caller) -> Answer {
        let queue = Queue { pool: self, once: None, facts: None };
        traces::operation(name, self.queued(name, (input, caller), queue)).await
    }

    /// Runs an operation on a thread of the store, and reads its answer.
    pub(crate) async fn run_typed<O: Operation>(
        &self,
        input: &O::Input,
        caller: Caller,
    ) -> Result<O::Output, AppError> {
        let input = serde_json::to_value(input).map_err(anyhow::Error::from)?;
        let answer = self.run(O::NAME, input, caller).await?;
        Ok(serde_json::from_value(answer).map_err(anyhow::Error::from)?)
    }

    /// Runs an operation at most once for this key: a retry gets the first answer.
    pub(crate) async fn run_once(&self, name: &str, input: Value, caller: Caller, key: String) -> Answer {
        let queue = Queue { pool: self, once: Some(key), facts: None };
        traces::operation(name, self.queued(name, (input, caller), queue)).await
    }

    /// Runs an operation, with a key at most once.
    pub(crate) async fn run_keyed(
        &self,
        name: &str,
        input: Value,
        caller: Caller,
        key: Option<String>,
    ) -> Answer {
        match key {
            Some(key) => self.run_once(name, input, caller, key).await,
            None => self.run(name, input, caller).await,
        }
    }

    /// Runs an operation for a client whose machine knows these facts. What it has to be asked for comes back as a refusal.
    pub(crate) async fn run_for(
        &self,
        name: &str,
        input: Value,
        caller: Caller,
        key: Option<String>,
        facts: Vec<AnsweredQuestion>,
    ) -> Answer {
        let queue = Queue { pool: self, once: key, facts: Some(facts) };
        traces::operation(name, self.queued(name, (input, caller), queue)).await
    }

    /// Ends after something was written here, with the projects that were since it was last waited for.
    pub(crate) async fn written_projects(&self) -> BTreeSet<String> {
        self.written.next().await
    }

    /// How many operations were accepted and are not answered yet.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    async fn queued(&self, name: &str, call: (Value, Caller), mut queue: Queue<'_>) -> Answer {
        let _counted = PendingCount::count(&self.in_flight);
        let entry = all::find(name)?;
        let (input, caller) = call;
        runner::run(&mut queue, Call { entry, input, caller }).await
    }

    /// A project always goes to the same writer, so that its operations can share a commit.
    fn writer_of(&self, input: &Value, caller: &Caller) -> &SyncSender<QueuedCall> {
        let named = input.as_object().and_then(|input| InputView(input).project());
        let named = named.or(caller.project.as_deref()).unwrap_or_default();
        let hash = named.bytes().fold(0_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
        &self.writers[hash % self.writers.len()]
    }
}

fn spawn_writer(mut store: Store, shared: &Arc<Shared>) -> SyncSender<QueuedCall> {
    let (sender, jobs) = sync_channel::<QueuedCall>(QUEUE);
    let shared = Arc::clone(shared);
    store.note_written();
    std::thread::spawn(move || {
        while let Some(batch) = next_batch(&jobs) {
            run_batch(&mut store, batch, &shared);
            shared.written.note(store.take_written());
        }
    });
    sender
}

fn spawn_readers(
    target: &Target,
    shared: &Arc<Shared>,
    threads: usize,
) -> Result<SyncSender<QueuedCall>, Fault> {
    let (sender, jobs) = sync_channel::<QueuedCall>(QUEUE);
    let jobs = Arc::new(Mutex::new(jobs));
    for _ in 0..threads {
        let mut store = Store::open_read_only(target)?;
        shared.machine.observe(&mut store);
        let (jobs, shared) = (Arc::clone(&jobs), Arc::clone(shared));
        std::thread::spawn(move || {
            while let Some(job) = jobs.lock().ok().and_then(|queue| queue.recv().ok()) {
                let answer = run_one(&mut store, &job, &shared);
                let _ = job.reply.send(answer.map_err(AppError::of_service));
            }
        });
    }
    Ok(sender)
}

/// Waits for one operation and takes whatever waits behind it. No timer: the flush itself is what lets others gather.
fn next_batch(jobs: &Receiver<QueuedCall>) -> Option<Vec<QueuedCall>> {
    let mut batch = vec![jobs.recv().ok()?];
    batch.extend(jobs.try_iter().take(BATCH_SIZE - 1));
    Some(batch)
}

fn run_one(store: &mut Store, job: &QueuedCall, shared: &Shared) -> Result<Value, Failure> {
    let machine: &Machine = &shared.machine;
    let Some(facts) = &job.facts else {
        return match shared.served {
            true => run_on(store, job, shared, &SocketHost::new(machine, &job.caller.grant)),
            false => run_on(store, job, shared, machine),
        };
    };
    for _ in 0..RETRIES {
        match run_with_client_facts(
            store,
            job,
            shared,
            &ClientHost::new(machine, &job.caller.location.machine, facts),
        ) {
            Err(Failure::Fault(fault)) if matches!(fault.kind, FaultKind::Retry | FaultKind::Busy) => {}
            answer => return answer,
        }
    }
    run_with_client_facts(store, job, shared, &ClientHost::new(machine, &job.caller.location.machine, facts))
}

/// Runs an operation that may have to ask its caller: then nothing of it is kept.
fn run_with_client_facts(
    store: &mut Store,
    job: &QueuedCall,
    shared: &Shared,
    host: &ClientHost<'_>,
) -> Result<Value, Failure> {
    let own_batch = job.entry.tx_mode == TxMode::Write && !store.is_batch_open();
    if own_batch {
        store.begin_batch()?;
    }
    let answer = run_on(store, job, shared, host);
    let wanted = host.facts_required();
    match (own_batch, &wanted) {
        (false, _) => {}
        (true, None) => store.commit_batch()?,
        (true, Some(_)) => store.rollback_batch()?,
    }
    wanted.map_or(answer, |wanted| Err(wanted.into()))
}

fn run_on(store: &mut Store, job: &QueuedCall, shared: &Shared, host: &dyn Host) -> Result<Value, Failure> {
    store.refuse_writes_once_token_exists(job.caller.grant.until_first_token);
    let env = Env {
        now: shared.machine.now(),
        random: &mut clock::random,
        caller: &job.caller,
        limits: job.caller.limits(shared.limits),
        host,
    };
    let mut cx = Cx { store, env };
    match &job.once {
        Some(key) => idempotency::run(job.entry, job.input.clone(), key, &mut cx),
        None => (job.entry.run)(job.input.clone(), &mut cx),
    }
}

/// Whether an operation ended in questions: what it wrote before it asked must not stay.
fn needs_facts(answer: &Result<Value, Failure>) -> bool {
    matches!(answer, Err(Failure::Refused(refusal)) if refusal.code == FACTS_REQUIRED)
}

/// Runs an operation in transactions of its own. One that may or may not have happened is run again where that is safe.
fn run_alone(store: &mut Store, job: QueuedCall, shared: &Shared) {
    let mut answer = run_one(store, &job, shared);
    if job.is_repeatable()
        && matches!(&answer, Err(Failure::Fault(fault)) if fault.kind == FaultKind::CommitUnknown)
    {
        answer = run_one(store, &job, shared);
    }
    job.answer(answer);
}

/// Runs operations under savepoints, commits once, then answers them all. A write is answered only when it is durable.
fn run_batch(store: &mut Store, batch: Vec<QueuedCall>, shared: &Shared) {
    let begun = if batch.len() > 1 { store.begin_batch().map(|()| true) } else { Ok(false) };
    match begun {
        Ok(true) => run_together(store, batch, shared),
        // The attempt timed out: the jobs that queued meanwhile fail with it instead of each waiting as long again.
        Err(fault) if fault.kind == FaultKind::Unreachable => {
            batch.into_iter().for_each(|job| job.answer(Err(fault.clone().into())));
        }
        Ok(false) | Err(_) => batch.into_iter().for_each(|job| run_alone(store, job, shared)),
    }
}

fn run_together(store: &mut Store, batch: Vec<QueuedCall>, shared: &Shared) {
    let answers: Vec<_> = batch.iter().map(|job| run_one(store, job, shared)).collect();
    // A keyed write that failed may have lost its answer and not its change: alone, both are one transaction.
    let torn = |(job, answer): (&QueuedCall, &Result<Value, Failure>)| {
        job.is_repeatable() && matches!(answer, Err(Failure::Fault(_)))
    };
    let lost = if answers.iter().any(needs_facts) || batch.iter().zip(&answers).any(torn) {
        None
    } else {
        match store.commit_batch() {
            Ok(()) => {
                return batch.into_iter().zip(answers).for_each(|(job, answer)| job.answer(answer));
            }
            Err(fault) => Some(fault),
        }
    };
    if let Some(fault) = &lost {
        tracing::warn!(%fault, operations = batch.len(), "a commit failed; each operation tries alone");
    }
    let _ = store.rollback_batch();
    for job in batch {
        // After the rollback each job runs alone; if the outcome of the commit is unknown, only repeatable jobs do, and
        // the others fail with it.
        match &lost {
            Some(fault) if fault.kind == FaultKind::CommitUnknown && !job.is_repeatable() => {
                job.answer(Err(fault.clone().into()));
            }
            _ => run_alone(store, job, shared),
        }
    }
}
