//! The runner of the command line: an operation runs in this process on the store, or at a server.

use std::time::Duration;

use baton_model::id::visible;
use baton_ops::answer::AnswerView;
use baton_ops::handoff::{HandoffOrBaton, Row, Show, ShowInput};
use baton_ops::memory::MemoryScope;
use baton_ops::op::{Caller, HandoffEffect, Operation, run_typed};
use futures_util::FutureExt;
use serde::Deserialize;
use serde_json::Value;

use super::App;
use crate::beads;
use crate::error::AppError;
use crate::handoff_progress::{self, SPAN};
use crate::memory_index::ScopedQuery;
use crate::progress::Progress;
use crate::repo_file::RepoFile;
use crate::runner::{self, Answer, Call, FILE_WARNINGS, Runner};

/// Polls a chain once: every step of the command line blocks, so the future is always ready.
fn at_once<T>(chain: impl Future<Output = Result<T, AppError>>, name: &str) -> Result<T, AppError> {
    chain.now_or_never().unwrap_or_else(|| Err(anyhow::anyhow!("{name} did not end").into()))
}

impl App {
    /// Runs an operation.
    pub(crate) fn run<O: Operation>(&mut self, input: &O::Input) -> Result<O::Output, AppError> {
        let caller = self.caller();
        self.run_as::<O>(&caller, input)
    }

    /// Runs an operation on behalf of another process than this one's parent.
    pub(crate) fn run_as<O: Operation>(
        &mut self,
        caller: &Caller,
        input: &O::Input,
    ) -> Result<O::Output, AppError> {
        let input = serde_json::to_value(input).map_err(anyhow::Error::from)?;
        tracing::debug!(operation = O::NAME, ledger = %self.config.ledger(), "runs");
        // An answer that may hold a whole project, or thousands of transcripts, stays of its type.
        if self.config.server.is_none() && (O::META.is_plain_task_read() || O::META.only_caches) {
            self.provide_store(O::META.begins_store, O::META.site)?;
            let _bar = self.progress(O::META.slow);
            let read = |app: &mut Self| app.within(caller, |cx| run_typed::<O>(input, cx));
            return match O::META.only_caches {
                true => read(self),
                false => at_once(runner::run_task_read(self, read), O::NAME),
            };
        }
        let call = Call { entry: baton_ops::all::find(O::NAME)?, input, caller: caller.clone() };
        let answer = at_once(runner::run(self, call), O::NAME)?;
        let unreadable = |error| anyhow::anyhow!("the answer of {} cannot be read: {error}", O::NAME);
        Ok(serde_json::from_value(answer).map_err(unreadable)?)
    }

    /// A sign of life for what may take long.
    fn progress(&self, slow: Option<&'static str>) -> Option<Progress> {
        slow.filter(|_| !self.quiet && !self.is_full_screen).map(Progress::begin)
    }

    fn query(&mut self, query: ScopedQuery, caller: &Caller) -> Option<Caller> {
        let outside = self.machine.index_services().ok()??;
        let scope = self.within(caller, |cx| MemoryScope::run(query.scope, cx)).ok()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        Some(runtime.block_on(outside.prepare(&query.query, &scope, caller.clone())))
    }

    /// Drives the hand-off with this id, and brings an answer up to how it stands.
    fn drive_answer(&mut self, id: String, span: Duration, answer: &mut Value) -> Result<(), AppError> {
        self.handoff_is_over = false;
        if self.config.server.is_some() {
            // The server has driven it.
            let row = Row::deserialize(&*answer).map_err(anyhow::Error::from)?;
            self.handoff_is_over = !row.is_on_its_way();
            handoff_progress::log(&row);
            return Ok(());
        }
        self.handoff_is_over = self.drive(&id, span)?;
        if let HandoffOrBaton::Handoff(row) =
            self.run::<Show>(&ShowInput { id, ..ShowInput::default() })?.handoff
        {
            handoff_progress::renew(answer, &row);
            handoff_progress::log(&row);
        }
        Ok(())
    }
}

impl Runner for App {
    type FileLock = (beads::ExclusiveTurn, RepoFile);

    async fn execute(&mut self, call: Call) -> Answer {
        let Call { entry, input, caller } = call;
        let _bar = self.progress(entry.slow);
        match self.config.server {
            Some(_) => self.call_remote(&caller, entry, input),
            None => {
                self.provide_store(entry.begins_store, entry.site)?;
                self.within(&caller, |cx| (entry.run)(input, cx))
            }
        }
    }

    async fn lock_file(&mut self, _: &Call) -> Option<Self::FileLock> {
        self.take_file_turn()
    }

    async fn release_file(&mut self, turn: Self::FileLock, _: &mut Answer) {
        self.finish_file_turn(turn);
    }

    async fn import_beads_file(&mut self) {
        self.sync_beads_file(None);
    }

    fn tasks_changed(&mut self, answer: &Answer, _: Option<&Self::FileLock>) {
        if let Ok(answer) = answer {
            let warnings = answer.get(FILE_WARNINGS).and_then(Value::as_array);
            for warning in warnings.into_iter().flatten().filter_map(Value::as_str) {
                self.remark(&format!("warning: on the server, {}", visible(warning)));
            }
        }
        if let Some(project_id) = runner::changed_projects(answer).first() {
            self.changed_project = Some((*project_id).to_owned());
        }
    }

    fn has_index(&self) -> Result<bool, AppError> {
        // A server searches it itself.
        Ok(self.config.server.is_none() && self.machine.index_services()?.is_some())
    }

    async fn query_index(&mut self, query: ScopedQuery, caller: Caller) -> Caller {
        self.query(query, &caller).unwrap_or(caller)
    }

    async fn mark_seen(&mut self, call: Call) {
        // A server has said so itself.
        if self.config.server.is_none()
            && let Err(failure) = self.execute(call).await
        {
            tracing::debug!(?failure, "it could not be written that a hand-off was seen");
        }
    }

    async fn drive_handoff(&mut self, effect: HandoffEffect, answer: &mut Value) {
        let view = AnswerView(answer);
        let Some(id) = view.handoff_id().filter(|_| !view.is_dry_run()).map(str::to_owned) else { return };
        let span = if effect == HandoffEffect::Begins { SPAN } else { SPAN / 3 };
        // The operation is done. What is not driven now goes on with a later command.
        if let Err(error) = self.drive_answer(id, span, answer) {
            tracing::warn!(?error, "the hand-off could not be driven");
        }
    }
}
