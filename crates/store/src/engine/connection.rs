//! A connection with its transaction: a plain one, or a savepoint inside a batch.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::commit_observer::{CommitEvent, CommitObserver};
use super::fault::Fault;
use super::{Engine, Mode, Numbers, Savepoint};

/// A connection, and the batch that is open on it.
pub(crate) struct Connection {
    pub(crate) engine: Box<dyn Engine>,
    batch: Option<Batch>,
    /// The commit observer and heartbeat cache; without it no changes are queued.
    pub(crate) commit_observer: Option<Arc<dyn CommitObserver>>,
    /// Projects whose rows were written since they were last taken; none where they are not collected.
    pub(crate) written: Option<BTreeSet<String>>,
    /// After how many further steps of writes the next one fails.
    #[cfg(feature = "fail")]
    pub(crate) steps_left: Option<u32>,
}

/// Several transactions that are flushed together.
#[derive(Default)]
struct Batch {
    savepoint: Savepoint,
    /// Why the whole batch is lost; whatever was answered from it did not happen.
    broken: Option<Fault>,
    /// Changes of its transactions, sent to the observer after the commit of the whole.
    notes: Vec<CommitEvent>,
}

impl Connection {
    pub(crate) fn new(engine: Box<dyn Engine>) -> Self {
        Self {
            engine,
            batch: None,
            commit_observer: None,
            written: None,
            #[cfg(feature = "fail")]
            steps_left: None,
        }
    }

    pub(crate) fn is_batch_open(&self) -> bool {
        self.batch.is_some()
    }

    pub(crate) fn begin_batch(&mut self) -> Result<(), Fault> {
        if self.is_batch_open() {
            return Err(Fault::other("a batch is already open on this store"));
        }
        self.engine.begin(Mode::Write, &[])?;
        self.batch = Some(Batch::default());
        Ok(())
    }

    pub(crate) fn commit_batch(&mut self) -> Result<(), Fault> {
        let Some(batch) = self.batch.take() else {
            return Err(Fault::other("no batch is open on this store"));
        };
        let notes = batch.notes;
        if let Some(fault) = batch.broken.or_else(|| self.transaction_fault()) {
            // The fault says more than what rolling back the remains would.
            let _ = self.engine.rollback();
            return Err(fault);
        }
        self.engine.commit()?;
        self.publish(notes);
        Ok(())
    }

    pub(crate) fn rollback_batch(&mut self) -> Result<(), Fault> {
        match self.batch.take() {
            None => Err(Fault::other("no batch is open on this store")),
            Some(_) => self.engine.rollback(),
        }
    }

    /// Begins a transaction, or sets the savepoint of the open batch, and takes the rows of projects.
    pub(crate) fn start(&mut self, mode: Mode, projects: &[&str]) -> Result<Numbers, Fault> {
        let transaction_fault = self.transaction_fault();
        let Some(batch) = &mut self.batch else { return self.engine.begin(mode, projects) };
        batch.broken = batch.broken.take().or(transaction_fault);
        if let Some(fault) = &batch.broken {
            return Err(fault.clone());
        }
        let taken = self.engine.savepoint(batch.savepoint, projects);
        batch.savepoint = Savepoint::Clean;
        taken.inspect_err(|fault| self.undo(Some(fault)))
    }

    /// Counts a step of a write, and fails where a test wants it to.
    #[cfg(feature = "fail")]
    pub(crate) fn step(&mut self) -> Result<(), Fault> {
        match &mut self.steps_left {
            None => Ok(()),
            Some(0) => Err(Fault::other("a fail point was reached")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
        }
    }

    /// Keeps what was written since [`start`](Self::start), and was noted of it: for good, or until the batch is committed.
    pub(crate) fn keep(&mut self, notes: Vec<CommitEvent>) -> Result<(), Fault> {
        match &mut self.batch {
            None => {
                self.engine.commit()?;
                self.publish(notes);
            }
            Some(batch) => {
                batch.savepoint = Savepoint::InUse;
                batch.notes.extend(notes);
            }
        }
        Ok(())
    }

    /// Notes the projects of a write. What a batch then rolls back is among them, too: who follows finds nothing new there.
    pub(crate) fn note_written(&mut self, projects: impl Iterator<Item = String>) {
        if let Some(written) = &mut self.written {
            written.extend(projects);
        }
    }

    fn publish(&self, notes: Vec<CommitEvent>) {
        if let Some(commit_observer) = self.commit_observer.as_ref().filter(|_| !notes.is_empty()) {
            commit_observer.committed(notes);
        }
    }

    /// Undoes what was written since [`start`](Self::start), because of a fault where there was one. A batch that cannot be
    /// rolled back to its savepoint is lost as a whole.
    pub(crate) fn undo(&mut self, cause: Option<&Fault>) {
        let transaction_fault = self.transaction_fault();
        let Some(batch) = &mut self.batch else {
            // A connection that cannot roll back is broken; the next transaction on it reports that.
            let _ = self.engine.rollback();
            return;
        };
        let undone = match transaction_fault {
            Some(fault) => Err(cause.cloned().unwrap_or(fault)),
            None => self.engine.script("ROLLBACK TO SAVEPOINT one"),
        };
        batch.savepoint = Savepoint::Clean;
        if let Err(fault) = undone {
            batch.broken.get_or_insert(fault);
        }
    }

    /// The fault of a batch whose transaction the engine has already ended by itself.
    fn transaction_fault(&self) -> Option<Fault> {
        if self.is_batch_open() { self.engine.transaction_fault() } else { None }
    }
}
