//! What every command is given: settings, the store, and one way to call an operation and to answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use baton_model::access::Scope;
use baton_model::id::check_project;
use baton_model::refusal::{Kind, Refusal};
use baton_ops::op::{BeginsStore, Caller, Cx, Env, Host, OperationEntry, Site};
use baton_store::{Failure, Store, Target, outbox};
use serde_json::Value;

use crate::clock;
use crate::config::Config;
use crate::effect_ownership;
use crate::error::AppError;
use crate::host::Machine;
use crate::relay::saga::Driver;
use crate::remote::Remote;

mod beads_file;
pub(crate) mod named_store;
mod output;
mod run;

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// One JSON document.
    Json,
    /// A line per item of a list.
    JsonLines,
}

/// How long a command that a user or an agent called waits for the Beads file.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
/// How long a command waits for the Beads file that a tool runs when its session begins.
pub(crate) const LOCK_PATIENCE_AT_BEGINNING: Duration = Duration::from_secs(1);

/// Everything that a command works with.
pub(crate) struct App {
    /// Settings.
    pub config: Config,
    /// Project from the command line.
    pub project: Option<String>,
    /// Session from the command line.
    pub session: Option<String>,
    /// How answers are written.
    pub format: Format,
    /// Whether answers may be coloured.
    pub color: bool,
    /// Whether remarks on standard error are left out.
    pub quiet: bool,
    /// Puts the commands that a remark names into the words of the face, where that is not `baton`.
    pub in_words_of_face: Option<fn(&str) -> String>,
    /// Whether a full-screen view is open; no progress bar may be drawn over it.
    pub is_full_screen: bool,
    /// The machine.
    pub machine: Arc<Machine>,
    /// The project whose tasks a call may have changed.
    pub changed_project: Option<String>,
    /// Whether no step of the hand-off that was driven last is left to be waited for.
    pub handoff_is_over: bool,
    /// The Beads file as it was looked at last, and what went wrong then.
    last_seen_beads_file: Option<(String, String)>,
    /// How long a command waits for one holder of the lock of the Beads file.
    pub lock_patience: Duration,
    /// Whether another process held that lock when it was waited for last.
    is_file_locked: bool,
    caller: Option<Caller>,
    store: Option<Store>,
    /// Whether the store is an empty one in memory, in place of one that is missing.
    is_placeholder_store: bool,
    remote: Option<Client>,
}

/// The server that takes the place of a store, and what its client runs on.
struct Client {
    remote: Remote,
    runtime: tokio::runtime::Runtime,
}

impl App {
    /// An application that has opened nothing yet.
    pub(crate) fn new(config: Config, format: Format, color: bool, quiet: bool) -> Self {
        let mut machine = Machine::new(&config);
        machine.progress = (!quiet).then(crate::index_progress::Indexing::on_terminal).flatten();
        let machine = Arc::new(machine);
        Self {
            config,
            project: None,
            session: None,
            format,
            color,
            quiet,
            in_words_of_face: None,
            is_full_screen: false,
            machine,
            changed_project: None,
            handoff_is_over: true,
            last_seen_beads_file: None,
            lock_patience: LOCK_PATIENCE,
            is_file_locked: false,
            caller: None,
            store: None,
            is_placeholder_store: false,
            remote: None,
        }
    }

    /// The store, opened on first use.
    pub(crate) fn store(&mut self) -> Result<&mut Store, AppError> {
        self.refuse_remote()?;
        if self.store.is_none() {
            let mut store = Store::open(&self.config.store, clock::now())?;
            self.machine.follow_clock(&mut store);
            self.machine.observe(&mut store);
            self.store = Some(store);
        }
        self.store.as_mut().ok_or_else(|| anyhow::anyhow!("the store is not open").into())
    }

    /// Refuses where the settings name a store that is not there and that does not begin now.
    pub(crate) fn require_named_store(&self, begins: BeginsStore) -> Result<(), Refusal> {
        if self.store.is_some() { Ok(()) } else { named_store::require(&self.config, begins) }
    }

    /// Opens the store that an operation needs; operations on disk use an empty in-memory store if the configured one is missing.
    fn provide_store(&mut self, begins: BeginsStore, site: Site) -> Result<(), AppError> {
        if self.is_placeholder_store && site != Site::Disk {
            (self.store, self.is_placeholder_store) = (None, false);
        }
        match self.require_named_store(begins) {
            Err(_) if site == Site::Disk => {
                self.store = Some(Store::open(&Target::Memory, clock::now())?);
                self.is_placeholder_store = true;
                Ok(())
            }
            required => Ok(required?),
        }
    }

    /// Refuses what concerns the store itself where it is on a server.
    pub(crate) fn refuse_remote(&self) -> Result<(), Refusal> {
        let Some(server) = &self.config.server else { return Ok(()) };
        let what = format!("this concerns the store itself, which is behind {}", server.url);
        let hint = "call it on the server's machine, or name a store with --store";
        Err(Refusal::new(Kind::Refused, "store_elsewhere", what, hint))
    }

    /// Uses a store that was opened already.
    pub(crate) fn use_store(&mut self, mut store: Store) {
        self.machine.observe(&mut store);
        self.store = Some(store);
    }

    /// For the end of the process.
    pub(crate) fn shut_down(self) {
        self.machine.flush();
        self.store.into_iter().for_each(Store::leave);
    }

    /// Who calls.
    pub(crate) fn caller(&mut self) -> Caller {
        let (machine, config) = (&self.machine, &self.config);
        let mut caller = self.caller.get_or_insert_with(|| machine.caller(config)).clone();
        // What is named on the command line is looked from; among transcripts a folder only narrows.
        if let Some(named) = self.project.as_ref().filter(|id| check_project(id).is_ok()) {
            caller.project = Some(named.clone());
        }
        caller
    }

    /// Does something with the store, the clock and the machine.
    fn within<T>(
        &mut self,
        caller: &Caller,
        f: impl FnOnce(&mut Cx<'_>) -> Result<T, Failure>,
    ) -> Result<T, AppError> {
        let limits = self.config.limits;
        self.store()?;
        let (Some(store), machine) = (self.store.as_mut(), &self.machine) else {
            return Err(anyhow::anyhow!("the store is not open").into());
        };
        let host: &dyn Host = machine.as_ref();
        let env = Env { now: machine.now(), random: &mut clock::random, caller, limits, host };
        Ok(f(&mut Cx { store, env })?)
    }

    /// What the caller may do: on this machine everything, with a server what its token may.
    pub(crate) fn scope(&self) -> Scope {
        let client = self.remote.as_ref();
        client.and_then(|client| client.remote.scope.get()).unwrap_or(Scope::Operator)
    }

    fn call_remote(
        &mut self,
        caller: &Caller,
        entry: &'static OperationEntry,
        input: Value,
    ) -> Result<Value, AppError> {
        let Client { remote, runtime } = match self.remote.take() {
            Some(client) => self.remote.insert(client),
            None => {
                let remote = Remote::new(&self.config, Arc::clone(&self.machine))?;
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                self.remote.insert(Client { remote, runtime })
            }
        };
        runtime.block_on(remote.run(entry, input, caller, None))
    }

    /// Drives a hand-off for so long; says whether nothing is left to do.
    pub(crate) fn drive(&mut self, id: &str, span: Duration) -> Result<bool, AppError> {
        let driver = Driver::new(&self.config, Arc::clone(&self.machine))?;
        let runtime = runtime()?;
        let store = self.store()?;
        let driven = driver.drive(store, runtime.handle(), id, (Instant::now() + span, span))?;
        if driven.is_held && !driven.is_over {
            self.remark_held_effects()?;
        }
        Ok(driven.is_over)
    }

    /// Prints that calls to the outside wait here, because another store of this ledger makes them.
    fn remark_held_effects(&mut self) -> Result<(), AppError> {
        let machine = Arc::clone(&self.machine);
        if let Some(other) = effect_ownership::other_owner(self.store()?, &machine.id)? {
            self.remark(&effect_ownership::held_text(&other.place));
        }
        Ok(())
    }

    /// The issue's present state at GitHub; none if it cannot be determined.
    pub(crate) fn issue(&mut self, repo: &str, number: i64) -> Option<String> {
        let driver = Driver::new(&self.config, Arc::clone(&self.machine)).ok()?;
        let runtime = runtime().ok()?;
        runtime.block_on(driver.issue(repo, number)).map(|seen| seen.state)
    }

    /// Indexes until the deadline, or until an external service fails. Returns how many entries are left, and the last
    /// error.
    pub(crate) fn index(&mut self, until: Instant) -> Result<(i64, Option<String>), AppError> {
        let machine = Arc::clone(&self.machine);
        let store = self.store()?;
        loop {
            crate::relay::memory_index::drive(store, &machine, until)?;
            let (left, why) = store.read(|tx| {
                use baton_model::effect::Adapter::MemoryIndex;
                Ok((outbox::pending(tx, MemoryIndex)?, outbox::last_error(tx, MemoryIndex)?))
            })?;
            // What a server has in hand is waited for.
            if left == 0 || why.is_some() || Instant::now() >= until || machine.index_services()?.is_none() {
                return Ok((left, why));
            }
            std::thread::sleep(INDEX_POLL_INTERVAL);
        }
    }

    /// After a command has answered: goes on with hand-offs that are due, for a short time. What fails is tried again by the next
    /// command; the command itself is done.
    pub(crate) fn resume(&mut self) {
        let Some(store) = self.store.as_mut() else { return };
        let resumed = resume(store, &self.config, &self.machine);
        if let Err(error) = resumed {
            tracing::debug!(?error, "hand-offs could not be driven on");
        }
    }
}

/// Pause between two looks at what a server indexes.
const INDEX_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long a command goes on with what it finds due.
const RESUME: Duration = Duration::from_secs(3);

/// Goes on with hand-offs that are due, for a short time; those past their deadline expire.
pub(crate) fn resume(store: &mut Store, config: &Config, machine: &Arc<Machine>) -> Result<(), AppError> {
    crate::relay::memory_index::drive(store, machine, Instant::now() + RESUME)?;
    machine.observe(store);
    let now = machine.now();
    let is_idle = store.read(|tx| {
        let due = baton_store::handoff_step::due(tx, now, 1)?;
        let overdue = baton_store::handoff::expired(tx, now, 1)?;
        let repos = baton_store::handoff::open_repos(tx, i64::MAX)?;
        Ok(due.is_empty() && overdue.is_empty() && repos.is_empty())
    })?;
    if is_idle {
        return Ok(());
    }
    let until = Instant::now() + RESUME;
    let driver = Driver::new(config, Arc::clone(machine))?;
    let runtime = runtime()?;
    driver.poll(store, runtime.handle(), None)?;
    for id in driver.due(store)?.into_iter().take_while(|_| Instant::now() < until) {
        driver.drive(store, runtime.handle(), &id, (until, RESUME))?;
    }
    Ok(())
}

/// A runtime with one worker thread: a current-thread runtime makes no progress through a `Handle` unless a `block_on`
/// is running.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()
}
