//! The one chain round every operation, whichever way leads to it: inline for a command, on the store's threads, or to a server.
//!
//! Before the operation, the chain imports the Beads file or takes its lock, and searches the memory index. After it, the chain records
//! who has seen a hand-off that came back, writes changed tasks to the Beads file, and drives a hand-off that was begun, so that the
//! answer says how it stands. A face marks messages as delivered, because only the face knows when an answer was written.

use baton_ops::all;
use baton_ops::answer::{AnswerView, RefusalView};
use baton_ops::handoff::{MarkSeen, MarkSeenInput};
use baton_ops::input::InputView;
use baton_ops::op::{Caller, HandoffEffect, Operation, OperationEntry, TxMode};
use serde_json::Value;

use crate::error::AppError;
use crate::memory_index::{IndexServices, ScopedQuery};

/// The field of an answer that names the Beads files which were not in step when it was given: another ledger may have the same task.
pub(crate) const FILE_WARNINGS: &str = "file_warnings";

/// What an operation came to.
pub(crate) type Answer = Result<Value, AppError>;

/// An operation that is to be run.
pub(crate) struct Call {
    /// Its line in the table.
    pub entry: &'static OperationEntry,
    /// Its input.
    pub input: Value,
    /// Who calls.
    pub caller: Caller,
}

/// Executes operations: inline, on the store's threads, or on a server. The default methods do nothing.
pub(crate) trait Runner {
    /// The right to write the Beads file, held while an operation runs.
    type FileLock;

    /// Runs the operation alone, without what surrounds it.
    async fn execute(&mut self, call: Call) -> Answer;

    /// Takes the turn at the Beads file, for an operation that only one of several ledgers may carry out at a time.
    async fn lock_file(&mut self, call: &Call) -> Option<Self::FileLock> {
        let _ = call;
        None
    }

    /// Gives the turn back: what the operation did is in the file then.
    async fn release_file(&mut self, turn: Self::FileLock, answer: &mut Answer) {
        drop(turn);
        let _ = answer;
    }

    /// Takes in a Beads file that has changed.
    async fn import_beads_file(&mut self) {}

    /// An operation that may change tasks is over; with a turn, what it did goes into the file when that ends.
    fn tasks_changed(&mut self, answer: &Answer, turn: Option<&Self::FileLock>) {
        let _ = (answer, turn);
    }

    /// Whether an index outside is searched on this way.
    fn has_index(&self) -> Result<bool, AppError> {
        Ok(false)
    }

    /// The caller together with what the index found for it; what is wrong with the query is left to the operation.
    async fn query_index(&mut self, query: ScopedQuery, caller: Caller) -> Caller {
        let _ = query;
        caller
    }

    /// Drives the hand-off in the answer of an operation, and brings the answer up to how it then stands.
    async fn drive_handoff(&mut self, effect: HandoffEffect, answer: &mut Value) {
        let _ = (effect, answer);
    }

    /// Says that the caller has seen how a hand-off came back. Who may not write has only read.
    async fn mark_seen(&mut self, call: Call) {
        drop(call);
    }

    /// An operation that may write is over, and had no hand-off to drive.
    fn notify_write(&mut self) {}
}

/// Runs an operation that reads tasks and does nothing else, with what the chain has for it. Its answer may hold a whole project,
/// so that it stays of the type in which `execute` gives it.
pub(crate) async fn run_task_read<R: Runner, T>(
    runner: &mut R,
    execute: impl FnOnce(&mut R) -> Result<T, AppError>,
) -> Result<T, AppError> {
    runner.import_beads_file().await;
    execute(runner)
}

/// The projects whose tasks an operation may have changed: those of its answer, and that of a refusal beside which the caller's words
/// were kept as a comment.
pub(crate) fn changed_projects(answer: &Answer) -> Vec<&str> {
    match answer {
        Ok(answer) => AnswerView(answer).written_projects(),
        Err(AppError::Refused(refusal)) if RefusalView(refusal).kept_comment() => {
            RefusalView(refusal).project_id().into_iter().collect()
        }
        Err(_) => Vec::new(),
    }
}

/// What says that this caller has seen the hand-off of an answer, where that came back.
fn seen_by((identity, caller): (Option<String>, Caller), shown: AnswerView<'_>) -> Option<Call> {
    let entry = all::find(MarkSeen::NAME).ok()?;
    let input = MarkSeenInput { id: shown.returned_handoff()?.to_owned(), identity };
    Some(Call { entry, input: serde_json::to_value(input).ok()?, caller })
}

/// Runs an operation with everything around it.
pub(crate) async fn run<R: Runner>(runner: &mut R, mut call: Call) -> Answer {
    let meta = call.entry.meta;
    let turn = if meta.needs_file_lock { runner.lock_file(&call).await } else { None };
    if turn.is_none() && meta.reads_tasks {
        runner.import_beads_file().await;
    }
    if meta.searches_index
        && runner.has_index()?
        && let Some(query) = IndexServices::scope_query(&call.input)
    {
        call.caller = runner.query_index(query, call.caller).await;
    }
    let reader = meta.shows_return.then(|| {
        (
            call.input.as_object().and_then(|fields| InputView(fields).identity()).map(str::to_owned),
            call.caller.clone(),
        )
    });
    let mut answer = runner.execute(call).await;
    if let (Some(reader), Ok(answer)) = (reader, &answer)
        && let Some(call) = seen_by(reader, AnswerView(answer))
    {
        runner.mark_seen(call).await;
    }
    if meta.changes_tasks {
        runner.tasks_changed(&answer, turn.as_ref());
    }
    if let Some(turn) = turn {
        runner.release_file(turn, &mut answer).await;
    }
    match &mut answer {
        Ok(answer) if meta.handoff != HandoffEffect::None => {
            runner.drive_handoff(meta.handoff, answer).await;
        }
        Ok(_) if meta.tx_mode == TxMode::Write => runner.notify_write(),
        _ => {}
    }
    if meta.tx_mode == TxMode::Write
        && let Ok(answer) = &answer
    {
        for project_id in AnswerView(answer).written_projects() {
            crate::notify_marks::notify_write(project_id);
        }
    }
    answer
}
