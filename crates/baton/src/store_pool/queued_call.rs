//! An operation that waits for a thread of the store.

use baton_ops::input::InputView;
use baton_ops::op::{Caller, OperationEntry};
use baton_store::Failure;
use serde_json::Value;
use tokio::sync::oneshot;

use crate::error::AppError;
use crate::remote::AnsweredQuestion;
use crate::runner::Answer;

/// An operation, and where its answer goes.
pub(super) struct QueuedCall {
    pub(super) entry: &'static OperationEntry,
    pub(super) input: Value,
    pub(super) caller: Caller,
    /// The key under which this request is answered only once.
    pub(super) once: Option<String>,
    /// Facts about the client's machine, sent by a Baton client; none for other callers.
    pub(super) facts: Option<Vec<AnsweredQuestion>>,
    pub(super) reply: oneshot::Sender<Answer>,
}

impl QueuedCall {
    /// Whether it may be run again after a commit of unknown outcome: its idempotency key makes it take effect once.
    pub(super) fn is_repeatable(&self) -> bool {
        let request_id = self.input.as_object().and_then(|input| InputView(input).request_id());
        self.once.is_some() || request_id.is_some()
    }

    /// Answers it.
    pub(super) fn answer(self, answer: Result<Value, Failure>) {
        let _ = self.reply.send(answer.map_err(AppError::of_service));
    }
}
