//! One transaction: statements, and the numbers of the projects it has taken.

use super::commit_observer::CommitEvent;
use super::connection::Connection;
use super::fault::{Failure, Fault};
use super::value::{Row, Value, check_params};
use super::{CHAIN_HEAD, COUNT_CHANGE, LedgerHead, Mode, TAKE};
use crate::params;

use baton_model::liveness::latest;
use baton_model::time::Millis;

/// An open transaction. A statement that fails dooms it: whatever the closure answers, nothing of it is kept, on every
/// engine alike. Conflicts that are expected are therefore written as `ON CONFLICT`.
pub struct Tx<'a> {
    connection: &'a mut Connection,
    mode: Mode,
    taken: Vec<LockedProject>,
    failed: Option<Fault>,
    notes: Vec<CommitEvent>,
    /// Projects of which this transaction counted a change.
    changed: Vec<String>,
    ended: bool,
    /// Questions are only announced.
    prefetching: bool,
}

/// A project whose row this transaction holds.
struct LockedProject {
    project: String,
    exists: bool,
    /// The number that came with the row, until it is used.
    number: Option<i64>,
    /// The `chain` of the newest delta, this transaction's own included.
    chain_head: Option<String>,
    /// Counters of the project's rows continue above this; none until its row is read.
    counter_floor: Option<i64>,
    /// The project into which this one was merged.
    merged_into: Option<String>,
    /// Where its deltas are posted to, this transaction's own change included; none until its row is read.
    webhook: Option<Option<String>>,
    /// Whether this transaction appended, so that the row has to learn the newest `chain`.
    has_grown: bool,
}

impl<'a> Tx<'a> {
    pub(crate) fn begin(
        connection: &'a mut Connection,
        mode: Mode,
        projects: &[&str],
    ) -> Result<Self, Fault> {
        let numbers = connection.start(mode, projects)?;
        let take = |(project, row): (&&str, Option<LedgerHead>)| LockedProject {
            project: (*project).to_owned(),
            exists: row.is_some(),
            number: row.as_ref().map(|row| row.seq),
            counter_floor: row.as_ref().map(|row| row.counter_floor),
            merged_into: row.as_ref().and_then(|row| row.merged_into.clone()),
            webhook: row.as_ref().map(|row| row.webhook.clone()),
            chain_head: row.map(|row| row.chain_head),
            has_grown: false,
        };
        let taken = projects.iter().zip(numbers).map(take).collect();
        Ok(Self {
            connection,
            mode,
            taken,
            failed: None,
            notes: Vec::new(),
            changed: Vec::new(),
            ended: false,
            prefetching: false,
        })
    }

    /// Runs a statement and returns all its rows.
    pub fn query(&mut self, sql: &'static str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        if self.reads_only() && !reads(sql) {
            return Err(self.doom(Fault::other(format!("a read may not write: {}", one_line(sql)))));
        }
        if self.prefetching {
            if self.failed.is_none()
                && check_params(params).is_ok()
                && let Err(fault) = self.connection.engine.enqueue_query(sql, params)
            {
                return Err(self.doom(fault));
            }
            return Err(Fault::other("this question is only announced"));
        }
        self.run(params, |connection| connection.engine.query(sql, params))
    }

    /// Runs a statement that returns at most one row; more is a fault.
    pub fn query_opt(&mut self, sql: &'static str, params: &[Value]) -> Result<Option<Row>, Fault> {
        let mut rows = self.query(sql, params)?;
        match rows.len() {
            0 | 1 => Ok(rows.pop()),
            many => {
                Err(self
                    .doom(Fault::other(format!("expected at most one row, found {many}: {}", one_line(sql)))))
            }
        }
    }

    /// Runs a statement that returns exactly one row; none or more is a fault.
    pub fn query_one(&mut self, sql: &'static str, params: &[Value]) -> Result<Row, Fault> {
        match self.query_opt(sql, params)? {
            Some(row) => Ok(row),
            None => Err(self.doom(Fault::other(format!("expected a row, found none: {}", one_line(sql))))),
        }
    }

    /// Runs a statement and returns how many rows it changed.
    pub fn execute(&mut self, sql: &'static str, params: &[Value]) -> Result<u64, Fault> {
        if self.reads_only() {
            return Err(self.doom(Fault::other(format!("a read may not write: {}", one_line(sql)))));
        }
        self.run(params, |connection| connection.engine.execute(sql, params))
    }

    /// Executes without returning the affected-row count; pipelined on PostgreSQL. It is sent with the next query, at
    /// the latest with the commit, which fails with it, and then nothing is stored.
    pub fn execute_deferred(&mut self, sql: &'static str, params: &[Value]) -> Result<(), Fault> {
        if self.reads_only() {
            return Err(self.doom(Fault::other(format!("a read may not write: {}", one_line(sql)))));
        }
        self.run(params, |connection| connection.engine.execute_deferred(sql, params))
    }

    /// Prefetches the queries that the closure makes, in one round trip. The same query, made afterwards and before any
    /// write, gets the prefetched rows. Inside the closure every query fails, so no query can depend on the result of
    /// another. On SQLite the closure is not called.
    pub fn prefetch(&mut self, questions: impl FnOnce(&mut Tx<'_>)) {
        if !self.is_sqlite() && !self.prefetching {
            self.prefetching = true;
            questions(self);
            self.prefetching = false;
        }
    }

    /// Whether the engine is SQLite, on disk or in memory: search has a text for each engine.
    pub(crate) fn is_sqlite(&self) -> bool {
        self.connection.engine.kind() != "postgres"
    }

    /// Queues a notification for the commit observer, if there is one.
    pub(crate) fn note(&mut self, note: impl FnOnce() -> CommitEvent) {
        if self.connection.commit_observer.is_some() {
            self.notes.push(note());
        }
    }

    /// The later of the persisted heartbeat, `kept_at`, and the cached one.
    pub(crate) fn heard_at(&self, session_id: &str, kept_at: Millis) -> Millis {
        latest(
            kept_at,
            self.connection.commit_observer.as_ref().and_then(|observer| observer.heard_at(session_id)),
        )
    }

    /// Whether a project that this write takes had a row when it began. False for every other project.
    pub fn has_project(&self, project: &str) -> bool {
        self.taken.iter().any(|taken| taken.project == project && taken.exists)
    }

    /// The project into which one that this write takes was merged.
    pub fn merged_into(&self, project: &str) -> Option<&str> {
        self.taken.iter().find(|taken| taken.project == project)?.merged_into.as_deref()
    }

    /// Notes that a project is merged, or is not any more, for what follows in this write.
    pub(crate) fn note_merged(&mut self, project: &str, into: Option<&str>) {
        if let Some(taken) = self.taken.iter_mut().find(|taken| taken.project == project) {
            taken.merged_into = into.map(str::to_owned);
        }
    }

    /// Where the deltas of a project are posted to, as its row said when this write took it; `None` where it has not read that row.
    pub(crate) fn known_webhook(&self, project: &str) -> Option<Option<String>> {
        self.taken.iter().find(|taken| taken.project == project)?.webhook.clone()
    }

    /// Notes where the deltas of a project are posted to from now on.
    pub(crate) fn note_webhook(&mut self, project: &str, url: Option<&str>) {
        if let Some(taken) = self.taken.iter_mut().find(|taken| taken.project == project) {
            taken.webhook = Some(url.map(str::to_owned));
        }
    }

    /// Whether the store has an access token, as this write sees it; for a write that began with the question.
    pub(crate) fn has_token(&mut self) -> Result<bool, Fault> {
        self.run(&[], |connection| connection.engine.has_token())
    }

    /// A mark of what is committed, for a read that takes it before anything else: as long as it is the same on one connection, nothing was
    /// committed since by others. `None` where anything may have been.
    pub fn commit_mark(&mut self) -> Result<Option<String>, Fault> {
        self.run(&[], |connection| connection.engine.commit_mark())
    }

    /// The next number of the project's ledger. The first call returns the number that came with the project's row, each
    /// further one raises the row again. A write that never calls this leaves a gap, and no number is ever used twice.
    /// The project must be among those that the write takes; one that was missing may have been inserted since.
    pub fn next_seq(&mut self, project: &str) -> Result<i64, Fault> {
        let Some(taken) = self.taken.iter_mut().find(|taken| taken.project == project) else {
            return Err(self.doom(Fault::other(format!("this write has not taken the project {project}"))));
        };
        if let Some(number) = taken.number.take() {
            return Ok(number);
        }
        let Some(row) = self.query_opt(TAKE, params![project])? else {
            return Err(self.doom(Fault::other(format!("the project {project} has no row to number from"))));
        };
        let row = LedgerHead::read(row)?;
        if let Some(taken) = self.taken.iter_mut().find(|taken| taken.project == project) {
            // What this transaction appended is newer than what the row says of it.
            taken.chain_head.get_or_insert(row.chain_head);
            taken.counter_floor = Some(row.counter_floor);
            taken.webhook = Some(row.webhook);
        }
        Ok(row.seq)
    }

    /// What comes after `last` in a counter of one of the project's rows, the token of a claim for instance. It is above every
    /// number that such a counter had before the store was restored. The project must be among those that the write takes.
    pub fn next_number(&mut self, project: &str, last: i64) -> Result<i64, Fault> {
        let floor = |tx: &Self| tx.taken.iter().find(|taken| taken.project == project)?.counter_floor;
        if floor(self).is_none() {
            // A project that this write inserted: its floor comes with its first number.
            let number = self.next_seq(project)?;
            if let Some(taken) = self.taken.iter_mut().find(|taken| taken.project == project) {
                taken.number = Some(number);
            }
        }
        Ok(last.max(floor(self).unwrap_or_default()) + 1)
    }

    /// The `chain` of the newest delta of a project of which this write has taken a number.
    pub(crate) fn chain_head(&mut self, project: &str) -> Result<String, Fault> {
        let known = self.taken.iter().find(|taken| taken.project == project);
        match known.and_then(|taken| taken.chain_head.clone()) {
            Some(head) => Ok(head),
            None => {
                Err(self.doom(Fault::other(format!("this write has no number of the project {project}"))))
            }
        }
    }

    /// Makes this the newest `chain` of a project. Its row learns it before the commit, once, whatever was appended.
    pub(crate) fn grow_chain(&mut self, project: &str, chain: String) -> Result<(), Fault> {
        let Some(taken) = self.taken.iter_mut().find(|taken| taken.project == project) else {
            return Err(self.doom(Fault::other(format!("this write has not taken the project {project}"))));
        };
        (taken.chain_head, taken.has_grown) = (Some(chain), true);
        Ok(())
    }

    /// Counts a change that no entry of the ledger records, once for each project in a transaction: a follower of the ledger looks at
    /// mail, leases, shares and marks of hand-offs again.
    pub fn count_change(&mut self, project: &str) -> Result<(), Fault> {
        if self.changed.iter().any(|known| known == project) {
            return Ok(());
        }
        self.changed.push(project.to_owned());
        self.execute_deferred(COUNT_CHANGE, params![project])
    }

    fn write_chain_heads(&mut self) -> Result<(), Fault> {
        let mut grown = Vec::new();
        for taken in &mut self.taken {
            if std::mem::take(&mut taken.has_grown) {
                grown.extend(taken.chain_head.clone().map(|head| (head, taken.project.clone())));
            }
        }
        grown.iter().try_for_each(|(head, project)| self.execute_deferred(CHAIN_HEAD, params![head, project]))
    }

    fn reads_only(&self) -> bool {
        matches!(self.mode, Mode::Read | Mode::Snapshot)
    }

    fn run<T>(
        &mut self,
        params: &[Value],
        statement: impl FnOnce(&mut Connection) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if let Some(fault) = &self.failed {
            return Err(fault.clone());
        }
        if self.prefetching {
            return Err(self.doom(Fault::other("only questions can be announced")));
        }
        #[cfg(feature = "fail")]
        if !self.reads_only() {
            self.connection.step().map_err(|fault| self.doom(fault))?;
        }
        let result = check_params(params).and_then(|()| statement(self.connection));
        result.map_err(|fault| self.doom(fault))
    }

    fn doom(&mut self, fault: Fault) -> Fault {
        self.failed.get_or_insert(fault).clone()
    }

    /// Commits what the closure answered, or rolls everything back.
    pub(crate) fn finish<T>(mut self, answer: Result<T, Failure>) -> Result<T, Failure> {
        let value = answer?;
        if let Some(fault) = &self.failed {
            return Err(fault.clone().into());
        }
        self.write_chain_heads()?;
        #[cfg(feature = "fail")]
        if !self.reads_only() {
            self.connection.step()?;
        }
        self.ended = true;
        let notes = std::mem::take(&mut self.notes);
        let (taken, changed) = (std::mem::take(&mut self.taken), std::mem::take(&mut self.changed));
        self.connection.note_written(taken.into_iter().map(|taken| taken.project).chain(changed));
        self.connection.keep(notes)?;
        Ok(value)
    }
}

impl Drop for Tx<'_> {
    /// Whatever did not reach its commit is rolled back, after a panic too.
    fn drop(&mut self) {
        if !self.ended {
            self.connection.undo(self.failed.as_ref());
        }
    }
}

/// Whether a statement is a query by its first word. PostgreSQL runs reads without a transaction, so one that writes would
/// stay written.
pub(super) fn reads(sql: &str) -> bool {
    let first = sql.split_whitespace().next().unwrap_or_default();
    ["SELECT", "WITH", "VALUES", "PRAGMA", "EXPLAIN"].iter().any(|word| first.eq_ignore_ascii_case(word))
}

/// A statement without its line breaks, for messages.
pub(crate) fn one_line(sql: &str) -> String {
    sql.split_whitespace().collect::<Vec<_>>().join(" ")
}
