//! An operation on its way through the queue of a store's thread, with what surrounds it.

use std::time::{Duration, Instant};

use baton_model::refusal::{Kind, Refusal};
use baton_ops::answer::AnswerView;
use baton_ops::handoff::{HandoffOrBaton, Progress, Row, Show, ShowInput};
use baton_ops::memory::MemoryScope;
use baton_ops::op::{Caller, HandoffEffect, TxMode};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::oneshot;

use super::queued_call::QueuedCall;
use super::{Pool, TrySendError};
use crate::error::AppError;
use crate::handoff_progress::{self, SPAN};
use crate::memory_index::ScopedQuery;
use crate::remote::AnsweredQuestion;
use crate::runner::{self, Answer, Call, FILE_WARNINGS, Runner};
use crate::served_beads_files::FileTurns;

/// Pause between two looks at what the server's lanes drive.
const POLL_INTERVAL: Duration = Duration::from_millis(25);
/// How long a retry waits for a look at a repository that was not to be found.
const LOOK_SPAN: Duration = Duration::from_secs(4);

/// The way to an operation by a store's thread.
pub(super) struct Queue<'a> {
    pub(super) pool: &'a Pool,
    /// The key under which the request is answered only once.
    pub(super) once: Option<String>,
    /// Facts about the client's machine, sent by a Baton client; none for other callers.
    pub(super) facts: Option<Vec<AnsweredQuestion>>,
}

impl Queue<'_> {
    /// Writes the Beads files whose tasks may have changed, without waiting.
    fn export_files(&self, changed: &[&str]) {
        if let Some(mirror) = &self.pool.beads_file {
            mirror.export();
        }
        if let Some(served) = &self.pool.served_files {
            changed.iter().for_each(|project_id| served.export(project_id));
        }
    }

    /// How a hand-off stands now.
    async fn handoff(&self, id: &str) -> Option<Row> {
        let input = ShowInput { id: id.to_owned(), ..ShowInput::default() };
        let shown = Box::pin(self.pool.run_typed::<Show>(&input, Caller::default())).await.ok()?;
        match shown.handoff {
            HandoffOrBaton::Handoff(row) => Some(*row),
            _ => None,
        }
    }

    /// Waits while the server's lanes drive a hand-off.
    async fn wait(&self, answer: &mut Value) {
        let Ok(Progress { mut row, replayed, .. }) = Progress::deserialize(&*answer) else { return };
        let begun = Instant::now();
        // A repository that was not to be found is looked for once more.
        let waits = |row: &Row| {
            let span = if row.handoff.repository_missing { LOOK_SPAN } else { SPAN };
            (row.is_on_its_way() || row.handoff.repository_missing && !replayed) && begun.elapsed() < span
        };
        while waits(&row) {
            tokio::time::sleep(POLL_INTERVAL).await;
            let Some(now) = self.handoff(&row.handoff.handoff_id).await else { return };
            row = now;
            handoff_progress::renew(answer, &row);
        }
        handoff_progress::log(&row);
    }
}

impl Runner for Queue<'_> {
    type FileLock = FileTurns;

    async fn execute(&mut self, call: Call) -> Answer {
        let Call { entry, input, caller } = call;
        let (reply, answer) = oneshot::channel();
        let queue = match entry.tx_mode {
            TxMode::Read => &self.pool.readers,
            TxMode::Write => self.pool.writer_of(&input, &caller),
        };
        let (once, facts) = (self.once.take(), self.facts.take());
        match queue.try_send(QueuedCall { entry, input, caller, once, facts, reply }) {
            Ok(()) => answer.await.unwrap_or_else(|_| Err(anyhow::anyhow!("the store thread ended").into())),
            Err(TrySendError::Full(_)) => {
                let (what, hint) = ("too many operations wait", "try again in a moment");
                Err(Refusal::new(Kind::Outside, "overloaded", what, hint).into())
            }
            Err(TrySendError::Disconnected(_)) => Err(anyhow::anyhow!("the store thread ended").into()),
        }
    }

    async fn lock_file(&mut self, call: &Call) -> Option<FileTurns> {
        let mut files: Vec<_> = self.pool.beads_file.iter().cloned().collect();
        if let Some(served) = &self.pool.served_files
            && let Some(of) = self.pool.folders.of_call(call, served.machine(), self.pool).await
        {
            files.extend(served.of_folders(&of.project_id, &of.folders));
        }
        FileTurns::take(&files).await
    }

    async fn release_file(&mut self, turn: FileTurns, answer: &mut Answer) {
        if let (Ok(Value::Object(answer)), false) = (answer, turn.warnings().is_empty()) {
            answer.insert(FILE_WARNINGS.to_owned(), Value::from(turn.warnings()));
        }
        turn.finish().await;
    }

    async fn import_beads_file(&mut self) {
        if let Some(mirror) = &self.pool.beads_file {
            mirror.import().await;
        }
    }

    fn tasks_changed(&mut self, answer: &Answer, turn: Option<&FileTurns>) {
        if turn.is_some_and(FileTurns::is_held) {
            return;
        }
        self.export_files(&runner::changed_projects(answer));
    }

    fn has_index(&self) -> Result<bool, AppError> {
        Ok(self.pool.index_services.is_some())
    }

    async fn query_index(&mut self, query: ScopedQuery, caller: Caller) -> Caller {
        let Some(outside) = &self.pool.index_services else { return caller };
        match Box::pin(self.pool.run_typed::<MemoryScope>(&query.scope, caller.clone())).await {
            Ok(scope) => outside.prepare(&query.query, &scope, caller).await,
            Err(_) => caller,
        }
    }

    async fn mark_seen(&mut self, call: Call) {
        if let Err(failure) = self.execute(call).await {
            tracing::debug!(?failure, "it could not be written that a hand-off was seen");
        }
    }

    async fn drive_handoff(&mut self, effect: HandoffEffect, answer: &mut Value) {
        let view = AnswerView(answer);
        let Some(id) = view.handoff_id().filter(|_| !view.is_dry_run()).map(str::to_owned) else { return };
        let Some(driver) = &self.pool.driver else {
            // The server's lanes drive it.
            if effect == HandoffEffect::Begins {
                self.wait(answer).await;
            }
            return self.export_files(&AnswerView(answer).written_projects());
        };
        let span = if effect == HandoffEffect::Begins { SPAN } else { SPAN / 3 };
        driver.drive(id.clone(), span).await;
        if let Some(row) = self.handoff(&id).await {
            handoff_progress::renew(answer, &row);
            handoff_progress::log(&row);
        }
        self.export_files(&AnswerView(answer).written_projects());
    }

    fn notify_write(&mut self) {
        if let Some(driver) = &self.pool.driver {
            driver.resume();
        }
    }
}
