//! What the face asks of the process that it runs in.

use std::future::Future;
use std::pin::Pin;

use baton_model::time::Millis;
use baton_ops::op::Caller;
use http::request::Parts;
use serde_json::Value;

/// The answer of an operation, or its error object: `code`, `message`, `hint` and details.
pub type Answer = Result<Value, Value>;

/// An answer that comes later.
pub type BoxedFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The store and the machine, as the binary has them.
pub trait Backend: Send + Sync + 'static {
    /// Runs an operation; the store is opened on first use.
    fn run<'a>(&'a self, operation: &'a str, input: Value, caller: Caller) -> BoxedFuture<'a, Answer>;

    /// Who calls: the process behind the pipe, or what the headers of the request say.
    fn caller(&self, request: Option<&Parts>) -> Result<Caller, Value>;

    /// The same caller where it stands in this folder.
    fn standing_in(&self, caller: &Caller, path: &str) -> Caller;

    /// Whether there is a store already: a heartbeat does not make one.
    fn has_store(&self) -> bool;

    /// The store that is open here, for refusals; none where it is not the caller's to know.
    fn store(&self) -> Option<String>;

    /// The time, in epoch milliseconds.
    fn now(&self) -> Millis;

    /// Fills bytes at random.
    fn random(&self, bytes: &mut [u8]);
}
