//! What faces know of an operation before they run it.

use baton_model::access::Scope;

/// Whether an operation may change the ledger: decides which store thread runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TxMode {
    /// Reads only.
    Read,
    /// May write.
    Write,
}

/// What an operation concerns: decides whether a token of some projects may call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Projects, each of which it asks `resolve` for.
    Project,
    /// A project, and the disk of the machine that it runs on, unless its caller reads that for it.
    Disk,
    /// The machine or the whole store: other tools' transcripts, access tokens, integrity.
    Everything,
}

/// Where an operation has what it works on: decides what a client of a server does itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// In the ledger.
    Ledger,
    /// On the caller's disk: other tools' transcripts. The ledger only says where projects are.
    Disk,
}

/// What of an answer is kept for a retry of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retention {
    /// All of it: a retry gets the same.
    Full,
    /// All but this field, a secret that is shown once; the answer to a retry says that it is missing.
    Without(&'static str),
    /// These fields only, because the rest must not be kept: a retry does it again, and gets these from the first answer.
    Only(&'static [&'static str]),
    /// These fields only: a retry gets the rest from what was done, see [`Operation::replay`](crate::op::Operation::replay).
    Reference(&'static [&'static str]),
    /// Nothing: doing it twice is doing it once, or its answer must not be kept.
    Nothing,
}

/// What an operation does to the caller's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEffect {
    /// It leaves it as it is.
    None,
    /// It opens one, or goes on with an open one.
    Opens,
    /// It ends it.
    Ends,
}

/// What an operation does to a hand-off to another project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoffEffect {
    /// Nothing.
    None,
    /// It begins one, or tries it again: its caller hears how far it came.
    Begins,
    /// It accepts, declines, completes or cancels one; that the other side hears of it may come later.
    Advances,
}

/// Whether a store that the settings name, and that is not there, begins with an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BeginsStore {
    /// It needs one that is there.
    Never,
    /// It begins one in a folder that is there: below another one the path is taken for a mistake.
    InFolder,
    /// It begins one, with the folders above it.
    Anywhere,
}

/// Everything that a face has to know of an operation before it runs it. Faces ask it here and keep no lists of names.
#[derive(Debug, Clone, Copy)]
pub struct Meta {
    /// Noun first, snake_case: `session_start`.
    pub name: &'static str,
    /// One line in the imperative, without a full stop.
    pub doc: &'static str,
    /// Whether it may write.
    pub tx_mode: TxMode,
    /// The scope that a token needs for it.
    pub scope: Scope,
    /// Whether its dry run (`dry_run`) only shows, so that a token needs no more than to read for it.
    pub shows_on_dry_run: bool,
    /// What it concerns.
    pub reach: Reach,
    /// Where it has what it works on.
    pub site: Site,
    /// What of its answer is kept for a retry.
    pub retention: Retention,
    /// What it does to the caller's session.
    pub session: SessionEffect,
    /// Whether it may change tasks: those of tasks do, and those that end sessions, which frees what they claimed.
    pub changes_tasks: bool,
    /// Whether it reads tasks or depends on their state, so that a mirrored file is looked at before.
    pub reads_tasks: bool,
    /// Whether only one of several ledgers on a mirrored file may carry it out at a time.
    pub needs_file_lock: bool,
    /// What it does to a hand-off to another project, which is driven before the caller is answered.
    pub handoff: HandoffEffect,
    /// Whether an index outside the ledger is searched before it, and what that finds given to it.
    pub searches_index: bool,
    /// Whether what is not committed in the caller's working copy may go with it.
    pub carries_changes: bool,
    /// Whether it shows how a hand-off came back: its sender has then seen it.
    pub shows_return: bool,
    /// Whether all that it writes is a cache of this machine: no other process has to hear of it, and nothing is carried out after it.
    pub only_caches: bool,
    /// Whether a store begins with it: anything else is refused where the settings name a store that is not there.
    pub begins_store: BeginsStore,
    /// What it does that may take long, for a progress bar.
    pub slow: Option<&'static str>,
    /// Fields of the input that are encrypted for a sensitive task.
    pub sealed_fields: &'static [&'static str],
}

impl Meta {
    const fn new(name: &'static str, doc: &'static str, tx_mode: TxMode) -> Self {
        Self {
            name,
            doc,
            tx_mode,
            scope: match tx_mode {
                TxMode::Read => Scope::Read,
                TxMode::Write => Scope::Write,
            },
            shows_on_dry_run: false,
            reach: Reach::Project,
            site: Site::Ledger,
            retention: Retention::Full,
            session: SessionEffect::None,
            changes_tasks: false,
            reads_tasks: false,
            needs_file_lock: false,
            handoff: HandoffEffect::None,
            searches_index: false,
            carries_changes: false,
            shows_return: false,
            only_caches: false,
            begins_store: BeginsStore::Never,
            slow: None,
            sealed_fields: &[],
        }
    }

    /// Of an operation that only reads.
    pub const fn read(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, doc, TxMode::Read)
    }

    /// Of an operation that may write.
    pub const fn write(name: &'static str, doc: &'static str) -> Self {
        Self::new(name, doc, TxMode::Write)
    }

    /// With another scope than its access suggests.
    #[must_use]
    pub const fn scope(self, scope: Scope) -> Self {
        Self { scope, ..self }
    }

    /// Its dry run only shows what others may read.
    #[must_use]
    pub const fn shows_on_dry_run(self) -> Self {
        Self { shows_on_dry_run: true, ..self }
    }

    /// The scope that a token needs for it with this input.
    pub(crate) fn scope_of(&self, input: &serde_json::Value) -> Scope {
        let is_preview = self.shows_on_dry_run && input["dry_run"] == true;
        if is_preview { Scope::Read } else { self.scope }
    }

    /// With a reach beyond projects.
    #[must_use]
    pub const fn reach(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// It works on the caller's disk; its answer is not kept.
    #[must_use]
    pub const fn on_callers_disk(self) -> Self {
        Self { site: Site::Disk, retention: Retention::Nothing, ..self }
    }

    /// With another rule for what is kept of its answer.
    #[must_use]
    pub const fn retention(self, retention: Retention) -> Self {
        Self { retention, ..self }
    }

    /// It opens a session.
    #[must_use]
    pub const fn opens_session(self) -> Self {
        Self { session: SessionEffect::Opens, ..self }
    }

    /// It ends a session.
    #[must_use]
    pub const fn ends_session(self) -> Self {
        Self { session: SessionEffect::Ends, ..self }
    }

    /// It may change tasks.
    #[must_use]
    pub const fn changes_tasks(self) -> Self {
        Self { changes_tasks: true, ..self }
    }

    /// Whether it reads tasks, and nothing is searched before it or carried out after it.
    pub fn is_plain_task_read(&self) -> bool {
        self.tx_mode == TxMode::Read
            && self.reads_tasks
            && !(self.changes_tasks || self.needs_file_lock || self.searches_index)
            && self.handoff == HandoffEffect::None
    }

    /// It depends on the state of tasks.
    #[must_use]
    pub const fn reads_tasks(self) -> Self {
        Self { reads_tasks: true, ..self }
    }

    /// Of several ledgers on a mirrored file one at a time carries it out.
    #[must_use]
    pub const fn needs_file_lock(self) -> Self {
        Self { needs_file_lock: true, ..self }
    }

    /// It begins a hand-off, or goes on with one.
    #[must_use]
    pub const fn begins_handoff(self) -> Self {
        Self { handoff: HandoffEffect::Begins, ..self }
    }

    /// It moves a hand-off on.
    #[must_use]
    pub const fn advances_handoff(self) -> Self {
        Self { handoff: HandoffEffect::Advances, ..self }
    }

    /// An index outside the ledger is searched before it.
    #[must_use]
    pub const fn searches_index(self) -> Self {
        Self { searches_index: true, ..self }
    }

    /// What is not committed may go with it.
    #[must_use]
    pub const fn carries_changes(self) -> Self {
        Self { carries_changes: true, ..self }
    }

    /// It shows how a hand-off came back.
    #[must_use]
    pub const fn shows_return(self) -> Self {
        Self { shows_return: true, ..self }
    }

    /// All that it writes is a cache of this machine.
    #[must_use]
    pub const fn only_caches(self) -> Self {
        Self { only_caches: true, ..self }
    }

    /// A store may begin with it.
    #[must_use]
    pub const fn begins_store(self, begins_store: BeginsStore) -> Self {
        Self { begins_store, ..self }
    }

    /// It may take long; `what` says what it does meanwhile.
    #[must_use]
    pub const fn slow(self, what: &'static str) -> Self {
        Self { slow: Some(what), ..self }
    }

    /// It encrypts these fields of its input for a sensitive task.
    #[must_use]
    pub const fn encrypts(self, fields: &'static [&'static str]) -> Self {
        Self { sealed_fields: fields, ..self }
    }
}
