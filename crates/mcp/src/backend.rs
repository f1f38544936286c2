//! What the face asks of the process that it runs in.

use std::future::Future;
use std::pin::Pin;

use baton_model::refusal::ErrorObject;
use baton_model::time::Millis;
use baton_ops::op::{Caller, Operation};
use http::request::Parts;
use serde::Deserialize;
use serde_json::Value;

/// The answer of an operation as JSON, or its "no".
pub type Answer = Result<Value, ErrorObject>;

/// An answer that comes later.
pub type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The store and the machine, as the binary has them.
pub trait Backend: Send + Sync + 'static {
    /// Runs an operation, with a key at most once: a retry gets the first answer. The store is opened on first use.
    fn run<'a>(
        &'a self,
        operation: &'a str,
        input: Value,
        caller: Caller,
        key: Option<String>,
    ) -> BoxedFuture<'a, Answer>;

    /// Who calls: the process behind the pipe, or what the headers of the request say.
    fn caller(&self, request: Option<&Parts>) -> Result<Caller, ErrorObject>;

    /// The same caller where it stands in this folder.
    fn with_folder(&self, caller: &Caller, path: &str) -> Caller;

    /// Whether there is a store already: a heartbeat does not make one.
    fn has_store(&self) -> bool;

    /// The store that is open here, for refusals; none where it is not the caller's to know.
    fn store(&self) -> Option<String>;

    /// The time, in epoch milliseconds.
    fn now(&self) -> Millis;

    /// Fills bytes at random.
    fn random(&self, bytes: &mut [u8]);
}

/// Runs an operation on an input of this face. The answer goes on as JSON.
pub(crate) async fn run<O: Operation>(backend: &dyn Backend, input: &O::Input, caller: Caller) -> Answer {
    let input = serde_json::to_value(input).map_err(|error| unreadable::<O>(&error))?;
    backend.run(O::NAME, input, caller, None).await
}

/// Runs an operation of which this face reads the answer itself.
pub(crate) async fn run_typed<O: Operation>(
    backend: &dyn Backend,
    input: &O::Input,
    caller: Caller,
) -> Result<O::Output, ErrorObject> {
    let answer = run::<O>(backend, input, caller).await?;
    O::Output::deserialize(&answer).map_err(|error| unreadable::<O>(&error))
}

fn unreadable<O: Operation>(error: &serde_json::Error) -> ErrorObject {
    let what = format!("{} cannot be read or written as JSON: {error}", O::NAME);
    ErrorObject::new("answer_unwritable", what, "report this")
}
